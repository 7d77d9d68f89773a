// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/company.h"

#include <algorithm>
#include <bit>

#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

using wire::Fitness;
using wire::NodeSet;

/// Maximum wait for further nodes (just_found()), in units of Options::suspect. The wait exceeds
/// the time for which past losses count against a link that is good again. If there are several
/// ensembles, each sends fewer link checks (link_rhythm.h), so losses count for longer.
constexpr std::int64_t kWaitForOthers = 15;
constexpr std::int64_t kWaitForOthersOfSeveral = 45;
/// The wait is at most this many times as long as the time without enough working links.
constexpr std::int64_t kWaitTimes = 2;

/// If the quick search finds no set, all sets of candidates are tried, provided that there are at
/// most this many candidates.
constexpr std::size_t kSearchMax = 12;

bool is_acceptor(const Peer& peer) { return peer.acceptor && !peer.silent; }
bool hangs(const Peer& peer) {
  return peer.named && peer.state.disk_hangs && !PEAL_MUTANT(px_disk_not_told);
}

std::size_t common(const NodeSet& a, const NodeSet& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < NodeSet::kWords; ++i) {
    count += static_cast<std::size_t>(std::popcount(a.words()[i] & b.words()[i]));
  }
  return count;
}

/// True if the peer's packets arrive. A node outside the view must be heard for a while before it
/// is admitted. For a member of the view it is enough that it is heard again: many links may have
/// failed together, and they recover one after the other.
bool arrives(const Peer& peer, const OrderState& state) {
  if (peer.self) return true;
  if (peer.member.epoch == 0) return false;
  return state.has(peer.member) ? !peer.reception.failing() : peer.reception.works();
}

/// Does the peer's report refer to the list that is active here? If not, the node indexes in the
/// report are not valid here.
bool speaks_of_list(const Peer& peer, const OrderState& state) {
  return peer.state.next != 0 && state.known() && peer.state.first_list == state.nodes().first &&
         peer.state.list == state.nodes().number;
}

}  // namespace

// ---- links ----

/// Reads the nodes' reports about their links. Returns true if some link fails between nodes that
/// this node hears.
bool Company::read_links(const Peers& peers, const OrderState& state) {
  listed_.clear();
  heard_ = unheard_ = {};
  self_ = kNobody;
  for (const Peer& peer : peers.all()) {
    if (!peer.listed) continue;
    const std::size_t index = listed_.size();
    listed_.push_back(&peer);
    if (peer.self) self_ = index;
    if (peer.self || (!peer.suspected && peer.member.epoch != 0)) heard_.add(index);
    if (!arrives(peer, state) && state.known()) unheard_.add(index);
  }
  fails_.assign(listed_.size(), {});
  bool any = false;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (!heard_.has(i)) continue;
    const Peer& peer = *listed_[i];
    if (!peer.self && !speaks_of_list(peer, state)) continue;
    const NodeSet& row = peer.self ? unheard_ : peer.state.unheard;
    if (PEAL_MUTANT(px_links_not_told) && !peer.self) continue;
    for (std::size_t k = 0; k < listed_.size(); ++k) {
      if (k == i || !row.has(k) || !heard_.has(k)) continue;
      fails_[i].add(k);
      fails_[k].add(i);
      any = true;
    }
  }
  return any;
}

void Company::read_parts(const Merger* merger, const OrderState& state) {
  parts_.clear();
  in_company_of_all_ = {};
  fit_for_all_ = merger == nullptr || merger->fit_for_all() || PEAL_MUTANT(px_part_fit_alone);
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (merger == nullptr || merger->in_company_of_all(listed_[i]->node)) in_company_of_all_.add(i);
  }
  if (merger == nullptr || !state.known()) return;
  const wire::Nodes& counts = state.nodes();
  const auto read = [this](const std::vector<NodeId>& nodes) {
    NodeSet set;
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (std::binary_search(nodes.begin(), nodes.end(), listed_[i]->node)) set.add(i);
    }
    return set;
  };
  for (const NodeList& part : merger->parts({counts.hash, counts.all, counts.acceptors})) {
    parts_.push_back({read(part.nodes), read(part.acceptors)});
  }
}

std::size_t Company::failing(std::size_t index, const NodeSet& set) const {
  return common(fails_[index], set);
}

