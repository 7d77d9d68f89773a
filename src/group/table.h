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

/// A client, everywhere.
struct ClientKey {
  MemberId daemon{};
  std::uint32_t connection{};
  friend constexpr auto operator<=>(const ClientKey&, const ClientKey&) = default;
};

/// Which clients are in which groups. Every daemon has such a table, and those that apply the same
/// ordered changes to equal tables keep equal tables.
class Table {
 public:
  /// The members of a group at one daemon; at least one.
  struct Daemon {
    MemberId id{};
    std::vector<MemberClient> clients;  ///< sorted by name
  };
  struct Group {
    GroupId id{};
    bool changed = false;         ///< lost members that its clients were not told about
    std::vector<Daemon> daemons;  ///< sorted, at least one
    TrafficMark traffic;          ///< where its messages are counted; no part of the state
    const Daemon* at(MemberId daemon) const;
  };
  using Map = std::map<std::string, Group, std::less<>>;

  /// `daemon_bytes_max` bounds what one daemon's members take in the encoding of Tables.
  explicit Table(std::uint64_t daemon_bytes_max) : daemon_bytes_max_(daemon_bytes_max) {}
  Table(const Table&) = delete;  // the index points into the groups
  Table& operator=(const Table&) = delete;
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  /// By name. Who changes `id` or `changed` leaves everything else alone.
  Map& groups() { return groups_; }
  const Map& groups() const { return groups_; }
  Map::value_type* find(std::string_view group);

  enum class Outcome : std::uint8_t {
    done,
    member_already,
    no_member,
    another_name,  ///< the client has another name, or another client of that daemon has this one
    no_room,       ///< see daemon_bytes_max
  };
  /// Makes the group if there is none.
  Outcome join(const ClientKey& client, std::string_view name, std::string_view group);
  /// Removes the group with its last member.
  Outcome leave(const ClientKey& client, std::string_view name, std::string_view group);
  /// The groups of a client of this name, sorted; valid until they change.
  std::vector<Map::value_type*> groups_of(const ClientKey& client, std::string_view name) const;

  /// Removes all daemons that are not in `kept` (sorted), and says so in their groups; removes
  /// groups that have nobody left.
  void keep_daemons(std::span<const MemberId> kept);

  /// What the members of a daemon take in an encoding, at most: what join() counts.
  std::uint64_t bytes_of(MemberId daemon) const;
  /// What one more membership can take.
  static std::uint64_t bytes_of(std::string_view name, std::string_view group);
  std::uint64_t daemon_bytes_max() const { return daemon_bytes_max_; }

  Tables tables(const ViewId& view, std::span<const MemberId> synced) const;
  /// A message that can be added: each client has one name, is in a group once, and no daemon takes
  /// more than it may.
  static bool is_consistent(const Tables& tables, std::uint64_t daemon_bytes_max);
  /// Adds daemons that are not here yet, from a consistent message. A group that is in both is
  /// changed; one that is in one of them keeps its id.
  void add(Tables&& tables);
  /// Equal for equal tables.
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
  std::map<MemberId, std::uint64_t> bytes_;  ///< of all daemons that have members
};

}  // namespace peal::group
