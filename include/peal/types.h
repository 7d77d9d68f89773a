// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "peal/result.h"
#include "peal/service.h"

// The types that both interfaces use: a member inside the application (member.h), and a client of a
// daemon (client.h). The interfaces report errors as Result and do not throw. But the
// standard library throws if memory is exhausted, and a Result throws if its absent value or error
// is read.

namespace peal {
/// Namespace of this version of the interface; applications need not name it.
inline namespace v0 {

/// The kinds of errors.
enum class ErrorCode : std::uint8_t {
  would_block,     ///< a queue is full, or a name is not resolved yet: read events, try again
  too_large,       ///< the message exceeds the maximum size; it was not sent
  closed,          ///< the member or client has ended: make a new one
  invalid_option,  ///< an argument or the configuration is wrong; the message names it
  address_in_use,  ///< another process uses the node's address, or the node's folder in `data_dir`
  not_permitted,   ///< access was denied, or a TLS file has unsafe permissions
  system,          ///< another error of the operating system
  timed_out,       ///< the time ran out; a request may still be carried out
  unreachable,     ///< no daemon answers at the address: start the daemon, or correct the address
  untrusted,       ///< TLS: the client or the daemon does not accept the other's certificate
  refused,         ///< the daemon refused a request or a session; Error::reason says why
  wrong_version,   ///< headers and library do not match; the message has both versions
};

/// Why the daemon refused a request or a message, or why a session ended.
enum class Reason : std::uint8_t {
  none,  ///< no reason
  /// The client or the daemon sent a record that the other side cannot decode or does not expect:
  /// one of them has a fault.
  bad_record,
  /// The daemon uses another version of the protocol: install the same version of client and
  /// daemon.
  bad_version,
  bad_name,       ///< not a valid name of a group, client or target
  bad_secret,     ///< the daemon does not know the client's token (ClientOptions::token)
  not_permitted,  ///< no rule of the daemon permits the request
  name_in_use,    ///< another client of this daemon has the name
  /// The daemon no longer knows the session, or the client could not reconnect in time.
  session_lost,
  member_already,  ///< the client is in the group already
  no_member,       ///< the client is not in the group
  too_large,       ///< the message exceeds the maximum size
  too_many,        ///< too many sessions, groups or targets
  over_quota,      ///< the client sent more bytes or queries per second than its quota
  slow,            ///< the client did not read its events fast enough
  silent,          ///< the client sent nothing for too long
  replaced,        ///< the session continues on another connection
  goodbye,         ///< the client ended the session
  evicted,         ///< an administrator ended the session
  shutdown,        ///< the daemon is stopping
  /// Too many messages for clients of the daemon waited for views of their groups. The daemon
  /// dropped them, and ended all sessions.
  dropped,
};

/// Why a call failed, for programs and for people.
struct Error {
  ErrorCode code{};              ///< the kind of error, for programs
  std::string message;           ///< one line for a person: what was wrong, and what to do about it
  Reason reason = Reason::none;  ///< with `refused`: the daemon's reason
};

/// Confirms that a message was queued; the message may not have its place in the order yet. A
/// member's message has its place once this member delivered the message. A client's message has
/// its place once flush() succeeded, unless the daemon refused the message. With ToTo, `fifo` and
/// `causal` messages get no place (service.h).
struct Ticket {
  std::uint64_t number{};  ///< counts the messages of this member or client, from 1
};

/// An infinite patience, for the calls of Client and Member that wait.
inline constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

}  // namespace v0
}  // namespace peal
