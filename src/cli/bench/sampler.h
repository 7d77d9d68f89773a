// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "member/embedded_node.h"

namespace peal::cli {

/// Reads a member's counters during a measurement. If the member has a thread of its own, so has
/// the sampler: reading waits for the member's loop, for which the measured sender and receiver
/// must not wait.
class BenchSampler {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit BenchSampler(const member::EmbeddedNode& core) : core_(core) {}
  ~BenchSampler() { stop(); }
  BenchSampler(const BenchSampler&) = delete;
  BenchSampler& operator=(const BenchSampler&) = delete;

  /// Samples from `from` to `to`, on a thread of its own or in poll().
  void start(Time from, Time to, bool own_thread);
  /// Samples if it is time. Not with a thread of its own.
  void poll(Time now) {
    if (now >= next_ && samples_left_ > 0) sample();
  }
  /// Ends sampling; the following functions need that.
  void stop();
  /// How much each counter grew from the first sample to the last.
  std::map<std::string, std::uint64_t> growth() const;
  /// The median of values that rise and fall.
  std::map<std::string, std::uint64_t> gauges() const;

 private:
  using Counters = std::vector<std::pair<std::string, std::uint64_t>>;
  void run();
  void sample();
  bool wait_until(Time time);

  const member::EmbeddedNode& core_;
  Time next_{};
  Time::duration step_{};
  int samples_left_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  Counters first_;
  Counters last_;
  std::map<std::string, std::vector<std::uint64_t>> samples_;  ///< of gauges
};

}  // namespace peal::cli
