// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/digest.h"
#include "base/ids.h"
#include "base/result.h"
#include "group/domains.h"
#include "group/events.h"
#include "group/message.h"
#include "group/table.h"
#include "group/traffic.h"
#include "order/engine.h"
#include "order/member_set.h"

namespace peal::group {

/// The traffic in Tables may take 1/kTrafficShare of the largest message.
inline constexpr std::uint32_t kTrafficShare = 4;

/// `message_bytes_max` and `nodes` must be the same on all nodes.
struct Options {
  std::string node_name;                        ///< as in private names: without '#'
  std::uint32_t nodes = 1;                      ///< most nodes that the cluster may ever have
  std::uint32_t message_bytes_max = 64U << 20;  ///< of one ordered message
  std::uint32_t clients_max = 65'536;           ///< connected at the same time
  Domains domains;                              ///< groups whose messages only some nodes learn
};

/// Returns an empty text, or one line that names the key, the value and what is accepted.
std::string validate(const Options& options);

/// Why a client's request was refused. It had no effect.
enum class Refusal : std::uint8_t {
  would_block,  ///< too much waits to be ordered: retry later
  too_large,    ///< the message exceeds the limit
  closed,       ///< the node has stopped
  bad_name,     ///< invalid name of a group, client or target; or too many targets
  name_in_use,  ///< another client of this node has it
  no_client,    ///< no such connection
  member_already,
  no_member,
  other_nodes,  ///< this node does not learn messages to that group
  no_room,      ///< too many clients, or this node's clients are in too many groups
};

/// What a client sends.
struct Outgoing {
  std::span<const std::string_view> targets;  ///< groups and private names, in any order
  Service service = Service::agreed;
  std::uint16_t type{};       ///< set by the application
  bool self_discard = false;  ///< not to its sender
  ByteView payload;
};

/// The process groups of one node, on top of the ordered messages of any engine. Thread: one; no
/// clock. Equal views and messages in equal order give equal tables on all nodes of a view.
class Groups {
 public:
  /// `options` must be valid; `effects` must outlive this object.
  Groups(const Options& options, Effects& effects);
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  // Clients of this node.
  /// Connects a client of this name. Returns a number that is never used again.
  Result<std::uint32_t, Refusal> connect(std::string_view name);
  Result<void, Refusal> join(std::uint32_t connection, std::string_view group);
  Result<void, Refusal> leave(std::uint32_t connection, std::string_view group);
  Result<void, Refusal> send(std::uint32_t connection, const Outgoing& message);
  /// Removes the client from all its groups; their members learn `reason`, which must not be ok.
  /// The client is told nothing more.
  void disconnect(std::uint32_t connection, wire::ClientCode reason = wire::ClientCode::goodbye);
  /// Submits a safe message without content; only its place matters.
  Result<void, Refusal> mark();
  /// Sends the goodbyes of disconnect() that the node had no room for. Call it when there may be
  /// room.
  void work();

  // What the node delivers, in order.
  /// `self` is this node; it may change until the first view.
  void on_view(const order::View& view, MemberId self);
  /// Accepts any bytes: all nodes count and drop the same malformed messages. `place` grows in each
  /// view, and is the same on all nodes.
  void on_message(MemberId sender, Service service, const Place& place, ByteView message);
  /// Sets the nodes that may be in a view, sorted. Traffic is forgotten only once all of them know
  /// of it; without this list it never is.
  void set_nodes(std::vector<NodeId> nodes) { nodes_ = std::move(nodes); }

  enum class State : std::uint8_t {
    operational,   ///< tables are equal in the whole view
    transitional,  ///< the view ended, its last messages are delivered; also before the first view
    exchanging,    ///< tables are exchanged; nothing else is ordered
    interrupted,   ///< the view ended before the exchange did; its last messages are delivered
  };
  State state() const { return state_; }
  const Table& table() const { return table_; }
  std::size_t clients() const { return clients_.size(); }
  /// work() has something to do.
  bool has_work() const { return !dead_.empty(); }

  struct Counters {
    std::uint64_t delivered = 0;        ///< messages to clients, counted for each client
    std::uint64_t views = 0;            ///< told to clients
    std::uint64_t changes = 0;          ///< joins, leaves and disconnections that were applied
    std::uint64_t exchanges = 0;        ///< exchanges that began
    std::uint64_t interrupted = 0;      ///< of these, ended by the end of their view
    std::uint64_t settled = 0;          ///< views in which all tables became equal
    std::uint64_t bad_messages = 0;     ///< messages that could not be decoded
    std::uint64_t bad_changes = 0;      ///< joins and leaves that contradict the table
    std::uint64_t bad_tables = 0;       ///< tables that contradict the view or each other
    std::uint64_t outdated_tables = 0;  ///< tables of another view
    std::uint64_t gaps = 0;             ///< told to clients
    std::uint64_t out_of_turn = 0;      ///< clients' messages during an exchange; must stay 0
  };
  const Counters& counters() const { return counters_; }
  /// The same with names, for display: "group_delivered" ...
  std::array<order::Counter, 12> named_counters() const;
  /// Digest of everything told so far: equal runs have equal digests.
  std::uint64_t digest() const { return outcome_.value(); }
  void check_invariants() const;

