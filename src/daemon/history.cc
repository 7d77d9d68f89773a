// SPDX-License-Identifier: Apache-2.0
#include "daemon/history.h"

namespace peal::daemon {

void DeliveryHistory::on_message(std::string_view sender, std::uint64_t number, Seq seq,
                                 std::size_t bytes) {
  ++messages_;
  bytes_ += bytes;
  if (views_.empty()) return;
  // Messages without a position come in another order at each node.
  if (seq == 0) {
    ++views_.back().unplaced;
  } else {
    views_.back().digest.add(sender, number, bytes);
  }
}

void DeliveryHistory::on_view(Instant now, const ViewNotice& view) {
  if (view.transitional) {
    transitional_ = true;
    left_ = now;
    return;
  }
  if (views_.size() == kViewsMax) views_.pop_front();
  views_.push_back({view, {}, 0, now, transitional_ ? now - left_ : Duration{}});
  transitional_ = false;
}

}  // namespace peal::daemon
