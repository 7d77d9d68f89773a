// SPDX-License-Identifier: Apache-2.0
#include "io/worker.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/assert.h"

namespace peal::io {

Result<std::unique_ptr<Worker>, IoError> Worker::open() {
  Fd done(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!done) return unexpected(system_error("make an eventfd", errno));
  std::unique_ptr<Worker> worker(new Worker(std::move(done)));
  // The worker inherits a mask that blocks all signals, so that other threads handle them.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = 0;
  try {
    worker->thread_ = std::thread([raw = worker.get()] { raw->run(); });
  } catch (const std::system_error& error) {
    failed = error.code().value();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return unexpected(system_error("start a thread", failed));
  return worker;
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

void Worker::start(port::Work& work) {
  PEAL_ASSERT(!busy_);
  busy_ = true;
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
  }
  wanted_.notify_one();
}

bool Worker::take_done() {
  std::uint64_t count = 0;
  const ssize_t bytes = ::read(done_.get(), &count, sizeof count);
  if (bytes != sizeof count) return false;
  PEAL_ASSERT(busy_ && count == 1);
  busy_ = false;
  // Synchronises with the worker: the worker's writes before the count are visible here.
  const std::lock_guard lock(mutex_);
  return true;
}

void Worker::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return work_ != nullptr || stopping_; });
    if (work_ == nullptr) return;
    port::Work& work = *std::exchange(work_, nullptr);
    lock.unlock();
    work.carry_out();
    lock.lock();
    const std::uint64_t one = 1;
    const ssize_t bytes = ::write(done_.get(), &one, sizeof one);
    PEAL_ASSERT(bytes == sizeof one);
  }
}

}  // namespace peal::io
