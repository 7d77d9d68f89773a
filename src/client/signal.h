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

/// A timerfd that wakes a thread that polls it, after a time.
class Timer {
 public:
  Timer();
  int fd() const { return fd_.get(); }
  /// Makes fd() readable after the time `from_now`, which must be more than 0.
  void set(Duration from_now);
  void clear();

 private:
  io::Fd fd_;
};

/// An epoll descriptor: readable while one of the watched descriptors is readable.
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
