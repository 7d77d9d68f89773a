// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace peal::cli {

/// The lines of several files, one after the other. Reads only in read(). Errors are one line.
class Lines {
 public:
  /// The file "-" is standard input. An empty list stands for standard input alone.
  explicit Lines(const std::vector<std::string>& files);
  ~Lines() { close(); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// The next line of the text read so far, without the newline; nothing if more must be read
  /// first. A line longer than `line_bytes_max` is an error. The result is valid until the next
  /// call of next() or read().
  Result<std::optional<std::string_view>, std::string> next(std::size_t line_bytes_max);
  /// The descriptor to wait for before read(); -1 if all files were read. Opens the next file if
  /// necessary.
  Result<int, std::string> fd();
  /// Reads once from fd(), which may block.
  Result<void, std::string> read();

 private:
  std::string problem(const char* what, int error) const;
  void close();

  std::deque<std::string> files_;
  std::string name_;
  std::string text_;
  std::size_t used_ = 0;  ///< bytes of `text_` that next() has returned
  bool whole_ = false;    ///< `text_` contains the end of the file
  std::uint64_t line_ = 0;
  int fd_ = -1;
};

}  // namespace peal::cli
