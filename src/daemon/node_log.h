// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "io/line_writer.h"

namespace peal::daemon {

/// Log lines for the operator of a node. A line is text such as
/// `at=… event=view_installed view=12@a …`, or one JSON object. Writing does not block: see
/// io::LineWriter.
class NodeLog {
 public:
  using Field = std::pair<std::string_view, std::string>;

  /// Lines go to the descriptor `fd`. Errors: system (no thread available).
  static Result<NodeLog, io::IoError> open(bool json, int fd);

  void event(std::string_view name, std::initializer_list<Field> fields) const;
  /// Like event(), but for events that other processes can cause repeatedly: writes at most 20
  /// lines in 10 seconds. The first call after these 10 seconds also writes the number of
  /// suppressed lines. `now_ns` is monotonic.
  void limited(std::int64_t now_ns, std::string_view name, std::initializer_list<Field> fields);

  /// The text of one line, without its time; for tests.
  static std::string line(bool json, std::string_view name, std::initializer_list<Field> fields);
  /// The number of lines dropped because the disk was full, or because the pipe was full or had no
  /// reader.
  std::uint64_t dropped() const { return writer_->dropped(); }

 private:
  NodeLog(bool json, std::unique_ptr<io::LineWriter> writer)
      : json_(json), writer_(std::move(writer)) {}

  static constexpr std::int64_t kPeriodNs = 10'000'000'000;
  static constexpr int kLinesMax = 20;

  bool json_;
  std::unique_ptr<io::LineWriter> writer_;
  std::int64_t period_began_ = 0;
  int lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace peal::daemon
