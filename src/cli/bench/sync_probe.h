// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.h"
#include "io/fd.h"

namespace peal::cli {

/// Measures how long a disk takes to make a file of 4 KiB durable. While this object exists, a
/// thread of its own measures several times a second.
class SyncProbe {
 public:
  /// Starts the measurement, with a new file in `dir`. The error is one line.
  static Result<std::unique_ptr<SyncProbe>, std::string> start(const std::string& dir);
  ~SyncProbe();
  SyncProbe(const SyncProbe&) = delete;
  SyncProbe& operator=(const SyncProbe&) = delete;

  /// The duration in nanoseconds of the longest sync that was in progress at `begin_ns` or later. A
  /// sync still in progress counts with its time so far. Syncs older than a minute may be
  /// forgotten.
  std::int64_t longest_since(std::int64_t begin_ns) const;
  /// The duration of the longest sync since the start, in nanoseconds.
  std::int64_t longest() const;
  std::uint64_t count() const;
  /// Why the measurement stopped; empty if it still runs.
  std::string problem() const;

 private:
  struct Sample {
    std::int64_t begin_ns;
    std::int64_t end_ns;
  };
  explicit SyncProbe(io::Fd file) : file_(std::move(file)) {}
  void run();
  void note(std::int64_t begin_ns, std::int64_t end_ns, const std::string& error);

  io::Fd file_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;  // protects all members below
  std::deque<Sample> samples_;
  std::int64_t under_way_since_ns_ = 0;  // 0: no sync in progress
  std::int64_t longest_ns_ = 0;
  std::uint64_t count_ = 0;
  std::string problem_;
  std::thread thread_;  // last member, because the thread uses the other members
};

}  // namespace peal::cli
