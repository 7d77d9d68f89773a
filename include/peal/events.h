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

// The events of a client (client.h), in the order that all clients agree on.

namespace peal {
/// See types.h.
inline namespace v0 {

/// A place in the order; the places of one client's events ascend. A message to several groups has
/// the same place for all its receivers.
struct Place {
  std::uint64_t view{};      ///< number of the daemons' view in which the event was ordered
  std::uint64_t position{};  ///< in that view, from 1
  std::uint32_t index{};     ///< distinguishes events of the same position, from 0
};

/// A message at its place in the order. All that it points to is valid until the next call of
/// next() or wait(), and at most as long as the client.
struct GroupMessage {
  std::string_view sender;                    ///< private name: "#name#node"
  std::span<const std::string_view> targets;  ///< groups and private names of the message; sorted
  Service service{};                          ///< the sender's choice
  std::uint16_t type{};                       ///< a number of the sending application's choice
  Place place;                                ///< of the message
  std::span<const std::byte> payload;         ///< the message's bytes; may be empty

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
  network,     ///< daemons came or went, and their clients with them
};

/// One member of a group.
struct GroupMember {
  std::string name;           ///< private name
  bool came_with_us = false;  ///< continued together with this client from the group's previous
                              ///< view
};

/// The members of a group from this place of the order on.
struct GroupView {
  std::string group;                 ///< its name
  std::string id;                    ///< identifies this state of the group: equal at all its
                                     ///< members
  ViewCause cause{};                 ///< why the members changed
  Reason reason = Reason::none;      ///< with `disconnect`: why the client's session ended
  std::string changed;               ///< the client that joined, left or disconnected; empty with
                                     ///< `network`
  std::vector<GroupMember> members;  ///< all members of the group, including this client
};

/// Some members of the group are unreachable: until the group's next view, guarantees hold among
/// the members that continue together (GroupMember::came_with_us).
struct Transitional {
  std::string group;  ///< its name
};

/// This client has left the group. It is the group's last event, unless this client joins again.
struct Left {
  std::string group;  ///< its name
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< this client was too slow: the daemon dropped them (SlowPolicy::drop)
  away,  ///< they were ordered in a partition without this client's daemon
};

/// Messages of a group are missing here: between the events before the Gap and the events after it.
struct Gap {
  std::string group;         ///< its name; empty: messages to this client's private name
  GapReason reason{};        ///< why
  std::uint64_t messages{};  ///< number of missing messages; 0: this number and the fields below
                             ///< are unknown, as with `away`
  std::uint64_t bytes{};     ///< bytes of their payloads
  Place first;               ///< of the first missing message
  Place last;                ///< of the last missing message
};

/// What happens to a member that does not read the messages of a group.
enum class SlowPolicy : std::uint8_t {
  normal,  ///< as the daemon's configuration says
  block,   ///< all senders wait for that member; needs permission
  spill,   ///< messages above the limit go to the daemon's disk, and return in order
  drop,    ///< messages above the limit are dropped, and a Gap says so
  evict,   ///< the member's session ends
};

/// A limit of a membership is near: read faster. The warning has no place in the order.
struct SlowWarning {
  std::string group;                    ///< its name; empty: messages to this client's private name
  SlowPolicy policy{};                  ///< applied at the limit
  std::uint64_t bytes{};                ///< bytes of messages that wait at the daemon
  std::uint64_t bytes_max{};            ///< limit of `bytes`
  std::chrono::milliseconds age{};      ///< age of the oldest message that waits
  std::chrono::milliseconds age_max{};  ///< limit of `age`; 0: none
};

/// The daemon refused a message that this client sent. The refusal has no place in the order.
struct Refused {
  std::uint64_t number{};  ///< Ticket::number of the message
  Reason reason{};         ///< why
  std::string message;     ///< one line for a person: what was wrong, and what to do about it
};

/// The connection broke, and the client tries to reconnect. Nothing is lost yet, and messages can
/// be sent as before, as long as there is space.
struct Disconnected {
  std::string message;  ///< the reason, one line for a person
};

/// The client is connected again: the session continues where it was, without missing or duplicate
/// events.
struct Reconnected {};

/// The last event. The fate of the messages from number `unsettled_first` on is unknown: each may
/// have a place in the order or not.
struct Ended {
  bool on_request = false;             ///< close() was called
  Reason reason{};                     ///< why
  std::string message;                 ///< one line for a person
  std::uint64_t unsettled_first{};     ///< Ticket number; 0 if all messages were acknowledged
  std::uint64_t unsettled_messages{};  ///< number of messages without an acknowledgement
};

/// What next() and wait() return.
using ClientEvent = std::variant<GroupMessage, GroupView, Transitional, Left, Gap, SlowWarning,
                                 Refused, Disconnected, Reconnected, Ended>;

/// The name of a reason for logs, such as "slow". Thread: any.
std::string_view reason_name(Reason reason);

}  // namespace v0
}  // namespace peal
