// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace peal::order::evs {

/// The timers of one engine. Timers that are due at the same time fire in the order of the
/// enumerators. The engine uses the enumerators with the prefix `engine`, and the membership uses
/// all others. Four timers of the engine fire before the timers of a view change, and engine_late
/// fires after them.
enum class Timer : std::uint8_t {
  silence,  ///< no sign of life came in time: ends the view or the attempt at a view
  resend,   ///< retransmits the packet of TrackedPacket
  engine_0,
  engine_1,
  engine_2,
  engine_3,
  join,
  consensus,
  probe,
  engine_late,
  trial,  ///< sends the next packets of a link trial, or ends the trial
  count,
};

constexpr bool is_of_engine(Timer timer) {
  return (timer >= Timer::engine_0 && timer <= Timer::engine_3) || timer == Timer::engine_late;
}

class Timers {
 public:
  void arm(Timer timer, Instant at) { at_[index(timer)] = at; }
  void cancel(Timer timer) { at_[index(timer)].reset(); }
  void cancel_all() { at_.fill(std::nullopt); }
  void cancel_those_of_engine() {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      if (is_of_engine(static_cast<Timer>(i))) at_[i].reset();
    }
  }
  bool armed(Timer timer) const { return at_[index(timer)].has_value(); }
  std::optional<Instant> at(Timer timer) const { return at_[index(timer)]; }

  std::optional<Instant> next() const {
    std::optional<Instant> first;
    for (const auto& at : at_) {
      if (at.has_value() && (!first.has_value() || *at < *first)) first = at;
    }
    return first;
  }
  /// If `timer` is due, disarms it and returns true.
  bool take_due(Timer timer, Instant now) {
    auto& at = at_[index(timer)];
    if (!at.has_value() || *at > now) return false;
    at.reset();
    return true;
  }

 private:
  static constexpr std::size_t index(Timer timer) { return static_cast<std::size_t>(timer); }
  std::array<std::optional<Instant>, static_cast<std::size_t>(Timer::count)> at_{};
};

}  // namespace peal::order::evs
