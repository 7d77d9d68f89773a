// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "session/context.h"
#include "session/native/connection.h"

namespace peal::session::native {

/// The paused connections, which the daemon does not read from, and the memory that unfinished
/// records take. Connections that wait for memory get it in the order in which they began to wait.
class InputFlow {
 public:
  InputFlow(Context& context, Wanted& wanted) : context_(context), wanted_(wanted) {}

  /// Stops reading from the connection until resume_one() or resume_all().
  void pause(Connection& from, Link::Pause reason);
  void resume_one(Connection& from);
  /// Resumes all connections that are paused for this reason.
  void resume_all(Link::Pause reason);

  /// Reserves memory for an unfinished record. If there is not enough memory, pauses the
  /// connection, which then waits behind all connections that already wait for memory, and returns
  /// false.
  bool reserve(Connection& from, std::size_t bytes);
  /// Frees the memory of a record that is finished or given up. Connections that wait for memory
  /// then try again.
  void release(Connection& from);
  /// Deadline for the connection's unfinished record. It is earlier while other connections wait
  /// for memory.
  Instant record_deadline(const Connection& of) const;
  /// Forgets a connection that is gone; call release() before.
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
