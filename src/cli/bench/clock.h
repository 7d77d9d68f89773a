// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

// The clock of a benchmark, equal in all its processes, and the CPU time of a process.

namespace peal::cli {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

/// One clock for all processes of a machine.
inline std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

/// A time of now_ns() as a time of std::chrono::steady_clock, which reads the same clock.
inline std::chrono::steady_clock::time_point steady_time(std::int64_t ns) {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

/// Waits until a descriptor is readable, or until `until_ns`.
inline void wait_for(int fd, std::int64_t until_ns) {
  const std::int64_t time = std::max<std::int64_t>(0, until_ns - now_ns());
  pollfd wait{fd, POLLIN, 0};
  const timespec timeout{time / kSecondNs, time % kSecondNs};
  ::ppoll(&wait, 1, &timeout, nullptr);
}

/// CPU time of this process, in kernel and user mode.
inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace peal::cli
