// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/literal/leader.h"

#include <algorithm>

namespace peal::sim::genuine::literal {

Leader::Leader(const Parts& parts) : p_(parts), scratch_(log_cell_bytes(parts.layout.count())) {
  for (const DomainId domain : p_.layout.all()) leaders_[domain] = p_.layout.nodes(domain).front();
}

void Leader::propose(Instant now) {
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

void Leader::propose(Instant now, Message& message) {
  p_.store.raise(message.head.floor);
  const std::uint64_t clock = p_.store.next_clock();
  // As published, stamps have the number of the process, but those of task 9 that of the domain.
  const bool of_process = p_.options.has(Published::x12) && !took_over_;
  const std::uint32_t low = of_process ? p_.self().value : p_.domain();
  message.columns[p_.domain()] = {p_.standing.current, stamp_of(clock, low)};
  message.placed = 0;
  message.start_timer(now, p_.options.retry);
  write_log(message);
  write_stamp(now, message, false);
}

/// T of the members of this domain.
void Leader::write_log(const Message& message) {
  for (const NodeId member : granted_) write_log(message, member);
}

void Leader::write_log(const Message& message, NodeId member) {
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

void Leader::write_foreign(const Message& message, DomainId domain, NodeId member) {
  const std::size_t bytes = write_record(scratch_, [&](wire::Writer& out) {
    write_name(out, Parts::name_for(message.head, p_.domain()));
    out.u(message.columns[domain].round);
    out.u(message.columns[domain].stamp);
  });
  under_way_[++token_] = {};
  p_.links.write_log(
      p_.member(member), p_.standing.current,
      p_.places.of_foreign(message.head.sender.node, p_.store.index_of(message.head), domain),
      ByteView(scratch_).first(bytes), token_);
}

/// T of the leaders of the other domains; after a failure, of all their servers.
void Leader::write_stamp(Instant now, const Message& message, bool to_all) {
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

void Leader::finish_writes() {
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
void Leader::grant(NodeId member) {
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

void Leader::begin_round() {
  took_over_ = true;
  granted_.clear();
  under_way_.clear();
}

void Leader::read_foreign(Message& message) {
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

void Leader::copy_foreign(Message& message) {
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

}  // namespace peal::sim::genuine::literal
