// SPDX-License-Identifier: Apache-2.0
#include "group/table.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "base/hooks.h"

namespace peal::group {
namespace {

// Lengths as in message.h. Each daemon counts the bytes of its groups in full, even if other
// daemons have the same groups.
constexpr std::uint64_t kClientBytes = 5;
constexpr std::uint64_t kDaemonBytes = 16;
constexpr std::uint64_t kGroupBytes = 1 + 20 + 8 + 1 + 2;

std::uint64_t client_bytes(std::string_view name) { return kClientBytes + name.size(); }
std::uint64_t daemon_bytes(std::string_view group) {
  return kDaemonBytes + kGroupBytes + group.size();
}

template <class Daemons>
auto daemon_place(Daemons& daemons, const MemberId& id) {
  return std::lower_bound(
      daemons.begin(), daemons.end(), id,
      [](const Table::Daemon& daemon, const MemberId& wanted) { return daemon.id < wanted; });
}

auto client_place(std::vector<MemberClient>& clients, std::string_view name) {
  return std::lower_bound(
      clients.begin(), clients.end(), name,
      [](const MemberClient& client, std::string_view wanted) { return client.name < wanted; });
}

auto group_place(std::vector<Table::Map::value_type*>& groups, std::string_view name) {
  return std::lower_bound(groups.begin(), groups.end(), name,
                          [](const Table::Map::value_type* group, std::string_view wanted) {
                            return group->first < wanted;
                          });
}

void add_id(Digest& digest, const GroupId& id) {
  digest.add(id.view.number);
  digest.add(id.view.representative.node.value);
  digest.add(id.view.representative.epoch);
  digest.add(id.index);
}

}  // namespace

const Table::Daemon* Table::Group::at(MemberId daemon) const {
  const auto place = daemon_place(daemons, daemon);
  return place != daemons.end() && place->id == daemon ? &*place : nullptr;
}

Table::Map::value_type* Table::find(std::string_view group) {
  const auto at = groups_.find(group);
  return at == groups_.end() ? nullptr : &*at;
}

std::uint64_t Table::bytes_of(MemberId daemon) const {
  const auto at = bytes_.find(daemon);
  return at == bytes_.end() ? 0 : at->second;
}

std::uint64_t Table::bytes_of(std::string_view name, std::string_view group) {
  return client_bytes(name) + daemon_bytes(group);
}

Table::Known* Table::known(const ClientKey& client, std::string_view name) {
  const auto at = clients_.find(client);
  return at != clients_.end() && at->second.name == name ? &at->second : nullptr;
}

void Table::remember(const ClientKey& client, std::string_view name, Map::value_type* group) {
  Known& known = clients_[client];
  if (known.name.empty()) known.name = name;
  known.groups.insert(group_place(known.groups, group->first), group);
}

Table::Outcome Table::join(const ClientKey& client, std::string_view name, std::string_view group) {
  if (const auto at = clients_.find(client); at != clients_.end() && at->second.name != name) {
    return Outcome::another_name;
  }
  const auto found = groups_.find(group);
  std::uint64_t bytes = client_bytes(name) + daemon_bytes(group);
  if (found != groups_.end()) {
    auto& daemons = found->second.daemons;
    const auto daemon = daemon_place(daemons, client.daemon);
    if (daemon != daemons.end() && daemon->id == client.daemon) {
      const auto place = client_place(daemon->clients, name);
      if (place != daemon->clients.end() && place->name == name) {
        return place->connection == client.connection ? Outcome::member_already
                                                      : Outcome::another_name;
      }
      bytes = client_bytes(name);
    }
  }
  if (bytes_of(client.daemon) + bytes > daemon_bytes_max_) return Outcome::no_room;

  const auto entry = found != groups_.end() ? found : groups_.emplace(group, Group{}).first;
  auto& daemons = entry->second.daemons;
  auto daemon = daemon_place(daemons, client.daemon);
  if (daemon == daemons.end() || daemon->id != client.daemon) {
    daemon = daemons.insert(daemon, Daemon{client.daemon, {}});
  }
  daemon->clients.insert(client_place(daemon->clients, name),
                         {client.connection, std::string(name)});
  bytes_[client.daemon] += bytes;
  remember(client, name, &*entry);
  return Outcome::done;
}

Table::Outcome Table::leave(const ClientKey& client, std::string_view name,
                            std::string_view group) {
  Known* who = known(client, name);
  if (who == nullptr) return Outcome::no_member;
  const auto at = group_place(who->groups, group);
  if (at == who->groups.end() || (*at)->first != group) return Outcome::no_member;
  auto& daemons = (*at)->second.daemons;
  const auto daemon = daemon_place(daemons, client.daemon);
  PEAL_ASSERT(daemon != daemons.end() && daemon->id == client.daemon);
  const auto place = client_place(daemon->clients, name);
  PEAL_ASSERT(place != daemon->clients.end() && place->connection == client.connection);
  daemon->clients.erase(place);
  std::uint64_t bytes = client_bytes(name);
  if (daemon->clients.empty()) {
    daemons.erase(daemon);
    bytes += daemon_bytes(group);
  }
  const bool last = daemons.empty();
  who->groups.erase(at);
  if (who->groups.empty()) clients_.erase(client);
  const auto counted = bytes_.find(client.daemon);
  PEAL_ASSERT(counted != bytes_.end() && counted->second >= bytes);
  counted->second -= bytes;
  if (counted->second == 0) bytes_.erase(counted);
  if (last) groups_.erase(groups_.find(group));
  return Outcome::done;
}

std::vector<Table::Map::value_type*> Table::groups_of(const ClientKey& client,
                                                      std::string_view name) const {
  const auto at = clients_.find(client);
  if (at == clients_.end() || at->second.name != name) return {};
  return at->second.groups;
}

void Table::keep_daemons(std::span<const MemberId> kept) {
  const auto is_kept = [kept](const MemberId& daemon) {
    return std::binary_search(kept.begin(), kept.end(), daemon);
  };
  if (std::all_of(bytes_.begin(), bytes_.end(),
                  [&](const auto& entry) { return is_kept(entry.first); })) {
    return;
  }
  // Clear the index clients_ first: it points to groups that may be removed.
  std::erase_if(clients_, [&](const auto& entry) { return !is_kept(entry.first.daemon); });
  std::erase_if(bytes_, [&](const auto& entry) { return !is_kept(entry.first); });
  for (auto& [name, group] : groups_) {
    const std::size_t removed =
        std::erase_if(group.daemons, [&](const Daemon& daemon) { return !is_kept(daemon.id); });
    if (removed > 0) group.changed = true;
  }
  std::erase_if(groups_, [](const auto& entry) { return entry.second.daemons.empty(); });
}

// ---- messages ----

Tables Table::tables(const ViewId& view, std::span<const MemberId> synced) const {
  Tables out;
  out.view = view;
  out.synced.assign(synced.begin(), synced.end());
  out.groups.reserve(groups_.size());
  for (const auto& [name, group] : groups_) {
    GroupState state{name, group.id, group.changed, {}};
    state.daemons.reserve(group.daemons.size());
    for (const Daemon& daemon : group.daemons) state.daemons.push_back({daemon.id, daemon.clients});
    out.groups.push_back(std::move(state));
  }
  return out;
}

bool Table::is_consistent(const Tables& tables, std::uint64_t daemon_bytes_max) {
  struct Named {
    ClientKey key;
    std::string_view name;
    auto operator<=>(const Named&) const = default;
  };
  std::vector<Named> all;
  std::map<MemberId, std::uint64_t> bytes;
  for (const GroupState& group : tables.groups) {
    for (const DaemonMembers& daemon : group.daemons) {
      std::uint64_t& sum = bytes[daemon.daemon];
      sum += daemon_bytes(group.name);
      for (const MemberClient& client : daemon.clients) {
        sum += client_bytes(client.name);
        all.push_back({{daemon.daemon, client.connection}, client.name});
      }
      // decode() rejects a list of a daemon that repeats a name. This check rejects a list that
      // repeats a connection.
      std::vector<Named> here(all.end() - static_cast<std::ptrdiff_t>(daemon.clients.size()),
                              all.end());
      std::sort(here.begin(), here.end());
      const auto same = [](const Named& a, const Named& b) { return a.key == b.key; };
      if (std::adjacent_find(here.begin(), here.end(), same) != here.end()) return false;
      if (sum > daemon_bytes_max) return false;
    }
  }
  std::sort(all.begin(), all.end());
  const auto differ = [](const Named& a, const Named& b) {
    return a.key == b.key && a.name != b.name;
  };
  return std::adjacent_find(all.begin(), all.end(), differ) == all.end();
}

void Table::add(Tables&& tables) {
  for (GroupState& from : tables.groups) {
    const auto [at, fresh] = groups_.try_emplace(from.name);
    Group& group = at->second;
    if (fresh) group.id = from.id;
    const bool flagged = from.changed && !PEAL_MUTANT(gm2_changed_not_merged);
    group.changed = group.changed || flagged || !fresh;
    for (DaemonMembers& each : from.daemons) {
      const auto place = daemon_place(group.daemons, each.daemon);
      PEAL_ASSERT(place == group.daemons.end() || place->id != each.daemon);
      std::uint64_t& bytes = bytes_[each.daemon];
      bytes += daemon_bytes(from.name);
      for (const MemberClient& client : each.clients) {
        bytes += client_bytes(client.name);
        remember({each.daemon, client.connection}, client.name, &*at);
      }
      group.daemons.insert(place, Daemon{each.daemon, std::move(each.clients)});
    }
  }
}

std::uint64_t Table::hash() const {
  Digest digest;
  for (const auto& [name, group] : groups_) {
    digest.add(as_bytes_view(name));
    add_id(digest, group.id);
    digest.add(group.changed ? 1 : 0);
    digest.add(group.daemons.size());
    for (const Daemon& daemon : group.daemons) {
      digest.add(daemon.id.node.value);
      digest.add(daemon.id.epoch);
      digest.add(daemon.clients.size());
      for (const MemberClient& client : daemon.clients) {
        digest.add(client.connection);
        digest.add(as_bytes_view(client.name));
      }
    }
  }
  return digest.value();
}

void Table::check_invariants() const {
  std::map<MemberId, std::uint64_t> bytes;
  std::size_t members = 0;
  for (const auto& [name, group] : groups_) {
    PEAL_ASSERT(is_group_name(name) && !group.daemons.empty());
    const MemberId* last = nullptr;
    for (const Daemon& daemon : group.daemons) {
      PEAL_ASSERT(last == nullptr || *last < daemon.id);
      last = &daemon.id;
      PEAL_ASSERT(!daemon.clients.empty());
      std::uint64_t& sum = bytes[daemon.id];
      sum += daemon_bytes(name);
      members += daemon.clients.size();
      for (const MemberClient& client : daemon.clients) sum += client_bytes(client.name);
    }
  }
  PEAL_ASSERT(bytes == bytes_);
  for (const auto& [client, known] : clients_) {
    PEAL_ASSERT(!known.groups.empty() && known.groups.size() <= members);
    members -= known.groups.size();
  }
  PEAL_ASSERT(members == 0);
}

}  // namespace peal::group
