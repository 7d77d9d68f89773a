// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/clients.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/digest.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr std::uint64_t kNamesOfClients = 4;  ///< few names, so that names are reused

std::string name_of(NodeId node) { return "n" + std::to_string(node.value); }

group::Options options_of(const Process& process, const ClientMix& mix) {
  const WorldOptions& world = process.world.options();
  group::Options options;
  options.node_name = name_of(process.self.node);
  options.nodes = world.nodes;
  options.message_bytes_max = node::longest_message_bytes(world.limits);
  options.domains = domains_of(world, mix, process.self.node);
  options.companies = world.engine.engine().traits.companies;
  return options;
}

std::vector<oracle::ClientId> ids_of(const std::vector<group::Table::Daemon>& daemons) {
  std::vector<oracle::ClientId> ids;
  for (const auto& daemon : daemons) {
    for (const auto& client : daemon.clients) ids.push_back({daemon.id, client.connection});
  }
  return ids;
}

oracle::GroupViewId oracle_id(const group::GroupId& id) { return {id.view, id.index}; }

}  // namespace

ClientMix make_client_mix(std::uint64_t seed, std::uint32_t nodes) {
  Random random(seed);
  ClientMix mix;
  mix.nodes = nodes;
  // With long names, the group tables do not fit into one unit.
  constexpr std::array<std::size_t, 4> kLengths{2, 2, 40, group::kNameBytesMax};
  const std::size_t length = kLengths[random.below(kLengths.size())];
  const std::uint64_t count = 1 + random.below(12);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name = "g" + std::to_string(i);
    name.resize(std::max(length, name.size()), '.');
    mix.groups.push_back(std::move(name));
  }
  if (random.chance(0.25)) mix.held_bytes_max = 1ULL << (8 + random.below(7));
  return mix;
}

Clients::Clients(Process& process, const ClientMix& mix, std::uint64_t seed)
    : ClientSide(process), mix_(mix), random_(seed), groups_(options_of(process, mix), *this) {}

std::string Clients::private_name(const std::string& client) const {
  return "#" + client + "#" + name_of(process_.self.node);
}

oracle::ClientId Clients::id_of(std::uint32_t connection) const {
  return {process_.self, connection};
}

// ---- what clients do ----

void Clients::carry_out(const Submission& submission) {
  const ClientWish wish = submission.wish ? *submission.wish : draw_wish();
  Client* client = connect(wish.client);
  if (client == nullptr) return;
  switch (wish.kind) {
    case ClientWish::Kind::connect: return;
    case ClientWish::Kind::join:
      if (!groups_.join(client->connection, wish.targets[0])) ++process_.submissions.refused;
      return;
    case ClientWish::Kind::leave:
      if (!groups_.leave(client->connection, wish.targets[0])) ++process_.submissions.refused;
      return;
    case ClientWish::Kind::disconnect: disconnect(wish.client); return;
    case ClientWish::Kind::send: send(wish, *client, submission); return;
  }
}

ClientWish Clients::draw_wish() {
  ClientWish wish;
  wish.client = "c" + std::to_string(random_.below(kNamesOfClients));
  const auto group = [this] { return mix_.groups[random_.below(mix_.groups.size())]; };
  const std::uint64_t chance = random_.below(100);
  if (chance < 20) {
    wish.kind = chance < 12   ? ClientWish::Kind::join
                : chance < 18 ? ClientWish::Kind::leave
                              : ClientWish::Kind::disconnect;
    wish.targets = {group()};
    return wish;
  }
  wish.self_discard = random_.chance(0.1);
  for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
    if (random_.chance(0.8)) {
      wish.targets.push_back(group());
      continue;
    }
    const std::uint64_t client = random_.below(kNamesOfClients);
    const std::uint64_t node = 1 + random_.below(mix_.nodes);
    wish.targets.push_back("#c" + std::to_string(client) + "#n" + std::to_string(node));
  }
  return wish;
}

Clients::Client* Clients::connect(const std::string& name) {
  const auto at = clients_.find(name);
  if (at != clients_.end()) return &at->second;
  const auto connection = groups_.connect(name);
  if (!connection) {  // an ended client keeps its name until its departure is ordered
    ++process_.submissions.refused;
    return nullptr;
  }
  process_.world.recorder().groups().connected(now(), id_of(*connection), private_name(name));
  note(*connection, "is " + name);
  Client& client = clients_[name];
  client.connection = *connection;
  return &client;
}

