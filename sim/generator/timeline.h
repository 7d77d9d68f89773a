// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/time.h"

namespace peal::sim {

/// The lines of a scenario's phase with faults, sorted by time and then by insertion.
class Timeline {
 public:
  void at(Duration when, std::string line) { lines_.emplace(when.ns, std::move(line)); }
  /// Pairs of a time in nanoseconds and a line.
  const std::multimap<std::int64_t, std::string>& lines() const { return lines_; }

 private:
  std::multimap<std::int64_t, std::string> lines_;
};

}  // namespace peal::sim
