// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace peal::port {

/// Why a log failed permanently. `message` is one line: the file, the operation, and what to do.
struct LogFailure {
  std::string file;
  std::string message;
};

/// Receives a log's records, in order. The bytes are valid during the call only.
class LogReader {
 public:
  virtual ~LogReader() = default;
  virtual void on_record(LogPosition position, ByteView record) = 0;
};

/// A protocol's interface to its durable log. The protocol appends records, gets their positions,
/// and learns up to which position they survive a crash. The owner of the log commits the records
/// (src/wal/log.h).
class Log {
 public:
  virtual ~Log() = default;

  /// Replays every retained record, in order. Call it only before the first append(). Errors: the
  /// disk cannot be read, or its content has changed since the start.
  virtual Result<void, LogFailure> replay(LogReader& reader) = 0;
  /// Appends a copy of `record`. The record has its position at once and becomes durable later.
  /// Errors: would_block (commit, or write a checkpoint, then try again), too_large, closed (see
  /// failure()).
  Result<LogPosition, Errc> append(ByteView record) { return append(record, {}); }
  /// Appends one record in two parts, `rest` behind `first`.
  virtual Result<LogPosition, Errc> append(ByteView first, ByteView rest) = 0;
  /// Appends a record that makes all records before `keep_from` unnecessary. Once the new
  /// record is durable, the log removes the segments that hold only unnecessary records.
  /// `keep_from` is at most the position of the new record. Errors: as for append(), but the limit
  /// on disk space does not apply.
  virtual Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) = 0;

  /// Identifies this log: random, not 0, the same for as long as the log exists. If a node starts
  /// with an empty folder, its new log has another id.
  virtual std::uint64_t id() const = 0;
  /// Position of the last appended record; 0 before the first.
  virtual LogPosition last() const = 0;
  /// Every record up to this position survives a crash.
  virtual LogPosition durable() const = 0;
  /// Once set, no further record becomes durable. A node that made promises on the basis of this
  /// log must then stop sending.
  virtual const std::optional<LogFailure>& failure() const = 0;
};

}  // namespace peal::port
