// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "order/evs/membership.h"

namespace peal::order::evs {

/// Ends the repair of an old view that takes too long. A frame of the engine circulates among the
/// members of the new view meanwhile, and names the last member that was incomplete. The guard
/// accuses that member. If this member itself blocks the attempt, it first gives the others time to
/// accuse it.
class RecoveryGuard {
 public:
  struct Limits {
    Timer timer;                 ///< the guard's timer; the engine calls on_timer()
    Duration longest;            ///< an attempt that takes longer ends
    Duration stall;              ///< an attempt that takes too many rounds ends after this time
    const GatherReason* reason;  ///< why the member that blocks the attempt is accused
  };

  RecoveryGuard(Membership& membership, const Limits& limits)
      : membership_(membership), limits_(limits) {}

  /// An attempt begins.
  void begin(Instant now);
  void end() { membership_.timers().cancel(limits_.timer); }
  /// The circulating frame is here.
  void note_round() { ++rounds_; }
  /// This member is incomplete. `block`: index of the last incomplete member that the frame names;
  /// `self`: index of this member.
  void note_incomplete(std::uint16_t block, std::uint16_t self);
  /// The attempt has taken too many rounds, and at least the time Limits::stall.
  bool is_overdue(Instant now) const;
  std::uint64_t rounds() const { return rounds_; }
  /// The attempt takes too long. `blocker`: the last incomplete member that the frame names, or
  /// this member if the frame names none.
  void on_timer(Instant now, const Agreement& agreement, const MemberId& blocker, Effects& out);

 private:
  Membership& membership_;
  const Limits limits_;
  std::uint64_t rounds_ = 0;
  Instant since_{};
  bool gave_time_ = false;  ///< this member blocked the attempt, and gave others time to accuse it
  /// If this member is incomplete: index of another member that was incomplete when the frame was
  /// there.
  std::optional<std::uint16_t> other_;
};

}  // namespace peal::order::evs
