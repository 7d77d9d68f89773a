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
#include "group/events.h"
#include "group/exchange.h"
#include "group/group_ids.h"
#include "group/held_messages.h"
#include "group/local_clients.h"
#include "group/message.h"
#include "group/options.h"
#include "group/table.h"
#include "group/traffic_logs.h"
#include "order/engine.h"
#include "order/member_set.h"

namespace peal::group {

/// The process groups of one node, on top of the ordered messages of any engine. Use it from one
/// thread. It reads no clock. All nodes of a view that deliver equal views and messages in equal
/// order have equal tables.
class Groups {
 public:
  /// `options` must be valid; `effects` must outlive this object.
  Groups(const Options& options, Effects& effects);
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  // Clients of this node.
  /// Connects a client with the name `name`. Returns the connection's number, which is never used
  /// again.
  Result<std::uint32_t, Refusal> connect(std::string_view name) { return clients_.connect(name); }
  Result<void, Refusal> join(std::uint32_t connection, std::string_view group) {
    return clients_.join(connection, group, table_, self_);
  }
  Result<void, Refusal> leave(std::uint32_t connection, std::string_view group) {
    return clients_.leave(connection, group);
  }
  Result<void, Refusal> send(std::uint32_t connection, const Outgoing& message) {
    return clients_.send(connection, message);
  }
  /// Removes the client from all its groups. The members of these groups learn `reason`, any code
  /// but ok. The client gets no more events.
  void disconnect(std::uint32_t connection, wire::ClientCode reason = wire::ClientCode::goodbye) {
    clients_.disconnect(connection, reason);
  }
  /// Submits a safe message without content. Only its place in the order matters.
  Result<void, Refusal> mark() { return clients_.mark(); }
  /// Submits the messages of disconnect() that did not fit into the node's queue. Call it when the
  /// queue may have space again.
  void work() { clients_.work(); }

  // What the node delivers, in order.
  /// `self` is this node. `self` must not change after the first regular view.
  void on_view(const order::View& view, MemberId self);
  /// Accepts any bytes: all nodes count and drop the same malformed messages.
  void on_message(const Ordered& from, ByteView message);
  /// With disjoint domains: the message of this node with this number has its place, `seq`. If it
  /// is not `delivered` here, this node was outside its domain's view at that place. Call it for
  /// each message that Effects::submit() took, before the message is delivered here.
  void on_placed(std::uint64_t number, Seq seq, bool delivered);
  /// Sets the nodes that may be in a view, sorted. Once all these nodes know old traffic, the
  /// traffic is forgotten. Without this list, only traffic above the limits is forgotten.
  void set_nodes(std::vector<NodeId> nodes) {
    options_.domains.keep_own(nodes);
    traffic_.set_nodes(std::move(nodes));
  }

  enum class State : std::uint8_t {
    operational,   ///< tables are equal in the whole view
    transitional,  ///< the view ended, its last messages are being delivered; initial state, too
    exchanging,    ///< tables are exchanged; nothing else takes effect
    interrupted,   ///< the view ended during the exchange; its last messages are being delivered
  };
  State state() const { return state_; }
  /// True if nothing has to be exchanged with other nodes.
  bool is_settled() const { return state_ == State::operational || options_.domains.only_sends(); }
  /// The nodes whose tables are missing in an exchange, sorted. Of nodes that came together from
  /// another view all are named, though one of them sends the table.
  order::MemberSet awaited() const;
  const Table& table() const { return table_; }
  std::size_t clients() const { return clients_.all().size(); }
  /// True if work() has something to do.
  bool has_work() const { return clients_.has_work(); }

