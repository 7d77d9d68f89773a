// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/error.h"

namespace peal::io {

/// A file that text is appended to, through a buffer: for traces and logs. The first failed write
/// ends it: later text is dropped, and error() says why. Thread: one at a time.
class FileSink {
 public:
  /// Opens `path` for appending, creating it if needed; "-" is the standard output. With
  /// `Mode::replace` an old content is cut off first. Errors: not_permitted, system.
  enum class Mode { append, replace };
  static Result<std::unique_ptr<FileSink>, IoError> open(const std::string& path, Mode mode,
                                                         std::size_t buffer_bytes = 1U << 18);
  /// Writes what is buffered; an error then is lost, so flush() first where it matters.
  ~FileSink();
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  /// Writes the buffer out first if `text` does not fit.
  void append(std::string_view text);
  /// Hands the buffer to the operating system. Errors: system, the first one ever seen.
  Result<void, IoError> flush();
  const std::optional<IoError>& error() const { return error_; }

 private:
  FileSink(int fd, std::string path, std::size_t buffer_bytes);
  void write_out(std::string_view text);

  int fd_;
  std::string path_;
  std::size_t buffer_bytes_;
  std::string buffer_;
  std::optional<IoError> error_;
};

}  // namespace peal::io
