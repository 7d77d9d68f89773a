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

/// Reads a member's counters during a measurement. Reading waits for the member's loop, and the
/// measured sender and receiver must not wait for that loop. So if the member has a thread of its
/// own, the sampler has one, too.
class BenchSampler {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit BenchSampler(const member::EmbeddedNode& core) : core_(core) {}
  ~BenchSampler() { stop(); }
  BenchSampler(const BenchSampler&) = delete;
  BenchSampler& operator=(const BenchSampler&) = delete;

  /// Samples from `from` to `to`: on a thread of its own if `own_thread`, else in poll().
  void start(Time from, Time to, bool own_thread);
  /// Takes a sample if one is due. Call it only if the sampler has no thread of its own.
  void poll(Time now) {
    if (now >= next_ && samples_left_ > 0) sample();
  }
  /// Ends sampling. Call it before growth() and gauges().
  void stop();
  /// How much each counter grew from the first sample to the last.
  std::map<std::string, std::uint64_t> growth() const;
  /// The median of each value that rises and falls.
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
  std::map<std::string, std::vector<std::uint64_t>> samples_;  ///< samples of each gauge
};

}  // namespace peal::cli
