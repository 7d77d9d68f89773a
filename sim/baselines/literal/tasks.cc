// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/tasks.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim::genuine::literal {

// ---- what comes from clients ----

void Tasks::put_own(const Head& head, ByteView unit) {
  Message* message = p_.store.know(head);
  if (message == nullptr) return;
  message->body = std::make_shared<const std::vector<std::byte>>(unit.begin(), unit.end());
  Stream& stream = p_.store.stream(head.sender);
  stream.next = std::max(stream.next, p_.store.index_of(head) + 1);
}

/// Only the slot of the next index of each client is looked at.
void Tasks::read_units(Instant now) {
  for (const NodeId node : p_.places.nodes()) {
    const MemberId client = p_.links.peer(node);
    if (client == MemberId{} || node == p_.self()) continue;
    while (true) {
      const std::uint64_t index = p_.store.stream(client).next;
      // Another server may have told of it already.
      if (const Message* known = p_.store.find({client, index}); known && known->body) {
        ++p_.store.stream(client).next;
        continue;
      }
      const std::uint64_t offset = p_.places.of(Area::units, node, index);
      if (!p_.links.load(Area::units, node, offset, scratch_)) break;
      std::optional<wire::ByteReader> in = open_record(scratch_);
      if (!in) break;
      const Head head = read_head(*in, p_.layout);
      if (in->failed() || head.sender != client || p_.store.index_of(head) != index) break;
      Message* message = p_.store.know(head);
      ++p_.store.stream(client).next;
      if (message == nullptr || message->body != nullptr) continue;
      const ByteView unit = in->bytes(in->remaining());
      message->body = std::make_shared<const std::vector<std::byte>>(unit.begin(), unit.end());
      message->start_timer(now, p_.options.retry);
    }
  }
}

/// Task 10: another server has a message that waits, and writes it to all.
void Tasks::on_relay(Instant now, const Head& head, ByteView unit) {
  Message* message = p_.store.know(head);
  if (message == nullptr) return;
  Stream& stream = p_.store.stream(head.sender);
  const std::uint64_t index = p_.store.index_of(head);
  if (message->body == nullptr && index == stream.next) {
    message->body = std::make_shared<const std::vector<std::byte>>(unit.begin(), unit.end());
    ++stream.next;
    message->start_timer(now, p_.options.retry);
  }
  if (p_.options.has(Published::x9)) {  // its state is MCAST again, whatever it was
    message->done = false;
    message->key = 0;
  }
  p_.store.open().insert({head.sender, index});
  if (!p_.standing.in_step()) return;
  if (p_.standing.leads) leader_.write_stamp(now, *message, true);
  if (message->acked != 0) write_ack(now, *message);
}

/// The client may have ended before it wrote the unit here, and whoever has delivered the message
/// does not relay it.
void Tasks::on_pull(NodeId from, const Head& head, order::Effects& out) {
  const Message* message = p_.store.find(p_.store.place_of(head));
  if (message != nullptr && message->body != nullptr) relay(from, *message, out);
}

void Tasks::relay(NodeId to, const Message& message, order::Effects& out) {
  p_.post.send(out, to, number(Kind::relay), Lane::data, [&](wire::Writer& in) {
    write_head(in, message.head);
    in.bytes(*message.body);
  });
}

void Tasks::begin_round() {
  leader_.begin_round();
  for (auto& [client, stream] : p_.store.streams()) {
    for (auto& [index, message] : stream.messages) message.digest = message.acked = 0;
  }
}

// ---- what the own leader writes ----

/// In the order of the leader's writes: what is here of one message implies all earlier stamps.
void Tasks::read_log() {
  for (const NodeId node : p_.places.nodes()) {
    const MemberId client = client_at(node);
    if (client == MemberId{}) continue;
    while (true) {
      const std::uint64_t index = p_.store.stream(client).log_next;
      // As published, a stamp is not seen before its message is.
      if (p_.options.has(Published::x4) && index >= p_.store.stream(client).next) break;
      if (!read_log_cell({client, index})) break;
      ++p_.store.stream(client).log_next;
    }
  }
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message != nullptr && place.second < p_.store.stream(place.first).log_next) {
      read_foreign_cells(place, *message);
    }
  }
}

