// SPDX-License-Identifier: Apache-2.0
#include "sim/world/schedule.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::sim {

void Schedule::plan(Instant at, std::function<void()> action) {
  std::uint32_t slot;
  if (free_actions_.empty()) {
    slot = static_cast<std::uint32_t>(actions_.size());
    actions_.emplace_back();
  } else {
    slot = free_actions_.back();
    free_actions_.pop_back();
  }
  actions_[slot] = std::move(action);
  queue_.push(std::max(at, now_), Happening::action, 0, slot);
}

std::optional<Planned> Schedule::advance(Instant limit) {
  if (queue_.empty() || queue_.next_time() > limit) {
    now_ = std::max(now_, limit);
    return std::nullopt;
  }
  const Planned planned = queue_.pop();
  PEAL_ASSERT(planned.at >= now_);
  now_ = planned.at;
  return planned;
}

std::function<void()> Schedule::take_action(std::uint32_t slot) {
  std::function<void()> action = std::move(actions_[slot]);
  actions_[slot] = nullptr;
  free_actions_.push_back(slot);
  return action;
}

}  // namespace peal::sim
