// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace peal::cli {

/// Lines on standard error for whoever runs a node: `at=… event=view_installed view=12@a …`, or
/// one JSON object each.
class NodeLog {
 public:
  using Field = std::pair<std::string_view, std::string>;

  explicit NodeLog(bool json) : json_(json) {}

  void event(std::string_view name, std::initializer_list<Field> fields) const;
  /// The same for what others can cause again and again: at most 20 lines in 10 seconds; then a
  /// line says how many were left out. `now_ns` is monotonic.
  void limited(std::int64_t now_ns, std::string_view name, std::initializer_list<Field> fields);

  /// The text of one line, without its time; for tests.
  static std::string line(bool json, std::string_view name, std::initializer_list<Field> fields);

 private:
  static constexpr std::int64_t kPeriodNs = 10'000'000'000;
  static constexpr int kLinesMax = 20;

  bool json_;
  std::int64_t period_began_ = 0;
  int lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace peal::cli
