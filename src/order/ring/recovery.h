// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "order/evs/recovery_guard.h"
#include "order/member_set.h"
#include "order/ring/commit_record.h"
#include "order/ring/parts.h"
#include "order/ring/view_packets.h"

namespace peal::order::ring {

/// Repairs the old view: the survivors request the old view's missing packets on the token of the
/// new view. The record on the commit token says which packets the survivors hold together, so all
/// survivors deliver the same packets.
class Recovery {
 public:
  Recovery(const Parts& parts, ViewPackets& view, Seq first);

  bool active() const { return active_; }
  const evs::Agreement& agreement() const { return agreement_; }
  /// Hop of the last token of this attempt.
  std::uint64_t last_hop() const { return last_hop_; }
  /// True if this member has all packets that the survivors hold.
  bool done() const { return missing_ == 0; }
  /// Highest position of the old view that any survivor received.
  Seq high() const { return old_.high; }
  bool in_union(Seq seq) const;

  // See evs::Protocol.
  void abandon();
  void freeze(std::vector<std::byte>& bytes);
  bool accepts(ByteView bytes) const;
  void begin(Instant now, const evs::Agreement& agreement, Effects& out);

  void check();
  /// Writes on the token how many packets this member misses, and reads from the token whether any
  /// member has got one since the last rotation.
  void on_visit(Instant now);
  /// Writes on the token whether this member misses packets. True if no member misses packets.
  bool mark_token();
  /// True if no member has got a missing packet for many rotations, and at least for the time
  /// Options::stall.
  bool is_overdue(Instant now) const { return guard_.is_overdue(now); }
  /// The attempt takes too long: accuses the member that blocks the attempt. If this member itself
  /// blocks the attempt, it first gives the other members time to accuse it.
  void on_guard(Instant now, Effects& out);
  /// Delivers the packets of the old view that the survivors hold: first in the old view, then in
  /// the transitional view (zones 1 to 3 in recovery.cc).
  void finish_old_view(Effects& out);
  /// The attempt has succeeded: stops the guard timer.
  void end();
  /// The new view is installed. Behind a gap, this member now has to deliver only its own packets.
  void begin_view();

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  std::uint32_t missing_count() const;
  MemberId named_blocker() const;

  Parts p_;
  ViewPackets& view_;
  const Seq first_;
  /// Members, including this member, whose packets this member must deliver even behind a gap.
  MemberSet obligation_;
  bool active_ = false;
  evs::Agreement agreement_;
  OldViewRecord old_;  ///< what the survivors hold together
  MemberSet bound_;    ///< in this attempt: members whose packets are delivered even behind a gap
  std::uint64_t last_hop_ = 0;
  std::uint32_t missing_ = 0;  ///< packets that this member misses
  evs::RecoveryGuard guard_;
};

}  // namespace peal::order::ring
