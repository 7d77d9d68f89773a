// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/tasks.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::sim::genuine::literal {

Tasks::Tasks(const Parts& parts) : p_(parts), scratch_(parts.places.unit_cell_bytes()) {
  for (const DomainId domain : p_.layout.all()) leaders_[domain] = p_.layout.nodes(domain).front();
}

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
      start_timer(now, *message);
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
    start_timer(now, *message);
  }
  if (p_.options.has(Published::x9)) {  // its state is MCAST again, whatever it was
    message->done = false;
    message->key = 0;
  }
  p_.store.open().insert({head.sender, index});
  if (!p_.standing.in_step()) return;
  if (p_.standing.leads) write_stamp(now, *message, true);
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

void Tasks::start_timer(Instant now, Message& message) const {
  message.wait = p_.options.retry;
  message.retry_at = now + message.wait;
}

// ---- Task 2: stamps ----

void Tasks::propose(Instant now) {
  for (auto& [client, stream] : p_.store.streams()) {
    while (true) {
      const auto found = stream.messages.find(stream.proposed + 1);
      if (found == stream.messages.end() || found->second.body == nullptr) break;
      ++stream.proposed;
      Message& message = found->second;
      const bool stamped = message.columns[p_.domain()].round == p_.standing.current;
      if (!stamped && message.key == 0) propose(now, message);
    }
  }
  took_over_ = false;
}

void Tasks::propose(Instant now, Message& message) {
  p_.store.raise(message.head.floor);
  const std::uint64_t clock = p_.store.next_clock();
  // As published, stamps have the number of the process, but those of task 9 that of the domain.
  const bool of_process = p_.options.has(Published::x12) && !took_over_;
  const std::uint32_t low = of_process ? p_.self().value : p_.domain();
  message.columns[p_.domain()] = {p_.standing.current, stamp_of(clock, low)};
  message.placed = 0;
  start_timer(now, message);
  write_log(message);
  write_stamp(now, message, false);
}

/// T of the members of this domain.
void Tasks::write_log(const Message& message) {
  for (const NodeId member : granted_) write_log(message, member);
}

void Tasks::write_log(const Message& message, NodeId member) {
  const Place place = p_.store.place_of(message.head);
  const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
    write_name(out, Parts::name_for(message.head, p_.domain()));
    write_head(out, message.head);
    out.u(message.columns[p_.domain()].round);
    out.u(message.columns[p_.domain()].stamp);
  });
  under_way_[++token_] = place;
  p_.links.write_log(p_.member(member), p_.standing.current,
                     p_.places.of(Area::log, place.first.node, place.second),
                     ByteView(scratch_).first(bytes), token_);
}

std::uint64_t Tasks::foreign_offset(const Place& place, DomainId domain) const {
  return p_.places.of(Area::log, place.first.node, place.second) +
         log_front_bytes(p_.layout.count()) + kForeignBytes * (domain - 1U);
}

void Tasks::write_foreign(const Message& message, DomainId domain, NodeId member) {
  const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
    write_name(out, Parts::name_for(message.head, p_.domain()));
    out.u(message.columns[domain].round);
    out.u(message.columns[domain].stamp);
  });
  under_way_[++token_] = {};
  p_.links.write_log(p_.member(member), p_.standing.current,
                     foreign_offset(p_.store.place_of(message.head), domain),
                     ByteView(scratch_).first(bytes), token_);
}

/// T of the leaders of the other domains; after a failure, of all their servers.
void Tasks::write_stamp(Instant now, const Message& message, bool to_all) {
  const Proposal& own = message.columns[p_.domain()];
  if (own.round != p_.standing.current) return;
  p_.for_servers(message.head, [&](NodeId node, DomainId domain) {
    if (domain == p_.domain() || (!to_all && node != leaders_[domain])) return;
    const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
      write_name(out, Parts::name_for(message.head, domain));
      out.u(own.round);
      out.u(own.stamp);
    });
    p_.links.write(now, node, Area::stamps,
                   p_.places.of(Area::stamps, message.head.sender.node, message.head.index[domain]),
                   ByteView(scratch_).first(bytes));
  });
}

