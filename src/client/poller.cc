// SPDX-License-Identifier: Apache-2.0
#include "client/poller.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "io/clock.h"

namespace peal::client {
namespace {

timespec time_until(Poller::Deadline deadline) {
  const auto left = std::max(deadline - std::chrono::steady_clock::now(),
                             std::chrono::steady_clock::duration::zero());
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
  const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(left - whole);
  return {static_cast<time_t>(whole.count()), static_cast<long>(rest.count())};
}

}  // namespace

void Poller::poll(std::span<pollfd> fds, Deadline deadline) {
  const bool notes = polling_.enabled();
  const Instant begin = notes ? io::Clock::now() : Instant{};
  if (!polling_.pays(begin) || !spin(fds, deadline)) {
    const timespec time = time_until(deadline);
    ::ppoll(fds.data(), fds.size(), &time, nullptr);
  }
  if (notes) polling_.note_wait(io::Clock::now() - begin);
}

/// Polls without sleeping. Returns false if no descriptor became ready.
bool Poller::spin(std::span<pollfd> fds, Deadline deadline) {
  const timespec left = time_until(deadline);
  Instant now = io::Clock::now();
  const Duration time = seconds(left.tv_sec) + nanoseconds(left.tv_nsec);
  const Instant end = now + std::min(time, polling_.most());
  while (now < end) {
    constexpr timespec kNone{};
    if (::ppoll(fds.data(), fds.size(), &kNone, nullptr) > 0) return true;
    ::sched_yield();
    const Instant before = std::exchange(now, io::Clock::now());
    if (polling_.note_poll(now, now - before)) return false;
  }
  return false;
}

}  // namespace peal::client
