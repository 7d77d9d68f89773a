// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace peal::port {

/// Why a log ended for good. `message` is one line: the file, what was tried, and what to do.
struct LogFailure {
  std::string file;
  std::string message;
};

/// Is told what a log holds, in order. The bytes are there during the call only.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual void on_record(LogPosition position, ByteView record) = 0;
};

/// What a protocol sees of its durable log: records in, positions out, and up to which of them a
/// crash can take nothing away any more. Whoever owns the log commits it (src/wal/log.h).
class Log {
 public:
  virtual ~Log() = default;

  /// Every record that is kept, in order; before the first append(). Errors: the disk cannot be
  /// read, or does not hold any more what it held at the start.
  virtual Result<void, LogFailure> replay(LogReader& reader) = 0;
  /// Takes a copy. The record has its position at once, and is durable later. Errors: would_block
  /// (commit, or write a checkpoint, then try again), too_large, closed (see failure()).
  Result<LogPosition> append(ByteView record) { return append(record, {}); }
  /// The same of a record in two parts, one behind the other.
  virtual Result<LogPosition> append(ByteView first, ByteView rest) = 0;
  /// Appends a record after which all before `keep_from` are not needed any more, and lets go of
  /// them once it is durable, as far as whole segments hold nothing else. `keep_from` is at most
  /// the position that this record gets. Errors: as for append(), but the limit on disk does not
  /// hold for it.
  virtual Result<LogPosition> checkpoint(ByteView record, LogPosition keep_from) = 0;

  /// Which log this is: random, not 0, and the same as long as there is this log. Who begins with
  /// an empty folder has another one.
  virtual std::uint64_t id() const = 0;
  /// Of the last record that was appended; 0 before the first.
  virtual LogPosition last() const = 0;
  /// Every record up to here survives a crash.
  virtual LogPosition durable() const = 0;
  /// Once set, nothing becomes durable any more: who promised anything by this log must be silent.
  virtual const std::optional<LogFailure>& failure() const = 0;
};

}  // namespace peal::port
