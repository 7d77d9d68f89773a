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

/// Writes lines to a descriptor that other processes may have too, such as standard error, and
/// whose reader may have stopped or gone. Whoever writes never waits: a thread of its own does, and
/// lines that find no room, or nobody who reads, are dropped and counted. Once lines go out again,
/// the first one says how many are missing there. Nothing is set on the descriptor, which is not
/// ours alone. Thread: any.
class LineWriter {
 public:
  /// Waiting for the reader.
  static constexpr std::size_t kBytesMax = 256U << 10;
  /// What is written where `lines` were dropped, with its end of line.
  using Dropped = std::function<std::string(std::uint64_t lines)>;

  /// `fd` stays open as long as the process. Errors: system (no thread is left).
  static Result<std::unique_ptr<LineWriter>, IoError> open(int fd, Dropped dropped);
  /// Waits a moment for the lines that are left. A reader that has stopped does not hold up the
  /// end.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Whole lines, each with its end: written in one piece where the system does that.
  void write(std::string text);
  /// Waits until all that was written has gone out or was dropped; false if the time is over first.
  bool drain(Duration patience);
  /// Lines that nobody will see.
  std::uint64_t dropped() const;

 private:
  struct Shared;
  explicit LineWriter(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;  ///< the thread may outlive this
};

}  // namespace peal::io
