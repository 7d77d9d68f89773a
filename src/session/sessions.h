// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "group/groups.h"
#include "order/engine.h"
#include "session/host.h"
#include "session/options.h"
#include "session/spool.h"
#include "wire/client.h"

// The daemon's side of its clients, without sockets: sessions, rules, and events that wait for
// clients. Pure: the owner passes in bytes from connections and fetches bytes for them.

namespace peal::session {

/// For how many ended sessions the daemon remembers the reason; the oldest is forgotten first.
inline constexpr std::size_t kEndedMax = 1'024;

/// A connection of this daemon. The owner assigns the ids, and never uses one twice.
using ConnectionId = std::uint64_t;

/// What connections want since the last take_wanted(). No list has an id twice. Connections that
/// closed meanwhile may be listed; the owner ignores them.
struct Wanted {
  std::vector<ConnectionId> write;  ///< output() has bytes
  /// received() accepts bytes again. The owner calls it in the order of this list, even without
  /// bytes.
  std::vector<ConnectionId> read;
  /// The owner closes these now, and does not call closed() for them. Their last output was
  /// written, or their time for it is over.
  std::vector<ConnectionId> close;
};

/// One membership of a session, for display.
struct MembershipStatus {
  std::string group;  ///< empty: messages to the private name
  wire::SlowPolicy policy{};
  std::uint64_t memory_bytes{};
  std::uint64_t memory_bytes_max{};
  std::uint64_t disk_bytes{};
  std::uint64_t disk_bytes_max{};
  std::uint64_t left_out{};  ///< total number of dropped messages
};
/// One session, for display.
struct SessionStatus {
  std::string name;      ///< private name
  std::string identity;  ///< "user ann (1000)", "certificate feed.example", …
  bool connected = false;
  std::uint64_t sent{};         ///< messages received from the client
  std::uint64_t settled{};      ///< of these, acknowledged
  std::uint64_t events{};       ///< told to the client, or waiting
  std::uint64_t events_seen{};  ///< of these, those that the client has seen
  Duration oldest{};            ///< age of the first event that the client has not seen
  std::string waits_for;        ///< what blocks the client, or what it blocks; may be empty
  std::uint64_t memberships_count{};
  /// At most kStatusMembershipsMax of these; those with waiting events first.
  std::vector<MembershipStatus> memberships;
};
inline constexpr std::size_t kStatusSessionsMax = 100;
inline constexpr std::size_t kStatusMembershipsMax = 8;
/// Of bounded size, however many clients and groups there are.
struct Status {
  std::uint64_t connections{};
  std::uint64_t memory_bytes{};  ///< of waiting events, each counted once
  std::uint64_t disk_bytes{};
  std::uint64_t input_bytes{};  ///< of unfinished records
  std::uint64_t regions{};      ///< memory that clients map
  std::uint64_t region_bytes{};
  std::uint64_t region_bytes_in_use{};
  std::uint64_t sessions_count{};
  /// At most kStatusSessionsMax of these; sessions that are blocked, or block others, come first.
  std::vector<SessionStatus> sessions;
};

/// All clients of one node. Thread: one. Only Spool may block. `now` never goes back.
///
/// The owner passes in what connections receive and what the node delivers. After each round of
/// such calls it calls work(), and then does what take_wanted() says. Clients cannot harm each
/// other: a bad request is refused, or its connection is closed, with a reason.
class Sessions {
 public:
  /// `options` must be valid. `host` and `spool` must outlive this object.
  Sessions(const Options& options, Host& host, Spool& spool);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Applies new rules and limits, which must be valid. Sessions that no rule allows any more end.
  /// `cluster`, `node`, `nodes` and `message_bytes_max` keep their values.
  void reconfigure(Instant now, const Options& options);

