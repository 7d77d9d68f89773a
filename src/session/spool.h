// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace peal::session {

/// Identifies one session's queue on disk. A Sessions object never uses an id twice.
using SpoolId = std::uint64_t;

/// Queues of bytes on disk, one for each session that needs it: appended at the end, read and
/// discarded at the front. The daemon implements the spool with files. The daemon may remove old
/// files when it starts, because a queue does not outlive the process. Sessions calls the spool on
/// the thread of Sessions; a call may block as long as the disk blocks. The spool never calls back.
class Spool {
 public:
  virtual ~Spool() = default;
  /// Appends all of `bytes`, or nothing. Errors: not_permitted, system (also when the disk is
  /// full). The session then ends, with the error as its reason.
  virtual Result<void, Errc> append(SpoolId id, ByteView bytes) = 0;
  /// Fills `out` with the bytes from `offset` on, counted from the first byte that was ever
  /// appended. These bytes must have been appended, and not discarded. Errors: system.
  virtual Result<void, Errc> read(SpoolId id, std::uint64_t offset, ByteSpan out) = 0;
  /// Bytes before `offset` are no longer needed.
  virtual void discard(SpoolId id, std::uint64_t offset) = 0;
  /// The whole queue is no longer needed.
  virtual void remove(SpoolId id) = 0;
};

}  // namespace peal::session
