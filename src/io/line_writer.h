// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "io/error.h"

namespace peal::io {

/// Writes lines to a descriptor such as standard error. Other processes may share the descriptor,
/// and its reader may have stopped or ended. A separate thread writes, so that the caller never
/// waits. Lines are dropped and counted if the buffer is full or a write fails. Before the next
/// line, the thread then writes a line with the number of dropped lines. The descriptor's flags
/// stay unchanged, because other processes may share them. Thread: any.
class LineWriter {
 public:
  /// Maximum number of bytes that wait for the reader.
  static constexpr std::size_t kBytesMax = 256U << 10;
  /// Makes the line, with its line end, that replaces `lines` dropped lines.
  using Dropped = std::function<std::string(std::uint64_t lines)>;

  /// `fd` must stay open as long as the process lives. Errors: system (no thread is available).
  static Result<std::unique_ptr<LineWriter>, IoError> open(int fd, Dropped dropped);
  /// Waits for the remaining lines, but at most half a second, because the reader may have stopped.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Queues whole lines, each with its line end. The lines are written in one piece where the
  /// system supports that.
  void write(std::string text);
  /// Waits until every line was written or dropped; false if `patience` ends first.
  bool drain(Duration patience);
  /// The number of dropped lines.
  std::uint64_t dropped() const;

 private:
  struct Shared;
  explicit LineWriter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;  ///< shared with the thread, which may outlive this object
};

}  // namespace peal::io
