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

// What a client (client.h) is told, one after the other, in the order that all clients agree on.

namespace peal {
/// See types.h.
inline namespace v0 {

/// A place in the order; what one client is told ascends in it. Messages to several groups have the
/// same place for all their receivers.
struct Place {
  std::uint64_t view{};      ///< number of the view of daemons that ordered it
  std::uint64_t position{};  ///< in that view, from 1
  std::uint32_t index{};     ///< among what has the same position, from 0
};

/// A message at its place in the order. Everything it points to is valid until the next call of
/// next() or wait(), and not longer than the client.
struct GroupMessage {
  std::string_view sender;                    ///< private name: "#name#node"
  std::span<const std::string_view> targets;  ///< groups and private names it was sent to; sorted
  Service service{};                          ///< what its sender asked for
  std::uint16_t type{};                       ///< the application's own number
  Place place;                                ///< of the message
  std::span<const std::byte> payload;         ///< its bytes; may be empty

  /// The payload as text.
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload.data()), payload.size()};
  }
};

/// Why a group has other members than before.
enum class ViewCause : std::uint8_t {
  join,        ///< one client joined
  leave,       ///< one client left
  disconnect,  ///< one client's session ended
  network,     ///< daemons came or went, and their clients with them
};

/// One member of a group.
struct GroupMember {
  std::string name;           ///< private name
  bool came_with_us = false;  ///< was in the group's view before together with this client
};

/// Who is in a group from this place of the order on.
struct GroupView {
  std::string group;                 ///< its name
  std::string id;                    ///< names this state of the group: equal at all its members
  ViewCause cause{};                 ///< why it changed
  Reason reason = Reason::none;      ///< of a disconnect
  std::string changed;               ///< who joined, left or disconnected; empty with `network`
  std::vector<GroupMember> members;  ///< all that are in the group, this client included
};

/// Members of the group are out of reach: until its next view, promises hold among those who will
/// come along to it (GroupMember::came_with_us).
struct Transitional {
  std::string group;  ///< its name
};

/// This client has left the group; the last event of the group, until it joins again.
struct Left {
  std::string group;  ///< its name
};

/// Why messages are missing.
enum class GapReason : std::uint8_t {
  slow,  ///< this client did not keep up, and they were left out (SlowPolicy::drop)
  away,  ///< they were ordered where this client's daemon was not, while the network was parted
};

/// Messages of a group are missing here: behind all that came before, ahead of all that follows.
struct Gap {
  std::string group;         ///< its name; empty: messages to the private name
  GapReason reason{};        ///< why
  std::uint64_t messages{};  ///< how many; 0: not known, as with `away`, and so are the rest
  std::uint64_t bytes{};     ///< of their payloads
  Place first;               ///< of the first that is missing
  Place last;                ///< of the last that is missing
};

/// What happens to a member of a group that does not take what it is sent.
enum class SlowPolicy : std::uint8_t {
  normal,  ///< what the daemon's configuration says
  block,   ///< everybody who sends waits for it; needs a right
  spill,   ///< what is too much goes to the daemon's disk, and comes back in order
  drop,    ///< what is too much is left out, and a Gap says so
  evict,   ///< its session ends
};

/// A limit of a membership comes near: read faster. Not at a place in the order.
struct SlowWarning {
  std::string group;                    ///< its name; empty: messages to the private name
  SlowPolicy policy{};                  ///< what will happen at the limit
  std::uint64_t bytes{};                ///< that wait at the daemon
  std::uint64_t bytes_max{};            ///< at most
  std::chrono::milliseconds age{};      ///< of the oldest that waits
  std::chrono::milliseconds age_max{};  ///< at most; 0: without bound
};

/// The daemon did not take a message that this client sent. Not at a place in the order.
struct Refused {
  std::uint64_t number{};  ///< the Ticket's
  Reason reason{};         ///< why
  std::string message;     ///< one line for a person: what was wrong, and what to do about it
};

/// The connection broke, and the client tries to come back. Nothing is lost yet, and messages may
/// be sent as before, as far as there is room.
struct Disconnected {
  std::string message;  ///< one line
};

/// The client is back: all goes on where it was, nothing is missing and nothing comes twice.
struct Reconnected {};

/// The last event. If it was not on request, messages with the numbers from `unsettled_first` on
/// may have got a place in the order or not; nothing more can be said about them here.
struct Ended {
  bool on_request = false;             ///< close() was called
  Reason reason{};                     ///< why
  std::string message;                 ///< one line for a person
  std::uint64_t unsettled_first{};     ///< Ticket number; 0 if all that was sent was settled
  std::uint64_t unsettled_messages{};  ///< how many
};

/// What next() and wait() return.
using ClientEvent = std::variant<GroupMessage, GroupView, Transitional, Left, Gap, SlowWarning,
                                 Refused, Disconnected, Reconnected, Ended>;

/// "slow", "not_permitted": for logs. Thread: any.
std::string_view reason_name(Reason reason);

}  // namespace v0
}  // namespace peal
