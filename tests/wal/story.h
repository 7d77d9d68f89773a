// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "sim/world/disk.h"
#include "wal/log.h"

namespace peal::wal::test {

inline constexpr Identity kOwner{0x706561, NodeId{3}};

inline Options small_options(std::uint64_t epoch) {
  Options options;
  options.owner = kOwner;
  options.epoch = epoch;
  options.salt = 0x5a17 + epoch;
  options.log = 0x1d;
  options.segment_bytes = 1024;
  options.bytes_max = 16 * options.segment_bytes;
  options.read_bytes = 200;  // holds a few frames, but not the largest
  options.record_bytes_max = 400;
  options.batch_bytes_max = 2048;
  options.block_bytes = 64;
  return options;
}

/// Keeps the records that it reads.
struct Kept : port::LogReader {
  struct Record {
    LogPosition position{};
    std::string bytes;
    friend bool operator==(const Record&, const Record&) = default;
  };
  void on_record(LogPosition position, ByteView record) override {
    records.push_back({position, std::string(as_text(record))});
  }
  std::vector<Record> records;
};

struct StoryFigures {
  std::uint64_t points = 0;  ///< crashes whose recovery was checked
  std::uint64_t torn = 0;    ///< crashes after which the recovery found a torn write
  std::uint64_t twice = 0;   ///< crashes whose recovery was followed by a second crash and recovery
  std::uint64_t records = 0;
  std::uint64_t restarts = 0;
  std::uint64_t failures = 0;  ///< failures of the disk, each of which ended a log
};

/// The history of one seed: a log that is written, committed, trimmed, closed, killed and opened
/// again. Its disk loses writes that were not synced, and sometimes fails.
///
/// At every operation of the disk, a copy of the disk crashes. The records that are recovered from
/// the copy are compared with those that were appended, and with those that were reported durable.
class Story {
 public:
  explicit Story(std::uint64_t seed);
  /// Returns what went wrong, on one line; empty if nothing did.
  std::string run();
  const StoryFigures& figures() const { return figures_; }

 private:
  struct Appended {
    std::string bytes;
    LogPosition keep_from{};  // 0 unless this is a checkpoint
  };
  void step();
  void append();
  void commit();
  void commit_on_a_bad_disk();
  void crash();
  Options options();
  void start();
  void on_operation();
  void judge_crash(sim::Disk disk, sim::Disk::Loss loss);
  void judge(const Log& log, const Kept& kept, const char* when);
  LogPosition let_go(LogPosition last) const;
  void wrong(const std::string& what);

  std::uint64_t seed_;
  Random random_;
  sim::Disk disk_;
  std::unique_ptr<Log> log_;
  std::uint64_t epoch_ = 0;
  bool created_ = false;            // open() succeeded once
  bool full_ = false;               // append() returned would_block
  std::vector<Appended> appended_;  // the index is position - 1
  LogPosition reported_;
  std::string wrong_;
  StoryFigures figures_;
};

}  // namespace peal::wal::test
