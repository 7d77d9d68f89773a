// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "wire/paxos.h"

namespace peal::order::ridge {

/// The timestamps of a node's units and empty values, which are keys of the merge: the node's time
/// in microseconds, moved ahead to the keys of all values that it has seen ordered. So a unit is
/// ordered behind the units that its sender knew, and clocks of different machines agree up to the
/// delay of packets. Keys of empty values are ahead of the time on purpose, and do not move the
/// clock.
class KeyClock {
 public:
  std::uint64_t at(Instant now) const {
    return static_cast<std::uint64_t>(now.ns / 1'000 + ahead_);
  }
  /// A value with this key has been ordered, or a node waits until keys exceed this one.
  void see(Instant now, std::uint64_t key) {
    const std::uint64_t time = at(now);
    if (key >= time && key <= wire::kStampMax) ahead_ += static_cast<std::int64_t>(key - time + 1);
  }
  /// The timestamp of this node's next unit, above that of the previous one.
  std::uint64_t stamp(Instant now) { return stamped_ = std::max(at(now), stamped_ + 1); }
  std::uint64_t last_stamp() const { return stamped_; }

 private:
  std::int64_t ahead_ = 0;  ///< microseconds by which keys are ahead of this node's time
  std::uint64_t stamped_ = 0;
};

}  // namespace peal::order::ridge
