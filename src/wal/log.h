// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "port/disk.h"
#include "port/log.h"
#include "port/work.h"
#include "wal/block_bytes.h"
#include "wal/options.h"
#include "wal/writer.h"

namespace peal::wal {

/// A write-ahead log in segments. append() adds records to a batch in memory. A commit writes the
/// batch and syncs once, which makes all its records durable. During a commit, new records go into
/// the next batch.
///
/// A commit has three steps, so that another thread can carry out the middle one:
///
///     if (log.begin()) { log.carry_out(); log.finish(); }
///
/// Thread: one, except for carry_out(), which any thread may run once between begin() and finish().
/// Each step must happen before the next step, as in io/worker.h.
///
/// The first disk error ends the log for good: failure() reports the error. No further record
/// becomes durable, because the content of the disk is unknown. Only opening the log again shows
/// its content.
class Log : public port::Log, public port::Work {
 public:
  /// Opens or creates the log in the disk's folder, as `start` says. Nothing else may use the disk
  /// while the log exists.
  static Result<std::unique_ptr<Log>, Problem> open(port::Disk& disk, const Options& options,
                                                    Start start);

  const Found& found() const { return found_; }
  /// Bytes of all segments on disk, without the spare file.
  std::uint64_t bytes_on_disk() const { return disk_bytes_; }

  Result<void, port::LogFailure> replay(port::LogReader& reader) override;
  using port::Log::append;
  Result<LogPosition, Errc> append(ByteView first, ByteView rest) override;
  Result<LogPosition, Errc> checkpoint(ByteView record, LogPosition keep_from) override;
  LogPosition last() const override { return last_; }
  LogPosition durable() const override { return durable_; }
  std::uint64_t id() const override { return options_.log; }
  const std::optional<port::LogFailure>& failure() const override { return failure_; }

  /// Takes the batch for a commit. False if there is nothing to commit, if a commit is in progress,
  /// or if the log failed.
  bool begin();
  /// Blocks until the batch is durable or the disk fails.
  void carry_out() override;
  /// Takes over the result of carry_out(): durable() or failure() reports the result from now on.
  void finish();
  /// Runs all three steps. True if every appended record is durable.
  bool commit();
  /// Commits, and writes the end frame of the newest segment. The end frame tells the next start
  /// that no record is missing. Append nothing afterwards. Do not call it while a commit is in
  /// progress.
  Result<void, port::LogFailure> close();

 private:
  Log(port::Disk& disk, const Options& options, Recovered recovered);
  Result<LogPosition, Errc> take(ByteView first, ByteView rest, std::uint64_t disk_bytes_max);
  void fail(const port::DiskError& error);

  port::Disk& disk_;
  Options options_;
  Found found_;
  Writer writer_;  // used only by carry_out() while a commit is in progress
  std::uint64_t disk_bytes_;
  LogPosition last_;
  LogPosition durable_;
  BlockBytes filling_;     // frames of the records that wait
  BlockBytes committing_;  // frames of the records being committed
  LogPosition filling_first_;
  // True if records wait during a commit. carry_out() reads this flag.
  std::atomic<bool> more_ = false;
  std::optional<LogPosition> keep_from_;
  bool under_way_ = false;
  bool closed_ = false;
  Batch batch_;  // the input of carry_out()
  port::DiskResult<LogPosition> result_;
  std::optional<port::LogFailure> failure_;
};

}  // namespace peal::wal
