// SPDX-License-Identifier: Apache-2.0
// The list of configured nodes, and how a running cluster reconfigures to another list.
//
// Each member has one active list, and forms views only with members that have the same active
// list. Each node gets a pending list from outside. In a view, the engine finds out when all
// members have the same pending list (all_have_next()), and later when all members know that
// (try_adopt()). A member then adopts the list. If the view ends in between, some members may have
// adopted it and others not. Those others know that all members have it, and follow as soon as they
// hear a member that has adopted it.
//
// With a majority rule the two lists differ by one node. Then any majority of one list and any
// majority of the other share a node: together the lists have n + 1 nodes, and the two majorities
// have n/2 + (n+1)/2 + 2, each quotient rounded down. A node has one active list and is in one view
// at a time. So there is at most one primary view, whenever each node adopts the list.
//
// No node may use the list after next while others still use the first. So a member leaves a list
// that it got while running only if it has been in a primary view that used that list. By then most
// nodes of that list have left the previous list for good. A restarted node uses the list in its
// file, whatever it used before. So operators must wait until one list is active before they write
// the next into files.

#include <algorithm>

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {
namespace {

bool holds(const NodeList& list, NodeId node) {
  return std::binary_search(list.nodes.begin(), list.nodes.end(), node);
}

std::size_t differences(const NodeList& a, const NodeList& b) {
  std::vector<NodeId> apart;
  std::set_symmetric_difference(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                                std::back_inserter(apart));
  return apart.size();
}

}  // namespace

void Membership::know_peers() {
  std::vector<NodeId> known;
  std::set_union(settings_.nodes.nodes.begin(), settings_.nodes.nodes.end(),
                 next_ ? next_->nodes.begin() : settings_.nodes.nodes.end(),
                 next_ ? next_->nodes.end() : settings_.nodes.nodes.end(),
                 std::back_inserter(known));
  std::vector<Peer> peers;
  for (const NodeId node : known) {
    if (node == self_.node) continue;
    if (const Peer* old = peer(node)) {
      peers.push_back(*old);
    } else {
      Peer fresh;
      fresh.node = node;
      peers.push_back(fresh);
    }
  }
  peers_ = std::move(peers);
}

bool Membership::is_configured(NodeId node) const {
  return node == self_.node || peer(node) != nullptr;
}

void Membership::set_nodes(Instant now, const NodeList& nodes, Effects& out) {
  PEAL_ASSERT(nodes.hash != 0 && holds(nodes, self_.node));
  PEAL_ASSERT(std::is_sorted(nodes.nodes.begin(), nodes.nodes.end()));
  reported_.clear();
  if (next_list() == nodes.hash || left_) return;
  all_have_next_ = false;
  next_.reset();
  if (nodes.hash != list()) next_ = nodes;
  know_peers();
  for (Peer& known : peers_) known.other_list = false;
  if (next_ && PEAL_MUTANT(list_at_own_wish)) return adopt(now, out);
  if (next_ && state_ == State::operational && members_.size() == 1) {
    all_have_next_ = true;
    try_adopt(now, out);
  }
}

NodesWait Membership::adoption_waits() const {
  using Kind = NodesWait::Kind;
  if (!next_) return {};
  if (state_ != State::operational) return {Kind::view, {}};
  const auto removed = std::find_if(members_.begin(), members_.end(), [this](const MemberId& each) {
    return !holds(*next_, each.node);
  });
  if (removed != members_.end()) return {Kind::running, *removed};
  if (!settings_.majority) return {};
  if (differences(settings_.nodes, *next_) > 1) return {Kind::too_many, {}};
  const std::size_t twice = 2 * members_.size();
  if (twice <= settings_.nodes.nodes.size() || twice <= next_->nodes.size()) {
    return {Kind::majority, {}};
  }
  return {};
}

void Membership::try_adopt(Instant now, Effects& out) {
  if (!next_ || adoption_waits().kind != NodesWait::Kind::nothing) return;
  adopt(now, out);
  confirmed_ = primary_of(members_) == Primary::yes;
}

void Membership::adopt(Instant now, Effects& out) {
  PEAL_ASSERT(next_);
  settings_.nodes = std::move(*next_);
  next_.reset();
  all_have_next_ = confirmed_ = false;
  know_peers();
  for (Peer& known : peers_) known.other_list = false;
  ++tally_.lists_adopted;
  PEAL_PROBE("membership.list_adopted");
  out.report({&event::nodes_adopted, view_, {}, list(), 0});
  if (!timers_.armed(Timer::probe)) arm_probe(now);
}

/// All members of the last view have the pending list, so no member is left behind.
bool Membership::may_leave_list() const {
  if (!next_ || !all_have_next_) return false;
  if (state_ != State::gather && state_ != State::operational) return false;
  if (!settings_.majority) return true;
  return (confirmed_ || PEAL_MUTANT(list_unconfirmed)) && differences(settings_.nodes, *next_) <= 1;
}

void Membership::drop_strangers(MemberSet& set) const {
  std::erase_if(set, [this](const MemberId& each) { return !is_configured(each.node); });
}

bool Membership::same_list(Instant now, const MemberId& from, std::uint64_t list, Effects& out) {
  Peer* known = peer(from.node);
  PEAL_ASSERT(known != nullptr);
  if (list == next_list() && may_leave_list()) {
    PEAL_PROBE("membership.list_followed");
    const bool operational = state_ == State::operational;
    adopt(now, out);
    known = peer(from.node);
    if (known == nullptr) return false;
    if (operational) {
      start_sets_from_view();
    } else {
      drop_strangers(processes_);
      drop_strangers(failed_);
    }
    shift_to_gather(now, &gather::nodes, from, out);
  }
  known->other_list = list != settings_.nodes.hash;
  return !known->other_list;
}

}  // namespace peal::order::evs
