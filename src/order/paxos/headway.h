// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "order/paxos/options.h"

namespace peal::order::paxos {

/// How far ahead of the slowest member a coordinator may be: as far as others keep what is decided.
/// Where values go on to most nodes once they are decided, that waits in the queues of nodes and
/// links until all have it, and signs of life wait behind it: so it is no more than what
/// goes through in half the time after which silence is taken for death. Where queues are shorter
/// than that, members lack what was lost there; then it shrinks until they hardly do. If that does
/// not help, loss has another reason, and to be slower would help nobody.
class Headway {
 public:
  Headway(const Options& options, bool distributes)
      : distributes_(distributes),
        beats_(std::max<std::int64_t>(1, options.suspect.ns / 2 / options.heartbeat.ns)),
        most_(gap_max(options)),
        first_(std::min<wire::Instance>(most_, kFirstBytes / options.packet_bytes_max)),
        limit_(most_) {}

  /// This node begins to coordinate, and has consumed all below `next`.
  void begin(wire::Instance next) {
    next_ = next;
    per_beat_ = 0;
  }
  /// Once in each heartbeat. `lost`: members lacked something since the last.
  void tick(wire::Instance next, bool lost) {
    adapt(lost);
    per_beat_ = std::max(next - next_, per_beat_ - per_beat_ / 8);
    next_ = next;
  }
  wire::Instance size() const {
    if (!distributes_) return most_;
    const wire::Instance most = per_beat_ * static_cast<wire::Instance>(beats_);
    // What members say of themselves is up to a heartbeat old: less would end what goes through.
    const wire::Instance least = per_beat_ + per_beat_ / 4;
    return std::min(std::max(limit_, least), std::clamp(most, first_, most_));
  }

 private:
  /// Nobody minds a queue of this length, and it is enough to begin with.
  static constexpr std::uint32_t kFirstBytes = 2U << 20;
  static constexpr wire::Instance kLeast = 16;
  /// In each heartbeat: less by the one part if something was lost, else more by the other of what
  /// it is at first.
  static constexpr wire::Instance kLess = 8;
  static constexpr wire::Instance kMore = 128;
  /// Heartbeats with loss in a row after which it has another reason: then nobody looks for so
  /// many, and twice as many each time, up to a minute of them.
  static constexpr unsigned kInVain = 16;
  static constexpr unsigned kAnother = 100;
  static constexpr unsigned kAnotherMax = 6'400;

  void adapt(bool lost) {
    if (ignored_ > 0) {
      --ignored_;
    } else if (!lost) {
      // That it helped, once, says what the reason was.
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
  wire::Instance limit_;  ///< by what was lost
  wire::Instance next_ = 0;
  wire::Instance per_beat_ = 0;  ///< consumed, lately
  unsigned in_vain_ = 0;
  unsigned ignored_ = 0;
  unsigned another_ = kAnother;
};

}  // namespace peal::order::paxos
