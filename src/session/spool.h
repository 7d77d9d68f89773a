// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace peal::session {

/// Names one session's queue on disk. One Sessions never uses an id twice.
using SpoolId = std::uint64_t;

/// One queue of bytes on disk for each session that needs it: appended at the end, read and
/// discarded at the front. The daemon implements it with files, which it may remove when it starts,
/// since a queue does not outlive the process. Sessions calls it on its own thread; a call may
/// block as long as the disk does. It never calls back.
class Spool {
 public:
  virtual ~Spool() = default;
  /// Appends all of `bytes`, or nothing. Errors: not_permitted, system (also when the disk is
  /// full). The session then ends with this reason.
  virtual Result<void, Errc> append(SpoolId id, ByteView bytes) = 0;
  /// Fills `out` with the bytes from `offset` on, counted from the first byte that was ever
  /// appended. They must have been appended, and not discarded. Errors: system.
  virtual Result<void, Errc> read(SpoolId id, std::uint64_t offset, ByteSpan out) = 0;
  /// Bytes before `offset` are no longer needed.
  virtual void discard(SpoolId id, std::uint64_t offset) = 0;
  /// Nothing of the queue is needed any more.
  virtual void remove(SpoolId id) = 0;
};

}  // namespace peal::session
