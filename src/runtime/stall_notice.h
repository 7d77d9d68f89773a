// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace peal::runtime {

/// Notices that the ordering stands still, for the operator's log: nothing is delivered, although
/// the engine waits for something.
class StallNotice {
 public:
  /// So long nothing is said.
  static constexpr Duration kPatience = seconds(5);

  /// A message was delivered or got its place, or a view was installed.
  void on_progress() { moved_ = true; }
  /// Something has moved since the last look(): what the engine waits for does not matter.
  bool has_moved() const { return moved_; }
  /// It is time for look().
  bool is_due(Instant now) const { return now >= next_; }
  /// `waits_for`: what the engine waits for; empty: nothing. Returns a line for the operator when
  /// the ordering has stood still for kPatience, when it then waits for something else (at most
  /// once a minute), and when it goes on. Otherwise it returns an empty text.
  std::string look(Instant now, const std::string& waits_for);

 private:
  bool moved_ = false;
  Instant next_{};
  std::optional<Instant> since_;  ///< nothing has moved since
  std::string told_;              ///< the last reason that was told; empty: none
  Instant told_at_{};
};

}  // namespace peal::runtime
