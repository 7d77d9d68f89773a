// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/world/options.h"
#include "sim/world/schedule.h"

namespace peal::sim {

/// A background load: each of its nodes submits messages at random times.
struct Load {
  std::vector<NodeId> nodes;
  double rate = 1'000;  ///< messages per second and node
  std::uint32_t size_low = 8, size_high = 200;
  double large = 0;  ///< share of messages of sizes large_low to large_high
  std::uint32_t large_low = 2'000, large_high = 20'000;
  double safe = 0.3;        ///< share of safe messages
  double causal = 0;        ///< share of causal and fifo messages among those that are not safe
  std::uint32_t burst = 1;  ///< maximum number of messages submitted at once
  Instant until{};
};

/// The background loads of a world, and the payloads of the world's messages.
class Loads {
 public:
  Loads(const WorldOptions& options, Schedule& schedule);

  void add(const Load& load);
  void stop();
  /// A payload that differs from all others.
  std::string payload(NodeId node, std::size_t bytes);

  using Submit = std::function<void(NodeId node, Service service, std::string payload)>;
  /// Runs a load that is due: submits some messages, and plans the next time.
  void run(std::uint32_t load, const Submit& submit);

 private:
  Service draw_service(const Load& load);
  Schedule& schedule_;
  Random random_;
  std::vector<Load> loads_;
  std::vector<std::uint64_t> payloads_;  ///< number of payloads so far, by node
};

}  // namespace peal::sim
