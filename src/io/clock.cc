// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string_view>

#include "io/fd.h"

namespace peal::io {
namespace {

constexpr std::int64_t kSecondsTo2020 = 1'577'836'800;  // counted from 1970-01-01

// The epoch in the file; nothing if there is no file.
Result<std::optional<std::uint64_t>, IoError> read_epoch(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::optional<std::uint64_t>{};
    return unexpected(system_error("state file " + path, errno));
  }
  std::array<char, 32> text{};
  const ssize_t bytes = ::read(file.get(), text.data(), text.size());
  if (bytes < 0) return unexpected(system_error("state file " + path, errno));
  std::uint64_t epoch = 0;
  const char* end = text.data() + bytes;
  const auto parsed = std::from_chars(text.data(), end, epoch);
  const bool complete = parsed.ptr != end && *parsed.ptr == '\n';
  // The largest value has no successor, so it can only be a mistake.
  if (parsed.ec != std::errc{} || !complete || epoch == std::numeric_limits<std::uint64_t>::max()) {
    return unexpected(IoError{Errc::system, "state file " + path + ": not an epoch; ignored"});
  }
  return std::optional<std::uint64_t>{epoch};
}

Result<void, IoError> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t bytes = ::write(fd, text.data(), text.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return unexpected(system_error("state file " + path, errno));
    text.remove_prefix(static_cast<std::size_t>(bytes));
  }
  return {};
}

}  // namespace

Instant Clock::now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return {static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec};
}

std::uint64_t Clock::wall_ms_since_2020() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  if (time.tv_sec < kSecondsTo2020) return 0;
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec - kSecondsTo2020);
  return seconds * 1'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1'000'000;
}

EpochChoice choose_epoch(const std::string& state_file) {
  // At least 1, because epoch 0 means none.
  EpochChoice choice{std::max<std::uint64_t>(Clock::wall_ms_since_2020(), 1), {}};
  if (state_file.empty()) return choice;
  const auto last = read_epoch(state_file);
  if (!last) {
    choice.warning = last.error();
  } else if (last->has_value()) {
    choice.epoch = std::max(choice.epoch, **last + 1);
  }
  return choice;
}

Result<void, IoError> store_epoch(const std::string& state_file, std::uint64_t epoch) {
  if (state_file.empty()) return {};
  const std::string fresh = state_file + ".new";
  Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return unexpected(system_error("state file " + fresh, errno));
  const auto written = write_all(file.get(), std::to_string(epoch) + "\n", fresh);
  if (!written) return written;
  // Without the sync, a crash could leave an empty file under the final name.
  if (::fsync(file.get()) != 0) return unexpected(system_error("state file " + fresh, errno));
  file.reset();
  if (::rename(fresh.c_str(), state_file.c_str()) != 0) {
    return unexpected(system_error("state file " + state_file, errno));
  }
  return {};
}

}  // namespace peal::io
