// SPDX-License-Identifier: Apache-2.0
// The list of configured nodes, and how a running cluster reconfigures to another list.
//
// Each member has one active list, and forms views only with members that have the same active
// list. An operator gives each node a pending list. In a view, the engine finds out when all
// members have the same pending list, and calls all_have_next(). Later the engine finds out that
// all members know this fact, and calls Membership::try_adopt(). Then the member adopts the list.
// The view may end before all members have adopted the list. Then the other members still know that
// all members have the list, so they adopt it as soon as they hear a member that has adopted it.
//
// With a majority rule the active and the pending list differ by one node. Then any majority of one
// list and any majority of the other list share a node. The reason: if the smaller list has n
// nodes, both lists together have n + 1 nodes. The two majorities together have at least n/2 + 1 +
// (n+1)/2 + 1 = n + 2 nodes, where quotients are rounded down. A node has one active list and is in
// one view at a time. So there is at most one primary view, no matter when each node adopts the
// list.
//
// During two changes in a row, no node may use the third list while another node still uses the
// first list. So a member that adopted a list may adopt the next list only after it has been in a
// primary view with the present list. Then most nodes of the present list have left the previous
// list, and they do not return to it while they run. But a restarted node uses the list in its
// file, whatever list it used before. So operators must wait until one list is active before they
// write the next list into the files.

#include "order/evs/node_lists.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "base/hooks.h"

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

std::vector<NodeId> NodeLists::nodes() const {
  if (!next_) return active_.nodes;
  std::vector<NodeId> both;
  std::set_union(active_.nodes.begin(), active_.nodes.end(), next_->nodes.begin(),
                 next_->nodes.end(), std::back_inserter(both));
  return both;
}

Primary NodeLists::primary_of(std::span<const MemberId> members) const {
  if (!majority_) return Primary::unclaimed;
  if (PEAL_MUTANT(primary_always)) return Primary::yes;
  const std::size_t counted = members.size() * 2 + (PEAL_MUTANT(primary_of_half) ? 1 : 0);
  return counted > active_.nodes.size() ? Primary::yes : Primary::no;
}

NodesWait NodeLists::adoption_waits() const {
  using Kind = NodesWait::Kind;
  if (!next_) return {};
  if (!place_.operational()) return {Kind::view, {}};
  const MemberSet& members = place_.members;
  const auto removed = std::find_if(members.begin(), members.end(), [this](const MemberId& each) {
    return !holds(*next_, each.node);
  });
  if (removed != members.end()) return {Kind::running, *removed};
  if (!majority_) return {};
  if (differences(active_, *next_) > 1) return {Kind::too_many, {}};
  const std::size_t twice = 2 * members.size();
  if (twice <= active_.nodes.size() || twice <= next_->nodes.size()) return {Kind::majority, {}};
  return {};
}

bool NodeLists::is_configured(NodeId node) const {
  return holds(active_, node) || (next_ && holds(*next_, node));
}

bool NodeLists::may_follow_to(std::uint64_t list) const {
  if (!next_ || list != next_->hash || !all_have_next_) return false;
  if (place_.state != State::gather && !place_.operational()) return false;
  if (!majority_) return true;
  return (confirmed_ || PEAL_MUTANT(list_unconfirmed)) && differences(active_, *next_) <= 1;
}

void NodeLists::set_pending(const NodeList& nodes) {
  PEAL_ASSERT(nodes.hash != 0 && nodes.hash != pending());
  PEAL_ASSERT(std::is_sorted(nodes.nodes.begin(), nodes.nodes.end()));
  all_have_next_ = false;
  next_.reset();
  if (nodes.hash != active()) next_ = nodes;
}

void NodeLists::adopt() {
  PEAL_ASSERT(next_);
  active_ = std::move(*next_);
  next_.reset();
  all_have_next_ = confirmed_ = false;
}

void NodeLists::on_view() {
  all_have_next_ = false;
  confirmed_ = confirmed_ || primary_of(place_.members) == Primary::yes;
}

void NodeLists::add_to(Digest& digest) const {
  digest.add(active());
  digest.add(pending());
  digest.add((all_have_next_ ? 2U : 0U) + (confirmed_ ? 1U : 0U));
}

void NodeLists::check_invariants() const {
  PEAL_ASSERT(active_.hash != 0 && !active_.nodes.empty());
  PEAL_ASSERT(!next_ || (next_->hash != 0 && next_->hash != active_.hash));
}

}  // namespace peal::order::evs
