// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

// Common to both interfaces: a member inside the application (member.h) and a client of a daemon
// (client.h). Nothing here throws, except that the standard library throws if memory is exhausted.

namespace peal {
/// Version of the interface; applications need not write it.
inline namespace v0 {

/// Why a call was refused.
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
  untrusted,       ///< TLS: one of the two does not accept the other's certificate
  refused,         ///< the daemon refused; Error::reason says why
  wrong_version,   ///< headers and library do not match; the message has both versions
};

/// Why a daemon refused, or why something ended.
enum class Reason : std::uint8_t {
  none,            ///< no reason
  bad_record,      ///< one of the two sent a record that the other cannot decode: one of them has a
                   ///< fault
  bad_version,     ///< the daemon speaks another version: bring both to the same one
  bad_name,        ///< not a valid name of a group, client or target
  bad_secret,      ///< the daemon does not know this token
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
  goodbye,         ///< the client ended it
  evicted,         ///< an administrator ended the session
  shutdown,        ///< the daemon is stopping
};

/// Why a call failed, for a program and for a person.
struct Error {
  ErrorCode code{};              ///< for the program to act on
  std::string message;           ///< one line for a person: what was wrong, and what to do about it
  Reason reason = Reason::none;  ///< with `refused`: the daemon's reason
};

/// A value or an error.
template <class T>
class [[nodiscard]] Result {
 public:
  /// Success.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// Failure.
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  /// True if there is a value.
  bool ok() const { return content_.index() == 0; }
  /// The same.
  explicit operator bool() const { return ok(); }
  /// The value; throws std::bad_variant_access if there is none.
  T& value() { return std::get<0>(content_); }
  const T& value() const { return std::get<0>(content_); }
  /// The value, as value().
  T& operator*() { return value(); }
  /// A member of the value, as value().
  T* operator->() { return &value(); }
  /// The error; throws std::bad_variant_access if there is a value.
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// Ordering guarantees, each stronger than the one before. `agreed` messages are delivered in one
/// total order; `safe` ones only once every member of the view has them. `fifo` and `causal` are
/// delivered as agreed.
enum class Service : std::uint8_t { fifo, causal, agreed, safe };

/// A receipt: the message was queued. It has its place only when it is delivered here, or when
/// flush() of a client says so.
struct Ticket {
  std::uint64_t number{};  ///< counts this member's or client's messages, from 1
};

/// Success without a value.
struct Done {};

/// An infinite patience, for calls that wait.
inline constexpr std::chrono::milliseconds kForever = std::chrono::milliseconds::max();

}  // namespace v0
}  // namespace peal
