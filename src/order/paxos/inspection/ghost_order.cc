// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/inspection/ghost_order.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of digests of states kept for each order.
constexpr std::size_t kStatesMax = 4'096;
/// Maximum number of lists kept for each order.
constexpr std::size_t kListsMax = 256;
/// Capacity reserved for the votes of one instance, so that they rarely move.
constexpr std::size_t kVotesUsual = 4;

std::uint64_t digest_of_state(const wire::Checkpoint& state) {
  Digest digest;
  digest.add(state.key);
  digest.add(state.nodes.number);
  digest.add(state.nodes.hash);
  for (const NodeId node : state.nodes.all) digest.add(node.value);
  for (const NodeId node : state.nodes.acceptors) digest.add(node.value);
  for (const std::uint64_t life : state.nodes.lives) digest.add(life);
  digest.add(state.view.number);
  digest.add(state.view.representative.node.value);
  digest.add(state.view.representative.epoch);
  for (const wire::ViewMember& each : state.members) {
    digest.add(each.member.node.value);
    digest.add(each.member.epoch);
    digest.add(each.came_from);
  }
  for (const std::uint64_t number : state.numbers) digest.add(number);
  return digest.value();
}

std::string instance_text(wire::Instance instance) {
  return "instance " + std::to_string(instance);
}

}  // namespace

std::string text_of(const wire::Round& round) {
  return "round " + std::to_string(round.count) + " of n" +
         std::to_string(round.coordinator.node.value) + "." +
         std::to_string(round.coordinator.epoch);
}

GhostOrders::Order* GhostOrders::find(std::uint64_t first) {
  const auto at = std::find_if(orders_.begin(), orders_.end(),
                               [first](const Order& each) { return each.first == first; });
  return at == orders_.end() ? nullptr : &*at;
}

const GhostOrders::Order* GhostOrders::find(std::uint64_t first) const {
  return const_cast<GhostOrders*>(this)->find(first);
}

GhostOrders::Order& GhostOrders::order(std::uint64_t first) {
  if (Order* known = find(first)) return *known;
  if (orders_.size() == kOrdersMax) orders_.pop_front();
  Order& fresh = orders_.emplace_back();
  fresh.first = first;
  return fresh;
}

GhostOrders::Slot* GhostOrders::slot(Order& order, Instance instance) {
  if (instance < order.base) return nullptr;
  // No node votes so far ahead of decided instances, so the ghost has learnt of this order late.
  if (instance - order.base >= 2 * kInstancesMax) {
    order.slots.clear();
    order.base = instance;
  }
  while (order.base + order.slots.size() <= instance) order.slots.emplace_back();
  while (order.slots.size() > kInstancesMax) {
    order.slots.pop_front();
    ++order.base;
  }
  return &order.slots[instance - order.base];
}

const GhostOrders::Slot* GhostOrders::find_slot(const Order& order, Instance instance) {
  if (instance < order.base || instance - order.base >= order.slots.size()) return nullptr;
  return &order.slots[instance - order.base];
}

bool GhostOrders::note_list(const wire::Nodes& nodes, const Claimant& who) {
  const bool fresh = find(nodes.first) == nullptr;
  Order& known = order(nodes.first);
  if (known.lists.size() == kListsMax) known.lists.erase(known.lists.begin());
  const auto [at, inserted] = known.lists.emplace(nodes.number, nodes);
  if (!inserted && at->second != nodes) {
    report_("decided", who.text() + " goes by another list of nodes number " +
                           std::to_string(nodes.number) + " than others");
  }
  return fresh;
}

bool GhostOrders::names(std::uint64_t first, std::uint64_t number, NodeId node,
                        std::uint64_t life) const {
  const Order* known = find(first);
  return known != nullptr && names(*known, number, node, life);
}

bool GhostOrders::names(const Order& known, std::uint64_t number, NodeId node, std::uint64_t life) {
  const auto list = known.lists.find(number);
  if (list == known.lists.end()) return false;
  const std::vector<NodeId>& acceptors = list->second.acceptors;
  const auto at = std::lower_bound(acceptors.begin(), acceptors.end(), node);
  if (at == acceptors.end() || *at != node || list->second.lives.empty()) return false;
  return list->second.lives[static_cast<std::size_t>(at - acceptors.begin())] == life;
}

void GhostOrders::vote(std::uint64_t first, NodeId node, std::uint64_t life, const Round& round,
                       Instance instance, std::uint64_t value) {
  Order& known = order(first);
  Slot* at = slot(known, instance);
  if (at == nullptr) return;
  const auto who = [node] { return Claimant{node}.text(); };
  if (at->decided && round >= at->round && at->round.count != 0 && value != at->value) {
    report_("decided", who() + " votes for another value of " + instance_text(instance) + " in " +
                           text_of(round) + " than was decided in " + text_of(at->round));
  }
  if (at->claimed || instance < known.claimed) return;
  for (const Vote& other : at->votes) {
    if (other.round == round && other.value != value && !at->decided) {
      report_("decided", who() + " votes for another value of " + instance_text(instance) + " in " +
                             text_of(round) + " than n" + std::to_string(other.node.value));
    }
  }
  if (at->votes.empty()) at->votes.reserve(kVotesUsual);
  at->votes.push_back({node, life, round, value});
}

