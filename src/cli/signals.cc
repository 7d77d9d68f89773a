// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "base/assert.h"

namespace peal::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  PEAL_ASSERT(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  PEAL_ASSERT(fd_ >= 0);
}

StopSignals::~StopSignals() {
  ::close(fd_);
  unblock_stop_signals();
}

int StopSignals::take() const {
  signalfd_siginfo info{};
  if (::read(fd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

void unblock_stop_signals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace peal::cli
