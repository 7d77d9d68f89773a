// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <utility>

#include "io/fork.h"

namespace peal::io {

/// Owns a file descriptor; -1 means none. Children of fork() do not inherit the descriptor
/// (io/fork.h).
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) { close_in_children(fd); }
  /// A descriptor that children of fork() do inherit.
  static Fd for_children(int fd) {
    Fd result;
    result.fd_ = fd;
    return result;
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ < 0) return;
    keep_in_children(fd_);
    ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace peal::io
