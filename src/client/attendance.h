// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "base/time.h"

namespace peal::client {

/// Whether the application still serves its connection. The application does so as long as it makes
/// calls, or sleeps on the connection. Thread: one at a time.
class Attendance {
 public:
  /// Call when the application is inside a call.
  void visit() { ++visits_; }

  /// True while the client's thread polls the connection to check whether the application takes
  /// input, and no input has arrived since the thread began to poll.
  bool guards() const { return guard_ == Guard::set; }
  /// True while no check is due, because an application thread polls the connection. That thread
  /// calls end_rest() when it stops polling.
  bool rests() const { return rests_; }
  /// Makes rests() false. Returns true if the client's thread rested.
  bool end_rest() { return std::exchange(rests_, false); }
  /// When to look() again, unless guards() or rests().
  Instant look_again() const { return look_again_; }

  /// Call when input arrives while guards(). The application has until look_again() to take it.
  void on_input(Instant now) {
    guard_ = Guard::tripped;
    look_again_ = now + kAway;
  }
  /// Returns false if the application does not serve any more. `polls`: true if a thread of the
  /// application polls the connection. `may_sleep`: true if the application may sleep on fd(), and
  /// has read everything.
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
  /// An application that makes no call for this long, and neither polls the connection nor sleeps
  /// on fd(), does not serve its connection.
  static constexpr Duration kAway = milliseconds(50);
  /// How the client's thread watches an application that may sleep on fd().
  enum class Guard : std::uint8_t {
    none,
    set,      ///< the client's thread polls the connection; no input has arrived meanwhile
    tripped,  ///< input arrived; the application has until look_again_
  };

  Guard guard_ = Guard::none;
  bool rests_ = false;             ///< the application has polled so long that no check is due
  std::uint64_t visits_ = 0;       ///< how often the application was inside a call
  std::uint64_t last_visits_ = 0;  ///< visits_ at the last look()
  Instant look_again_;
};

}  // namespace peal::client
