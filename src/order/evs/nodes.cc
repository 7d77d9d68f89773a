// SPDX-License-Identifier: Apache-2.0
// The list of configured nodes, and how a running cluster goes over to another one.
//
// A member goes by one list, and forms views with members that go by the same. A next list is given
// to each node from outside. In a view, the engine finds out when all members have been given the
// same next list (all_have_next()), and then when all know that (try_adopt()): a member adopts the
// list then. If the view ends in between, some may have adopted it and others not. Those others
// know that all have it, and follow when they hear of somebody who goes by it already.
//
// With a majority rule the two lists differ by one node. Then a majority of one and a majority of
// the other have a node in common: n/2 + (n+1)/2, each rounded down, and 2 are more than the n + 1
// nodes of both together. A node goes by one list at a time and is in one view at a time, so there
// is at most one primary view, whoever has adopted the list when. What must not be is that some go
// by the list after next while others still go by the first: so a member leaves a list that it was
// given while it ran only if it has been in a primary view that went by it. Most of that list's
// nodes had then left the list before it, for good. A node that is started again goes by what its
// file says, whatever it went by before: whoever changes files waits until one list counts before
// writing the next.

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

/// Nobody of the last view is left behind who has not been given the list.
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
