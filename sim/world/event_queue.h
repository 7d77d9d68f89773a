// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "base/time.h"

namespace peal::sim {

/// The kinds of planned events in the simulated world, and the meaning of Planned::a for each.
enum class Happening : std::uint8_t {
  arrival,  ///< a packet reaches a node's socket; a = packet
  frame,    ///< a frame of a node reaches the switch; a = flight
  run,      ///< the processor runs a node; a = incarnation
  timer,    ///< a node's deadline expires; a = incarnation
  resume,   ///< a paused node continues; a = incarnation
  load,     ///< a background load submits messages; a = load
  consume,  ///< a slow application takes its next message; a = incarnation
  action,   ///< an action that a scenario or a fault planned; a = slot
};

struct Planned {
  Instant at;
  std::uint64_t order;  ///< number of the insertion; breaks ties, so that runs are reproducible
  std::uint32_t a;
  std::uint32_t node;
  Happening what;
};

/// All planned events, ordered by time and then by insertion.
class EventQueue {
 public:
  void push(Instant at, Happening what, std::uint32_t node, std::uint32_t a) {
    heap_.push_back(Planned{at, inserted_++, a, node, what});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  bool empty() const { return heap_.empty(); }
  Instant next_time() const { return heap_.front().at; }
  Planned pop() {
    PEAL_ASSERT(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Planned first = heap_.back();
    heap_.pop_back();
    return first;
  }
  std::size_t size() const { return heap_.size(); }

 private:
  static bool later(const Planned& x, const Planned& y) {
    return x.at != y.at ? x.at > y.at : x.order > y.order;
  }

  std::vector<Planned> heap_;
  std::uint64_t inserted_ = 0;
};

}  // namespace peal::sim
