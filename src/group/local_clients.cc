// SPDX-License-Identifier: Apache-2.0
#include "group/local_clients.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::group {
namespace {

Refusal refusal_of(Errc error) {
  switch (error) {
    case Errc::would_block: return Refusal::would_block;
    case Errc::too_large: return Refusal::too_large;
    default: return Refusal::closed;
  }
}

}  // namespace

LocalClients::Client* LocalClients::client(std::uint32_t connection) {
  const auto at = clients_.find(connection);
  return at == clients_.end() ? nullptr : &at->second;
}

/// Submits `encoded_`.
Result<void, Refusal> LocalClients::submit(Service service, DomainSet domains) {
  const Result<std::uint64_t, Errc> number = effects_.submit(encoded_, service, domains);
  if (!number) return unexpected(refusal_of(number.error()));
  last_number_ = *number;
  return {};
}

/// Submits `encoded_`, a message about memberships.
Result<void, Refusal> LocalClients::submit_change() {
  const auto submitted = submit(Service::agreed, options_.domains.home());
  if (submitted && options_.domains.is_disjoint()) under_way_.push_back({last_number_, encoded_});
  return submitted;
}

std::optional<std::vector<std::byte>> LocalClients::take_placed(std::uint64_t number) {
  if (under_way_.empty() || under_way_.front().number != number) return std::nullopt;
  std::vector<std::byte> message = std::move(under_way_.front().message);
  under_way_.pop_front();
  return message;
}

std::uint64_t LocalClients::last_change(std::uint64_t up_to) const {
  std::uint64_t last = 0;
  for (const UnderWay& each : under_way_) {
    if (each.number <= up_to) last = each.number;
  }
  return last;
}

Result<std::uint32_t, Refusal> LocalClients::connect(std::string_view name) {
  if (!is_client_name(name)) return unexpected(Refusal::bad_name);
  work();  // may free the name
  if (names_.contains(name)) return unexpected(Refusal::name_in_use);
  if (names_.size() >= options_.clients_max ||
      last_connection_ == std::numeric_limits<std::uint32_t>::max()) {
    return unexpected(Refusal::no_room);
  }
  const std::uint32_t connection = ++last_connection_;
  clients_[connection].name = name;
  names_.emplace(name, connection);
  return connection;
}

Result<void, Refusal> LocalClients::join(std::uint32_t connection, std::string_view group,
                                         const Table& table, MemberId self) {
  Client* it = client(connection);
  if (it == nullptr) return unexpected(Refusal::no_client);
  if (!is_group_name(group)) return unexpected(Refusal::bad_name);
  if (it->groups.contains(group)) return unexpected(Refusal::member_already);
  const Domains& domains = options_.domains;
  if (!domains.may_join(group)) {
    return unexpected(domains.of_group(group) == 0 ? Refusal::no_domain : Refusal::other_nodes);
  }
  const std::uint64_t bytes = Table::bytes_of(it->name, group);
  if (table.bytes_of(self) + joining_bytes_ + bytes > table.daemon_bytes_max()) {
    return unexpected(Refusal::no_room);
  }
  encode(Join{{connection, it->name}, group}, encoded_);
  if (const auto submitted = submit_change(); !submitted) return submitted;
  it->groups.emplace(group);
  joining_bytes_ += bytes;
  return {};
}

Result<void, Refusal> LocalClients::leave(std::uint32_t connection, std::string_view group) {
  Client* it = client(connection);
  if (it == nullptr) return unexpected(Refusal::no_client);
  const auto at = it->groups.find(group);
  if (at == it->groups.end()) return unexpected(Refusal::no_member);
  encode(Leave{{connection, it->name}, group}, encoded_);
  if (const auto submitted = submit_change(); !submitted) return submitted;
  it->groups.erase(at);
  return {};
}

Result<void, Refusal> LocalClients::send(std::uint32_t connection, const Outgoing& message) {
  const Client* it = client(connection);
  if (it == nullptr) return unexpected(Refusal::no_client);
  const auto& targets = message.targets;
  if (targets.empty() || targets.size() > kTargetsMax ||
      !std::all_of(targets.begin(), targets.end(), is_target)) {
    return unexpected(Refusal::bad_name);
  }
  Data data;
  data.client = {connection, it->name};
  data.type = message.type;
  data.self_discard = message.self_discard;
  for (const std::string_view target : targets) data.targets.push_back(target);
  std::sort(data.targets.begin(), data.targets.end());
  const auto* last = std::unique(data.targets.begin(), data.targets.end());
  data.targets.truncate(static_cast<std::size_t>(last - data.targets.begin()));
  data.payload = message.payload;
  const std::optional<DomainSet> domains = options_.domains.destinations(targets);
  if (!domains) return unexpected(Refusal::no_domain);
  encode(data, encoded_);
  return submit(message.service, *domains);
}

void LocalClients::disconnect(std::uint32_t connection, wire::ClientCode reason) {
  const auto at = clients_.find(connection);
  if (at == clients_.end()) return;
  // A client in no group needs no Disconnect: other daemons do not know the client, or will deliver
  // its Leave messages.
  if (at->second.groups.empty()) {
    names_.erase(at->second.name);
  } else {
    dead_.push_back({connection, std::move(at->second.name), reason});
  }
  clients_.erase(at);
  work();
}

Result<void, Refusal> LocalClients::mark() {
  encode(Marker{}, encoded_);
  return submit(Service::safe, options_.domains.home());
}

void LocalClients::work() {
  std::size_t done = 0;
  while (done < dead_.size()) {
    const Dead& dead = dead_[done];
    encode(Disconnect{{dead.connection, dead.name}, dead.reason}, encoded_);
    const auto submitted = submit_change();
    if (!submitted && submitted.error() == Refusal::would_block) break;
    names_.erase(dead.name);
    ++done;
  }
  dead_.erase(dead_.begin(), dead_.begin() + static_cast<std::ptrdiff_t>(done));
}

void LocalClients::on_joined(std::string_view name, std::string_view group) {
  joining_bytes_ -= std::min(joining_bytes_, Table::bytes_of(name, group));
}

const std::uint32_t* LocalClients::find(std::string_view name) const {
  const auto named = names_.find(name);
  return named != names_.end() && has(named->second) ? &named->second : nullptr;
}

void LocalClients::check_invariants() const {
  PEAL_ASSERT(names_.size() == clients_.size() + dead_.size());
  for (const auto& [connection, it] : clients_) {
    const auto named = names_.find(it.name);
    PEAL_ASSERT(named != names_.end() && named->second == connection);
    PEAL_ASSERT(connection <= last_connection_);
  }
}

}  // namespace peal::group
