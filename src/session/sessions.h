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
#include "session/counters.h"
#include "session/host.h"
#include "session/options.h"
#include "session/spool.h"
#include "session/status.h"
#include "session/wanted.h"
#include "wire/client.h"

// The part of the daemon that serves clients, without sockets: sessions, rules, and events that
// wait for clients. Pure: the owner passes in the bytes that connections receive, and fetches the
// bytes that they should send.

namespace peal::session {

/// All clients of one node. Thread: one. Only Spool may block. `now` never decreases.
///
/// The owner passes in the bytes that connections receive, and the views and messages that the node
/// delivers. After each round of such calls the owner calls work(), and then serves the connections
/// that take_wanted() lists. A client cannot harm other clients: Sessions answers a bad request
/// with a refusal, or closes the client's connection, and gives the reason.
class Sessions {
 public:
  /// `options` must be valid. `host` and `spool` must outlive this object.
  Sessions(const Options& options, Host& host, Spool& spool);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  /// Applies new rules and limits, which must be valid. Ends sessions that no rule allows any more.
  /// `cluster`, `node`, `nodes` and `message_bytes_max` keep their values. A larger `sessions_max`
  /// than at the start has no effect.
  void reconfigure(Instant now, const Options& options);

  // Connections.
  void accepted(Instant now, ConnectionId connection, const Identity& identity);
  /// Passes in bytes from the connection, in order. Returns how many bytes were taken. If not all
  /// bytes were taken, the owner reads nothing more from the connection until take_wanted() lists
  /// it for reading. Then the owner passes in the other bytes again, with or without more bytes.
  std::size_t received(Instant now, ConnectionId connection, ByteView bytes);
  /// The bytes to write next, in pieces; an empty span if there are none. Valid until the next
  /// non-const call.
  std::span<const ByteView> output(ConnectionId connection);
  /// The region that the client may read; 0: none. The id is known once there is output. The owner
  /// sends the region's descriptor with the connection's first byte.
  RegionId region_of(ConnectionId connection) const;
  /// Call when the first `bytes` bytes of output() were written.
  void written(Instant now, ConnectionId connection, std::size_t bytes);
  /// Call when the peer is gone, or the connection failed. The session may outlive the connection.
  void closed(Instant now, ConnectionId connection);
  /// Moves into `out` what connections have requested from the owner.
  void take_wanted(Wanted& out);

  /// Sets the nodes that may be in a view, sorted; see group::Groups.
  void set_nodes(std::vector<NodeId> nodes);

  // The views and messages that the node delivers, in order.
  void on_view(Instant now, const order::View& view, MemberId self);
  void on_message(Instant now, const Delivered& message);
  /// The message of this node with the number that Host::submit() returned has its place in the
  /// order of all its domains. `seq`, `delivered` and when to call it: see group::Groups.
  void on_placed(Instant now, std::uint64_t number, Seq seq, bool delivered);
  /// How many bytes of messages the node may still deliver; fewer while a member with policy
  /// `block` is slow. At 0 the node must deliver nothing; this slows all senders down.
  std::uint64_t room_bytes() const;

  /// Call when the node has ordered messages, so that it may accept new messages again.
  void on_room(Instant now);
  /// Does all work that is due. The owner calls work() after any other call, and at
  /// next_deadline(). on_view() and on_message() submit no messages, because the node is
  /// delivering: they call only Host::replace_control() and Host::block() to change the node.
  void work(Instant now);
  std::optional<Instant> next_deadline() const;
  /// Ends all sessions with `shutdown`, and acknowledges nothing more. Connections are listed for
  /// closing once their last output was written, or after a second.
  void stop(Instant now);

  /// Ends a session with `evicted`. Returns false if there is no session of this private name.
  bool evict(Instant now, std::string_view private_name);

  /// Lists only sessions whose private names begin with `prefix`.
  Status status(Instant now, std::string_view prefix = {}) const;
  const group::Groups& groups() const;
  /// What views and messages of groups wait for, such as "the group tables of n2, n3"; empty:
  /// nothing.
  std::string groups_wait_for() const;
  std::size_t sessions() const;
  std::size_t connections() const;
  /// True if nothing is pending: the group tables are equal, all submitted messages are
  /// acknowledged, and no session is to end.
  bool idle() const;

  using Counters = session::Counters;
  Counters counters() const;
  /// The counters with names, for display: "session_resumed", …
  std::vector<order::Counter> named_counters() const;
  void check_invariants() const;
  /// Digest of all events and acknowledgements so far: equal runs have equal digests.
  std::uint64_t digest() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace peal::session
