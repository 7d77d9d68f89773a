// SPDX-License-Identifier: Apache-2.0
#include "daemon/history.h"

namespace peal::daemon {

void DeliveryHistory::on_message(std::string_view sender, std::uint64_t number, std::size_t bytes) {
  ++messages_;
  bytes_ += bytes;
  if (!views_.empty()) views_.back().digest.add(sender, number, bytes);
}

void DeliveryHistory::on_view(Instant now, const ViewNotice& view) {
  if (view.transitional) {
    transitional_ = true;
    left_ = now;
    return;
  }
  if (views_.size() == kViewsMax) views_.pop_front();
  views_.push_back({view, {}, now, transitional_ ? now - left_ : Duration{}});
  transitional_ = false;
}

}  // namespace peal::daemon
