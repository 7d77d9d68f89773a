// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/reconfiguration.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

Reconfiguration::Reconfiguration(const Parts& parts, GivenList& given)
    : p_(parts), given_(given), list_told_(p_.config.nodes_hash) {}

bool Reconfiguration::give(const NodeList& nodes, bool free_to_choose) {
  PEAL_ASSERT(nodes.hash != 0 && !nodes.acceptors.empty());
  PEAL_ASSERT(std::binary_search(nodes.nodes.begin(), nodes.nodes.end(), p_.config.self.node));
  given_.give(nodes);
  if (p_.state.known() || !free_to_choose || nodes.hash == p_.state.nodes().hash) return false;
  p_.state = OrderState(nodes_of(nodes));
  list_told_ = nodes.hash;
  return true;
}

void Reconfiguration::know_nodes() {
  const NodeList* next = given_.next(p_.state);
  p_.peers.know(p_.state.nodes(), next == nullptr ? std::vector<NodeId>{} : next->nodes);
}

void Reconfiguration::take_list(ViewId view, Effects& out) {
  PEAL_ASSERT(p_.state.nodes().number >= number_ && "lists never go back");
  number_ = p_.state.nodes().number;
  std::map<NodeId, std::uint64_t> lives;
  for (const Peer& peer : p_.peers.all()) lives[peer.node] = peer.life;
  know_nodes();
  for (const Peer& peer : p_.peers.all()) {
    const std::uint64_t before = lives[peer.node];
    if (before == 0 || peer.life == 0 || peer.life == before) continue;
    if (peer.self && !peer.acceptor) continue;  // the list names another incarnation of this node
    out.report({&event::acceptor_renewed, view, peer.member, 0, 0});
  }
  PEAL_PROBE("paxos.list_changed");
}

void Reconfiguration::report_list(ViewId view, Effects& out) {
  const std::uint64_t hash = p_.state.nodes().hash;
  // If the hash is the same, only the incarnations of acceptors have changed.
  if (hash == std::exchange(list_told_, hash)) return;
  const bool given = hash == given_.list().hash;
  if (given) out.report({&event::nodes_adopted, view, {}, hash, 0});
  // A node that starts with the pending list sees older lists become active until it is a member.
  // Nobody has to give it these older lists, so it does not report that it lacks them.
  const bool member = view.number != 0;
  if (!given && member && p_.peers.self().listed) {
    out.report({&event::nodes_not_given, view, {}, hash, 0});
  }
}

bool Reconfiguration::same_order(const wire::State& said) const {
  if ((said.next != 0) != p_.state.known()) return true;
  return said.first_list == p_.state.nodes().first;
}

void Reconfiguration::check_invariants() const {
  PEAL_ASSERT(number_ <= p_.state.nodes().number);
  PEAL_ASSERT(&given_ == &p_.given);
}

}  // namespace peal::order::paxos
