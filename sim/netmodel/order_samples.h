// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "base/samples.h"
#include "base/time.h"
#include "sim/netmodel/index_of_latency.h"

namespace peal::sim {

class World;

/// The elementary operations of the total order for each node of the causal graph at each member.
struct WorkFigures {
  double mean = 0;
  double bound = 0;  ///< mean of the bound: see OrderSamples
  double most = 0;   ///< the largest quotient of operations and bound
};

/// Measures an engine that orders a causal graph, by its samples (base/samples.h). Measures how
/// long units wait at each member from the moment their nodes join the graph until they are
/// decided, how many members had voted then, and how much work the decision took. Takes the samples
/// of this thread while it exists.
///
/// The paper's bound (section 5), with n members, p pending units and c candidates, is p + c² for a
/// node that joins, and n c² for each activation that is decided. The bound here adds n for each
/// node: a node says for each member what it follows.
class OrderSamples final : public sim_hooks::Sampler {
 public:
  /// `world` outlives this object.
  OrderSamples(const World& world, std::uint32_t members);
  ~OrderSamples() override;
  OrderSamples(const OrderSamples&) = delete;
  OrderSamples& operator=(const OrderSamples&) = delete;

  /// Nodes that join from `from` until `until` are measured.
  void measure(Instant from, Instant until);
  void take(sim_hooks::Sample sample, std::initializer_list<std::uint64_t> values) override;

  const IndexOfLatency& index() const { return index_; }
  /// The mean time from joining to decision; 0 if nothing was measured.
  Duration mean_wait() const;
  WorkFigures work() const;

 private:
  using Values = const std::uint64_t*;
  struct Waiting {
    Instant since{};
    std::uint32_t concurrent = 0;
  };
  struct Member {
    std::map<std::pair<std::uint64_t, std::uint64_t>, Waiting> waiting;  ///< by origin and number
    std::uint64_t steps = 0;       ///< before the node that joins
    std::uint64_t activation = 0;  ///< number of the last activation
    double bound = 0;              ///< for the node that joins
    bool measured = false;         ///< the node that joins is measured
  };

  void joined(Member& member, Values values);
  void decided(Member& member, Values values);
  void ordered(Member& member, std::uint64_t steps);

  const World& world_;
  double members_;
  Instant from_{}, until_{};
  std::vector<Member> by_node_;
  IndexOfLatency index_;
  std::int64_t waited_ns_ = 0;
  std::uint64_t nodes_ = 0;
  std::uint64_t steps_ = 0;
  double bounds_ = 0;
  double most_ = 0;
};

}  // namespace peal::sim
