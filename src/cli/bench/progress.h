// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace peal::cli {

/// A line of progress, for a person at a terminal. Each text replaces the previous one.
class BenchProgress {
 public:
  BenchProgress() : shown_(::isatty(STDERR_FILENO) == 1) {}
  ~BenchProgress() { say(""); }
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  void say(const std::string& text) const {
    if (shown_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

 private:
  bool shown_;
};

}  // namespace peal::cli
