// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/paxos/options.h"

namespace peal::order::paxos {

/// Limits how far a coordinator may be ahead of the slowest member. The maximum is the number of
/// decided values that other nodes keep. If values are sent to most nodes only after the decision
/// (`distributes`), values wait in queues of nodes and links, and heartbeats wait behind the
/// values. Then the limit is the number of instances consumed in half the time after which a silent
/// node is suspected. If queues overflow before that, members lose values, and the limit shrinks
/// until losses are rare. If shrinking does not help, the losses have another cause, and the limit
/// returns to its maximum.
class Headway {
 public:
  Headway(const Options& options, bool distributes)
      : distributes_(distributes),
        beats_(std::max<std::int64_t>(1, options.suspect.ns / 2 / options.heartbeat.ns)),
        most_(gap_max(options)),
        first_(std::min<wire::Instance>(most_, kFirstBytes / options.packet_bytes_max)),
        limit_(most_) {}

  /// This node begins to coordinate, and has consumed all instances below `next`.
  void begin(wire::Instance next) {
    next_ = next;
    per_beat_ = 0;
  }
  /// Call it once per heartbeat. `lost`: members lacked values since the last call.
  void tick(wire::Instance next, bool lost) {
    adapt(lost);
    per_beat_ = std::max(next - next_, per_beat_ - per_beat_ / 8);
    next_ = next;
  }
  wire::Instance size() const {
    if (!distributes_) return most_;
    const wire::Instance most = per_beat_ * static_cast<wire::Instance>(beats_);
    // Members' reports are up to one heartbeat old, so a lower limit would reduce the throughput.
    const wire::Instance least = per_beat_ + per_beat_ / 4;
    return std::min(std::max(limit_, least), std::clamp(most, first_, most_));
  }

 private:
  /// A queue of this length does no harm, and is enough to begin with.
  static constexpr std::uint32_t kFirstBytes = 2U << 20;
  static constexpr wire::Instance kLeast = 16;
  /// Per heartbeat: with loss the limit shrinks by 1/kLess; without, it grows by first_/kMore.
  static constexpr wire::Instance kLess = 8;
  static constexpr wire::Instance kMore = 128;
  /// If losses continue for kInVain heartbeats although the limit shrinks, queues are not their
  /// cause. Then losses are ignored for kAnother heartbeats. Each further time, they are ignored
  /// for twice as many heartbeats, up to kAnotherMax.
  static constexpr unsigned kInVain = 16;
  static constexpr unsigned kAnother = 100;
  static constexpr unsigned kAnotherMax = 6'400;

  void adapt(bool lost) {
    if (ignored_ > 0) {
      --ignored_;
    } else if (!lost) {
      // The losses ended after the limit shrank, so full queues had caused them.
      if (in_vain_ > 0) another_ = kAnother;
      in_vain_ = 0;
      limit_ = std::min(most_, limit_ + std::max<wire::Instance>(1, first_ / kMore));
    } else if (++in_vain_ < kInVain) {
      limit_ = std::max(std::min(kLeast, most_), size() - size() / kLess);
    } else {
      in_vain_ = 0;
      limit_ = most_;
      ignored_ = another_;
      another_ = std::min(another_ * 2, kAnotherMax);
    }
  }

  bool distributes_;
  std::int64_t beats_;
  wire::Instance most_;
  wire::Instance first_;
  wire::Instance limit_;  ///< the limit; it shrinks after losses
  wire::Instance next_ = 0;
  wire::Instance per_beat_ = 0;  ///< instances consumed per heartbeat, recently
  unsigned in_vain_ = 0;
  unsigned ignored_ = 0;
  unsigned another_ = kAnother;
};

}  // namespace peal::order::paxos
