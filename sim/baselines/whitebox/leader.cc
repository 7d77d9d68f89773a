// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/leader.h"

#include <algorithm>

namespace peal::sim::genuine::whitebox {

void Leader::begin(Instant now, order::Effects& out) {
  stamps_.clear();
  keys_.clear();
  for (auto& [sender, stream] : p_.store.streams()) {
    for (auto& [index, message] : stream.open) {
      if (message.stamp == 0) continue;
      stamps_.insert(place_of(message.stamp, message));
      message.wait = p_.options.retry;
      message.retry_at = now;
    }
  }
  retry(now, out);
  propose_all(now, out);
}

bool Leader::may_propose(Instant now) const {
  if (open_count() >= p_.options.max_gap) return false;
  std::uint64_t applied = p_.store.applied();
  p_.for_others([&](NodeId node) {
    // A server that is heard, and does not hear a majority, catches up later.
    const Beat& said = p_.hearing.peer(node).said;
    if (p_.hearing.is_live(now, node) && said.fit) applied = std::min(applied, said.applied);
  });
  return p_.store.tip() < applied + p_.options.max_gap;
}

void Leader::propose_all(Instant now, order::Effects& out) {
  for (auto& [sender, stream] : p_.store.streams()) propose(now, stream, out);
}

void Leader::propose(Instant now, Stream& stream, order::Effects& out) {
  while (p_.rounds.leading && may_propose(now)) {
    auto next = stream.open.find(stream.accepted + 1);
    if (PEAL_MUTANT(wb_any_index)) next = stream.open.upper_bound(stream.accepted);
    if (next == stream.open.end() || next->second.body == nullptr) return;
    Message& message = next->second;
    if (p_.store.is_far(message.head.floor)) return;
    if (!PEAL_MUTANT(wb_floor_ignored)) p_.store.raise(message.head.floor);
    message.stamp = p_.store.next_stamp();
    message.proposals[p_.domain()] = {p_.rounds.current, message.stamp};
    message.wait = p_.options.retry;
    message.retry_at = now + message.wait;
    stream.accepted = next->first;
    stamps_.insert(place_of(message.stamp, message));
    send_accepts(message, true, out);
  }
}

/// `all`: also to servers that have acknowledged the proposal.
void Leader::send_accepts(const Message& message, bool all, order::Effects& out) const {
  const Proposal& own = message.proposals[p_.domain()];
  DomainSet to = message.head.to;
  if (PEAL_MUTANT(wb_tells_all_domains)) to = p_.layout.all();
  for (const DomainId domain : to) {
    for (const NodeId node : p_.layout.nodes(domain)) {
      if (!all && has_acked(message, node)) continue;
      Accept accept{message.head, own, domain == p_.domain(), {}};
      if (accept.has_body) accept.body = *message.body;
      p_.send(out, node, Kind::accept, Lane::data, accept);
    }
  }
}

/// True if the server has acknowledged the newest proposals that are known here.
bool Leader::has_acked(const Message& message, NodeId node) const {
  const auto acked = message.acks.find(node);
  if (acked == message.acks.end()) return false;
  for (const DomainId domain : message.head.to) {
    if (acked->second[domain].ballot < message.proposals[domain].ballot) return false;
  }
  return true;
}

void Leader::answer(const Message& message, order::Effects& out) const {
  if (message.head.to.size() == 1) return;
  // In the order, the proposal may be one of an earlier ballot: its stamp holds in all ballots.
  Message again = message;
  again.proposals[p_.domain()] = {p_.rounds.current, message.stamp};
  send_accepts(again, true, out);
}

void Leader::on_ack(Instant now, const MemberId& from, const Ack& ack, order::Effects& out) {
  Message* message = p_.store.find(ack.head);
  if (!p_.rounds.leading || message == nullptr || p_.store.is_ordered(ack.head)) return;
  if (message->stamp == 0 || message->key != 0) return;
  if (ack.proposals[p_.domain()] != Proposal{p_.rounds.current, message->stamp}) return;
  message->acks[from.node] = ack.proposals;
  if (!is_settled(*message, ack.proposals)) return;
  for (const DomainId domain : message->head.to) {
    message->key = std::max(message->key, ack.proposals[domain].stamp);
    message->proposals[domain] = ack.proposals[domain];
  }
  if (!PEAL_MUTANT(wb_clock_stays)) p_.store.raise(message->key);
  stamps_.erase(place_of(message->stamp, *message));
  const Place last = place_of(message->key, *message);
  keys_.insert(last);
  order(now, last, out);
}

/// True if a majority of each domain has acknowledged these proposals.
bool Leader::is_settled(const Message& message, const Proposals& proposals) const {
  for (const DomainId domain : message.head.to) {
    std::size_t count = PEAL_MUTANT(wb_minority_commits) ? 1 : 0;
    for (const NodeId node : p_.layout.nodes(domain)) {
      const auto acked = message.acks.find(node);
      if (acked != message.acks.end() && acked->second == proposals) ++count;
    }
    if (count < p_.layout.majority(domain)) return false;
  }
  return true;
}

/// Places what has the lowest key, and no message below it can get a lower one. `last`: the message
/// whose key was just learned.
void Leader::order(Instant now, const Place& last, order::Effects& out) {
  while (!keys_.empty()) {
    const Place next = *keys_.begin();
    const bool blocked = !stamps_.empty() && stamps_.begin()->first < next.first;
    if (blocked && !PEAL_MUTANT(wb_stamps_skipped)) break;
    keys_.erase(PEAL_MUTANT(wb_other_one_placed) && keys_.contains(last) ? last : next);
    Stream& stream = p_.store.streams()[next.second.first];
    const auto open = stream.open.find(next.second.second);
    if (open == stream.open.end()) continue;
    place(open->second, out);
  }
  propose_all(now, out);
}

void Leader::place(Message& message, order::Effects& out) {
  Message placed = message;
  p_.store.append(placed);
  if (PEAL_MUTANT(wb_other_one_placed)) {  // it stays, and is placed again
    p_.store.stream_of(placed.head).open[p_.store.index_of(placed.head)] = placed;
  }
  const Deliver deliver{placed.head, p_.rounds.current, p_.store.tip(), placed.stamp, placed.key};
  p_.for_others([&](NodeId node) { p_.send(out, node, Kind::deliver, Lane::control, deliver); });
  p_.reply(out, placed);
}

void Leader::retry(Instant now, order::Effects& out) {
  for (const Place& place : stamps_) {
    const auto& [sender, index] = place.second;
    Message& message = p_.store.streams()[sender].open[index];
    if (message.retry_at > now) continue;
    message.retry_at = now + message.wait;
    message.wait = std::min(message.wait * 2, p_.options.retry * 16);
    send_accepts(message, false, out);
    // Another domain's leader that lacks the unit gets it; one that has it proposes again.
    const Multicast multicast{message.head, false, *message.body};
    for (const DomainId domain : message.head.to) {
      if (domain == p_.domain()) continue;
      for (const NodeId node : p_.layout.nodes(domain)) {
        p_.send(out, node, Kind::multicast, Lane::data, multicast);
      }
    }
  }
}

const Message* Leader::oldest() const {
  if (stamps_.empty()) return nullptr;
  const auto& [sender, index] = stamps_.begin()->second;
  return &p_.store.streams()[sender].open[index];
}

}  // namespace peal::sim::genuine::whitebox
