// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/list_change.h"

#include <algorithm>

#include "sim/scenario/tokenizer.h"

namespace peal::sim {

ListChange::ListChange(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 0x6c) {}

std::vector<NodeId> ListChange::last_of(std::uint64_t nodes) const {
  std::vector<NodeId> last = after_;
  for (std::uint32_t n = 1; n <= nodes && after_.empty(); ++n) last.push_back(NodeId{n});
  return last;
}

std::string ListChange::cluster_keys() const {
  return none() ? "" : " list=" + nodes_text(before_) + keys_;
}

bool ListChange::removes(NodeId node) const {
  return std::binary_search(before_.begin(), before_.end(), node) &&
         !std::binary_search(after_.begin(), after_.end(), node);
}

void ListChange::draw(const Kind& kind) {
  nodes_ = kind.nodes;
  if (!random_.chance(kind.share)) return;
  std::vector<NodeId> all;
  for (std::uint32_t n = 1; n <= nodes_; ++n) all.push_back(NodeId{n});
  std::vector<NodeId> fewer = all;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(random_.below(nodes_)));
  if (kind.may_replace && nodes_ > 3 && random_.chance(0.5)) return draw_replacement(all, fewer);
  const bool adds = random_.chance(0.5);
  before_ = adds ? fewer : all;
  after_ = adds ? all : fewer;
  const bool majority = random_.chance(0.8) && kind.may_set_primary;
  if (majority) keys_ = " primary=majority";
}

void ListChange::plan(Timeline& timeline, Duration length) {
  if (after_.empty()) return;
  if (!between_.empty()) return plan_replacement(timeline, length);
  const auto some_time = [this, length] { return Duration{random_.between(0, length.ns)}; };
  const bool adds = before_.size() < after_.size();
  const auto& larger = adds ? after_ : before_;
  const auto& smaller = adds ? before_ : after_;
  const NodeId odd = *std::find_if(larger.begin(), larger.end(), [&](NodeId node) {
    return std::find(smaller.begin(), smaller.end(), node) == smaller.end();
  });
  const std::string change = " to " + nodes_text(after_);
  const Duration about = some_time();
  const bool together = random_.chance(0.5);
  for (const NodeId node : smaller) {
    const Duration when = together ? about + Duration{random_.between(0, 50'000'000)} : some_time();
    timeline.at(when, "list " + nodes_text({node}) + change);
  }
  if (adds) {
    timeline.at(Duration{}, "list " + nodes_text({odd}) + change);
    timeline.at(some_time(), "start " + nodes_text({odd}));
    return;
  }
  const Duration stops = some_time();
  timeline.at(stops, (random_.chance(0.5) ? "leave " : "crash ") + nodes_text({odd}));
  timeline.at(stops, "list " + nodes_text({odd}) + change);
}

/// Draws two changes in a random order. One change removes a node of `first`. The other change adds
/// the node that `first` lacks.
void ListChange::draw_replacement(const std::vector<NodeId>& all,
                                  const std::vector<NodeId>& first) {
  before_ = first;
  std::vector<NodeId> fewer = first;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(random_.below(first.size())));
  const auto comes = std::mismatch(all.begin(), all.end(), first.begin(), first.end()).first;
  after_ = fewer;
  after_.insert(std::lower_bound(after_.begin(), after_.end(), *comes), *comes);
  between_ = random_.chance(0.5) ? all : fewer;
}

/// Each node gets the list `between_` in the first half of the phase with faults, and the list
/// `after_` in the second half. Some nodes get `after_` before `between_` is active. Some nodes
/// never get `between_`.
void ListChange::plan_replacement(Timeline& timeline, Duration length) {
  const std::int64_t half = length.ns / 2;
  const auto first_half = [&] { return Duration{random_.between(0, half)}; };
  const auto second_half = [&] { return Duration{random_.between(half, length.ns)}; };
  const auto holds = [](const std::vector<NodeId>& list, NodeId node) {
    return std::binary_search(list.begin(), list.end(), node);
  };
  const std::string middle = " to " + nodes_text(between_);
  const std::string last = " to " + nodes_text(after_);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const NodeId node{n};
    const std::string name = nodes_text({node});
    if (!holds(before_, node)) {  // an added node
      const std::string& file = holds(between_, node) ? middle : last;
      timeline.at(Duration{}, "list " + name + file);
      const Duration starts = holds(between_, node) ? first_half() : second_half();
      timeline.at(starts, "start " + name);
    }
    if (!holds(after_, node)) {  // a removed node stops, sometimes with the list `between_`
      const Duration stops = holds(between_, node) ? second_half() : first_half();
      if (holds(between_, node)) timeline.at(first_half(), "list " + name + middle);
      timeline.at(stops, (random_.chance(0.5) ? "leave " : "crash ") + name);
      timeline.at(stops, "list " + name + last);
      continue;
    }
    if (holds(between_, node) && random_.chance(0.9)) {
      const Duration when = first_half();
      timeline.at(when, "list " + name + middle);
    }
    const Duration when = second_half();
    timeline.at(when, "list " + name + last);
  }
}

}  // namespace peal::sim
