// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <span>

#include "io/polling.h"

namespace peal::client {

/// How an application's thread waits for descriptors: with or without sleeping, whichever pays.
/// Thread: the one that polls.
class Poller {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// `spin`: the longest time to poll without sleeping; 0: always sleep.
  explicit Poller(Duration spin) : polling_(spin) {}
  /// Waits until a descriptor is ready or `deadline` has passed, and fills in which ones are ready.
  void poll(std::span<pollfd> fds, Deadline deadline);

 private:
  bool spin(std::span<pollfd> fds, Deadline deadline);

  io::Polling polling_;
};

}  // namespace peal::client
