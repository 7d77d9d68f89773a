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

/// Appends lines to a file, a pipe or a terminal through a buffer, for traces. Never blocks and
/// never raises SIGPIPE. A line that cannot be written is dropped as a whole and counted; a line in
/// its place reports the number of dropped lines. On a full disk, the sink makes room for the
/// report by cutting off the end of the file, so that no reader believes that the file is complete.
class FileSink {
 public:
  /// Makes the line, with its line end, that reports the number of missing lines.
  using Lost = std::function<std::string(std::uint64_t lines)>;
  /// Opens `path` for appending and creates it if needed; "-" is the standard output. With
  /// `Mode::replace`, empties the file first. Errors: not_permitted, system.
  enum class Mode { append, replace };
  static Result<std::unique_ptr<FileSink>, IoError> open(const std::string& path, Mode mode,
                                                         Lost lost,
                                                         std::size_t buffer_bytes = 1U << 18);
  /// Writes the buffered lines.
  ~FileSink();
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// Appends whole lines. Writes the buffer out first if `text` does not fit.
  void append(std::string_view text);
  /// Hands the buffer to the operating system. Errors: system (lines were lost, and no line
  /// in the file reports them yet).
  Result<void, IoError> flush();
  /// The number of lost lines; error() is the reason of the last loss.
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
  std::string rest_;          ///< unwritten rest of a line whose start is in the file
  std::uint64_t untold_ = 0;  ///< lost lines that no line in the file reports yet
  std::uint64_t lost_lines_ = 0;
  std::optional<Instant> again_;  ///< no attempt to write before this time
  std::optional<IoError> error_;
};

}  // namespace peal::io
