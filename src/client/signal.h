// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client/inner_names.h"

namespace peal::client {

/// An eventfd that somebody writes to, so that a thread that polls looks up.
class Signal {
 public:
  Signal();
  int fd() const { return fd_.get(); }
  void set();
  void clear();

 private:
  io::Fd fd_;
};

/// A timerfd: the same, a little later.
class Timer {
 public:
  Timer();
  int fd() const { return fd_.get(); }
  /// Readable once so much time has passed; more than 0.
  void set(Duration from_now);
  void clear();

 private:
  io::Fd fd_;
};

/// An epoll descriptor: readable while one of those that it watches is.
class Watcher {
 public:
  Watcher();
  int fd() const { return fd_.get(); }
  /// False if the system has no room for it.
  bool watch(int fd);
  void unwatch(int fd);

 private:
  io::Fd fd_;
};

}  // namespace peal::client