void Clients::disconnect(const std::string& name) {
  const auto at = clients_.find(name);
  const std::uint32_t connection = at->second.connection;
  clients_.erase(at);
  note(connection, "disconnects");
  process_.world.recorder().groups().gone(now(), id_of(connection));
  groups_.disconnect(connection);
}

void Clients::send(const ClientWish& wish, Client& client, const Submission& submission) {
  std::vector<std::string> targets = wish.targets;
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  const std::vector<std::string_view> named(targets.begin(), targets.end());
  // The payload begins with the message's number, so that receivers can identify the message.
  const std::uint64_t number = client.sent + 1;
  std::string payload(kNumberBytes, '\0');
  std::memcpy(payload.data(), &number, kNumberBytes);
  payload += submission.payload;
  group::Outgoing message;
  message.targets = named;
  message.service = submission.service;
  message.self_discard = wish.self_discard;
  message.payload = as_bytes_view(payload);
  if (!groups_.send(client.connection, message)) {
    ++process_.submissions.refused;
    return;
  }
  client.sent = number;
  const std::uint64_t hash = digest_of(message.payload);
  const auto own = wish.self_discard ? oracle::OwnCopy::unwanted : oracle::OwnCopy::wanted;
  oracle::GroupChecker& checker = process_.world.recorder().groups();
  checker.sent(now(), {id_of(client.connection), number}, targets, hash, own);
  if (process_.status.views == 0) {
    early_.push_back({client.connection, number, std::move(targets), hash, own});
  }
}

// ---- calls of the node ----

void Clients::on_view(const order::View& view) {
  const group::Groups::Counters before = groups_.counters();
  if (view.transitional) {
    process_.world.recorder().groups().parted(now(), process_.self, view.id);
  } else {
    process_.world.recorder().groups().entered(now(), process_.self, view.id);
  }
  groups_.on_view(view, process_.self);
  count_exchanges(before);
  if (!view.transitional) {
    early_.clear();
    groups_.check_invariants();
  }
}

void Clients::on_message(const node::Message& message) {
  note_order(message, [&message](const group::Client& client) {
    return oracle::ClientId{message.sender, client.connection};
  });
  groups_.on_message(
      {message.sender, message.number, message.service, {message.seq, message.index}, message.view},
      message.payload);
  check_counters();
}

void Clients::on_placed(const node::Origination& placed) {
  const bool genuine = process_.world.domains().is_genuine();
  if (genuine) groups_.on_placed(placed.number, placed.seq, placed.view.number != 0);
}

void Clients::renamed(MemberId before) {
  oracle::GroupChecker& checker = process_.world.recorder().groups();
  for (const auto& [name, client] : clients_) {
    checker.gone(now(), {before, client.connection});
    checker.connected(now(), id_of(client.connection), private_name(name));
  }
  for (const SentEarly& sent : early_) {
    checker.sent(now(), {id_of(sent.connection), sent.number}, sent.targets, sent.hash, sent.own);
  }
}

void Clients::ended() {
  for (const auto& [name, client] : clients_) {
    process_.world.recorder().groups().gone(now(), id_of(client.connection));
  }
  clients_.clear();
}

std::string Clients::waits_for() const {
  if (!groups_.is_settled()) return "tables of groups";
  return groups_.has_work() ? "room for goodbyes" : "";
}

void Clients::report_table() {
  std::vector<oracle::GroupTableEntry> entries;
  for (const auto& [name, group] : groups_.table().groups()) {
    entries.push_back({name, oracle_id(group.id), ids_of(group.daemons)});
  }
  process_.world.recorder().groups().final_table(process_.self, *process_.status.view, entries);
}

std::vector<order::Counter> Clients::named_counters() const {
  const auto all = groups_.named_counters();
  return {all.begin(), all.end()};
}

bool Clients::was_given(std::string_view client, std::string_view payload) const {
  const auto at = clients_.find(std::string(client));
  if (at == clients_.end()) return false;
  const auto& given = at->second.given;
  const std::uint64_t hash = digest_of(as_bytes_view(payload));
  return std::find(given.begin(), given.end(), hash) != given.end();
}

bool Clients::was_told_of_gap(std::string_view client, std::string_view group) const {
  const auto at = clients_.find(std::string(client));
  return at != clients_.end() &&
         std::find(at->second.gaps.begin(), at->second.gaps.end(), group) != at->second.gaps.end();
}

