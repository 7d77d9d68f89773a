// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/world/event_queue.h"

namespace peal::sim {

/// The time of a world, and all planned events.
class Schedule {
 public:
  Instant now() const { return now_; }
  void push(Instant at, Happening what, std::uint32_t node, std::uint32_t a) {
    queue_.push(at, what, node, a);
  }
  /// Calls `action` at `at`, or now if `at` has passed.
  void plan(Instant at, std::function<void()> action);
  /// Advances the time to the next planned event. nullopt if no event is planned up to `limit`; the
  /// time is then `limit`.
  std::optional<Planned> advance(Instant limit);
  /// Returns the planned action in `slot`, which is due, and frees the slot.
  std::function<void()> take_action(std::uint32_t slot);

 private:
  Instant now_{};
  EventQueue queue_;
  std::vector<std::function<void()>> actions_;
  std::vector<std::uint32_t> free_actions_;
};

}  // namespace peal::sim
