// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "io/error.h"

namespace peal::io {

/// The two clocks of the machine. Thread: any.
class Clock {
 public:
  /// Monotonic time since the machine started; stands still while the machine is suspended.
  static Instant now();
  /// Wall-clock milliseconds since 2020-01-01 00:00 UTC; 0 if the clock shows an earlier time.
  static std::uint64_t wall_ms_since_2020();
};

/// The epoch for a starting node, and the problem with its state file, if there was one.
struct EpochChoice {
  std::uint64_t epoch{};
  std::optional<IoError> warning;  ///< why the file could not be read; the epoch is usable
};

/// The epoch of a new incarnation: the wall clock, or the epoch in `state_file` plus one if that is
/// larger. Store the new epoch before you use it. An empty path means no file. An absent file is no
/// error. An unreadable file is only a warning, because the clock suffices as long as it does not
/// step back. Blocks on the disk.
EpochChoice choose_epoch(const std::string& state_file);

/// Writes `epoch` to `state_file` atomically: a crash leaves the old content or the new. Does
/// nothing if the path is empty. Call it before a node starts, and when a node corrects its epoch.
/// Errors: not_permitted, system. Blocks on the disk.
Result<void, IoError> store_epoch(const std::string& state_file, std::uint64_t epoch);

}  // namespace peal::io
