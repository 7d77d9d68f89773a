// SPDX-License-Identifier: Apache-2.0
#include "sim/run/progress.h"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace peal::sim {
namespace {

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3'600)
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3'600) + " h " + std::to_string(whole % 3'600 / 60) + " min";
}

}  // namespace

std::string progress_text(const std::string& nouns, std::uint64_t done, std::uint64_t total,
                          std::uint64_t violations, double seconds) {
  std::string text = std::to_string(done) + " of " + std::to_string(total) + " " + nouns + ", " +
                     std::to_string(violations) + (violations == 1 ? " violation" : " violations");
  if (done == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  std::array<char, 64> shown{};
  std::snprintf(shown.data(), shown.size(), ", %.1f per second, ", rate);
  return text + shown.data() + time_text(static_cast<double>(total - done) / rate) + " left";
}

Progress::Progress(std::string nouns, std::uint64_t total)
    : nouns_(std::move(nouns)), total_(total), shown_(::isatty(STDERR_FILENO) == 1) {}

void Progress::step(std::uint64_t violations) {
  ++done_;
  const Clock::time_point now = Clock::now();
  if (!shown_ || (now - drawn_ < std::chrono::milliseconds(200) && done_ != total_)) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr, "\r\x1b[2K%s",
               progress_text(nouns_, done_, total_, violations, seconds).c_str());
}

void Progress::clear() {
  if (shown_) std::fputs("\r\x1b[2K", stderr);
}

}  // namespace peal::sim
