// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/repair.h"

#include <algorithm>
#include <limits>

#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

/// Messages about which other servers are asked more than once, in each `Options::repair`. If many
/// messages wait, this is mostly since a domain cannot go on, and not since something was lost:
/// questions about all of them would take the network from what the domain needs to go on.
constexpr std::size_t kAgainAtOnce = 4;

}  // namespace

void Repair::on_timer(Instant now, Effects& out) {
  if (messages_.repair_at() > now) return;
  Instant next{std::numeric_limits<std::int64_t>::max()};
  again_.clear();
  for (Record* record : messages_.pending()) {
    if (record->repair_at > now) {
      next = std::min(next, record->repair_at);
    } else if (record->repair_gap > parts_.options.repair) {
      again_.push_back(record);
    } else {
      attempt(now, *record, out);
      next = std::min(next, record->repair_at);
    }
  }
  if (!again_.empty()) next = std::min(next, attempt_again(now, out));
  messages_.set_repair_at(next);
}

/// Those that have waited longest.
Instant Repair::attempt_again(Instant now, Effects& out) {
  if (now < again_at_) return again_at_;
  again_at_ = now + parts_.options.repair;
  const auto earlier = [](const Record* a, const Record* b) { return a->repair_at < b->repair_at; };
  std::stable_sort(again_.begin(), again_.end(), earlier);
  if (again_.size() > kAgainAtOnce) again_.resize(kAgainAtOnce);
  for (Record* record : again_) attempt(now, *record, out);
  return again_at_;
}

void Repair::attempt(Instant now, Record& record, Effects& out) {
  record.repair_at = now + record.repair_gap;
  record.repair_gap = std::min(record.repair_gap * 2, parts_.options.repair * kSlowestRepair);
  repair(record, out);
}

std::optional<Instant> Repair::deadline() const {
  if (messages_.pending().empty()) return std::nullopt;
  return messages_.repair_at();
}

bool Repair::is_destination(NodeIndex node, const Record& record) const {
  return ((record.head.to >> parts_.layout.role(node).domain) & 1U) != 0;
}

void Repair::repair(Record& record, Effects& out) {
  if (!record.has_body) {
    pull_body(record, out);
    if (record.key != 0) return;
  }
  if (record.key != 0) return;  // only the order is missing, or a message before this one
  if (record.own.key == 0 && !parts_.standing.leads()) {
    const auto leader = near_leader();
    if (leader && *leader != parts_.index && record.has_body) query(*leader, record.id, out);
    return;
  }
  ask_near(record, out);
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (((record.head.to >> domain) & 1U) == 0) continue;
    for (const NodeIndex server : parts_.layout.servers(domain)) {
      const Said& said = record.said[server];
      const bool agrees = said.acknowledged && said.digest == record.digest;
      if (server != parts_.index && !agrees) query(server, record.id, out);
    }
  }
}

/// Those that have not acknowledged may be unable to tell this server. Another one of its domain
/// may know the key by now: mostly the leader. It may be the only one that this server reaches.
void Repair::ask_near(const Record& record, Effects& out) {
  const std::vector<NodeIndex>& servers = parts_.layout.servers(parts_.domain);
  const bool first = record.repair_gap <= parts_.options.repair * 2;
  const auto leader = near_leader();
  const std::size_t turn = turn_++;
  const bool asks_leader = leader && (first || turn % 2 == 0);
  const NodeIndex server = asks_leader ? *leader : servers[turn / 2 % servers.size()];
  if (server != parts_.index) query(server, record.id, out);
}

/// The leader of this server's domain, which may be this server.
std::optional<NodeIndex> Repair::near_leader() const {
  const auto leader = parts_.layout.index_of(parts_.standing.promised.coordinator.node);
  const bool near = leader && parts_.layout.role(*leader).domain == parts_.domain;
  return near ? leader : std::nullopt;
}

