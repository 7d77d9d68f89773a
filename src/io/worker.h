// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "io/error.h"
#include "io/fd.h"
#include "port/work.h"

namespace peal::io {

/// One thread for what blocks, so that a loop does not: the syncs of a log. One piece of work at a
/// time. Thread: one, that of the loop.
class Worker {
 public:
  /// Errors: system (no more descriptors or threads).
  static Result<std::unique_ptr<Worker>, IoError> open();
  /// Waits for what is under way.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Becomes readable when the work is done; for the loop to watch. Nobody else reads it.
  int done_fd() const { return done_.get(); }
  /// `work` lives until take_done() said true. Not while another one is under way.
  void start(port::Work& work);
  /// True once for each start(), after the work was carried out: all that it wrote can be read.
  bool take_done();
  bool busy() const { return busy_; }

 private:
  explicit Worker(Fd done) : done_(std::move(done)) {}
  void run();

  Fd done_;            // counts work that is done
  bool busy_ = false;  // of the loop's thread
  std::mutex mutex_;
  std::condition_variable wanted_;
  port::Work* work_ = nullptr;  // by mutex_
  bool stopping_ = false;       // by mutex_
  std::thread thread_;
};

}  // namespace peal::io
