// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.h"

namespace peal::order::evs {

/// The deadlines of one engine. The order of the entries is the order in which timers that are due
/// together fire.
enum class Timer : std::uint8_t {
  token_loss,        ///< no token for too long: the view is broken
  token_retransmit,  ///< the token that I sent shows no sign of life
  hold,              ///< an idle token may rest no longer
  pace,              ///< a token whose requests nobody can answer is slowed down
  hold_cancel,       ///< ask the holder of a resting token again
  visit,             ///< the only member of a view visits itself
  join,
  consensus,
  probe,
  recovery_guard,
  trial,  ///< the next packets of a trial of a link, or its end
  count,
};

class Timers {
 public:
  void arm(Timer timer, Instant at) { at_[index(timer)] = at; }
  void cancel(Timer timer) { at_[index(timer)].reset(); }
  void cancel_all() { at_.fill(std::nullopt); }
  bool armed(Timer timer) const { return at_[index(timer)].has_value(); }
  std::optional<Instant> at(Timer timer) const { return at_[index(timer)]; }

  std::optional<Instant> next() const {
    std::optional<Instant> first;
    for (const auto& at : at_) {
      if (at.has_value() && (!first.has_value() || *at < *first)) first = at;
    }
    return first;
  }
  /// Disarms `timer` and says whether it was due.
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