  // Connections.
  void accepted(Instant now, ConnectionId connection, const Identity& identity);
  /// Passes in bytes from the connection, in order. Returns how many were taken. If it did not take
  /// all, the owner reads nothing more until take_wanted() lists the connection for reading; then
  /// it passes in the rest again, with or without more bytes.
  std::size_t received(Instant now, ConnectionId connection, ByteView bytes);
  /// The bytes to write next, in pieces; empty if there are none. Valid until the next non-const
  /// call.
  std::span<const ByteView> output(ConnectionId connection);
  /// The memory that the client may read; 0: none. Known once there is output. The owner sends its
  /// descriptor with the connection's first byte.
  RegionId region_of(ConnectionId connection) const;
  /// The first `bytes` of output() were written.
  void written(Instant now, ConnectionId connection, std::size_t bytes);
  /// The peer is gone, or the connection failed. The session may outlive it.
  void closed(Instant now, ConnectionId connection);
  /// Moves what connections want into `out`.
  void take_wanted(Wanted& out);

  /// Sets the nodes that may be in a view, sorted; see group::Groups.
  void set_nodes(std::vector<NodeId> nodes);

  // What the node delivers, in order.
  void on_view(Instant now, const order::View& view, MemberId self);
  void on_message(Instant now, const Delivered& message);
  /// How many bytes of messages the node may still deliver; fewer while a member with policy
  /// `block` is slow. At 0 the node delivers nothing more, and so slows all senders down.
  std::uint64_t room_bytes() const;

  /// The node ordered something, and may have room again.
  void on_room(Instant now);
  /// Does everything that is due. The owner calls it after any other call, and at next_deadline().
  /// It submits messages; while the node delivers, only Host::replace_control and Host::block are
  /// called.
  void work(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Ends all sessions with `shutdown`, and acknowledges nothing more. Connections are listed for
  /// closing once their last output was written, or after a second.
  void stop(Instant now);

  /// Ends a session with `evicted`. Returns false if there is no session of this private name.
  bool evict(Instant now, std::string_view private_name);

  /// `prefix`: list only sessions whose private names begin with it.
  Status status(Instant now, std::string_view prefix = {}) const;
  const group::Groups& groups() const;
  std::size_t sessions() const;
  std::size_t connections() const;
  /// Nothing is pending: the group tables are equal, and everything delivered is acknowledged.
  bool idle() const;

  struct Counters {
    std::uint64_t connections = 0;        ///< total
    std::uint64_t sessions = 0;           ///< total
    std::uint64_t resumed = 0;            ///< sessions resumed on another connection
    std::uint64_t turned_away = 0;        ///< hellos that were refused
    std::uint64_t bad_records = 0;        ///< connections closed for a malformed record
    std::uint64_t messages = 0;           ///< from clients, submitted to the node
    std::uint64_t refused = 0;            ///< from clients, refused
    std::uint64_t settled = 0;            ///< acknowledged messages of clients
    std::uint64_t markers = 0;            ///< the daemon's safe messages that acknowledge others
    std::uint64_t events = 0;             ///< told to clients, or waiting
    std::uint64_t shared = 0;             ///< events put into a region
    std::uint64_t shared_no_room = 0;     ///< events that found no room there
    std::uint64_t left_out = 0;           ///< messages dropped; a gap replaces them
    std::uint64_t gaps_away = 0;          ///< gaps told because daemons were apart
    std::uint64_t spilled_bytes = 0;      ///< written to disk
    std::uint64_t read_back_bytes = 0;    ///< read from it
    std::uint64_t evicted = 0;            ///< sessions ended because the client was slow
    std::uint64_t silent = 0;             ///< connections and sessions ended for silence
    std::uint64_t warnings = 0;           ///< slow-client warnings
    std::uint64_t memory_bytes_peak = 0;  ///< of waiting events, each counted once
  };
  Counters counters() const;
  /// The same with names, for display: "session_resumed", …
  std::vector<order::Counter> named_counters() const;
  void check_invariants() const;
  /// Digest of everything told so far: equal runs have equal digests.
  std::uint64_t digest() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace peal::session
