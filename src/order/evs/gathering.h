// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/digest.h"
#include "base/time.h"
#include "order/evs/peers.h"
#include "order/member_set.h"
#include "wire/frames.h"

namespace peal::order::evs {

/// The two sets that this member sends in its JOINs. The processes are the members that might be
/// reachable. The failed members are the processes for which this member does not wait. Also notes
/// which other members send exactly the same sets. The candidates for the next view are the
/// processes without the failed members. The candidates have agreed once each of them sends the
/// same sets as this member.
class Gathering {
 public:
  Gathering(const MemberId& self, const Peers& peers) : self_(self), peers_(peers) {}

  const MemberSet& processes() const { return processes_; }
  const MemberSet& failed() const { return failed_; }
  MemberSet candidates() const { return set_minus(processes_, failed_); }
  /// The candidates that have not agreed yet.
  MemberSet awaited() const { return set_minus(candidates(), consensus_); }
  bool agreed() const { return agreed_; }
  /// Start of the first gathering after the last view.
  Instant since() const { return since_; }

  /// Sets the processes to the configured ones of `members`, and empties the set of failed members.
  void start_from(std::span<const MemberId> members);
  /// Begins to gather, or gathers anew. From now on, no other member counts as agreed.
  void begin(Instant now);
  /// A view begins. So the next begin() will set since().
  void end() { under_way_ = false; }

  enum class Heard : std::uint8_t {
    same,     ///< the JOIN has the same sets: its sender agrees with this member
    nothing,  ///< the JOIN carries no news
    grew,     ///< the sets of this member grew, or became too large and started again
  };
  /// Merges the sets of `join` into the sets of this member.
  Heard merge(const MemberId& from, const wire::Join& join);
  /// If `join` has the same sets as this member, notes that `from` agrees, and returns true. False
  /// otherwise.
  bool note_agreement(const MemberId& from, const wire::Join& join);
  /// True if the candidates have agreed. A single candidate, this member itself, has agreed only
  /// after the consensus timeout (`from_timer`).
  bool agree(bool from_timer);
  /// True if a JOIN cannot name one more process.
  bool full() const { return processes_.size() >= wire::kProcessesMax; }
  void admit(const MemberId& member);
  void accuse(const MemberId& member);
  void accuse_all(const MemberSet& members) { failed_ = set_union(failed_, members); }
  /// Removes members that are no longer configured.
  void drop_strangers();

  /// True if this member, at `index`, may enter Commit: it has received a JOIN from each member
  /// after `index` in which that member agrees. The members before `index` have certainly agreed,
  /// because the commit token has passed them. If a member entered Commit without hearing its
  /// successor, it might be unable to reach the successor. Then attempts would fail again and
  /// again, and nobody would accuse the successor.
  ///
  /// A member whose silence ended the view must have been heard since, wherever it stands. Others
  /// hear it, if it is among `members`. If this member does not, the new view would soon end for
  /// the same reason, and so would each view after that.
  bool hears_enough(const MemberSet& members, std::uint32_t index) const;
  bool concerns(const MemberId& member) const {
    return contains(processes_, member) && !contains(failed_, member);
  }

  void add_sets_to(Digest& digest) const;
  void check_invariants() const;

 private:
  bool is_configured(NodeId node) const {
    return node == self_.node || peers_.find(node) != nullptr;
  }

  const MemberId& self_;
  const Peers& peers_;
  MemberSet processes_, failed_, consensus_;
  bool agreed_ = false;
  Instant since_{};
  bool under_way_ = false;  // true from begin() until a view begins
};

}  // namespace peal::order::evs
