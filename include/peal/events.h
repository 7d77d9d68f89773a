// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "peal/types.h"

// The events that a client (client.h) reads with next() and wait().

namespace peal {
/// Namespace of this version: see types.h.
inline namespace v0 {

/// A place in the order. The places of the events that one client receives ascend. A message to
/// several groups has the same place for all its receivers. With ToTo, `fifo` and `causal` messages
/// have no place (service.h): their position and index are 0.
struct Place {
  std::uint64_t view{};      ///< number of the view of daemons in which the event was delivered
  std::uint64_t position{};  ///< position in `view`, from 1; 0: the message has no place
  std::uint32_t index{};     ///< distinguishes events of the same position, from 0
};

/// A message that a client sent to groups or to private names. The data that it points to are valid
/// until the next call of next(), wait() or wait_until(), and at most as long as the client exists.
struct GroupMessage {
  std::string_view sender;                    ///< private name of the sender: "#name#node"
  std::span<const std::string_view> targets;  ///< groups and private names of the message; sorted
  Service service{};                          ///< the ordering guarantee that the sender chose
  std::uint16_t type{};                       ///< a number that the sending application chose
  Place place;                                ///< the place of the message
  /// Only if the message has no place; otherwise 0. The number counts the messages of the sender's
  /// daemon, from 1: together with `place.view` and `sender`, it identifies the message. The
  /// numbers of one sender ascend, with gaps.
  std::uint64_t number{};
  std::span<const std::byte> payload;  ///< the message's bytes; may be empty

  /// The payload as text.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// Why the members of a group changed.
enum class ViewCause : std::uint8_t {
  join,        ///< one client joined
  leave,       ///< one client left
  disconnect,  ///< one client's session ended
  network,     ///< daemons, with their clients, joined or left the view of daemons
};

/// One member of a group.
struct GroupMember {
  std::string name;  ///< private name of the member
  /// True if the member and this client were together in the group's previous view, and stayed
  /// together until this view.
  bool came_with_us = false;
};

/// The members of a group from this place in the order on.
struct GroupView {
  std::string group;  ///< name of the group
  /// Identifies this view of the group; equal at all its members.
  std::string id;
  ViewCause cause{};             ///< why the members of the group changed
  Reason reason = Reason::none;  ///< with `disconnect`: why the session of `changed` ended
  /// The client that joined, left or disconnected; empty with `network`.
  std::string changed;
  std::vector<GroupMember> members;  ///< all members of the group, including this client
};

/// Some members of the group are unreachable. Until the group's next view, the guarantees hold only
/// among the members that stay together (GroupMember::came_with_us).
struct Transitional {
  std::string group;  ///< name of the group
};

/// This client has left the group. No event of the group follows, unless this client joins again.
struct Left {
  std::string group;  ///< name of the group
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< this client read too slowly: the daemon dropped the messages (SlowPolicy::drop)
  away,  ///< the messages were ordered in a view without this client's daemon
};

/// Messages of a group are missing between the event before this Gap and the event after it.
struct Gap {
  std::string group;   ///< name of the group; empty: messages to this client's private name
  GapReason reason{};  ///< why the messages are missing
  /// Number of missing messages. With `away`, the number is unknown: it and the fields below are 0.
  std::uint64_t messages{};
  std::uint64_t bytes{};  ///< total bytes of the payloads of the missing messages
  /// Place of the first missing message that has a place. If none has one, the positions of `first`
  /// and `last` are 0.
  Place first;
  Place last;  ///< place of the last missing message that has a place
};

/// What the daemon does if a member does not read the messages of a group fast enough.
enum class SlowPolicy : std::uint8_t {
  normal,  ///< the policy that the daemon's configuration sets
  block,   ///< all senders to the group wait for the member; needs a permission
  spill,   ///< the daemon stores messages above the limit on disk, and delivers them later
  drop,    ///< the daemon drops messages above the limit; a Gap reports them
  evict,   ///< the daemon ends the member's session
};

/// This client is near a limit of its membership in a group: read faster. The warning has no place
/// in the order.
struct SlowWarning {
  std::string group;                    ///< name of the group; empty: this client's private name
  SlowPolicy policy{};                  ///< the policy that applies at the limit
  std::uint64_t bytes{};                ///< bytes of messages that wait for this client
  std::uint64_t bytes_max{};            ///< limit of `bytes`
  std::chrono::milliseconds age{};      ///< age of the oldest message that waits
  std::chrono::milliseconds age_max{};  ///< limit of `age`; 0: no limit
};

/// The daemon refused a message that this client sent. The refusal has no place in the order.
struct Refused {
  std::uint64_t number{};  ///< Ticket::number of the message
  Reason reason{};         ///< why the daemon refused the message
  std::string message;     ///< one line for a person: what was wrong, and what to do about it
};

/// The connection broke, and the client tries to reconnect. No event and no message is lost yet.
/// The application can continue to send as long as there is space.
struct Disconnected {
  std::string message;  ///< why the connection broke, one line for a person
};

/// The client is connected again. The session continues where it was, without missing or duplicate
/// events.
struct Reconnected {};

/// The last event of a client. Each message from number `unsettled_first` on may or may not have
/// been delivered.
struct Ended {
  bool on_request = false;  ///< true if close() was called
  Reason reason{};          ///< why the session ended
  std::string message;      ///< why the session ended, one line for a person
  /// Ticket::number of the first message without an acknowledgement; 0 if all are acknowledged.
  std::uint64_t unsettled_first{};
  std::uint64_t unsettled_messages{};  ///< number of messages without an acknowledgement
};

/// The result of next(), wait() and wait_until().
using ClientEvent = std::variant<GroupMessage, GroupView, Transitional, Left, Gap, SlowWarning,
                                 Refused, Disconnected, Reconnected, Ended>;

/// The name of `reason` for logs, such as "slow". Thread: any.
std::string_view reason_name(Reason reason);

}  // namespace v0
}  // namespace peal