/// The client, which may have ended before it said a word to this server: then the cell of its
/// first message names it. No client comes back.
MemberId Tasks::client_at(NodeId node) {
  if (node == p_.self()) return p_.post.self();
  const MemberId heard = p_.links.peer(node);
  if (heard != MemberId{}) return heard;
  const auto known = p_.store.streams().lower_bound(MemberId{node, 0});
  if (known != p_.store.streams().end() && known->first.node == node) return known->first;
  const ByteSpan cell = ByteSpan(scratch_).first(log_front_bytes(p_.layout.count()));
  const std::uint64_t offset = p_.places.of(Area::log, node, 1);
  if (!p_.links.load(Area::log, leader_of(p_.standing.promised), offset, cell)) return {};
  std::optional<wire::ByteReader> in = open_record(cell);
  return in ? read_name(*in).sender : MemberId{};
}

/// The own domain's stamp of a message that is new here.
bool Tasks::read_log_cell(const Place& place) {
  const std::uint64_t offset = p_.places.of(Area::log, place.first.node, place.second);
  const ByteSpan cell = ByteSpan(scratch_).first(log_front_bytes(p_.layout.count()));
  if (!p_.links.load(Area::log, leader_of(p_.standing.promised), offset, cell)) return false;
  std::optional<wire::ByteReader> in = open_record(cell);
  if (!in) return false;
  const Name name = read_name(*in);
  if (name.sender != place.first || name.index != place.second) return false;
  const Head head = read_head(*in, p_.layout);
  const auto round = in->u<Round>();
  const auto stamp = in->u<Key>();
  Message* message = in->failed() ? nullptr : p_.store.know(head);
  if (message == nullptr) return false;
  message->columns[p_.domain()] = {round, stamp};
  p_.store.raise(stamp);  // Task 3: the clock follows the own leader's stamps
  return true;
}

void Tasks::read_foreign_cells(const Place& place, Message& message) {
  for (const DomainId domain : message.head.to) {
    std::array<std::byte, kForeignBytes> cell;
    const NodeId leader = leader_of(p_.standing.promised);
    if (!p_.links.load(Area::log, leader,
                       p_.places.of_foreign(place.first.node, place.second, domain), cell))
      return;
    std::optional<wire::ByteReader> in = open_record(cell);
    if (!in) continue;
    const Name name = read_name(*in);
    const auto round = in->u<Round>();
    const auto stamp = in->u<Key>();
    const bool same = name.sender == place.first && name.index == place.second;
    if (same && round != 0) message.columns[domain] = {round, stamp};
  }
}

// ---- Task 3: acknowledgements ----

void Tasks::acknowledge(Instant now, Message& message) {
  const Proposal& own = message.columns[p_.domain()];
  if (message.body == nullptr || own.round != p_.standing.current) return;
  if (p_.options.early_acks()) {
    if (message.acked == own.round) return;
    message.acked = own.round;
    return write_ack(now, message);
  }
  Digest digest;
  Key key = 0;
  for (const DomainId domain : message.head.to) {
    const Proposal& each = message.columns[domain];
    if (each.round == 0) return;
    digest.add(domain);
    digest.add(each.round);
    digest.add(each.stamp);
    key = std::max(key, each.stamp);
  }
  if (message.acked == own.round && message.digest == digest.value()) return;
  p_.store.raise(key);  // before anybody hears of it
  message.acked = own.round;
  message.digest = digest.value();
  write_ack(now, message);
}

void Tasks::write_ack(Instant now, const Message& message) {
  p_.for_servers(message.head, [&](NodeId node, DomainId domain) {
    if (node == p_.self()) return;
    const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
      write_name(out, Parts::name_for(message.head, domain));
      out.u(message.acked);
      out.u(message.digest);
    });
    p_.links.write(now, node, Area::acks,
                   p_.places.of(Area::acks, message.head.sender.node, message.head.index[domain]),
                   ByteView(scratch_).first(bytes));
  });
}

