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
  /// Wall-clock milliseconds since 2020-01-01 00:00 UTC; 0 if the clock stands before that.
  static std::uint64_t wall_ms_since_2020();
};

/// The epoch that a starting node takes, and what went wrong with its state file, if anything.
struct EpochChoice {
  std::uint64_t epoch{};
  std::optional<IoError> warning;  ///< the file could not be read; the epoch is usable
};

/// The epoch of a new incarnation: the wall clock, or one more than the last epoch in
/// `state_file`, whichever is larger. Whoever starts with it stores it first. An empty path means
/// no file. An absent file is no error; a file that cannot be read is a warning only, since the
/// clock alone suffices as long as it does not step back. Blocks on the disk.
EpochChoice choose_epoch(const std::string& state_file);

/// Writes `epoch` to `state_file`, if there is one, in one step: a crash leaves the old content or
/// the new. Call it before a node starts, and when it corrected its epoch. Errors: not_permitted,
/// system. Blocks on the disk.
Result<void, IoError> store_epoch(const std::string& state_file, std::uint64_t epoch);

}  // namespace peal::io
