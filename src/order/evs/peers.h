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
  std::uint32_t exclusions = 0;  ///< consecutive exclusions of `excluded`
  MemberId excluded{};
  Instant excluded_at{}, muted_until{};
  bool doubtful = false;  ///< `excluded` must pass a link trial before it may return
  MemberId accuser{};     ///< the member that accused `node` because of the link between the two,
                          ///< if any
  Instant no_trial_before{};  ///< after a failed trial: earliest time of the next trial
  Instant noticed{};
  bool was_noticed = false;
  bool other_list = false;  ///< its active list is not this member's
  std::uint8_t deaf = 0;    ///< consecutive checks in which the node was heard and reported not
                            ///< to hear this view
  bool said_deaf = false;   ///< after the last check, the node reported not to hear this view
};

/// The other configured nodes: their newest incarnations, which of them this member hears, which of
/// them hear this member's view, and which were excluded from a view and may not return yet.
class Peers {
 public:
  Peers(const Settings& settings, const MemberId& self) : settings_(settings), self_(self) {}

  /// `nodes` are the configured nodes, sorted, this member's node among them. Keeps what is known
  /// of those that stay.
  void configure(std::span<const NodeId> nodes);
  std::size_t size() const { return peers_.size(); }
  Peer* find(NodeId node);
  const Peer* find(NodeId node) const;

  // Incarnations
  /// Notes an incarnation of another node. False if the node is not configured or the incarnation
  /// is not the newest.
  bool note(const MemberId& member);
  bool is_superseded(const MemberId& member) const;

  // Hearing
  void mark_heard(Instant now, const MemberId& member);
  MemberSet heard_now(Instant now) const;
  /// `from` reports that it hears `heard`. `members`: the members of the view.
  void note_hearing(const MemberId& from, std::span<const MemberId> heard,
                    std::span<const MemberId> members);
  /// Called between probes: counts the checks in which a node reported not to hear this view.
  void look_for_deaf(Instant now, std::span<const MemberId> members);
  MemberSet deaf() const;

  // Exclusions
  /// The view with `members` begins, and `failed` were excluded from it.
  void on_view(Instant now, std::span<const MemberId> members, std::span<const MemberId> failed);
  /// The member was excluded. It may return only after a time that grows with each exclusion, and
  /// after a trial of the link has passed.
  void doubt(Instant now, Peer& known, const MemberId& member);
  bool is_muted(Instant now, const MemberId& member) const;
  bool is_doubtful(const MemberId& member) const;
  void note_accuser(const MemberId& member, const MemberId& accuser);
  /// True if another member of `set` accused the node: only that accuser can tell whether the bad
  /// link works again.
  bool is_left_to_accuser(const Peer& known, std::span<const MemberId> set) const;

  /// Another list of nodes is active or pending: clears Peer::other_list.
  void forget_lists();

  void check_invariants() const;

 private:
  void trust(const MemberId& member);

  const Settings& settings_;
  const MemberId& self_;
  std::vector<Peer> peers_;  // sorted by node, without this node
};

}  // namespace peal::order::evs
