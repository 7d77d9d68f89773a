// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.h"

namespace peal::client {

/// Detects whether the application still serves the connection, that is, reads and writes it. The
/// application does so as long as it makes calls, or sleeps on the connection. Thread: one at a
/// time.
class Attendance {
 public:
  /// Call while an application thread is inside a call of the client.
  void visit() { ++visits_; }

  /// True while the client's thread polls the connection to check whether the application takes
  /// input, and no input has arrived since the client's thread began to poll.
  bool guards() const { return guard_ == Guard::set; }
  /// True while no check is due, because an application thread polls the connection. The
  /// application thread calls end_rest() when it stops polling.
  bool rests() const { return rests_; }
  /// Makes rests() false. Returns true if rests() was true.
  bool end_rest() { return std::exchange(rests_, false); }
  /// The time of the next look(); has no meaning while guards() or rests().
  Instant look_again() const { return look_again_; }

  /// Call when input arrives while guards() is true. The application must take the input before
  /// look_again().
  void on_input(Instant now) {
    guard_ = Guard::tripped;
    look_again_ = now + kAway;
  }
  /// Checks the application; returns false if it does not serve the connection any more. `polls`:
  /// true if an application thread polls the connection. `may_sleep`: true if the application may
  /// sleep on fd() and has read everything.
  bool look(Instant now, bool polls, bool may_sleep) {
    const bool was_here = std::exchange(last_visits_, visits_) != visits_;
    look_again_ = now + kAway;
    if (was_here) {
      guard_ = Guard::none;
    } else if (polls) {
      rests_ = true;
    } else if (may_sleep && guard_ == Guard::none) {
      guard_ = Guard::set;
    } else {
      return false;
    }
    return true;
  }
  /// Call when the client's thread begins to serve.
  void stop() { guard_ = Guard::none; }

 private:
  /// If the application makes no call for this time, and neither polls the connection nor sleeps on
  /// fd(), it does not serve the connection.
  static constexpr Duration kAway = milliseconds(50);
  /// How the client's thread watches an application that may sleep on fd().
  enum class Guard : std::uint8_t {
    none,
    set,      ///< the client's thread polls the connection; no input has arrived meanwhile
    tripped,  ///< input arrived; the application must take it before look_again_
  };

  Guard guard_ = Guard::none;
  bool rests_ = false;             ///< no check is due, because an application thread polls
  std::uint64_t visits_ = 0;       ///< how often the application was inside a call
  std::uint64_t last_visits_ = 0;  ///< visits_ at the last look()
  Instant look_again_;
};

}  // namespace peal::client