  struct Counters {
    std::uint64_t delivered = 0;        ///< messages to clients, counted for each client
    std::uint64_t views = 0;            ///< views queued for clients, counted for each client
    std::uint64_t changes = 0;          ///< joins, leaves and disconnections that were applied
    std::uint64_t exchanges = 0;        ///< exchanges that began
    std::uint64_t interrupted = 0;      ///< exchanges that the end of their view interrupted
    std::uint64_t settled = 0;          ///< views in which all tables became equal
    std::uint64_t bad_messages = 0;     ///< messages that could not be decoded
    std::uint64_t bad_changes = 0;      ///< joins and leaves that contradict the table
    std::uint64_t bad_tables = 0;       ///< tables that contradict the view or each other
    std::uint64_t outdated_tables = 0;  ///< tables of another view
    std::uint64_t gaps = 0;             ///< gaps queued for clients, counted for each client
    std::uint64_t held = 0;             ///< clients' messages that waited for an exchange
    std::uint64_t held_dropped = 0;  ///< those of them that were too many: see Effects::dropped()
    std::uint64_t out_of_turn = 0;   ///< those that should not have come; must stay 0
  };
  const Counters& counters() const { return counters_; }
  /// The counters with names, for display: "group_delivered" ...
  std::array<order::Counter, 14> named_counters() const;
  /// Digest of all views, messages and notifications so far: equal runs have equal digests.
  std::uint64_t digest() const { return outcome_.value(); }
  void check_invariants() const;

 private:
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
  void settle();
  static void name_changed(Table& table, GroupIds& ids);
  void tell_changed(const SetOf& set_of);
  /// Notifies the members at this node. `set_of` gives equal numbers to members that came together.
  void tell_view(const Entry& entry, Cause cause, const Change* change, const SetOf& set_of);
  void tell_transitional(const Entry& entry);

  // merging.cc: the exchange, and missed messages
  void start_exchange();
  void send_table();
  template <class Message>
  bool read(ByteView bytes, Message& out);
  void on_tables(MemberId sender, ByteView message);
  void on_domain_traffic(MemberId sender, ByteView message);
  void complete();
  void tell_gaps(const std::vector<Missed>& missed);
  void tell_gap(std::string_view group);

  // changes.cc: clients' messages, in order
  void hold(const Ordered& from, ByteView message);
  void apply(const Ordered& from, ByteView message);
  void apply_held(const HeldMessages::List& messages);
  bool counts_as_member(MemberId sender) const;
  void on_join(MemberId sender, ByteView message);
  void on_leave(MemberId sender, ByteView message);
  void on_disconnect(MemberId sender, ByteView message);
  void on_data(const Ordered& from, ByteView message);
  void remove(std::string_view group, const Change& change);
  void tell_change(Entry& entry, const Change& change);
  bool is_partitioned(MemberId daemon) const;
  void note_traffic(const Data& data, const Ordered& from);
  void collect_receivers(std::string_view target, const Ordered& from, TrafficLog* traffic);

  Options options_;
  Effects& effects_;
  State state_ = State::transitional;
  MemberId self_{};
  ViewId view_{};               ///< the last regular view
  order::MemberSet members_;    ///< members of `view_`
  order::MemberSet survivors_;  ///< members of the transitional view that follows `view_`
  order::MemberSet synced_;     ///< daemons whose tables are known to equal `table_`
  Table table_;
  Exchange exchange_{options_};
  HeldMessages held_;
  bool table_due_ = false;                      ///< this node has to send its table, and has not
  std::uint64_t table_after_ = 0;               ///< it does once this own message has its place
  std::uint64_t placed_ = 0;                    ///< number of the last own message with a place
  std::vector<std::vector<std::byte>> missed_;  ///< own changes that had no effect elsewhere
  bool replays_ = false;  ///< a held message takes effect: it is in the traffic already
  TrafficLogs traffic_;
  GroupIds ids_;
  ViewId next_view_{};  ///< the view that `survivors_` go to
  LocalClients clients_{options_, effects_};

  std::vector<std::uint32_t> receivers_;  ///< reused
  std::vector<Member> told_;              ///< reused

  Counters counters_;
  Digest outcome_;
};

}  // namespace peal::group
