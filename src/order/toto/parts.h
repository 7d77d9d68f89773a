// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/engine.h"
#include "order/evs/membership.h"
#include "order/evs/timers.h"
#include "order/toto/causal_graph.h"
#include "order/toto/commit_record.h"
#include "order/toto/options.h"
#include "order/toto/total_order.h"

namespace peal::order::toto {

/// Counters of ToTo since the start.
struct Counts {
  std::uint64_t units_sent = 0, controls_sent = 0, statuses_sent = 0, nodes_received = 0,
                duplicates = 0, requested = 0, retransmitted = 0, delivered = 0, activations = 0,
                refused = 0, no_buffer = 0, stalls = 0, guards = 0;
};

/// What the classes of one engine share. Each class also has its own state, and changes the state
/// of another class only by calling functions of that class.
struct Parts {
  const Options& options;
  BufferPool& pool;
  Host& host;
  evs::Membership& membership;
  evs::Timers& timers;
  const ViewOptions& limits;  ///< agreed for the current view
  CausalGraph& graph;
  Counts& counts;

  bool alone() const { return membership.members().size() == 1; }
  bool operational() const { return membership.state() == evs::State::operational; }
  void drop(wire::Drop reason) const { membership.tally().drop(reason); }
};

}  // namespace peal::order::toto