void Tasks::finish_writes() {
  port::WriteDone done;
  while (p_.links.next_done(done)) {
    if (done.token == 0) continue;
    const auto found = under_way_.find(done.token);
    if (found == under_way_.end()) continue;
    Message* message = p_.store.find(found->second);
    under_way_.erase(found);
    if (done.end == port::WriteEnd::denied) {
      // Another server leads, and this one will hear of it.
      p_.standing.leads = p_.standing.active = false;
    } else if (done.end == port::WriteEnd::ok && message != nullptr) {
      ++message->placed;
    }
  }
}

/// In the order of the stamps: a member that sees one knows all lower ones.
void Tasks::grant(NodeId member) {
  if (!granted_.insert(member).second) return;
  std::map<Key, const Message*> stamped;
  for (const auto& [client, stream] : p_.store.streams()) {
    for (const auto& [index, message] : stream.messages) {
      const Proposal& own = message.columns[p_.domain()];
      if (own.round == p_.standing.current) stamped.emplace(own.stamp, &message);
    }
  }
  for (const auto& [stamp, message] : stamped) write_log(*message, member);
  for (const auto& [stamp, message] : stamped) {
    for (const DomainId domain : message->head.to) {
      const bool known = domain != p_.domain() && message->columns[domain].round != 0;
      if (known) write_foreign(*message, domain, member);
    }
  }
}

void Tasks::begin_round() {
  took_over_ = true;
  granted_.clear();
  under_way_.clear();
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
    if (!p_.links.load(Area::log, leader, foreign_offset(place, domain), cell)) return;
    std::optional<wire::ByteReader> in = open_record(cell);
    if (!in) continue;
    const Name name = read_name(*in);
    const auto round = in->u<Round>();
    const auto stamp = in->u<Key>();
    const bool same = name.sender == place.first && name.index == place.second;
    if (same && round != 0) message.columns[domain] = {round, stamp};
  }
}

// ---- Task 4: stamps of other domains ----

void Tasks::read_foreign(Message& message) {
  p_.for_servers(message.head, [&](NodeId node, DomainId domain) {
    if (domain == p_.domain()) return;
    std::array<std::byte, kCellBytes> cell;
    const Place place = p_.store.place_of(message.head);
    const std::uint64_t offset = p_.places.of(Area::stamps, place.first.node, place.second);
    if (!p_.links.load(Area::stamps, node, offset, cell)) return;
    std::optional<wire::ByteReader> in = open_record(cell);
    if (!in) return;
    const Name name = read_name(*in);
    const auto round = in->u<Round>();
    const auto stamp = in->u<Key>();
    if (name.sender != place.first || name.index != place.second) return;
    if (round <= message.foreign[domain].round) return;
    message.foreign[domain] = {round, stamp};
    leaders_[domain] = node;
  });
}

void Tasks::copy_foreign(Message& message) {
  if (message.columns[p_.domain()].round != p_.standing.current) return;
  // As published, this needs the state MCAST.
  if (p_.options.has(Published::x3) && message.key != 0) return;
  for (const DomainId domain : message.head.to) {
    const Proposal& theirs = message.foreign[domain];
    if (domain == p_.domain() || theirs.round <= message.columns[domain].round) continue;
    // As published, the own domain's stamp is looked at.
    const bool own = p_.options.has(Published::x1);
    p_.store.raise(own ? message.columns[p_.domain()].stamp : theirs.stamp);
    message.columns[domain] = theirs;
    for (const NodeId member : granted_) write_foreign(message, domain, member);
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

// ---- Task 6: deliveries ----

/// What the key of the message is not below; 0 if nothing is known.
Key Tasks::lowest(const Message& message) const {
  if (message.key != 0) return message.key;
  const Proposal& own = message.columns[p_.domain()];
  return own.round == p_.standing.current ? own.stamp : 0;
}

/// The message that is delivered next, or null.
Message* Tasks::next() {
  Message* first = nullptr;
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message == nullptr || message->done) continue;
    const Key key = lowest(*message);
    if (key == 0) {
      // As published, its stamp is the lowest of all.
      if (p_.options.has(Published::x11) && message->body != nullptr) return nullptr;
      continue;
    }
    if (first == nullptr || key < lowest(*first)) first = message;
  }
  return first != nullptr && first->key != 0 && first->body != nullptr ? first : nullptr;
}

