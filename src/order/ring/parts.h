// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/buffer.h"
#include "order/engine.h"
#include "order/evs/membership.h"
#include "order/ring/commit_record.h"
#include "order/ring/options.h"
#include "wire/frames.h"

namespace peal::order::ring {

/// Counters of the ring since the start.
struct Counts {
  std::uint64_t visits = 0, originated = 0, delivered = 0, sent = 0, retransmitted = 0,
                requested = 0, duplicates = 0, data_received = 0, data_in_recovery = 0, held = 0,
                stalls = 0, guards = 0, safe_line_fell = 0, no_buffer = 0;
};

/// What the classes of one ring share. Each class also has its own state, and changes the state of
/// another class only by calling functions of that class.
struct Parts {
  const Options& options;
  BufferPool& pool;
  Host& host;
  evs::Membership& membership;
  evs::Timers& timers;
  const ViewOptions& limits;  ///< agreed for the current view
  wire::Token& token;         ///< the token of the last visit; this member may still hold it
  Counts& counts;

  bool alone() const { return membership.members().size() == 1; }
  bool can_originate() const { return host.backlog_units() > 0; }
  void drop(wire::Drop reason) const { membership.tally().drop(reason); }
};

/// a - b, or 0 if b is larger.
constexpr std::uint32_t minus(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : 0; }

}  // namespace peal::order::ring
