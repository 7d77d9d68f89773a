// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "sim/netmodel/arrivals.h"

namespace peal::sim {

/// Counts pairs of two numbers. There is one pair for each message and each node that received it.
/// The *index of latency* is the number of members that had voted when the message was decided.
/// The other number is that of the members with messages concurrent to it when it was received,
/// including its sender.
class IndexOfLatency {
 public:
  explicit IndexOfLatency(std::uint32_t members)
      : members_(members), counts_(std::size_t{members + 1} * (members + 1)) {}

  /// Counts `concurrent` as at most `index`: of the members with concurrent messages, only those
  /// that had voted count.
  void add(std::uint32_t index, std::uint32_t concurrent);

  std::uint64_t messages() const { return messages_; }
  double mean_index() const;
  double mean_concurrent() const;
  /// The share of the messages with this index.
  double share(std::uint32_t index) const;
  /// How long a message waits for its place, by the formulas of the ToTo paper (section 6,
  /// equations 1 and 2), which neglect the network's delay. `interval`: mean time between two
  /// messages of one member. There is no formula for Arrivals::even.
  Duration expected_wait(Arrivals arrivals, Duration interval) const;

 private:
  std::uint64_t count(std::uint32_t index, std::uint32_t concurrent) const {
    return counts_[std::size_t{index} * (members_ + 1) + concurrent];
  }
  template <class Value>
  double mean(Value value) const;

  std::uint32_t members_;
  std::vector<std::uint64_t> counts_;  ///< [index][concurrent]
  std::uint64_t messages_ = 0;
};

}  // namespace peal::sim