/// Is node `a` removed before node `b`? Both have equally many failing links, and `b` has the lower
/// index. Acceptors whose disk hangs are removed first, then nodes that do not vote, then the node
/// with the higher index.
bool Company::goes_before(std::size_t a, std::size_t b) const {
  const Peer& higher = *listed_[a];
  const Peer& lower = *listed_[b];
  if (hangs(higher) != hangs(lower)) return hangs(higher);
  return lower.named || !higher.named;
}

/// Removes nodes from the set until all links between its nodes work. The nodes with the most
/// failing links are removed first. `keep`: index of a node that stays; kNobody: none.
void Company::resolve(NodeSet& set, std::size_t keep) const {
  for (;;) {
    std::size_t worst = kNobody;
    std::size_t most = 0;
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (!set.has(i) || i == keep) continue;
      const std::size_t count = failing(i, set);
      if (count == 0 || count < most) continue;
      if (worst != kNobody && count == most && !goes_before(i, worst)) continue;
      worst = i;
      most = count;
    }
    if (worst == kNobody) return;
    set.remove(worst);
  }
}

// ---- choice ----

bool Company::is_enough(const Part& part, const NodeSet& set) const {
  std::size_t acceptors = 0;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const bool votes = part.acceptors.has(i) && set.has(i) && !listed_[i]->state.disk_hangs;
    if (votes) ++acceptors;
  }
  return acceptors * 2 > part.acceptors.size() && common(part.nodes, set) * 2 > part.nodes.size();
}

/// Does `set` have a majority of the acceptors and of the nodes, and meet `demand`?
bool Company::is_enough(const Peers& peers, const NodeSet& set, const Demand& demand) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const Peer& peer = *listed_[i];
    if (set.has(i) && is_acceptor(peer) && !(demand.moving && hangs(peer))) ++count;
  }
  if (count < peers.majority() || set.size() * 2 <= peers.listed()) return false;
  return !demand.parts || suits_parts(set);
}

bool Company::suits_parts(const NodeSet& set) const {
  return common(set, in_company_of_all_) == set.size() &&
         std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return is_enough(part, set); });
}

// The set should have a majority of the acceptors even without those whose disks hang. If there is
// no such set, disks are ignored. If no set has a majority of each part, parts are ignored: the
// ensembles of parts without a majority stop, and the others continue.
NodeSet Company::choose(const Peers& peers, const OrderState& state) const {
  for (const Demand& demand : {Demand{true, true}, Demand{true, false}}) {
    if (demand.parts && PEAL_MUTANT(px_parts_alone)) continue;
    const NodeSet set = choose(peers, state, demand);
    if (is_enough(peers, set, demand)) return set;
  }
  return choose(peers, state, Demand{});
}

NodeSet Company::candidates(const Demand& demand) const {
  NodeSet set = heard_;
  for (std::size_t i = 0; i < listed_.size() && demand.parts; ++i) {
    if (!in_company_of_all_.has(i)) set.remove(i);
  }
  return set;
}

/// Adds the node `index` to `set` if its links to all nodes of `set` work. With `demand.moving`, a
/// node whose disk does not hang is also added if its links fail only to acceptors whose disks
/// hang. Then these acceptors are removed from `set`.
void Company::let_in(std::size_t index, NodeSet& set, const Demand& demand) const {
  NodeSet left = set;
  const bool prefer =
      demand.moving && !hangs(*listed_[index]) && !PEAL_MUTANT(px_hung_member_stays);
  for (std::size_t i = 0; i < listed_.size() && prefer; ++i) {
    if (fails_[index].has(i) && hangs(*listed_[i])) left.remove(i);
  }
  if (failing(index, left) > 0) return;
  left.add(index);
  set = left;
}

// Members of the view stay, as long as their links work. A node outside the view is admitted if it
// has working links to all members whose disks make progress. If the resulting set is too small,
// membership in the view no longer matters.
NodeSet Company::choose(const Peers& peers, const OrderState& state, const Demand& demand) const {
  const NodeSet among = candidates(demand);
  NodeSet set;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    const Peer& peer = *listed_[i];
    if (among.has(i) && state.has(peer.member) && !peer.state.visiting) set.add(i);
  }
  resolve(set, kNobody);
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (among.has(i) && !set.has(i)) let_in(i, set, demand);
  }
  if (is_enough(peers, set, demand)) return set;
  set = among;
  resolve(set, kNobody);
  return is_enough(peers, set, demand) ? set : search(peers, among, demand);
}