bool Tasks::deliver(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
  if (!p_.standing.active || !p_.standing.in_step()) return false;
  Message* message = next();
  if (message == nullptr || host.receive_room_units() == 0) return false;
  BufferRef unit = p_.post.copy(message->body);
  if (!unit) return false;
  const Head& head = message->head;
  if (head.sender == p_.post.self()) {
    sender.place(p_.roster.view(), head.number, message->key, out);
  }
  message->done = true;
  p_.store.open().erase(p_.store.place_of(head));
  Stream& stream = p_.store.stream(head.sender);
  while (true) {
    const auto found = stream.messages.find(stream.done + 1);
    if (found == stream.messages.end() || !found->second.done) break;
    ++stream.done;
  }
  p_.standing.delivered = std::max(p_.standing.delivered, message->key);
  reply(now, *message);
  order::Delivery delivery;
  delivery.view = p_.roster.view();
  delivery.seq = message->key;
  delivery.origin = head.sender;
  delivery.service = head.service;
  delivery.domains = p_.layout.to_host(head.to);
  delivery.unit = std::move(unit);
  out.deliver(delivery);
  return true;
}

void Tasks::reply(Instant now, const Message& message) {
  const MemberId& client = message.head.sender;
  if (message.head.to.has(p_.layout.domain_of(client.node))) return;
  const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
    write_name(out, {client, message.head.number, 0});
    out.u(message.key);
  });
  p_.links.write(now, client.node, Area::replies,
                 p_.places.of(Area::replies, client.node, message.head.number),
                 ByteView(scratch_).first(bytes));
}

void Tasks::release(Instant now, Key released) {
  for (auto& [client, stream] : p_.store.streams()) {
    if (client == p_.post.self() || p_.links.peer(client.node) != client) continue;
    std::uint64_t index = stream.told;
    while (index < stream.done) {
      const auto found = stream.messages.find(index + 1);
      if (found != stream.messages.end() && found->second.key > released) break;
      ++index;
    }
    if (index == stream.told) continue;
    stream.told = index;
    const MemberId name = client;
    const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
      write_name(out, {name, 0, index});
    });
    p_.links.write(now, client.node, Area::replies, p_.places.release_cell(),
                   ByteView(scratch_).first(bytes));
  }
}

// ---- all together ----

bool Tasks::run(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
  finish_writes();
  read_units(now);
  if (!p_.standing.in_step()) return false;
  if (p_.standing.leads) {
    if (p_.standing.active) propose(now);
  } else {
    read_log();
  }
  const bool orders_first = p_.options.has(Published::x3);
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message == nullptr) continue;
    if (p_.standing.leads) read_foreign(*message);
    read_acks(*message);
    if (orders_first) find_key(*message);
    if (p_.standing.leads) copy_foreign(*message);
    acknowledge(now, *message);
    message->said[p_.self()] = {0, message->acked, message->digest};
    find_key(*message);
  }
  bool any = false;
  while (deliver(now, host, sender, out)) any = true;
  return any;
}

void Tasks::retry(Instant now, order::Effects& out) {
  for (const Place& place : p_.store.open()) {
    Message* message = p_.store.find(place);
    if (message == nullptr || message->done || message->retry_at > now) continue;
    if (message->wait.ns == 0) {  // its stamp came first
      start_timer(now, *message);
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
    if (p_.standing.in_step() && p_.standing.leads) write_stamp(now, *message, true);
  }
}

}  // namespace peal::sim::genuine::literal
