// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "group/message.h"

namespace peal::group {

/// Identifies a client in the whole cluster.
struct ClientKey {
  MemberId daemon{};
  std::uint32_t connection{};
  friend constexpr auto operator<=>(const ClientKey&, const ClientKey&) = default;
};

/// Which clients are in which groups. Every daemon has such a table. Equal tables stay equal if the
/// same changes are applied in the same order.
class Table {
 public:
  /// The members of a group at one daemon: at least one.
  struct Daemon {
    MemberId id{};
    std::vector<MemberClient> clients;  ///< sorted by name
  };
  struct Group {
    GroupId id{};
    bool changed = false;         ///< a view change affects the group; clients are not notified yet
    std::vector<Daemon> daemons;  ///< sorted, at least one
    TrafficMark traffic;          ///< where the group's messages are counted; not part of the state
    const Daemon* at(MemberId daemon) const;
  };
  using Map = std::map<std::string, Group, std::less<>>;

  /// `daemon_bytes_max` limits the bytes of one daemon's members in an encoding of Tables.
  explicit Table(std::uint64_t daemon_bytes_max) : daemon_bytes_max_(daemon_bytes_max) {}
  Table(const Table&) = delete;  // clients_ points into groups_
  Table& operator=(const Table&) = delete;
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  /// All groups by name. The caller may change only `id`, `changed` and `traffic`.
  Map& groups() { return groups_; }
  const Map& groups() const { return groups_; }
  Map::value_type* find(std::string_view group);

  enum class Outcome : std::uint8_t {
    done,
    member_already,
    no_member,
    another_name,  ///< the client has another name, or another client has this name
    no_room,       ///< the daemon's members would take more than daemon_bytes_max
  };
  /// Creates the group if it does not exist.
  Outcome join(const ClientKey& client, std::string_view name, std::string_view group);
  /// Also removes the group if the client was its last member.
  Outcome leave(const ClientKey& client, std::string_view name, std::string_view group);
  /// The groups of the client, sorted by name; none if the client has another name. The pointers
  /// are valid until the table changes.
  std::vector<Map::value_type*> groups_of(const ClientKey& client, std::string_view name) const;

  /// Removes all daemons that are not in `kept` (sorted), marks their groups as changed, and
  /// removes empty groups.
  void keep_daemons(std::span<const MemberId> kept);

  /// Upper bound for the bytes of a daemon's members in an encoding; the sum that join() checks.
  std::uint64_t bytes_of(MemberId daemon) const;
  /// Upper bound for the bytes of one more membership.
  static std::uint64_t bytes_of(std::string_view name, std::string_view group);
  std::uint64_t daemon_bytes_max() const { return daemon_bytes_max_; }

  Tables tables(const ViewId& view, std::span<const MemberId> synced) const;
  /// True if the tables can be added: each client has one name and is in each group once, and no
  /// daemon exceeds its share.
  static bool is_consistent(const Tables& tables, std::uint64_t daemon_bytes_max);
  /// Adds the daemons of `tables`, which must be consistent. This table must have none of these
  /// daemons. A group that is in both tables becomes changed. A group that is in only one table
  /// keeps its id.
  void add(Tables&& tables);
  /// Equal tables have equal hashes.
  std::uint64_t hash() const;

  void check_invariants() const;

 private:
  struct Known {
    std::string name;
    std::vector<Map::value_type*> groups;  ///< sorted by name; at least one
  };

  Known* known(const ClientKey& client, std::string_view name);
  void remember(const ClientKey& client, std::string_view name, Map::value_type* group);

  std::uint64_t daemon_bytes_max_;
  Map groups_;
  std::map<ClientKey, Known> clients_;
  std::map<MemberId, std::uint64_t> bytes_;  ///< bytes_of() each daemon with members
};

}  // namespace peal::group
