// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/paxos/options.h"

namespace peal::order::paxos {

/// How far ahead of the slowest member a coordinator may be. What is decided waits in the queues of
/// nodes and links until all have it, and signs of life wait behind it: so it is no more than what
/// goes through in half the time after which silence is taken for death.
class Headway {
 public:
  explicit Headway(const Options& options)
      : beats_(std::max<std::int64_t>(1, options.suspect.ns / 2 / options.heartbeat.ns)),
        most_(gap_max(options)),
        least_(std::min<wire::Instance>(most_, kLeastBytes / options.packet_bytes_max)) {}

  /// This node begins to coordinate, and has consumed all below `next`.
  void begin(wire::Instance next) {
    next_ = next;
    per_beat_ = 0;
  }
  /// Once in each heartbeat.
  void tick(wire::Instance next) {
    per_beat_ = std::max(next - next_, per_beat_ - per_beat_ / 8);
    next_ = next;
  }
  wire::Instance size() const {
    return std::clamp(per_beat_ * static_cast<wire::Instance>(beats_), least_, most_);
  }

 private:
  /// Nobody minds a queue of this length, and it is enough to begin with.
  static constexpr std::uint32_t kLeastBytes = 2U << 20;

  std::int64_t beats_;
  wire::Instance most_;
  wire::Instance least_;
  wire::Instance next_ = 0;
  wire::Instance per_beat_ = 0;  ///< consumed, lately
};

}  // namespace peal::order::paxos