 private:
  struct Local {
    std::string name;
    std::set<std::string, std::less<>> groups;  ///< joined or joining, and not leaving
  };
  struct Dead {
    std::uint32_t connection;
    std::string name;
    wire::ClientCode reason;
  };
  /// One client joined, left or disconnected.
  struct Change {
    Cause cause;
    wire::ClientCode reason;
    Member member;
  };
  using Entry = Table::Map::value_type;
  using SetOf = std::function<std::uint64_t(const ClientKey&)>;

  // groups.cc: views
  void begin_transition();
  void on_regular(const order::View& view);
  void forget_traffic(bool exchanged);
  void settle();
  void name_changed();
  void tell_changed(const SetOf& set_of);
  GroupId next_id(const GroupId& last);
  /// Tells the members here. `set_of` gives equal numbers to members that came together.
  void tell_view(const Entry& entry, Cause cause, const Change* change, const SetOf& set_of);
  void tell_transitional(const Entry& entry);

  // exchange.cc: tables, and missed messages
  MemberId speaker(const order::MemberSet& synced, order::Domain domain) const;
  bool speaks() const;
  std::vector<Traffic> own_traffic() const;
  void start_exchange();
  bool in_exchange(const ViewId& view);
  template <class Message>
  bool read(ByteView bytes, Message& out);
  void on_tables(MemberId sender, ByteView message);
  void on_domain_traffic(MemberId sender, ByteView message);
  bool fits(MemberId sender, const Tables& tables) const;
  bool is_complete() const;
  void complete();
  void merge_tables();
  std::size_t gathered_from(MemberId daemon) const;
  const Traffic* traffic_of(const Tables& tables, order::Domain domain) const;
  std::vector<Missed> merge_traffic();
  void tell_gaps(const std::vector<Missed>& missed);
  bool is_missed(const std::vector<Missed>& missed, std::string_view group) const;
  void tell_gap(std::string_view group);

  // changes.cc: clients' messages, in order
  void on_join(MemberId sender, ByteView message);
  void on_leave(MemberId sender, ByteView message);
  void on_disconnect(MemberId sender, ByteView message);
  void on_marker(ByteView message);
  void on_data(MemberId sender, Service service, const Place& place, ByteView message);
  void note(std::string_view target, const Place& place, TrafficLog& traffic, TrafficMark* mark);
  void remove(std::string_view group, const Change& change);
  void tell_change(Entry& entry, const Change& change);
  bool is_partitioned(MemberId daemon) const;
  void collect_receivers(std::string_view target, const Place& place, TrafficLog& traffic);

  // clients.cc: clients' requests
  Local* local(std::uint32_t connection);
  Result<void, Refusal> submit(Service service, order::Domain domain = 0);

  Options options_;
  Effects& effects_;
  std::uint64_t daemon_bytes_max_;
  State state_ = State::transitional;
  MemberId self_{};
  ViewId view_{};               ///< the last regular view
  order::MemberSet members_;    ///< of `view_`
  order::MemberSet survivors_;  ///< of `view_`: the members of the transitional view after it
  order::MemberSet synced_;     ///< daemons whose table is known to equal this one's
  Table table_;
  std::vector<Tables> gathered_;
  std::map<MemberId, std::vector<Traffic>> gathered_traffic_;  ///< in addition to that in tables
  std::vector<TrafficLog> traffic_;                            ///< for each domain
  std::vector<NodeId> nodes_;                                  ///< nodes that may be in a view
  order::MemberSet came_along_;  ///< daemons that came to `view_` with this one, with equal tables
  ViewId last_view_{};           ///< the view before `view_`
  ViewId next_view_{};           ///< the view that `survivors_` go to
  ViewId id_view_{};             ///< this and the next two: see next_id()
  std::uint64_t id_branch_ = 0;
  std::uint64_t id_count_ = 0;

  std::map<std::uint32_t, Local> clients_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::vector<Dead> dead_;  ///< disconnected, and the goodbye is not submitted
  std::uint32_t last_connection_ = 0;
  std::uint64_t joining_bytes_ = 0;       ///< pending joins' part of the share, at most
  std::vector<std::byte> encoded_;        ///< reused
  std::vector<std::uint32_t> receivers_;  ///< scratch
  std::vector<Member> told_;              ///< scratch

  Counters counters_;
  Digest outcome_;
};

}  // namespace peal::group
