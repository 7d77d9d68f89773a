// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "trace/names.h"

// Decides whether what the clients of process groups saw is what Peal promises them. It knows
// nothing of how groups are kept. oracle/README.md states the properties.

namespace peal::oracle {

/// A connection of a client to one incarnation of a node.
struct ClientId {
  MemberId node{};
  std::uint32_t connection{};
  friend constexpr auto operator<=>(const ClientId&, const ClientId&) = default;
};

/// Names one state of one group.
struct GroupViewId {
  ViewId view{};
  std::uint64_t index{};
  friend constexpr auto operator<=>(const GroupViewId&, const GroupViewId&) = default;
};

/// Counts one client's messages, from 1.
struct GroupMessageId {
  ClientId sender;
  std::uint64_t number{};
  friend constexpr auto operator<=>(const GroupMessageId&, const GroupMessageId&) = default;
};

enum class GroupCause : std::uint8_t { join, leave, disconnect, network };

/// Whether a client that sends to a group of its own wants its message back.
enum class OwnCopy : std::uint8_t { unknown, wanted, unwanted };

/// What one client is told of a new state of a group.
struct GroupView {
  GroupViewId id;
  GroupCause cause{};
  std::vector<ClientId> members;   ///< as shown: sorted by node, then by the client's name
  std::vector<ClientId> together;  ///< who came with the receiver from its previous view, as shown
};

/// A group in the table of a node.
struct GroupTableEntry {
  std::string group;
  GroupViewId id;
  std::vector<ClientId> members;  ///< in the order of GroupView::members
};

/// What can be broken. The names are those of oracle/README.md.
enum class GroupProperty : std::uint8_t {
  g1_equal_tables,
  g2_view_agreement,
  g3_same_messages,
  g4_same_origin,
  g5_final_view,
  g6_members_only,
  g7_one_order,
  g8_every_gap,
};
inline constexpr std::size_t kGroupPropertyCount = 8;

/// "G1" to "G8".
std::string_view group_property_id(GroupProperty property);

struct GroupViolation {
  GroupProperty property{};
  std::string text;      ///< names the clients, groups, views and messages
  std::int64_t at_ns{};  ///< of the event at which it was noticed, or the nearest known one
};

struct GroupFigures {
  std::uint64_t clients = 0;  ///< that connected
  std::uint64_t gone = 0;     ///< of these
  std::uint64_t groups = 0;   ///< that a client was told a view of, or that a table holds
  std::uint64_t messages = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t states = 0;  ///< distinct views of groups
  std::uint64_t views = 0;   ///< told to clients
  std::uint64_t network_views = 0;
  std::uint64_t transitional = 0;
  std::uint64_t left = 0;
  std::uint64_t gaps = 0;  ///< told to clients
  std::uint64_t exchanges = 0;
  std::uint64_t tables = 0;    ///< final ones
  std::uint64_t compared = 0;  ///< sequences of messages compared with another client's
};

struct GroupReport {
  std::vector<GroupViolation> violations;  ///< the first ones
  std::uint64_t violations_total = 0;
  std::array<std::uint64_t, kGroupPropertyCount> violations_of{};  ///< by GroupProperty
  GroupFigures figures;
  bool ok() const { return violations_total == 0; }
};

/// Checks one history. Calls come in real-time order; any sequence of them is legal input. Memory
/// grows with the history. One thread.
class GroupChecker {
 public:
  struct Options {
    /// Violations kept with their text; all are counted.
    std::uint32_t violations_max = 100;
    /// Names of nodes for texts; may be null. Must outlive the checker.
    const trace::Names* names = nullptr;
    /// Clients are told things in the very moment in which their nodes get that far. Else reached()
    /// says where among what a client is told its node completed an exchange.
    bool at_once = true;
  };

  GroupChecker();
  explicit GroupChecker(const Options& options);
  ~GroupChecker();
  GroupChecker(GroupChecker&&) noexcept;
  GroupChecker& operator=(GroupChecker&&) noexcept;

  /// From here on the client may be told things, until it is gone. Without a private name gaps in
  /// the messages to it are not judged.
  void connected(std::int64_t at, const ClientId& client, std::string_view private_name = {});
  /// The client hands a message to its node. `groups` may hold private names, which begin with '#'.
  void sent(std::int64_t at, const GroupMessageId& message, std::span<const std::string> groups,
            std::uint64_t hash, OwnCopy own = OwnCopy::unknown);
  /// `groups` are all that the message names, not those of the receiver only.
  void delivered(std::int64_t at, const ClientId& to, const GroupMessageId& message,
                 std::span<const std::string> groups, std::uint64_t hash);
  void viewed(std::int64_t at, const ClientId& to, const std::string& group, const GroupView& view);
  /// Until its next view the client's guarantees are those of who will come with it.
  void transitional(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client is told that it is no member any more.
  void left(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client is told that messages to a group of its own are missing (empty: to its private
  /// name), since its node was not where they were ordered.
  void gapped(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client disconnected, or its node crashed or left. May be repeated.
  void gone(std::int64_t at, const ClientId& client);
  /// The node got so far as this message, whether it is for a client there or not.
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& message,
               std::span<const std::string> groups);
  /// The node came to a regular view.
  void entered(std::int64_t at, MemberId node, const ViewId& view);
  /// The node completed the exchange of tables in `view`.
  void exchanged(std::int64_t at, MemberId node, const ViewId& view, std::uint64_t table_hash);
  /// Unless clients are told things at once: what the client is told from here on, its node said
  /// after it completed the exchange in `view`, and what it was told before, ahead of that. To be
  /// called for each exchange after the client's session began.
  void reached(std::int64_t at, const ClientId& client, const ViewId& view);
  /// The node's table and view when nothing is under way any more. The last call of a node counts.
  void final_table(MemberId node, const ViewId& view, std::span<const GroupTableEntry> entries);

  /// Violations so far, without those that only show at the end.
  std::uint64_t violations_total() const;
  /// Judges what only the whole history shows. Call once; nothing may be added afterwards.
  GroupReport finish();

 private:
  struct Judge;
  std::unique_ptr<Judge> judge_;
};

}  // namespace peal::oracle
