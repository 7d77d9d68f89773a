// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/deliveries.h"

#include <algorithm>
#include <array>

namespace peal::sim::genuine::literal {

bool Deliveries::deliver(Instant now, order::Host& host, Sender& sender, order::Effects& out) {
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

/// What the key of the message is not below; 0 if nothing is known.
Key Deliveries::lowest(const Message& message) const {
  if (message.key != 0) return message.key;
  const Proposal& own = message.columns[p_.domain()];
  return own.round == p_.standing.current ? own.stamp : 0;
}

/// The message that is delivered next, or null.
Message* Deliveries::next() {
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

void Deliveries::reply(Instant now, const Message& message) {
  const MemberId& client = message.head.sender;
  if (message.head.to.has(p_.layout.domain_of(client.node))) return;
  std::array<std::byte, kCellBytes> cell;
  const std::size_t bytes = write_record(cell, [&](wire::Writer& out) {
    write_name(out, {client, message.head.number, 0});
    out.u(message.key);
  });
  p_.links.write(now, client.node, Area::replies,
                 p_.places.of(Area::replies, client.node, message.head.number),
                 ByteView(cell).first(bytes));
}

void Deliveries::release(Instant now, Key released) {
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
    std::array<std::byte, kCellBytes> cell;
    const std::size_t bytes = write_record(cell, [&](wire::Writer& out) {
      write_name(out, {name, 0, index});
    });
    p_.links.write(now, client.node, Area::replies, p_.places.release_cell(),
                   ByteView(cell).first(bytes));
  }
}

}  // namespace peal::sim::genuine::literal
