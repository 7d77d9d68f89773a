// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/time.h"

namespace peal::runtime {

/// Notices that something stands still, for the operator's log: it does not move, although it
/// waits for something.
class StallNotice {
 public:
  /// `what` begins the lines, such as "the ordering".
  explicit StallNotice(std::string what) : what_(std::move(what)) {}

  /// So long nothing is said.
  static constexpr Duration kPatience = seconds(5);

  /// It has moved. Of the ordering: a message was delivered or got its place, or a view was
  /// installed.
  void on_progress() { moved_ = true; }
  /// Something has moved since the last look(): what it waits for does not matter.
  bool has_moved() const { return moved_; }
  /// It is time for look().
  bool is_due(Instant now) const { return now >= next_; }
  /// `waits_for`: what it waits for; empty: nothing. Returns a line for the operator when it has
  /// stood still for kPatience, when it then waits for something else (at most once a minute), and
  /// when it goes on. Otherwise it returns an empty text.
  std::string look(Instant now, const std::string& waits_for);

 private:
  std::string what_;
  bool moved_ = false;
  Instant next_{};
  std::optional<Instant> since_;  ///< nothing has moved since
  std::string told_;              ///< the last reason that was told; empty: none
  Instant told_at_{};
};

}  // namespace peal::runtime
