// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "wire/paxos.h"

namespace peal::order::ridge {

/// The clock from which a node takes the timestamps of its units and empty values. The merge uses
/// these timestamps as keys. The clock is the node's time in microseconds, but always above the
/// keys of all ordered values that the node has seen. So a unit is ordered after all units that its
/// sender had seen. The clocks of different machines differ at most by the delay of packets. Empty
/// values have keys ahead of the time, so their keys do not move the clock.
class KeyClock {
 public:
  std::uint64_t at(Instant now) const {
    return static_cast<std::uint64_t>(now.ns / 1'000 + ahead_);
  }
  /// Moves the clock above `key`: a value with this key was ordered, or a node waits for keys above
  /// it.
  void see(Instant now, std::uint64_t key) {
    const std::uint64_t time = at(now);
    if (key >= time && key <= wire::kStampMax) ahead_ += static_cast<std::int64_t>(key - time + 1);
  }
  /// The timestamp of this node's next unit; above the timestamp of its previous unit.
  std::uint64_t stamp(Instant now) { return stamped_ = std::max(at(now), stamped_ + 1); }
  std::uint64_t last_stamp() const { return stamped_; }

 private:
  std::int64_t ahead_ = 0;  ///< microseconds by which keys are ahead of this node's time
  std::uint64_t stamped_ = 0;
};

}  // namespace peal::order::ridge