void Tasks::read_acks(Message& message) {
  const Place place = p_.store.place_of(message.head);
  const std::uint64_t offset = p_.places.of(Area::acks, place.first.node, place.second);
  p_.for_servers(message.head, [&](NodeId node, DomainId /*domain*/) {
    if (node == p_.self()) return;
    std::array<std::byte, kCellBytes> cell;
    if (!p_.links.load(Area::acks, node, offset, cell)) return;
    Said& said = message.said[node];
    if (said.checksum == load<std::uint32_t>(cell)) return;
    std::optional<wire::ByteReader> in = open_record(cell);
    if (!in) return;
    const Name name = read_name(*in);
    // As published, an acknowledgement does not say of which message in this slot it is.
    const bool same = name.sender == place.first && name.index == place.second;
    if (!same && !p_.options.has(Published::x8)) return;
    said.checksum = load<std::uint32_t>(cell);
    said.round = in->u<Round>();
    said.digest = in->u<std::uint64_t>();
  });
  message.said[p_.self()] = {0, message.acked, message.digest};
}

// ---- Task 5: keys ----

bool Tasks::is_settled(const Message& message, DomainId domain) const {
  const Proposal& stamp = message.columns[domain];
  // As published, it does not matter whether the stamp has come.
  if (stamp.round == 0 && !p_.options.has(Published::x2)) return false;
  std::size_t count = 0;
  for (const NodeId node : p_.layout.nodes(domain)) {
    const auto found = message.said.find(node);
    if (found == message.said.end() || found->second.round == 0) continue;
    const bool same = p_.options.early_acks() || p_.options.has(Published::x8)
                          ? stamp.round == 0 || found->second.round == stamp.round
                          : found->second.digest == message.digest;
    count += same ? 1U : 0U;
  }
  if (domain == p_.domain() && p_.options.fast() && p_.standing.leads &&
      message.head.to.size() == 1) {
    count = std::max(count, message.placed + 1);
  }
  return count >= p_.layout.majority(domain);
}

void Tasks::find_key(Message& message) {
  if (message.key != 0) return;
  const Proposal& own = message.columns[p_.domain()];
  if (own.round != p_.standing.current || !p_.standing.in_step()) return;
  Proposals& columns = message.columns;
  const Proposals before = columns;
  if (p_.options.has(Published::x3) && p_.standing.leads) {
    for (const DomainId domain : message.head.to) {
      if (columns[domain].round < message.foreign[domain].round) {
        columns[domain] = message.foreign[domain];
      }
    }
  }
  const bool vector = !p_.options.early_acks();
  bool all = !vector || message.digest != 0;
  Key key = 0;
  for (const DomainId domain : message.head.to) {
    all = all && is_settled(message, domain);
    key = std::max(key, columns[domain].stamp);
  }
  if (!all) {
    columns = before;
    return;
  }
  message.key = key;
  if (vector) p_.store.raise(key);
}

// ---- all together ----

bool Tasks::run(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
  leader_.finish_writes();
  read_units(now);
  if (!p_.standing.in_step()) return false;
  if (p_.standing.leads) {
    if (p_.standing.active) leader_.propose(now);
  } else {
    read_log();
  }
  const bool orders_first = p_.options.has(Published::x3);
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message == nullptr) continue;
    if (p_.standing.leads) leader_.read_foreign(*message);
    read_acks(*message);
    if (orders_first) find_key(*message);
    if (p_.standing.leads) leader_.copy_foreign(*message);
    acknowledge(now, *message);
    message->said[p_.self()] = {0, message->acked, message->digest};
    find_key(*message);
  }
  bool any = false;
  while (deliveries_.deliver(now, host, sender, out)) any = true;
  return any;
}

void Tasks::retry(Instant now, order::Effects& out) {
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message == nullptr || message->done || message->retry_at > now) continue;
    if (message->wait.ns == 0) {  // its stamp came first
      message->start_timer(now, p_.options.retry);
      continue;
    }
    message->wait = std::clamp(message->wait * 2, p_.options.retry, p_.options.retry * 16);
    message->retry_at = now + message->wait;
    p_.for_servers(message->head, [&](NodeId node, DomainId /*domain*/) {
      if (node == p_.self()) return;
      if (message->body != nullptr) return relay(node, *message, out);
      p_.post.send(out, node, number(Kind::pull), Lane::data,
                   [&](wire::Writer& in) { write_head(in, message->head); });
    });
    if (p_.standing.in_step() && p_.standing.leads) leader_.write_stamp(now, *message, true);
  }
}

}  // namespace peal::sim::genuine::literal
