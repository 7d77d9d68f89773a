// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace peal::sim {

/// Returns a text such as "120 of 2000 seeds, 0 violations, 31.5 per second, 1 min 0 s left".
std::string progress_text(const std::string& nouns, std::uint64_t done, std::uint64_t total,
                          std::uint64_t violations, double seconds);

/// A progress line on standard error, shown only on a terminal.
class Progress {
 public:
  Progress(std::string nouns, std::uint64_t total);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::uint64_t violations);
  /// Removes the progress line. Call before printing anything else.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string nouns_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool shown_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
};

}  // namespace peal::sim