// ---- deliveries to clients ----

void Clients::note(std::uint32_t connection, const std::string& text) const {
  if (!process_.world.recorder().echoes()) return;
  process_.world.recorder().sent(process_.world.now(), name_of(process_.self.node) + " client " +
                                                           std::to_string(connection) + " " + text);
}

void Clients::deliver(std::span<const std::uint32_t> connections, const group::Received& message) {
  const std::vector<std::string> targets(message.targets.begin(), message.targets.end());
  for (const std::uint32_t connection : connections) deliver_one(connection, message, targets);
}

void Clients::deliver_one(std::uint32_t connection, const group::Received& message,
                          const std::vector<std::string>& targets) {
  if (ending_.contains(connection)) return;
  ++process_.world.recorder().figures().group_deliveries;
  std::uint64_t number = 0;
  PEAL_ASSERT(message.payload.size() >= kNumberBytes);  // a simulated client sent the message
  std::memcpy(&number, message.payload.data(), kNumberBytes);
  const oracle::ClientId sender{message.sender.daemon, message.sender.connection};
  process_.world.recorder().groups().delivered(now(), id_of(connection), {sender, number}, targets,
                                               digest_of(message.payload));
  if (!keeps_payloads_) return;
  for (auto& [name, client] : clients_) {
    if (client.connection != connection) continue;
    client.given.push_back(digest_of(message.payload.subspan(kNumberBytes)));
  }
}

void Clients::view(std::span<const std::uint32_t> connections, const group::GroupView& view) {
  oracle::GroupView told;
  told.id = oracle_id(view.id);
  told.cause = static_cast<oracle::GroupCause>(view.cause);
  for (const group::Member& member : view.members) {
    const oracle::ClientId id{member.client.daemon, member.client.connection};
    told.members.push_back(id);
    if (member.set == view.own_set) told.together.push_back(id);
  }
  for (const std::uint32_t connection : connections) {
    if (ending_.contains(connection)) continue;
    ++process_.world.recorder().figures().group_views;
    note(connection, "sees " + std::to_string(told.members.size()) + " in " +
                         std::string(view.group) + ", " + std::to_string(told.together.size()) +
                         " of them together");
    process_.world.recorder().groups().viewed(now(), id_of(connection), std::string(view.group),
                                              told);
  }
}

void Clients::transitional(std::uint32_t connection, std::string_view group) {
  if (ending_.contains(connection)) return;
  note(connection, "loses members of " + std::string(group));
  process_.world.recorder().groups().transitional(now(), id_of(connection), std::string(group));
}

void Clients::left(std::uint32_t connection, std::string_view group) {
  if (ending_.contains(connection)) return;
  note(connection, "left " + std::string(group));
  process_.world.recorder().groups().left(now(), id_of(connection), std::string(group));
}

void Clients::gap(std::span<const std::uint32_t> connections, std::string_view group) {
  for (const std::uint32_t connection : connections) {
    if (ending_.contains(connection)) continue;
    ++process_.world.recorder().figures().group_gaps;
    note(connection, "missed messages to " + (group.empty() ? "itself" : std::string(group)));
    process_.world.recorder().groups().gapped(now(), id_of(connection), std::string(group));
    if (!keeps_payloads_) continue;
    for (auto& [name, client] : clients_) {
      if (client.connection == connection) client.gaps.emplace_back(group);
    }
  }
}

// ---- to the node ----

Result<std::uint64_t, Errc> Clients::submit(ByteView message, Service service, DomainSet domains) {
  return submit_to_node(message, service, domains);
}

void Clients::replace_control(ByteView message, DomainSet domains) {
  replace_control_of_node(message, domains);
}

void Clients::dropped() {
  for (const auto& [name, client] : clients_) {
    note(client.connection, "ends: messages were dropped");
    process_.world.recorder().groups().gone(now(), id_of(client.connection));
    ending_.insert(client.connection);
  }
  clients_.clear();
}

void Clients::work() {
  for (const std::uint32_t connection : std::exchange(ending_, {})) {
    groups_.disconnect(connection, wire::ClientCode::dropped);
  }
  groups_.work();
}

std::uint64_t Clients::block(bool blocked) { return process_.node->block(blocked); }

void Clients::settled(const ViewId& view, std::uint64_t hash) {
  process_.world.recorder().groups().exchanged(now(), process_.self, view, hash);
}

}  // namespace peal::sim
