// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "io/fd.h"

namespace peal::client {

/// An eventfd that wakes a thread that polls it.
class Signal {
 public:
  Signal();
  int fd() const { return fd_.get(); }
  void set();
  void clear();

 private:
  io::Fd fd_;
};

/// A timerfd that, after a time, wakes a thread that polls it.
class Timer {
 public:
  Timer();
  int fd() const { return fd_.get(); }
  /// Becomes readable after `from_now`, which must be more than 0.
  void set(Duration from_now);
  void clear();

 private:
  io::Fd fd_;
};

/// An epoll descriptor: readable while one of the descriptors that it watches is.
class Watcher {
 public:
  Watcher();
  int fd() const { return fd_.get(); }
  /// Returns false if the system cannot watch another descriptor.
  bool watch(int fd);
  void unwatch(int fd);

 private:
  io::Fd fd_;
};

}  // namespace peal::client
