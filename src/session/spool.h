// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace peal::session {

/// Names what one session has on disk; never used twice by one Sessions.
using SpoolId = std::uint64_t;

/// Bytes on disk, one queue for each session that has any: appended at the end, read and discarded
/// at the front. Implemented by the daemon over files, which it may remove when it starts: nothing
/// here outlives the process. Called on the thread of Sessions; a call may block as long as the
/// disk does. Never calls back.
class Spool {
 public:
  virtual ~Spool() = default;
  /// All of `bytes`, or nothing. Errors: not_permitted, system (also when the disk is full): the
  /// session then ends, and says why.
  virtual Result<void> append(SpoolId id, ByteView bytes) = 0;
  /// Fills `out` with bytes of the queue from `offset` on, counted from the first byte that was
  /// ever appended; they were appended and are not discarded. Errors: system.
  virtual Result<void> read(SpoolId id, std::uint64_t offset, ByteSpan out) = 0;
  /// Bytes before `offset` are not needed any more.
  virtual void discard(SpoolId id, std::uint64_t offset) = 0;
  /// Nothing of the queue is needed any more.
  virtual void remove(SpoolId id) = 0;
};

}  // namespace peal::session