/// If there are few candidates, tries all sets of them. Prefers the largest set; among equally
/// large sets, the one with the lowest nodes.
NodeSet Company::search(const Peers& peers, const NodeSet& among, const Demand& demand) const {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (among.has(i)) nodes.push_back(i);
  }
  NodeSet best;
  if (nodes.size() > kSearchMax || !is_enough(peers, among, demand)) return best;
  PEAL_PROBE("paxos.company_searched");
  for (std::uint32_t bits = 1; bits < (1U << nodes.size()); ++bits) {
    NodeSet set;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if ((bits >> k & 1U) != 0) set.add(nodes[k]);
    }
    if (set.size() <= best.size() || !is_enough(peers, set, demand)) continue;
    const bool works = std::all_of(nodes.begin(), nodes.end(), [&](std::size_t i) {
      return !set.has(i) || failing(i, set) == 0;
    });
    if (works) best = set;
  }
  return best;
}

/// The nodes with which this node could form a view.
NodeSet Company::around(std::size_t self) const {
  NodeSet set = heard_;
  for (std::size_t i = 0; i < listed_.size(); ++i) {
    if (fails_[self].has(i)) set.remove(i);
  }
  resolve(set, self);
  return set;
}

Fitness Company::judge(const Peers& peers, const OrderState& state, NodeSet& serve) {
  serve = chosen_ = heard_;
  if (self_ == kNobody || peers.live_acceptors() < peers.majority()) return Fitness::none;
  const NodeSet chosen = choose(peers, state);
  Fitness fitness = Fitness::hears;
  if (is_enough(peers, chosen, {})) chosen_ = chosen;
  if (is_enough(peers, chosen, {}) && chosen.has(self_)) {
    // If this set does not suit all parts, this node is less fit: another node, which hears other
    // nodes, may find a set that suits all parts.
    fitness = suits_parts(chosen) && fit_for_all_ ? Fitness::chosen : Fitness::connected;
    serve = chosen;
  } else if (const NodeSet own = around(self_); is_enough(peers, own, {})) {
    fitness = Fitness::connected;
    serve = own;
  }
  // A coordinator whose disk hangs cannot vote. If too few acceptors have disks that make progress,
  // another coordinator is no better.
  const bool others_move = is_enough(peers, serve, {true, false});
  if (hangs(*listed_[self_]) && others_move) fitness = Fitness::hears;
  return fitness;
}

/// True if this node waits for further nodes. Links that failed together recover one after the
/// other. So the first nodes whose links work wait for the other nodes, rather than exclude them
/// for a moment. Links also fail one after the other, so this node may lack enough working links
/// only for a moment. Then the wait is short.
bool Company::just_found(Instant now, const Config& config, const NodeSet& found) {
  const bool any = fitness_ >= Fitness::connected;
  if (!any && lost_at_ == Instant{}) lost_at_ = now;
  if (!any) found_at_ = {};
  if (any && found == heard_) lost_at_ = {};
  if (!any || lost_at_ == Instant{}) return false;
  if (found_at_ == Instant{}) found_at_ = now;
  const std::int64_t most = config.merger == nullptr ? kWaitForOthers : kWaitForOthersOfSeveral;
  const Duration wait =
      std::min(config.options.suspect * most, (found_at_ - lost_at_) * kWaitTimes);
  if (now - found_at_ < wait) return true;
  lost_at_ = found_at_ = {};
  return false;
}

void Company::look(Instant now, const Config& config, Peers& peers, const OrderState& state) {
  const bool any_fails = read_links(peers, state);
  read_parts(config.merger, state);
  NodeSet serve;
  fitness_ = judge(peers, state, serve);
  if (just_found(now, config, serve)) {
    fitness_ = Fitness::hears;
    serve = chosen_ = heard_;
  }
  if (any_fails) PEAL_PROBE("paxos.pair_fails");
  std::size_t index = 0;
  for (Peer& peer : peers.all()) {
    if (!peer.listed) {
      peer.works = peer.serve = peer.chosen = peer.self || !peer.suspected;
      continue;
    }
    const std::size_t i = index++;
    peer.works = peer.self || (heard_.has(i) && !(self_ != kNobody && fails_[self_].has(i)));
    peer.serve = peer.self || serve.has(i);
    peer.chosen = chosen_.has(i);
  }
}

}  // namespace peal::order::paxos
