// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/bootstrap.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {

void Bootstrap::restore(const wire::Lives& taken, const std::vector<MemberId>& heard) {
  taken_ = taken;
  heard_ = heard;
  agreed_.assign(heard.size(), false);
}

// Late packets of an earlier process incarnation of an acceptor are ignored: once this node has
// named a later incarnation of the acceptor, it never names an earlier one again.
bool Bootstrap::take(const wire::Nodes& list, const Peers& peers) {
  const auto& all = peers.all();
  const bool known = std::any_of(all.begin(), all.end(), [](const Peer& peer) {
    return !peer.suspected && tells_of_order(peer);
  });
  if (known) return false;
  wire::Lives now;
  std::vector<MemberId> heard;
  now.list = list.hash;
  for (const NodeId node : list.acceptors) {
    const Peer* peer = peers.find(node);
    if (peer == nullptr || peer->suspected || peer->state.leaving || peer->has_life == 0) {
      return false;
    }
    if (!peer->self && (!peer->has_state || peer->state.first_list != list.first)) return false;
    const std::size_t before = index_of(node);
    if (before != kNone && peer->member < heard_[before]) return false;
    now.lives.push_back(peer->has_life);
    heard.push_back(peer->member);
  }
  if (now == taken_) return false;
  taken_ = std::move(now);
  heard_ = std::move(heard);
  agreed_.assign(heard_.size(), false);
  return true;
}

std::size_t Bootstrap::index_of(NodeId node) const {
  const auto at = std::lower_bound(heard_.begin(), heard_.end(), node,
                                   [](const MemberId& each, NodeId id) { return each.node < id; });
  if (at == heard_.end() || at->node != node) return kNone;
  return static_cast<std::size_t>(at - heard_.begin());
}

void Bootstrap::note_own(NodeId self) {
  if (const std::size_t index = index_of(self); index != kNone) agreed_[index] = true;
}

void Bootstrap::note(const wire::Lives& said, const Peer& from) {
  if (taken_.lives.empty() || said != taken_) return;
  const std::size_t index = index_of(from.node);
  if (index != kNone && taken_.lives[index] == from.has_life) agreed_[index] = true;
}

bool Bootstrap::complete() const {
  if (agreed_.empty()) return false;
  const auto silent = std::count(agreed_.begin(), agreed_.end(), false);
  return silent == 0 || PEAL_MUTANT(px_founded_alone);
}

bool Bootstrap::took_those_of(const wire::Nodes& order) const {
  wire::Nodes taken;
  taken.hash = taken_.list;
  taken.lives = taken_.lives;
  return !taken.lives.empty() && wire::first_of(taken) == order.first;
}

bool Bootstrap::needs(const Peer& acceptor) const {
  if (taken_.lives.empty()) return true;
  const std::size_t index = index_of(acceptor.node);
  return index != kNone && taken_.lives[index] == acceptor.has_life;
}

void Bootstrap::add_to(Digest& digest) const {
  digest.add(taken_.list);
  for (std::size_t i = 0; i < taken_.lives.size(); ++i) {
    digest.add(taken_.lives[i]);
    digest.add(agreed_[i] ? 1 : 0);
  }
}

}  // namespace peal::order::paxos
