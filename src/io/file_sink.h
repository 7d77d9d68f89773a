// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "io/error.h"
#include "io/fd.h"

namespace peal::io {

/// A file, a pipe or a terminal that lines are appended to, through a buffer: for traces. It never
/// blocks and never raises SIGPIPE. Lines that find no room are lost, whole ones, and counted; a
/// line that says so stands where they should be. On a disk that is full, room is made for that one
/// by cutting off the end of the file: who reads it must not take it for whole. Thread: one at a
/// time.
class FileSink {
 public:
  /// The line that says how many are missing at its place, with its end of line.
  using Lost = std::function<std::string(std::uint64_t lines)>;
  /// Opens `path` for appending, creating it if needed; "-" is the standard output. With
  /// `Mode::replace` an old content is cut off first. Errors: not_permitted, system.
  enum class Mode { append, replace };
  static Result<std::unique_ptr<FileSink>, IoError> open(const std::string& path, Mode mode,
                                                         Lost lost,
                                                         std::size_t buffer_bytes = 1U << 18);
  /// Writes what is buffered.
  ~FileSink();
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// Whole lines. Writes the buffer out first if `text` does not fit.
  void append(std::string_view text);
  /// Hands the buffer to the operating system. Errors: system; lines were lost.
  Result<void, IoError> flush();
  /// Lines that were lost, and why the last time.
  std::uint64_t lost() const { return lost_lines_; }
  const std::optional<IoError>& error() const { return error_; }

 private:
  FileSink(Fd fd, std::string path, Lost lost, std::size_t buffer_bytes);
  void write_out(std::string_view text);
  bool resume();
  std::size_t put(std::string_view text);
  void give_up(std::string_view text, std::size_t put, int number);
  void lose(std::string_view lines);
  bool mark_hole();
  std::uint64_t cut_for(std::size_t bytes);

  Fd fd_;
  std::string path_;
  Lost lost_;
  bool regular_ = false;
  bool socket_ = false;
  std::size_t buffer_bytes_;
  std::string buffer_;
  std::string rest_;          ///< of a line that has begun: before anything else
  std::uint64_t untold_ = 0;  ///< lines that were lost since a line said so
  std::uint64_t lost_lines_ = 0;
  std::optional<Instant> again_;  ///< not tried before
  std::optional<IoError> error_;
};

}  // namespace peal::io
