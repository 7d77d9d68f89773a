// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <chrono>
#include <span>

#include "io/polling.h"

namespace peal::client {

/// Makes an application's thread wait for descriptors. The thread polls for a time before it sleeps
/// if this usually saves time. Thread: the thread that polls.
class Poller {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  /// `spin`: the longest time to poll before sleeping; 0: always sleep.
  explicit Poller(Duration spin) : polling_(spin) {}
  /// Waits until a descriptor is ready or `deadline` has passed. Sets `revents` of the descriptors.
  void poll(std::span<pollfd> fds, Deadline deadline);

 private:
  bool spin(std::span<pollfd> fds, Deadline deadline);

  io::Polling polling_;
};

}  // namespace peal::client
