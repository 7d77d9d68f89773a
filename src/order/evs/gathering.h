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

/// What this member says in its JOINs: which members might be reachable (processes), and for which
/// of these it will not wait (failed). Also, which other members say exactly the same in their
/// JOINs. The candidates for the next view are the processes without the failed. The candidates
/// have agreed once each of them says the same as this member.
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

  /// The processes are these members, as far as they are configured; none has failed.
  void start_from(std::span<const MemberId> members);
  /// Begins to gather, or gathers anew. From now on, no other member counts as agreed.
  void begin(Instant now);
  /// A view begins: the next begin() sets since().
  void end() { under_way_ = false; }

  enum class Heard : std::uint8_t {
    same,     ///< the sender agrees with this member
    nothing,  ///< the JOIN carries no news
    grew,     ///< the sets of this member grew, or became too large and started again
  };
  /// Merges the sets of a JOIN.
  Heard merge(const MemberId& from, const wire::Join& join);
  /// Notes that the sender agrees, if its JOIN says just what this member says. False if the JOIN
  /// says anything else.
  bool note_agreement(const MemberId& from, const wire::Join& join);
  /// True if the candidates have agreed. A single candidate, this member itself, has agreed only
  /// after the consensus timeout (`from_timer`).
  bool agree(bool from_timer);
  /// A JOIN cannot name more processes.
  bool full() const { return processes_.size() >= wire::kProcessesMax; }
  void admit(const MemberId& member);
  void accuse(const MemberId& member);
  void accuse_all(const MemberSet& members) { failed_ = set_union(failed_, members); }
  /// Removes members that are no longer configured.
  void drop_strangers();

  /// True if each member after `index`, this member's own index, has agreed in a JOIN that this
  /// member heard. This is what entering Commit requires. The members before `index` have certainly
  /// agreed, since the commit token has passed them. A member that entered Commit without hearing
  /// its successor might be unable to reach it: then the attempt would fail and start again, for
  /// ever, before the successor is accused.
  bool hears_rest_of(const MemberSet& members, std::uint32_t index) const;
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
