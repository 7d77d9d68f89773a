// SPDX-License-Identifier: Apache-2.0
#include "io/periodic_timer.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/assert.h"

namespace peal::io {

Result<void, IoError> PeriodicTimer::start(Loop& loop, Duration interval,
                                           std::function<void()> callback) {
  PEAL_ASSERT(!fd_);
  fd_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec period{};
  period.it_interval.tv_sec = interval.ns / 1'000'000'000;
  period.it_interval.tv_nsec = interval.ns % 1'000'000'000;
  period.it_value = period.it_interval;
  if (!fd_ || ::timerfd_settime(fd_.get(), 0, &period, nullptr) != 0) {
    return unexpected(system_error("a timer", errno));
  }
  return loop.watch(fd_.get(), EPOLLIN,
                    [fd = fd_.get(), callback = std::move(callback)](std::uint32_t) {
                      std::uint64_t times = 0;
                      ignore(::read(fd, &times, sizeof times), "no matter how often");
                      callback();
                    });
}

}  // namespace peal::io
