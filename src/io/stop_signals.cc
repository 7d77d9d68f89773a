// SPDX-License-Identifier: Apache-2.0
#include "io/stop_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "base/assert.h"

namespace peal::io {
namespace {

sigset_t stop_signals(int reload) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  if (reload != 0) sigaddset(&set, reload);
  return set;
}

}  // namespace

StopSignals::StopSignals(int reload) : reload_(reload) {
  const sigset_t set = stop_signals(reload);
  PEAL_ASSERT(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  // Under nohup the process ignores SIGHUP. The signal would then be lost before it could be read.
  if (reload != 0) ::signal(reload, SIG_DFL);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  PEAL_ASSERT(fd_ >= 0);
}

StopSignals::~StopSignals() {
  // A pending signal would end the process once unblocked, without an orderly stop.
  while (take() != 0) {
  }
  ::close(fd_);
  const sigset_t set = stop_signals(reload_);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int StopSignals::take() const {
  signalfd_siginfo info{};
  if (::read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

bool told_to_stop(const StopSignals& signals) {
  while (const int number = signals.take()) {
    if (number == SIGINT || number == SIGTERM) return true;
  }
  return false;
}

void unblock_stop_signals() {
  const sigset_t set = stop_signals(0);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace peal::io
