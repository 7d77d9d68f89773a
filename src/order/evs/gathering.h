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
/// of these it will not wait (failed). Also, which other members say exactly the same. The
/// candidates for the next view are the processes without the failed. All have agreed once each
/// candidate says the same as this member.
class Gathering {
 public:
  Gathering(const MemberId& self, const Peers& peers) : self_(self), peers_(peers) {}

  const MemberSet& processes() const { return processes_; }
  const MemberSet& failed() const { return failed_; }
  MemberSet candidates() const { return set_minus(processes_, failed_); }
  /// The candidates that have not agreed yet.
  MemberSet awaited() const { return set_minus(candidates(), consensus_); }
  bool agreed() const { return agreed_; }
  /// When the first gathering after the last view began.
  Instant since() const { return since_; }

  /// Only these members, none of them failed.
  void start_from(std::span<const MemberId> members);
  /// Gathers, or gathers anew: no other member has agreed yet.
  void begin(Instant now);
  /// A view begins, so the next gathering is a new one with its own since().
  void end() { under_way_ = false; }

  enum class Heard : std::uint8_t {
    same,     ///< the sender agrees with this member
    nothing,  ///< the JOIN carries no news
    grew,     ///< the sets of this member grew
  };
  /// Merges the sets of a JOIN.
  Heard merge(const MemberId& from, const wire::Join& join);
  /// Notes that the sender agrees, if its JOIN says just what this member says. False if not.
  bool note_agreement(const MemberId& from, const wire::Join& join);
  /// True if the candidates have agreed. A member alone agrees with itself only after the timeout.
  bool agree(bool from_timer);
  /// A JOIN cannot name more processes.
  bool full() const { return processes_.size() >= wire::kProcessesMax; }
  void admit(const MemberId& member);
  void accuse(const MemberId& member);
  void accuse_all(const MemberSet& members) { failed_ = set_union(failed_, members); }
  /// Removes members that are no longer configured.
  void drop_strangers();

  /// A member need not have reached consensus itself to enter Commit: the members that the commit
  /// token has passed have agreed. But it must hear the members that the token has yet to reach,
  /// those after its own index. Otherwise, if it cannot reach its successor, the attempt would fail
  /// and start again, for ever, before this member accuses the successor.
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
  bool under_way_ = false;  // ends only with a view
};

}  // namespace peal::order::evs
