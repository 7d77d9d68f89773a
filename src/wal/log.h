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

/// A write-ahead log in segments. Records are appended to a batch in memory; a commit writes the
/// batch, syncs once, and then all its records are durable. While one batch is committed the next
/// one fills.
///
/// A commit has three steps, so that the middle one can be carried out by another thread:
///
///     if (log.begin()) { log.carry_out(); log.finish(); }
///
/// Thread: one, but for carry_out(): between begin() and finish() any thread may run it, once. The
/// caller orders the three (io/worker.h does).
///
/// The first error of the disk ends the log for good: failure() says so, and nothing becomes
/// durable any more, since nobody knows what the disk holds. Open it anew to find out.
class Log : public port::Log, public port::Work {
 public:
  /// Opens the log in the disk's folder, or makes it. The disk and the log have the same user.
  static Result<std::unique_ptr<Log>, Problem> open(port::Disk& disk, const Options& options,
                                                    Start start);

  const Found& found() const { return found_; }
  /// What is kept on disk, counted in whole segments.
  std::uint64_t bytes_on_disk() const { return disk_bytes_; }

  Result<void, port::LogFailure> replay(port::LogReader& reader) override;
  using port::Log::append;
  Result<LogPosition> append(ByteView first, ByteView rest) override;
  Result<LogPosition> checkpoint(ByteView record, LogPosition keep_from) override;
  LogPosition last() const override { return last_; }
  LogPosition durable() const override { return durable_; }
  std::uint64_t id() const override { return options_.log; }
  const std::optional<port::LogFailure>& failure() const override { return failure_; }

  /// Takes the batch for a commit. False: there is nothing to commit, or a commit is under way, or
  /// the log failed.
  bool begin();
  /// Blocks until the batch is durable, or the disk refused.
  void carry_out() override;
  /// What carry_out() came to: durable() or failure() says it now.
  void finish();
  /// All three. True if everything that was appended is durable.
  bool commit();
  /// Commits, and gives the newest segment its end, so that the next start sees that nothing is
  /// missing. Nothing may be appended afterwards. Not while a commit is under way.
  Result<void, port::LogFailure> close();

 private:
  Log(port::Disk& disk, const Options& options, Recovered recovered);
  Result<LogPosition> take(ByteView first, ByteView rest, std::uint64_t disk_bytes_max);
  void fail(const port::DiskError& error);

  port::Disk& disk_;
  Options options_;
  Found found_;
  Writer writer_;  // of carry_out() while a commit is under way
  std::uint64_t disk_bytes_;
  LogPosition last_;
  LogPosition durable_;
  BlockBytes filling_;     // frames of the records that wait
  BlockBytes committing_;  // and of those that are being committed
  LogPosition filling_first_;
  std::atomic<bool> more_ = false;  // there are some of both: carry_out() reads it
  std::optional<LogPosition> keep_from_;
  bool under_way_ = false;
  bool closed_ = false;
  Batch batch_;  // what carry_out() is to do, and what it came to
  port::DiskResult<LogPosition> result_;
  std::optional<port::LogFailure> failure_;
};

}  // namespace peal::wal
