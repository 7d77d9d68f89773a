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

// The daemon's side of its clients, without sockets: sessions, what they may do, and what waits for
// whom. Pure: bytes of connections come in, bytes for connections are there to be fetched.

namespace peal::session {

/// Sessions that the daemon ended, and still knows why: the oldest is forgotten first.
inline constexpr std::size_t kEndedMax = 1'024;

/// A connection of this daemon, as its owner counts them; never used twice.
using ConnectionId = std::uint64_t;

/// What connections want since it was asked the last time; each is named once in a list. Those that
/// closed meanwhile may be named too: the owner ignores them.
struct Wanted {
  std::vector<ConnectionId> write;  ///< output() has something
  /// received() takes bytes again; to be called in the order of this list, also if there are none.
  std::vector<ConnectionId> read;
  /// To be closed now; already forgotten here, and no closed() is due. Their last output was
  /// written, or they had time enough for it.
  std::vector<ConnectionId> close;
};

/// One membership of a session, for people.
struct MembershipStatus {
  std::string group;  ///< empty: messages to the private name
  wire::SlowPolicy policy{};
  std::uint64_t memory_bytes{};
  std::uint64_t memory_bytes_max{};
  std::uint64_t disk_bytes{};
  std::uint64_t disk_bytes_max{};
  std::uint64_t left_out{};  ///< messages, ever
};
/// One session, for people.
struct SessionStatus {
  std::string name;      ///< private name
  std::string identity;  ///< "user ann (1000)", "certificate feed.example", …
  bool connected = false;
  std::uint64_t sent{};         ///< messages received of the client
  std::uint64_t settled{};      ///< of these
  std::uint64_t events{};       ///< told, or waiting to be
  std::uint64_t events_seen{};  ///< of these, those that the client has
  Duration oldest{};            ///< how long the first event waits that the client does not have
  std::string waits_for;        ///< what holds the client back, or it the others; or empty
  std::uint64_t memberships_count{};
  /// Some of these, kStatusMembershipsMax at most; rather those for which something waits.
  std::vector<MembershipStatus> memberships;
};
inline constexpr std::size_t kStatusSessionsMax = 100;
inline constexpr std::size_t kStatusMembershipsMax = 8;
/// Bounded, however many clients and groups there are.
struct Status {
  std::uint64_t connections{};
  std::uint64_t memory_bytes{};  ///< of events that wait, each counted once
  std::uint64_t disk_bytes{};
  std::uint64_t input_bytes{};  ///< of unfinished records
  std::uint64_t regions{};      ///< memory that clients read
  std::uint64_t region_bytes{};
  std::uint64_t region_bytes_in_use{};
  std::uint64_t sessions_count{};
  /// Some of these, kStatusSessionsMax at most: those that are held back, or hold others back, come
  /// first.
  std::vector<SessionStatus> sessions;
};

/// All clients of one node. One thread; nothing blocks but Spool. `now` never goes back.
///
/// The owner gives in what connections receive and what the node delivers; after each round of such
/// calls it calls work() and does what wanted() says. Nothing that a client sends can do harm to
/// others: it is refused, or its connection is closed, with a reason.
class Sessions {
 public:
  /// `options` are valid. All references outlive this.
  Sessions(const Options& options, Host& host, Spool& spool);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// New rules and limits, valid ones, for all from now on. Sessions that no rule allows any more
  /// end. `cluster`, `node`, `nodes` and `message_bytes_max` stay as they are.
  void reconfigure(Instant now, const Options& options);

  // Connections.
  void accepted(Instant now, ConnectionId connection, const Identity& identity);
  /// Bytes from the connection, in their order. Returns how many were taken. If not all: nothing
  /// is to be read from it until wanted() names it for reading; then the rest is given again, with
  /// more behind it or not.
  std::size_t received(Instant now, ConnectionId connection, ByteView bytes);
  /// The bytes to be written next, in pieces; empty if there are none. Valid until the next call
  /// that is not const.
  std::span<const ByteView> output(ConnectionId connection);
  /// The memory that its client may read: the descriptor is to go with the first byte of all
  /// output. 0: none. It is known once there is output.
  RegionId region_of(ConnectionId connection) const;
  /// So many bytes of output() were written.
  void written(Instant now, ConnectionId connection, std::size_t bytes);
  /// The other end is gone, or the connection failed. Its session may outlive it.
  void closed(Instant now, ConnectionId connection);
  /// What connections want; empties the lists.
  void take_wanted(Wanted& out);

  /// The nodes that may be in a view, sorted; see group::Groups.
  void set_nodes(std::vector<NodeId> nodes);

  // What the node delivers, in its order.
  void on_view(Instant now, const order::View& view, MemberId self);
  void on_message(Instant now, const Delivered& message);
  /// Bytes of messages that may still be delivered now; less than it was before when members that
  /// block are slow. 0: the node should deliver nothing more, so that senders everywhere wait.
  std::uint64_t room_bytes() const;

  /// The node ordered something, so that it may have room again.
  void on_room(Instant now);
  /// Whatever is due. To be called after any other call, and at next_deadline(). Nothing here is
  /// called back while the node delivers but Host::replace_control and Host::block: work() submits.
  void work(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Ends all sessions, with `shutdown`: settles nothing more. Connections are named for closing
  /// once they have been told, or after a second.
  void stop(Instant now);

  /// Ends one session, with `evicted`: false if there is none of this private name.
  bool evict(Instant now, std::string_view private_name);

  /// `prefix`: only sessions whose private names begin so.
  Status status(Instant now, std::string_view prefix = {}) const;
  const group::Groups& groups() const;
  std::size_t sessions() const;
  std::size_t connections() const;
  /// Nothing is under way here: the tables are equal, all that came back is settled.
  bool idle() const;

  struct Counters {
    std::uint64_t connections = 0;        ///< ever
    std::uint64_t sessions = 0;           ///< ever
    std::uint64_t resumed = 0;            ///< sessions that went on through another connection
    std::uint64_t turned_away = 0;        ///< hellos that led to no session
    std::uint64_t bad_records = 0;        ///< connections that were closed for what they sent
    std::uint64_t messages = 0;           ///< of clients, given to the node
    std::uint64_t refused = 0;            ///< of clients, not given to it
    std::uint64_t settled = 0;            ///< messages of clients
    std::uint64_t markers = 0;            ///< messages of the daemon that settle those of clients
    std::uint64_t events = 0;             ///< told, or waiting
    std::uint64_t shared = 0;             ///< events that were put into a region
    std::uint64_t shared_no_room = 0;     ///< and those that found no room there
    std::uint64_t left_out = 0;           ///< messages that a gap stands for
    std::uint64_t gaps_away = 0;          ///< that daemons were apart, told to clients
    std::uint64_t spilled_bytes = 0;      ///< written to disk
    std::uint64_t read_back_bytes = 0;    ///< read from it
    std::uint64_t evicted = 0;            ///< sessions that were ended for being slow
    std::uint64_t silent = 0;             ///< connections and sessions that were ended for silence
    std::uint64_t warnings = 0;           ///< limits that came near
    std::uint64_t memory_bytes_peak = 0;  ///< of events that wait, each counted once
  };
  Counters counters() const;
  /// The same by name, for who shows them: "session_resumed", …
  std::vector<order::Counter> named_counters() const;
  void check_invariants() const;
  /// Of all that was told so far: equal runs have equal digests.
  std::uint64_t digest() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace peal::session
