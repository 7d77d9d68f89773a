// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/follower.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace peal::sim::genuine::whitebox {
namespace {

Body copy_of(ByteView bytes) {
  return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

}  // namespace

void Follower::on_accept(const MemberId& from, const Accept& accept, order::Effects& out) {
  const DomainId domain = domain_of(accept.proposal.stamp);
  const bool right = p_.layout.domain_of(from.node) == domain &&
                     leader_of(accept.proposal.ballot) == from.node &&
                     !p_.store.is_far(accept.proposal.stamp);
  if (!right) return;
  const bool own = domain == p_.domain();
  if (own && !(p_.roster.is_member(from) && may_acknowledge())) return;
  if (own && accept.proposal.ballot != p_.rounds.current) return;
  Message* message = p_.store.know(accept.head);
  if (message == nullptr || accept.proposal.ballot < message->proposals[domain].ballot) return;
  message->proposals[domain] = accept.proposal;
  if (own && accept.has_body && message->body == nullptr) message->body = copy_of(accept.body);
  if (own && message->stamp == 0) return take(p_.store.stream_of(accept.head), out);
  acknowledge(*message, out);
}

/// Accepts the stamps of the next messages of the stream. A server accepts a sender's messages in
/// order, so that no later leader finds one of them without those before.
void Follower::take(Stream& stream, order::Effects& out) {
  while (true) {
    auto next = stream.open.find(stream.accepted + 1);
    if (PEAL_MUTANT(wb_any_index)) next = stream.open.upper_bound(stream.accepted);
    if (next == stream.open.end()) return;
    Message& message = next->second;
    const Proposal& own = message.proposals[p_.domain()];
    if (own.ballot != p_.rounds.current || message.body == nullptr) return;
    message.stamp = own.stamp;
    stream.accepted = next->first;
    p_.store.raise(own.stamp);
    acknowledge(message, out);
  }
}

/// A candidate has read the state of a server that promised it its ballot: what the server
/// acknowledged afterwards, nobody would know.
bool Follower::may_acknowledge() const {
  return p_.rounds.in_step() || PEAL_MUTANT(wb_recovering_acks);
}

/// With the acknowledgement, the server promises to give no later message a stamp below the key: it
/// raises its clock first. A majority of each domain does so before the message has its key.
void Follower::acknowledge(Message& message, order::Effects& out) {
  const Proposal& own = message.proposals[p_.domain()];
  const bool valid = message.stamp != 0 && own.stamp == message.stamp &&
                     own.ballot == p_.rounds.current && may_acknowledge();
  if (!valid) return;
  Key key = 0;
  for (const DomainId domain : message.head.to) {
    if (message.proposals[domain].ballot == 0) return;
    key = std::max(key, message.proposals[domain].stamp);
  }
  if (!PEAL_MUTANT(wb_clock_stays)) p_.store.raise(key);
  Ack ack{message.head, message.proposals};
  for (const DomainId domain : message.head.to) {
    p_.send(out, leader_of(message.proposals[domain].ballot), Kind::ack, Lane::control, ack);
  }
}

void Follower::acknowledge_all(order::Effects& out) {
  for (auto& [sender, stream] : p_.store.streams()) {
    for (auto& [index, message] : stream.open) acknowledge(message, out);
  }
}

/// A server whose application takes nothing stays behind like a slow one.
bool Follower::has_room() const {
  return p_.store.tip() < p_.store.applied() + 2 * std::uint64_t{p_.options.max_gap};
}

void Follower::on_deliver(Instant now, const MemberId& from, const Deliver& deliver,
                          order::Effects& out) {
  const bool right = p_.roster.is_member(from) && p_.rounds.in_step() &&
                     deliver.ballot == p_.rounds.current && leader_of(deliver.ballot) == from.node;
  if (!right || deliver.place <= p_.store.tip()) return;
  told(deliver.place);
  if (!has_room()) return;
  const Placed placed{deliver.head, deliver.stamp, deliver.key, nullptr};
  const bool next = deliver.place == p_.store.tip() + 1;
  if ((next || PEAL_MUTANT(wb_any_place)) && place(placed, out)) return place_early(out);
  if (early_.size() < kEarlyMax) early_.emplace(deliver.place, placed);
  if (next || !fetched_from_) fetch_at_ = std::min(fetch_at_, now + p_.options.retry / 4);
}

void Follower::on_entry(Instant now, const MemberId& from, const Entry& entry,
                        order::Effects& out) {
  if (!p_.roster.is_member(from) || !p_.rounds.in_step() || p_.rounds.leading) return;
  const bool near = entry.place <= p_.store.tip() + kEarlyMax;
  if (entry.place <= p_.store.tip() || !near || !has_room()) return;
  early_[entry.place] = {entry.head, entry.stamp, entry.key, copy_of(entry.body)};
  place_early(out);
  take(p_.store.stream_of(entry.head), out);
  if (!lags()) {
    fetched_from_.reset();
  } else if (fetched_from_ && p_.store.tip() >= *fetched_from_ + kEntriesMax) {
    fetch(now, out);
  }
}

/// Gives a message the next place. False if its unit is not here.
bool Follower::place(const Placed& next, order::Effects& out) {
  if (p_.store.is_ordered(next.head)) return false;
  const Message* known = p_.store.find(next.head);
  Message placed;
  if (known != nullptr) placed = *known;
  placed.head = next.head;
  if (placed.body == nullptr) placed.body = next.body;
  if (placed.body == nullptr) return false;
  placed.stamp = next.stamp;
  placed.key = next.key;
  if (placed.asked) p_.reply(out, placed);
  p_.store.append(std::move(placed));
  return true;
}

void Follower::place_early(order::Effects& out) {
  while (!early_.empty()) {
    const auto next = early_.begin();
    if (next->first > p_.store.tip() + 1) return;
    if (next->first == p_.store.tip() + 1 && !place(next->second, out)) return;
    early_.erase(next);
  }
}

void Follower::on_fetch(NodeId from, std::uint64_t after, order::Effects& out) const {
  const std::uint64_t last = std::min(p_.store.tip(), after + kEntriesMax);
  for (std::uint64_t place = after + 1; place <= last && place >= p_.store.first(); ++place) {
    const Message& message = p_.store.at(place);
    p_.send(out, from, Kind::entry, Lane::data,
            Entry{message.head, place, message.stamp, message.key, *message.body});
  }
}

void Follower::tick(Instant now, order::Effects& out) {
  if (!lags() || p_.rounds.leading || !p_.rounds.in_step()) return;
  if (now >= fetch_at_) fetch(now, out);
}

/// Asks the servers that have more in turn, beginning with the leader.
void Follower::fetch(Instant now, order::Effects& out) {
  fetch_at_ = now + p_.options.retry;
  if (!has_room()) return;
  std::vector<NodeId> able;
  const NodeId leader = leader_of(p_.rounds.current);
  p_.for_others([&](NodeId node) {
    if (p_.hearing.peer(node).said.tip <= p_.store.tip()) return;
    able.insert(node == leader ? able.begin() : able.end(), node);
  });
  if (able.empty()) able.push_back(leader);
  const std::uint64_t after = p_.store.tip();
  const bool again = fetched_from_ == after;
  asked_ = again ? asked_ + 1 : 0;
  fetched_from_ = after;
  p_.post.send(out, able[asked_ % able.size()], number(Kind::fetch), Lane::control,
               [after](wire::Writer& in) { in.u(after); });
}

}  // namespace peal::sim::genuine::whitebox
