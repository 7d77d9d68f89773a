// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "order/evs/protocol.h"
#include "order/member_set.h"

namespace peal::order::evs {

/// What this member knows of one other configured node.
struct Peer {
  NodeId node{};
  std::uint64_t newest = 0;     ///< largest epoch seen; 0 if none
  std::uint64_t last_join = 0;  ///< number of the last JOIN of the newest incarnation
  Instant heard{};
  bool was_heard = false;
  bool is_silent = false;        ///< its silence ended the view, and it was not heard since
  std::uint32_t exclusions = 0;  ///< number of consecutive exclusions of `excluded`
  MemberId excluded{};
  Instant excluded_at{}, muted_until{};
  bool doubtful = false;  ///< `excluded` must pass a link trial before it may return
  /// The member, if any, that accused `node` because of the link between that member and `node`.
  MemberId accuser{};
  Instant no_trial_before{};  ///< after a failed trial: earliest time of the next trial
  Instant noticed{};
  bool was_noticed = false;
  bool other_list = false;  ///< the node's active list is not this member's active list
  /// Number of checks (look_for_deaf()) that found a new report of the node that it does not hear
  /// this view. 0 again after the node has heard this view, or was silent for long.
  std::uint8_t deaf = 0;
  bool said_deaf = false;  ///< since the last check, the node reported not to hear this view
};

/// The other configured nodes. Knows of each node the newest incarnation, whether this member hears
/// the node, whether the node hears this member's view, and whether the node was excluded from a
/// view and may not return yet.
class Peers {
 public:
  Peers(const Settings& settings, const MemberId& self) : settings_(settings), self_(self) {}

  /// Sets the configured nodes to `nodes`, which are sorted and include this member's node. Keeps
  /// the entries of nodes that were configured before.
  void configure(std::span<const NodeId> nodes);
  std::size_t size() const { return peers_.size(); }
  Peer* find(NodeId node);
  const Peer* find(NodeId node) const;

  // Incarnations.
  /// Notes an incarnation of another node. False if the node is not configured or the incarnation
  /// is not the newest.
  bool note(const MemberId& member);
  bool is_superseded(const MemberId& member) const;

  // Hearing
  void mark_heard(Instant now, const MemberId& member);
  /// The silence of `member` ended the view.
  void note_silence(const MemberId& member);
  /// The member's silence ended a view, and nothing was heard of it since.
  bool is_silent(const MemberId& member) const;
  MemberSet heard_now(Instant now) const;
  /// `from` reports that it hears the members `heard`. `members`: the members of this view.
  void note_hearing(const MemberId& from, std::span<const MemberId> heard,
                    std::span<const MemberId> members);
  /// Called on each probe timer. Counts one check (Peer::deaf) for each node that reported, since
  /// the last check, not to hear this view.
  void look_for_deaf(Instant now, std::span<const MemberId> members);
  MemberSet deaf() const;

  // Exclusions.
  /// The view with `members` begins. The members `failed` were excluded from this view.
  void on_view(Instant now, std::span<const MemberId> members, std::span<const MemberId> failed);
  /// `member` was excluded, or has failed a trial after its exclusion. It may return only after a
  /// time that doubles with each such call, and after it has passed a trial of the link.
  void doubt(Instant now, Peer& known, const MemberId& member);
  bool is_muted(Instant now, const MemberId& member) const;
  bool is_doubtful(const MemberId& member) const;
  void note_accuser(const MemberId& member, const MemberId& accuser);
  /// True if another member of `set` accused the node `known`. Then only the accuser may test the
  /// node, because only a test of the accuser's link can show that the bad link works again.
  bool is_left_to_accuser(const Peer& known, std::span<const MemberId> set) const;

  /// The active or the pending list of nodes has changed: clears Peer::other_list of all peers.
  void forget_lists();

  void check_invariants() const;

 private:
  void trust(const MemberId& member);

  const Settings& settings_;
  const MemberId& self_;
  std::vector<Peer> peers_;  // sorted by node, without this node
};

}  // namespace peal::order::evs
