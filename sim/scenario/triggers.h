// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sim/scenario/patterns.h"

namespace peal::sim {

/// A line `on packet|event PATTERN [nth 3] [after 50us] do COMMAND`.
struct Trigger {
  Pattern pattern;
  std::uint64_t remaining = 1;  ///< matches left until the trigger fires
  Duration after{};
  std::string command;
  std::uint32_t line = 0;  ///< number of the line in the script
};

/// Waits for the packets and events that `on` and `run until` lines name.
class Triggers {
 public:
  using Fire = std::function<void(const Trigger&)>;

  /// `fire` is called once for each trigger, while a node runs. So `fire` may only plan actions.
  explicit Triggers(Fire fire) : fire_(std::move(fire)) {}

  void add(Trigger trigger) { triggers_.push_back(std::move(trigger)); }
  void clear() { triggers_.clear(); }
  /// Watches for one pattern, in addition to the triggers, until unwatch().
  void watch(Pattern pattern);
  void unwatch() { watched_.reset(); }
  /// True if the watched pattern has occurred.
  bool seen() const { return seen_; }

  void on_send(const Packet& packet, const World& world);
  void on_event(MemberId node, const order::Event& event);

 private:
  template <class Matches>
  void occurred(Matches matches);

  Fire fire_;
  std::vector<Trigger> triggers_;
  std::optional<Pattern> watched_;
  bool seen_ = false;
};

}  // namespace peal::sim
