// SPDX-License-Identifier: Apache-2.0
// The calls between SessionClients and its node.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "group/message.h"
#include "sim/clients/session_clients.h"
#include "sim/world/world.h"

namespace peal::sim {

void SessionClients::on_view(const order::View& view) {
  const group::Groups::Counters before = groups().counters();
  if (view.transitional) {
    process_.world.recorder().groups().parted(now(), process_.self, view.id);
  } else {
    process_.world.recorder().groups().entered(now(), process_.self, view.id);
  }
  sessions_.on_view(local_now(), view, process_.self);
  count_exchanges(before);
  if (view.transitional) return;
  judge_.entered();
  sessions_.check_invariants();
}

void SessionClients::on_message(const node::Message& message) {
  group::Data data;
  const bool own = message.sender == process_.self && !domains_.is_disjoint();
  if (own && !message.payload.empty() && group::decode(message.payload, data) == wire::Drop::none &&
      data.payload.size() >= kNumberBytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, data.payload.data(), kNumberBytes);
    judge_.ordered(std::string(data.client.name), number);
  }
  note_order(message, [&](const group::Client& client) {
    return judge_.id_of(private_name(client.name, message.sender.node));
  });
  session::Delivered delivered;
  delivered.sender = message.sender;
  delivered.number = message.number;
  delivered.control = node::is_control(message.number);
  delivered.view = message.view;
  delivered.seq = message.seq;
  delivered.index = message.index;
  delivered.service = message.service;
  delivered.payload = message.payload;
  sessions_.on_message(local_now(), delivered);
  ordered_ = true;
  check_counters();
}

void SessionClients::on_placed(const node::Origination& placed) {
  while (!under_way_.empty() && under_way_.front().number <= placed.number) {
    const UnderWay& own = under_way_.front();
    if (own.number == placed.number) judge_.ordered(own.client, own.client_number);
    under_way_.pop_front();
  }
  sessions_.on_placed(local_now(), placed.number, placed.seq, placed.view.number != 0);
  ordered_ = true;
}

void SessionClients::renamed(MemberId before) { judge_.renamed(before); }

void SessionClients::ended() {
  judge_.end();
  stations_.clear();
  links_.clear();
}

std::string SessionClients::waits_for() const {
  if (!groups().is_settled()) return "tables of groups";
  if (groups().has_work()) return "room for goodbyes";
  std::size_t alive = 0;
  for (const auto& [name, station] : stations_) {
    if (station.client->state() == SimClient::State::over) continue;
    ++alive;
    if (station.link == 0) return name + " to come back";
    if (!station.client->quiet()) return name + " to be answered or settled";
    if (station.daemon_writes) return name + " to read";
    if (judge_.is_doomed(name)) return name + " to be told of a gap";
  }
  // The session of a vanished client ends only after a timeout.
  if (sessions_.sessions() != alive) return "sessions to be given up";
  return sessions_.idle() ? "" : "sessions to become idle";
}

void SessionClients::report_table() {
  for (auto& [name, station] : stations_) judge_.caught_up(*station.client);
  std::vector<oracle::GroupTableEntry> entries;
  for (const auto& [name, group] : groups().table().groups()) {
    oracle::GroupTableEntry entry{name, {group.id.view, group.id.index}, {}};
    for (const auto& daemon : group.daemons) {
      for (const auto& client : daemon.clients) {
        const auto* id = names_.find(private_name(client.name, daemon.id.node));
        entry.members.push_back(id != nullptr ? *id : oracle::ClientId{daemon.id, 0});
      }
    }
    entries.push_back(std::move(entry));
  }
  process_.world.recorder().groups().final_table(process_.self, *process_.status.view, entries);
}

std::vector<order::Counter> SessionClients::named_counters() const {
  return sessions_.named_counters();
}

Result<std::uint64_t, Errc> SessionClients::submit(ByteView message, Service service,
                                                   DomainSet domains) {
  const auto number = submit_to_node(message, service, domains);
  group::Data data;
  if (number && domains_.is_disjoint() && group::decode(message, data) == wire::Drop::none) {
    UnderWay own{*number, std::string(data.client.name), 0};
    std::memcpy(&own.client_number, data.payload.data(), kNumberBytes);
    under_way_.push_back(std::move(own));
  }
  return number;
}

void SessionClients::replace_control(ByteView message, DomainSet domains) {
  replace_control_of_node(message, domains);
}
std::uint64_t SessionClients::block(bool blocked) { return process_.node->block(blocked); }

void SessionClients::tables_equal(const ViewId& view, std::uint64_t hash) {
  process_.world.recorder().groups().exchanged(now(), process_.self, view, hash);
  const session::Status status = sessions_.status(local_now());
  PEAL_ASSERT(status.sessions.size() == status.sessions_count);
  for (const session::SessionStatus& session : status.sessions) {
    judge_.mark(client_of(session), session.events, view);
  }
}

std::string_view SessionClients::node_name(NodeId node) const {
  return node.value < node_names_.size() ? std::string_view(node_names_[node.value])
                                         : std::string_view();
}

wire::SessionToken SessionClients::draw_token() {
  wire::SessionToken token{};
  for (std::byte& byte : token) byte = static_cast<std::byte>(1 + random_.below(255));
  return token;
}

session::Answer SessionClients::ask(std::string_view /*what*/, bool /*admin*/) {
  return {wire::ClientCode::bad_name, "nothing is known here"};
}

ByteSpan SessionClients::open_region(session::RegionId id, std::uint32_t bytes) {
  auto& words = regions_[id];
  words.resize(bytes / sizeof(std::uint64_t));
  return std::as_writable_bytes(std::span(words));
}

}  // namespace peal::sim
