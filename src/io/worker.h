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

/// A thread for blocking work, such as the syncs of a log, so that a loop does not block. One task
/// at a time. Thread: one, the loop's.
class Worker {
 public:
  /// Errors: system (no more descriptors or threads).
  static Result<std::unique_ptr<Worker>, IoError> open();
  /// Waits for the task under way.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Becomes readable when the task is done; only the loop may watch and read it.
  int done_fd() const { return done_.get(); }
  /// Runs `work`, which must exist until take_done() returns true. Do not call it while another
  /// task is under way.
  void start(port::Work& work);
  /// True once for each start(), after the task is done: the caller then sees all that the task
  /// wrote to memory.
  bool take_done();
  bool busy() const { return busy_; }

 private:
  explicit Worker(Fd done) : done_(std::move(done)) {}
  void run();

  Fd done_;            // counts finished tasks
  bool busy_ = false;  // used by the loop's thread
  std::mutex mutex_;
  std::condition_variable wanted_;
  port::Work* work_ = nullptr;  // guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace peal::io
