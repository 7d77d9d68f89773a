// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "order/evs/membership.h"

namespace peal::order::evs {

/// Rounds without progress after which a view or a repair stands still. A packet that any link
/// delivers, even one that loses most of them, arrives in fewer.
inline constexpr std::uint32_t kStallRounds = 50;

/// Ends the repair of an old view that makes no progress. During the repair, a frame of the engine
/// circulates among the members of the new view. It names the last incomplete member, and carries
/// the number of packets that all members miss in sum. The guard accuses the incomplete member. If
/// this member itself is incomplete, it first gives the others time to accuse it.
class RecoveryGuard {
 public:
  struct Limits {
    Timer timer;                 ///< the guard's timer; the engine calls on_timer()
    Duration longest;            ///< an attempt that takes longer ends
    Duration stall;              ///< least time without progress that ends an attempt
    const GatherReason* reason;  ///< why the member that blocks the attempt is accused
  };

  RecoveryGuard(Membership& membership, const Limits& limits)
      : membership_(membership), limits_(limits) {}

  /// An attempt begins.
  void begin(Instant now);
  void end() { membership_.timers().cancel(limits_.timer); }
  /// The circulating frame arrives. `missing`: number of packets that this member misses.
  /// `together`: the number on the frame; this member's part of it is brought up to date.
  void note_round(Instant now, std::uint32_t missing, std::uint32_t& together);
  /// This member is incomplete. `block`: index of the last incomplete member that the frame names;
  /// `self`: index of this member.
  void note_incomplete(std::uint16_t block, std::uint16_t self);
  /// True if no member has got a missing packet for many rounds, and at least for the time
  /// Limits::stall.
  bool is_overdue(Instant now) const;
  std::uint64_t rounds() const { return rounds_; }
  /// The attempt takes too long. `blocker`: the last incomplete member that the frame names, or
  /// this member if the frame names none.
  void on_timer(Instant now, const Agreement& agreement, const MemberId& blocker, Effects& out);

 private:
  Membership& membership_;
  const Limits limits_;
  std::uint32_t said_ = 0;     ///< this member's part of the number on the frame
  std::uint32_t missing_ = 0;  ///< the number on the frame
  std::uint64_t rounds_ = 0;   ///< rounds since that number changed
  Instant since_{};            ///< when that number changed
  bool gave_time_ = false;  ///< this member blocked the attempt, and gave others time to accuse it
  /// If this member is incomplete: index of another member that was incomplete when the frame was
  /// there.
  std::optional<std::uint16_t> other_;
};

}  // namespace peal::order::evs