void GhostOrders::vote_durable(std::uint64_t first, NodeId node, std::uint64_t life,
                               const Round& round, Instance instance, std::uint64_t value) {
  Order& known = order(first);
  Slot* at = slot(known, instance);
  if (at == nullptr || at->claimed || instance < known.claimed) return;
  const auto same = [&](const Vote& each) {
    return each.node == node && each.life == life && each.round == round && each.value == value;
  };
  auto found = std::find_if(at->votes.begin(), at->votes.end(), same);
  if (found == at->votes.end()) {
    at->votes.push_back({node, life, round, value});
    found = std::prev(at->votes.end());
  }
  found->lost = false;
  found->counts = names(known, wire::list_of(round), node, life);
  if (at->decided || !found->counts || !is_majority(known, *at, *found, false)) return;
  decide(*at, round, value);
  advance(known);
}

/// True if a majority of the acceptors voted for the same value in the same round as `vote`. Each
/// acceptor has one vote in a round. `with_lost`: lost votes count too.
bool GhostOrders::is_majority(const Order& known, const Slot& at, const Vote& vote,
                              bool with_lost) {
  const auto list = known.lists.find(wire::list_of(vote.round));
  if (list == known.lists.end()) return false;
  const auto votes = std::count_if(at.votes.begin(), at.votes.end(), [&](const Vote& each) {
    return each.counts && (with_lost || !each.lost) && each.round == vote.round &&
           each.value == vote.value;
  });
  return static_cast<std::size_t>(votes) >= list->second.acceptors.size() / 2 + 1;
}

/// Decides the instance by counting lost votes too: a node takes the instance as decided, so it
/// must have received these votes. `value`: the value that the node takes as decided, if known.
/// False if there is no majority.
bool GhostOrders::decide_with_lost(const Order& known, Slot& at,
                                   std::optional<std::uint64_t> value) {
  const auto vote = std::find_if(at.votes.begin(), at.votes.end(), [&](const Vote& each) {
    return each.counts && (!value || each.value == *value) && is_majority(known, at, each, true);
  });
  if (vote == at.votes.end()) return false;
  decide(at, vote->round, vote->value);
  return true;
}

void GhostOrders::lose_votes(NodeId node, std::uint64_t life) {
  for (Order& known : orders_) {
    for (Instance k = std::max(known.base, known.claimed); k < known.base + known.slots.size();
         ++k) {
      Slot& at = known.slots[k - known.base];
      for (Vote& vote : at.votes) {
        if (vote.node == node && vote.life == life) vote.lost = true;
      }
      if (at.claimed || !at.decided) continue;
      const Vote decisive{{}, 0, at.round, at.value};
      at.decided = is_majority(known, at, decisive, false);
      if (!at.decided) known.decided = std::min(known.decided, k);
    }
  }
}

void GhostOrders::decide(Slot& at, const Round& round, std::uint64_t value) {
  at.decided = true;
  at.round = round;
  at.value = value;
}

void GhostOrders::close(Slot& at) {
  at.claimed = true;
  std::vector<Vote>().swap(at.votes);
}

void GhostOrders::advance(Order& known) {
  known.decided = std::max(known.decided, known.base);
  for (const Slot* at = find_slot(known, known.decided); at != nullptr && at->decided;
       at = find_slot(known, known.decided)) {
    ++known.decided;
  }
}

void GhostOrders::claim(std::uint64_t first, Instance instance, std::uint64_t value,
                        const Claimant& who) {
  Order& known = order(first);
  Slot* at = slot(known, instance);
  if (at == nullptr) return;
  if (!at->decided) {
    if (!decide_with_lost(known, *at, value)) {
      if (counts_votes_) {
        report_("decided", who.text() + " takes " + instance_text(instance) +
                               " for decided, and no majority has voted for it");
      }
      decide(*at, {}, value);
    }
    close(*at);
    advance(known);
    return;
  }
  if (!at->claimed) close(*at);
  if (at->value != value) {
    report_("decided", who.text() + " takes another value of " + instance_text(instance) +
                           " for decided than " +
                           (at->round.count == 0 ? "others" : "a majority has voted for"));
  }
}

void GhostOrders::claim_all(std::uint64_t first, Instance next, const Claimant& who) {
  if (!counts_votes_) return;
  Order& known = order(first);
  if (next <= known.claimed) return;
  advance(known);
  while (known.decided < next && known.decided >= known.base &&
         known.decided - known.base < known.slots.size() &&
         decide_with_lost(known, known.slots[known.decided - known.base], {})) {
    advance(known);
  }
  if (known.decided < next) {
    report_("decided", who.text() + " takes all below " + instance_text(next) +
                           " for decided, and no majority has voted for " +
                           instance_text(known.decided));
    known.decided = next;
  }
  for (Instance k = std::max(known.claimed, known.base);
       k < next && k - known.base < known.slots.size(); ++k) {
    close(known.slots[k - known.base]);
  }
  known.claimed = next;
}

void GhostOrders::claim_state(const wire::Checkpoint& state, const Claimant& who) {
  claim_all(state.nodes.first, state.next, who);
  Order& known = order(state.nodes.first);
  if (known.states.size() == kStatesMax) known.states.erase(known.states.begin());
  const std::uint64_t digest = digest_of_state(state);
  const auto [at, inserted] = known.states.emplace(state.next, digest);
  if (inserted || at->second == digest) return;
  report_("decided", who.text() + " is in another state than others, with all below " +
                         instance_text(state.next) + " consumed");
}

std::optional<std::uint64_t> GhostOrders::decided(std::uint64_t first, Instance instance) const {
  const Order* known = find(first);
  const Slot* at = known == nullptr ? nullptr : find_slot(*known, instance);
  return at != nullptr && at->decided ? std::optional(at->value) : std::nullopt;
}

bool GhostOrders::is_decided(std::uint64_t first, Instance instance) const {
  const Order* known = find(first);
  return known != nullptr && (instance < known->decided || decided(first, instance).has_value());
}

}  // namespace peal::order::paxos
