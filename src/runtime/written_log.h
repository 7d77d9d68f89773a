// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/error.h"
#include "io/folder_disk.h"
#include "io/loop.h"
#include "io/worker.h"
#include "port/log.h"
#include "wal/log.h"

namespace peal::runtime {

/// A durable log in a folder of its own, and a thread that writes and syncs it, so that the loop
/// never waits for the disk. Thread: the loop's.
class WrittenLog {
 public:
  /// Opens and locks the folder, creating it if needed. Errors: those of io::FolderDisk::open().
  static Result<std::unique_ptr<WrittenLog>, io::IoError> open(const std::string& folder);
  ~WrittenLog();
  WrittenLog(const WrittenLog&) = delete;
  WrittenLog& operator=(const WrittenLog&) = delete;

  io::FolderDisk& disk() { return *disk_; }
  /// Recovers the log; call it before anything else.
  Result<void, wal::Problem> recover(const wal::Options& options, wal::Start start);
  wal::Log& log() { return *log_; }
  const std::optional<port::LogFailure>& failure() const { return log_->failure(); }

  /// Calls `on_written` in `loop`, which must outlive this object, whenever more records are
  /// durable or the log failed.
  Result<void, io::IoError> attach(io::Loop& loop, std::function<void()> on_written);
  /// Begins to write the appended records. Does nothing while a write is in progress: call commit()
  /// again after `on_written` (see attach()).
  void commit();

 private:
  explicit WrittenLog(std::unique_ptr<io::FolderDisk> disk) : disk_(std::move(disk)) {}
  void take_written();

  std::unique_ptr<io::FolderDisk> disk_;
  std::unique_ptr<wal::Log> log_;
  std::unique_ptr<io::Worker> worker_;  ///< destroyed before `log_`, which it writes
  io::Loop* loop_ = nullptr;
  std::function<void()> on_written_;
};

}  // namespace peal::runtime
