// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/time.h"
#include "io/fd.h"
#include "io/loop.h"

namespace peal::io {

/// Calls a function from a loop at regular intervals. Once started, the timer must outlive the
/// loop's turns. Thread: the loop's.
class PeriodicTimer {
 public:
  /// Calls `callback` every `interval`, for the first time after one interval. Call start() only
  /// once. Errors: system (no more descriptors).
  Result<void, IoError> start(Loop& loop, Duration interval, std::function<void()> callback);

 private:
  Fd fd_;
};

}  // namespace peal::io
