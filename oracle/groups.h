// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"
#include "trace/names.h"

// Decides whether the events of the clients of process groups have the properties that Peal
// promises. The checker does not know the implementation of groups. oracle/README.md states the
// properties.

namespace peal::oracle {

/// A client's connection to one incarnation of a node.
struct ClientId {
  MemberId node{};
  std::uint32_t connection{};
  friend constexpr auto operator<=>(const ClientId&, const ClientId&) = default;
};

/// Names one state of a group.
struct GroupViewId {
  ViewId view{};
  std::uint64_t index{};
  friend constexpr auto operator<=>(const GroupViewId&, const GroupViewId&) = default;
};

/// Names a message: `number` counts the sender's messages from 1.
struct GroupMessageId {
  ClientId sender;
  std::uint64_t number{};
  friend constexpr auto operator<=>(const GroupMessageId&, const GroupMessageId&) = default;
};

enum class GroupCause : std::uint8_t { join, leave, disconnect, network };

/// Whether a client wants to receive its own messages to its groups.
enum class OwnCopy : std::uint8_t { unknown, wanted, unwanted };

/// Whether a message has a place in the order. Causal and fifo messages have none, if the engine
/// delivers them without one.
enum class Placing : std::uint8_t { placed, unplaced };

/// A new state of a group, as reported to one client.
struct GroupView {
  GroupViewId id;
  GroupCause cause{};
  std::vector<ClientId> members;   ///< in the reported order: by node, then by name
  std::vector<ClientId> together;  ///< members that came with the receiver from its previous view
};

/// A group in a node's table.
struct GroupTableEntry {
  std::string group;
  GroupViewId id;
  std::vector<ClientId> members;  ///< in the order of GroupView::members
};

/// The properties, named as in oracle/README.md.
enum class GroupProperty : std::uint8_t {
  g1_equal_tables,
  g2_view_agreement,
  g3_same_messages,
  g4_same_origin,
  g5_final_view,
  g6_members_only,
  g7_one_order,
  g8_every_gap,
  g9_all_domains,
  g10_arrival,
};
inline constexpr std::size_t kGroupPropertyCount = 10;

/// "G1" to "G10".
std::string_view group_property_id(GroupProperty property);

/// With order::Traits::genuine: the domain of each node, and of each group or private name.
struct GroupDomains {
  std::function<DomainId(NodeId)> of_node;
  std::function<DomainId(std::string_view)> of_name;
  explicit operator bool() const { return of_node != nullptr; }
};

struct GroupViolation {
  GroupProperty property{};
  std::string text;      ///< names the clients, groups, views and messages
  std::int64_t at_ns{};  ///< time of the violation, or of the nearest known event
};

struct GroupFigures {
  std::uint64_t clients = 0;  ///< number of clients that connected
  std::uint64_t gone = 0;     ///< number of clients that are no longer connected
  std::uint64_t groups = 0;   ///< in views of clients, or in tables
  std::uint64_t messages = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t states = 0;  ///< distinct views of groups
  std::uint64_t views = 0;   ///< reported to clients
  std::uint64_t network_views = 0;
  std::uint64_t transitional = 0;
  std::uint64_t left = 0;
  std::uint64_t gaps = 0;  ///< reported to clients
  std::uint64_t exchanges = 0;
  std::uint64_t tables = 0;    ///< final tables
  std::uint64_t compared = 0;  ///< number of message sequences compared with another client's
};

struct GroupReport {
  std::vector<GroupViolation> violations;  ///< the first ones, at most Options::violations_max
  std::uint64_t violations_total = 0;
  std::array<std::uint64_t, kGroupPropertyCount> violations_of{};  ///< by GroupProperty
  GroupFigures figures;
  bool ok() const { return violations_total == 0; }
};

/// Checks one history. Calls come in real-time order; any sequence of calls is legal input. Memory
/// grows with the history. Thread: one.
class GroupChecker {
 public:
  struct Options {
    /// How many violations are kept with their text; all are counted.
    std::uint32_t violations_max = 100;
    /// Names of nodes for texts; may be null. Must outlive the checker.
    const trace::Names* names = nullptr;
    /// True: a client gets an event at the moment its node reaches the event in the order. False: a
    /// client may get events later. Then the calls of reached() show where among a client's events
    /// each exchange completed.
    bool at_once = true;
    /// As oracle::Options::companies: G2 and G7 hold for the nodes that leave a view together.
    /// Then call parted() for each transitional view.
    bool companies = false;
    /// As order::Traits::crash_stop: nodes that have ended stay in their view, and their clients in
    /// groups.
    bool crash_stop = false;
  };

  GroupChecker();
  explicit GroupChecker(const Options& options);
  ~GroupChecker();
  GroupChecker(GroupChecker&&) noexcept;
  GroupChecker& operator=(GroupChecker&&) noexcept;

  /// Call it before all others, if messages go to sets of domains (G9).
  void set_domains(GroupDomains domains);
  /// The client may get events from now on, until gone(). Without `private_name`, gaps in messages
  /// to the client's private name are not judged.
  void connected(std::int64_t at, const ClientId& client, std::string_view private_name = {});
  /// The client passes a message to its node. `groups` may include private names, which begin with
  /// '#'.
  void sent(std::int64_t at, const GroupMessageId& message, std::span<const std::string> groups,
            std::uint64_t hash, OwnCopy own = OwnCopy::unknown);
  /// `groups` are all names that the message is sent to, not only the receiver's groups.
  void delivered(std::int64_t at, const ClientId& to, const GroupMessageId& message,
                 std::span<const std::string> groups, std::uint64_t hash);
  void viewed(std::int64_t at, const ClientId& to, const std::string& group, const GroupView& view);
  /// The client is notified of a transition. From now until its next view of the group, guarantees
  /// hold only among the members that come to that view together with the client.
  void transitional(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client is notified that it is no longer a member of the group.
  void left(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client is notified that it missed messages to `group`, because they were ordered in a view
  /// without its node. An empty `group` stands for the client's private name.
  void gapped(std::int64_t at, const ClientId& to, const std::string& group);
  /// The client disconnected, or its node crashed or left. Repeated calls are allowed.
  void gone(std::int64_t at, const ClientId& client);
  /// The node has reached this message in the order, whether or not a client of the node gets the
  /// message.
  void ordered(std::int64_t at, MemberId node, const GroupMessageId& message,
               std::span<const std::string> groups, Placing placing = Placing::placed);
  /// The node installed a regular view.
  void entered(std::int64_t at, MemberId node, const ViewId& view);
  /// The node installed the transitional view between its view and the view `next`.
  void parted(std::int64_t at, MemberId node, const ViewId& next);
  /// The node completed the exchange of tables in `view`.
  void exchanged(std::int64_t at, MemberId node, const ViewId& view, std::uint64_t table_hash);
  /// The client's node has completed the exchange of tables in `view`. The place of this call
  /// matters: earlier calls about the client report events before the exchange, later calls report
  /// events after it. Call it for each exchange that completes after the client's session has
  /// begun. Only if Options::at_once is false.
  void reached(std::int64_t at, const ClientId& client, const ViewId& view);
  /// The node's table and view at the end of the history, when no event is pending. The last call
  /// for a node counts.
  void final_table(MemberId node, const ViewId& view, std::span<const GroupTableEntry> entries);

  /// Number of violations so far, without violations that only finish() can find.
  std::uint64_t violations_total() const;
  /// Judges the properties that need the whole history. Call it once; no other call may follow.
  GroupReport finish();

 private:
  struct Judge;
  std::unique_ptr<Judge> judge_;
};

}  // namespace peal::oracle
