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

// What a node dropped: its counters that say so, and since when.

namespace peal::daemon {

inline constexpr std::string_view kTraceLines = "trace_lines_lost";
inline constexpr std::string_view kLogLines = "log_lines_dropped";

/// The counters of drops that a person may do something about.
const std::vector<std::string>& drop_counters();
/// What to do about it; empty if the cause is a broken network or program.
std::string_view drop_remedy(std::string_view counter);

/// When each of them grew last, as far as it was observed. Thread: one at a time.
class DropTimes {
 public:
  void look(Instant now, std::span<const std::pair<std::string, std::uint64_t>> counters);
  /// Nothing if it is still 0.
  std::optional<Instant> grew(std::string_view counter) const;

 private:
  struct Seen {
    std::uint64_t count = 0;
    Instant grew{};
  };
  std::map<std::string, Seen, std::less<>> seen_;
};

}  // namespace peal::daemon
