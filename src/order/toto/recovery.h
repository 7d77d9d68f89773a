// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "order/evs/recovery_guard.h"
#include "order/toto/parts.h"
#include "order/toto/repair.h"

namespace peal::order::toto {

/// The repair of the old view, and the PASS frame that circulates in the new one (README.md (c) to
/// (f)). The commit token has fixed which nodes the survivors hold together: the union of their
/// graphs. A member is complete once its graph is that union. It installs the new view once the
/// PASS has met as many consecutive complete members as the view has; a further round shows that
/// all have installed.
class Recovery {
 public:
  Recovery(const Parts& parts, Repair& repair, std::uint64_t first);

  bool active() const { return active_; }
  const evs::Agreement& agreement() const { return agreement_; }
  bool complete() const;
  /// Whether the node belongs to what the survivors hold together.
  bool in_union(NodeRef node) const {
    return node.origin < union_.size() && node.seq <= union_[node.origin];
  }
  /// The members of the old view that continue with this one.
  MemberBits survivors() const;
  /// The member that lacked something when the PASS last came here, if any.
  MemberId blocker() const;

  // See evs::Protocol.
  void abandon();
  void freeze(std::vector<std::byte>& bytes) const;
  bool accepts(ByteView bytes) const;
  void begin(Instant now, const evs::Agreement& agreement, Effects& out);
  void end();

  // ---- the PASS ----

  /// The first PASS of this attempt, at the representative.
  void lead();
  /// What an arrived PASS is for: this member's turn, or nothing.
  wire::Drop take(const MemberId& from, const wire::TotoPass& pass);
  /// Writes on the PASS whether this member is complete, and requests what it lacks. True if this
  /// member may install the view.
  bool mark(Instant now, Effects& out);
  /// The PASS has shown that every member has installed the view.
  bool all_installed() const { return pass_.run >= 2 * agreement_.members.size(); }
  /// Every member has learnt that from the PASS.
  bool is_over() const { return pass_.run >= 3 * agreement_.members.size(); }
  void pass_on(Instant now, Effects& out);

  /// The attempt takes too long: accuses the member that blocks it. If this member itself blocks
  /// the attempt, it first gives the others time to accuse it.
  void on_guard(Instant now, Effects& out);
  bool is_overdue(Instant now) const { return active_ && guard_.is_overdue(now); }

  void add_to(Digest& digest) const { digest.add(pass_.hop); }
  void check_invariants() const;

 private:
  std::uint32_t missing() const;  ///< nodes of the union that this member lacks

  Parts p_;
  Repair& repair_;
  const std::uint64_t first_;
  bool active_ = false;
  evs::Agreement agreement_;
  OldViewRecord union_;
  wire::TotoPass pass_;
  std::uint32_t asked_ = 0;  ///< counts the requests, so that all survivors are asked in turn
  evs::RecoveryGuard guard_;
};

}  // namespace peal::order::toto
