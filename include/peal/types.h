// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "peal/result.h"
#include "peal/service.h"

// Common to both interfaces: a member inside the application (member.h) and a client of a daemon
// (client.h). Nothing here throws, except that the standard library throws if memory is exhausted.

namespace peal {
/// Namespace of this version of the interface; applications need not name it.
inline namespace v0 {

/// The kinds of errors.
enum class ErrorCode : std::uint8_t {
  would_block,     ///< full for now: read events, then try again
  too_large,       ///< above the maximum size; nothing was sent
  closed,          ///< the member or client has ended: make a new one
  invalid_option,  ///< an argument or the configuration is wrong; the message names it
  address_in_use,  ///< another process has the node's address
  not_permitted,   ///< the operating system refused
  system,          ///< another failure of the operating system
  timed_out,       ///< the time ran out; a request may still be carried out
  unreachable,     ///< no daemon answers there: start it, or correct the address
  untrusted,       ///< TLS: the client or the daemon does not accept the other's certificate
  refused,         ///< the daemon refused; Error::reason says why
  wrong_version,   ///< headers and library do not match; the message has both versions
};

/// Why a daemon refused, or why something ended.
enum class Reason : std::uint8_t {
  none,            ///< no reason
  bad_record,      ///< the client or the daemon sent a record that the other cannot decode: one of
                   ///< them has a fault
  bad_version,     ///< the daemon speaks another version: give client and daemon the same version
  bad_name,        ///< not a valid name of a group, client or target
  bad_secret,      ///< the daemon does not know the client's token (ClientOptions::token)
  not_permitted,   ///< no rule of the daemon allows it
  name_in_use,     ///< another client of this daemon has the name
  session_lost,    ///< the daemon does not know the session (any more)
  member_already,  ///< the client is in the group already
  no_member,       ///< the client is not in the group
  too_large,       ///< the message exceeds the maximum size
  too_many,        ///< too many sessions, groups or targets
  over_quota,      ///< more bytes per second than the client's quota
  slow,            ///< the client did not read its events
  silent,          ///< the client was silent for too long
  replaced,        ///< the session continues on another connection
  goodbye,         ///< the client ended the session
  evicted,         ///< an administrator ended the session
  shutdown,        ///< the daemon is stopping
};

/// Why a call failed, for a program and for a person.
struct Error {
  ErrorCode code{};              ///< for the program to act on
  std::string message;           ///< one line for a person: what was wrong, and what to do about it
  Reason reason = Reason::none;  ///< with `refused`: the daemon's reason
};

/// A receipt: the message was queued, but need not have its place yet. A member's message certainly
/// has its place after its delivery at that member; a client's message, after flush() succeeded,
/// unless the daemon refused it.
struct Ticket {
  std::uint64_t number{};  ///< counts this member's or client's messages, from 1
};

/// An infinite patience, for calls that wait.
inline constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

}  // namespace v0
}  // namespace peal
