// SPDX-License-Identifier: Apache-2.0
#include "runtime/unreached.h"

#include <utility>

namespace peal::runtime {
namespace {

constexpr Duration kEvery = seconds(1);
constexpr std::uint32_t kLooks = 3;

}  // namespace

void Unreached::look(Instant now, const Streams& streams, const Tell& tell) {
  if (now < look_at_) return;
  look_at_ = now + kEvery;
  for (const io::StreamState& each : streams()) {
    if (each.open || each.problem.empty()) {
      nodes_.erase(each.node);
      continue;
    }
    Record& record = nodes_[each.node];
    record.looks = std::exchange(record.heard, false) ? record.looks + 1 : 0;
    if (record.looks == kLooks) tell(each);
  }
}

}  // namespace peal::runtime
