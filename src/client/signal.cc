// SPDX-License-Identifier: Apache-2.0
#include "client/signal.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/assert.h"

namespace peal::client {
namespace {

/// Makes an eventfd or a timerfd unreadable until its next signal.
void empty(int fd) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof count);
}

}  // namespace

Signal::Signal() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Signal::set() {
  const std::uint64_t one = 1;
  // write() fails only if the counter is full. The descriptor is then readable already.
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
}

void Signal::clear() { empty(fd_.get()); }

Timer::Timer() : fd_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {}

void Timer::set(Duration from_now) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  itimerspec setting{};
  setting.it_value = {static_cast<time_t>(from_now.ns / kSecond),
                      static_cast<long>(from_now.ns % kSecond)};
  const int result = ::timerfd_settime(fd_.get(), 0, &setting, nullptr);
  PEAL_ASSERT(result == 0);
}

void Timer::clear() { empty(fd_.get()); }

Watcher::Watcher() : fd_(::epoll_create1(EPOLL_CLOEXEC)) {}

bool Watcher::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Watcher::unwatch(int fd) {
  epoll_event unused{};
  const int result = ::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, &unused);
  PEAL_ASSERT(result == 0);
}

}  // namespace peal::client
