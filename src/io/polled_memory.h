// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::io {

/// Memory that other processes write, at which a loop looks besides its descriptors. Thread: the
/// loop's.
class PolledMemory {
 public:
  virtual ~PolledMemory() = default;
  /// True if there is something that the host has not handled. No system call.
  virtual bool has_news() const = 0;
  /// The loop is about to sleep: from now on, a writer makes one of the loop's descriptors
  /// readable. False if there is news meanwhile: the loop must not sleep.
  virtual bool prepare_sleep() = 0;
  /// The loop is awake again.
  virtual void end_sleep() = 0;
};

}  // namespace peal::io
