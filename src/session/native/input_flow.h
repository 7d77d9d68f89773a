// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "session/context.h"
#include "session/native/connection.h"

namespace peal::session::native {

/// Which connections the daemon does not read from, and why; and the memory that unfinished records
/// take, for which connections wait in their order.
class InputFlow {
 public:
  InputFlow(Context& context, Wanted& wanted) : context_(context), wanted_(wanted) {}

  /// The daemon does not read from the connection until it is resumed.
  void pause(Connection& from, Link::Pause reason);
  void resume_one(Connection& from);
  /// Resumes all connections that are paused for this reason.
  void resume_all(Link::Pause reason);

  /// Reserves memory for an unfinished record. If there is none, pauses the connection, behind
  /// those that wait already.
  bool reserve(Connection& from, std::size_t bytes);
  /// The record is finished or given up: frees its memory, and ends waiting for memory.
  void release(Connection& from);
  /// When an unfinished record must be complete; earlier while others wait for the memory that it
  /// takes.
  Instant record_deadline(const Connection& of) const;
  /// The connection, which has released its memory, is gone.
  void forget(Connection& it);

  /// Memory that unfinished records take.
  std::uint64_t input_bytes() const { return input_bytes_; }
  std::uint64_t input_waiters() const { return input_waiters_; }

 private:
  void set_pause(Connection& of, Link::Pause reason);
  void resume(Connection& from);

  Context& context_;
  Wanted& wanted_;
  std::deque<Connection*> paused_;  ///< in the order in which they were paused
  std::uint64_t input_bytes_ = 0;
  std::uint64_t input_waiters_ = 0;  ///< connections with Pause::input
};

}  // namespace peal::session::native