/// From the leader first, then from the other servers in turn.
void Repair::pull_body(const Record& record, Effects& out) {
  std::vector<NodeIndex> servers = parts_.layout.servers(parts_.domain);
  for (unsigned domain = 1; domain <= parts_.layout.domains(); ++domain) {
    if (domain == parts_.domain || ((record.head.to >> domain) & 1U) == 0) continue;
    const std::vector<NodeIndex>& others = parts_.layout.servers(domain);
    servers.insert(servers.end(), others.begin(), others.end());
  }
  std::erase(servers, parts_.index);
  if (servers.empty()) return;
  const bool first = record.repair_gap <= parts_.options.repair * 2;
  const auto leader = near_leader();
  if (first && leader && *leader != parts_.index) return pull(*leader, record.id, out);
  pull(servers[turn_++ % servers.size()], record.id, out);
}

void Repair::relay(NodeIndex node, const Record& record, Effects& out) {
  const ByteView unit = record.kept.empty() ? record.body.view() : ByteView(record.kept);
  if (unit.empty()) return;
  ++parts_.counts.relays;
  send_relay(parts_, node, {record.id.sender, record.head}, unit, out);
}

void Repair::pull(NodeIndex node, const wire::MessageId& message, Effects& out) {
  ++parts_.counts.pulls;
  send(node, wire::RamcastKind::pull, {message, 0, {}}, out);
}

void Repair::query(NodeIndex node, const wire::MessageId& message, Effects& out) {
  ++parts_.counts.queries;
  send(node, wire::RamcastKind::query, {message, 0, {}}, out);
}

void Repair::send(NodeIndex node, wire::RamcastKind kind, const wire::AboutMessage& about,
                  Effects& out) {
  parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_about_message(header, kind, about, bytes);
  });
}

// ---- what others ask and tell ----

void Repair::on_pull(NodeIndex node, const wire::MessageId& message, Effects& out) {
  const Record* record = messages_.find(message);
  if (record == nullptr || !is_destination(node, *record)) return;
  relay(node, *record, out);
}

void Repair::on_query(NodeIndex node, const wire::MessageId& message, Effects& out) {
  const Record* record = messages_.find(message);
  if (record == nullptr) {
    const Row* row = messages_.find_row(message.sender);
    if (const Seq key = row == nullptr ? 0 : row->past_key(message.number); key != 0) {
      return send(node, wire::RamcastKind::answer, {message, key, {}}, out);
    }
    // This server lacks the message altogether. Without a base it would not take it.
    if (parts_.standing.has_order()) pull(node, message, out);
    return;
  }
  if (!is_destination(node, *record)) return;
  const unsigned domain = parts_.layout.role(node).domain;
  const wire::Round round =
      domain == parts_.domain ? parts_.standing.synchronized : acks_.found_in(*record, domain);
  if (record->key != 0) {
    send(node, wire::RamcastKind::answer, {message, record->key, round}, out);
    return;
  }
  acks_.repeat(node, *record);
  if (!record->has_body) pull(node, message, out);
}

void Repair::on_answer(const wire::AboutMessage& answer, Lead& lead) {
  Record* record = messages_.find(answer.message);
  if (record == nullptr) return;
  // A key of an order that this domain has lost may be below one that was delivered in this one.
  const bool current = record->own.round == parts_.standing.synchronized;
  const bool below = current && record->own.key != 0 && answer.key < record->own.key;
  const bool foreign = answer.round != wire::Round{} && parts_.standing.is_foreign(answer.round);
  if (!parts_.clock.believes(answer.key) || below || foreign) {
    return parts_.drop(wire::Drop::bad_value);
  }
  if (answer.round == wire::Round{}) return lead.on_hearsay(*record, answer.key);
  // A key that was found in a later round of this domain may come behind stamps of that round.
  const bool later = answer.round > parts_.standing.synchronized;
  if (later && !PEAL_MUTANT(rc_later_rounds_count)) return;
  acks_.commit(*record, answer.key);
}

void Repair::on_relay(Instant now, const wire::MessageRelay& relay, const BufferRef& unit) {
  inbox_.put_relayed(now, relay.sender, relay.head, unit);
}

}  // namespace peal::order::ramcast
