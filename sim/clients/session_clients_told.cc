// SPDX-License-Identifier: Apache-2.0
// The daemon's side towards its node, and what clients receive.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "group/message.h"
#include "sim/clients/session_clients.h"
#include "sim/world/world.h"

namespace peal::sim {

// ---- the node ----

void SessionClients::on_view(const order::View& view) {
  const group::Groups::Counters before = groups().counters();
  if (!view.transitional) {
    process_.world.recorder().groups().entered(now(), process_.self, view.id);
  }
  sessions_.on_view(local_now(), view, process_.self);
  count_exchanges(before);
  if (view.transitional) return;
  early_.clear();
  sessions_.check_invariants();
}

void SessionClients::on_message(const node::Message& message) {
  group::Data data;
  if (message.sender == process_.self && !message.payload.empty() &&
      group::decode(message.payload, data) == wire::Drop::none &&
      data.payload.size() >= kNumberBytes) {
    std::uint64_t number = 0;
    std::memcpy(&number, data.payload.data(), kNumberBytes);
    const auto at = stations_.find(std::string(data.client.name));
    if (at != stations_.end() && !at->second.ordered.insert(number).second) {
      violation(*at->second.talk, "message " + std::to_string(number) + " is ordered twice");
    }
  }
  note_order(message, [&](const group::Client& client) {
    return id_of(private_name(client.name, message.sender.node));
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

void SessionClients::renamed(MemberId before) {
  oracle::GroupChecker& checker = process_.world.recorder().groups();
  names_.renamed(before, process_.self);
  for (auto& [name, station] : stations_) {
    if (!hears(station)) continue;
    checker.gone(now(), {before, station.id.connection});
    station.id.node = process_.self;
    checker.connected(now(), station.id, private_name(name, process_.self.node));
  }
  for (const SentEarly& sent : early_) {
    checker.sent(now(), {{process_.self, sent.connection}, sent.number}, sent.targets, sent.hash,
                 sent.own);
  }
}

void SessionClients::ended() {
  for (const auto& [name, station] : stations_) {
    if (station.id.connection != 0) process_.world.recorder().groups().gone(now(), station.id);
  }
  stations_.clear();
  links_.clear();
}

std::string SessionClients::waits_for() const {
  if (groups().state() != group::Groups::State::operational) return "tables of groups";
  if (groups().has_work()) return "room for goodbyes";
  std::size_t alive = 0;
  for (const auto& [name, station] : stations_) {
    if (station.talk->state() == SimClient::State::over) continue;
    ++alive;
    if (station.link == 0) return name + " to come back";
    if (!station.talk->quiet()) return name + " to be answered or settled";
    if (station.daemon_writes) return name + " to read";
    if (station.doomed) return name + " to be told of a gap";
  }
  // A client that vanished stays a member until its session times out.
  if (sessions_.sessions() != alive) return "sessions to be given up";
  return sessions_.idle() ? "" : "sessions to become idle";
}

void SessionClients::report_table() {
  for (auto& [name, station] : stations_) come_past_marks(station, station.talk->events());
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
                                                   order::Domain domain) {
  return submit_to_node(message, service, domain);
}

void SessionClients::replace_control(ByteView message) { replace_control_of_node(message); }
void SessionClients::block(bool blocked) { process_.node->block(blocked); }

void SessionClients::tables_equal(const ViewId& view, std::uint64_t hash) {
  process_.world.recorder().groups().exchanged(now(), process_.self, view, hash);
  mark_all(view);
}

/// Clients receive events later than the daemon creates them, but must see the state of this
/// moment. Marks record how many events the daemon has created for each client so far, for the
/// oracle.
void SessionClients::mark_all(const ViewId& view) {
  const session::Status status = sessions_.status(local_now());
  PEAL_ASSERT(status.sessions.size() == status.sessions_count);
  for (const session::SessionStatus& session : status.sessions) {
    const auto at = stations_.find(client_of(session));
    if (at != stations_.end()) at->second.marks.push_back({session.events, view});
  }
}

/// The client has received this many events.
void SessionClients::come_past_marks(Station& station, std::uint64_t events) const {
  while (!station.marks.empty() && station.marks.front().events <= events) {
    const ViewId view = station.marks.front().view;
    station.marks.pop_front();
    if (hears(station)) process_.world.recorder().groups().reached(now(), station.id, view);
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

// ---- deliveries to clients ----

oracle::ClientId SessionClients::id_of(std::string_view private_name) {
  const oracle::ClientId* id = names_.find(private_name);
  // Messages may name a client before it has read its own welcome.
  return id != nullptr ? *id : oracle::ClientId{};
}

void SessionClients::started(SimClient& talk) {
  Station& station = of(talk);
  station.id = {process_.self, ++last_number_};
  names_.set(talk.private_name(), station.id);
  note(talk, "is there");
  process_.world.recorder().groups().connected(now(), station.id, talk.private_name());
}

void SessionClients::resumed(SimClient& talk) {
  ++process_.world.recorder().figures().session_resumed;
  note(talk, "is back");
}

/// The station of the client that receives an event.
SessionClients::Station& SessionClients::told(const SimClient& talk) {
  Station& station = of(talk);
  come_past_marks(station, talk.events() - 1);
  return station;
}

void SessionClients::message(SimClient& talk, const wire::MessageEvent& event) {
  const Station& station = told(talk);
  ++process_.world.recorder().figures().group_deliveries;
  if (!hears(station)) return;
  if (event.payload.size() < kNumberBytes) return violation(talk, "is given what nobody sent");
  std::uint64_t number = 0;
  std::memcpy(&number, event.payload.data(), kNumberBytes);
  const std::vector<std::string> targets(event.targets.begin(), event.targets.end());
  process_.world.recorder().groups().delivered(now(), station.id, {id_of(event.sender), number},
                                               targets, digest_of(event.payload));
}

void SessionClients::view(SimClient& talk, const wire::GroupViewEvent& event) {
  const Station& station = told(talk);
  ++process_.world.recorder().figures().group_views;
  if (!hears(station)) return;
  oracle::GroupView shown;
  shown.id = {event.view, event.index};
  shown.cause = static_cast<oracle::GroupCause>(event.cause);
  for (const wire::GroupMember& member : event.members) {
    shown.members.push_back(id_of(member.name));
    if (member.set == event.own_set) shown.together.push_back(shown.members.back());
  }
  process_.world.recorder().groups().viewed(now(), station.id, std::string(event.group), shown);
}

void SessionClients::transitional(SimClient& talk, std::string_view group) {
  const Station& station = told(talk);
  if (!hears(station)) return;
  process_.world.recorder().groups().transitional(now(), station.id, std::string(group));
}

void SessionClients::left(SimClient& talk, std::string_view group) {
  const Station& station = told(talk);
  if (!hears(station)) return;
  process_.world.recorder().groups().left(now(), station.id, std::string(group));
}

void SessionClients::gap(SimClient& talk, const wire::GapEvent& event) {
  Station& station = told(talk);
  if (event.reason == wire::GapReason::away) {
    ++process_.world.recorder().figures().group_gaps;
    note(talk, "missed messages to " + (event.group.empty() ? "itself" : std::string(event.group)));
    if (!hears(station)) return;
    process_.world.recorder().groups().gapped(now(), station.id, std::string(event.group));
    return;
  }
  ++process_.world.recorder().figures().session_gaps;
  note(talk, "missed " + std::to_string(event.messages) + " of " + std::string(event.group));
  doom(station);
  talk.goodbye();
}

void SessionClients::shared(SimClient& /*talk*/) {
  ++process_.world.recorder().figures().session_shared;
}

void SessionClients::settled(SimClient& talk, std::uint64_t number) {
  const Station& station = of(talk);
  ++process_.world.recorder().figures().session_settled;
  if (!station.ordered.contains(number)) {
    violation(talk, "message " + std::to_string(number) + " is settled and was never ordered");
  }
}

void SessionClients::ended(SimClient& talk, wire::ClientCode code) {
  Station& station = of(talk);
  note(talk, "ends: " + std::string(wire::client_code_name(code)));
  if (code == wire::ClientCode::slow) ++process_.world.recorder().figures().sessions_ended_slow;
  doom(station);
}

void SessionClients::wrong(SimClient& talk, const std::string& text) { violation(talk, text); }

}  // namespace peal::sim
