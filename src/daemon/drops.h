// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

// The counters of a node's drops, and the time when each counter grew last.

namespace peal::daemon {

inline constexpr std::string_view kTraceLines = "trace_lines_lost";
inline constexpr std::string_view kLogLines = "log_lines_dropped";

/// The counters of drops that do not occur in a healthy cluster.
const std::vector<std::string>& drop_counters();
/// A hint for the operator: which packets this counter counts. Empty if the cause is the network,
/// or a defect of a program.
std::string_view drop_remedy(std::string_view counter);

/// Remembers when each counter of drops grew last, as seen by look(). Thread: one at a time.
class DropTimes {
 public:
  void look(Instant now, std::span<const std::pair<std::string, std::uint64_t>> counters);
  /// The time when the counter grew last; nothing if the counter is 0.
  std::optional<Instant> grew(std::string_view counter) const;

 private:
  struct Seen {
    std::uint64_t count = 0;
    Instant grew{};
  };
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace peal::daemon
