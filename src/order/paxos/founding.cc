// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/founding.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::order::paxos {

// An incarnation is only ever followed by later ones, so what is taken later differs from what was
// taken before by later lives alone.
bool Founding::take(const wire::Nodes& list, const Peers& peers) {
  const auto& all = peers.all();
  const bool known = std::any_of(all.begin(), all.end(), [](const Peer& peer) {
    return !peer.suspected && tells_of_order(peer);
  });
  if (known) return false;
  wire::Lives now;
  now.list = list.hash;
  for (const NodeId node : list.acceptors) {
    const Peer* peer = peers.find(node);
    if (peer == nullptr || peer->suspected || peer->state.leaving || peer->member.epoch == 0) {
      return false;
    }
    if (!peer->self && (!peer->has_state || peer->state.first_list != list.first)) return false;
    now.epochs.push_back(peer->member.epoch);
  }
  if (now != taken_) {
    taken_ = now;
    acceptors_ = list.acceptors;
    agreed_.assign(now.epochs.size(), false);
  }
  const auto self =
      std::lower_bound(list.acceptors.begin(), list.acceptors.end(), peers.self().member.node);
  agreed_[static_cast<std::size_t>(self - list.acceptors.begin())] = true;
  return true;
}

void Founding::note(const wire::Lives& said, const MemberId& from, const wire::Nodes& list) {
  if (taken_.epochs.empty() || said != taken_) return;
  const auto at = std::lower_bound(list.acceptors.begin(), list.acceptors.end(), from.node);
  if (at == list.acceptors.end() || *at != from.node) return;
  const auto index = static_cast<std::size_t>(at - list.acceptors.begin());
  if (index < agreed_.size() && taken_.epochs[index] == from.epoch) agreed_[index] = true;
}

bool Founding::complete() const {
  if (agreed_.empty()) return false;
  const auto silent = std::count(agreed_.begin(), agreed_.end(), false);
  return silent == 0 || PEAL_MUTANT(px_founded_alone);
}

bool Founding::took_those_of(const wire::Nodes& order) const {
  wire::Nodes taken;
  taken.hash = taken_.list;
  taken.lives = taken_.epochs;
  return !taken.lives.empty() && wire::first_of(taken) == order.first;
}

bool Founding::needs(NodeId node) const {
  return taken_.epochs.empty() || std::binary_search(acceptors_.begin(), acceptors_.end(), node);
}

void Founding::add_to(Digest& digest) const {
  digest.add(taken_.list);
  for (std::size_t i = 0; i < taken_.epochs.size(); ++i) {
    digest.add(taken_.epochs[i]);
    digest.add(agreed_[i] ? 1 : 0);
  }
}

}  // namespace peal::order::paxos
