// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/large_memory.h"
#include "port/disk.h"
#include "wal/format.h"

namespace peal::wal {

inline constexpr std::uint64_t kSegmentBytesMin = 512;
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;  ///< a header has 32 bits for a size
inline constexpr std::size_t kFilesMax = 65'536;

/// `create` makes a log, and refuses a folder that has one. `existing` opens a log, and refuses a
/// folder without one: a node that lost its log must not act as if it had made no promises.
enum class Start : std::uint8_t { create, existing };

struct Options {
  Identity owner{};
  std::uint64_t epoch{};                    ///< of this incarnation; above all earlier epochs
  std::uint64_t salt{};                     ///< random, new at each start
  std::uint64_t log{};                      ///< the id for a log that is created: random, not 0
  std::uint64_t segment_bytes = 64U << 20;  ///< kSegmentBytesMin to kSegmentBytesMax
  std::uint64_t bytes_max = 4ULL << 30;     ///< on disk, without a spare file; at least 4 segments
  std::size_t read_bytes = 512U << 10;      ///< bytes per read; should fit the processor's cache
  std::size_t record_bytes_max = 1U << 20;  ///< must fit a segment and a batch
  std::size_t batch_bytes_max = 4U << 20;   ///< of one batch; two batches are in memory
  Pages pages = Pages::ordinary;            ///< of the memory for the two batches
  /// A commit of at least this many bytes is written in whole blocks, which a disk can take from
  /// memory directly. A smaller commit continues in the block of the commit before it, which keeps
  /// the log small.
  std::size_t blocks_from = port::kLargeWriteBytes;
  std::size_t block_bytes = port::kDiskBlockBytes;  ///< kFrameBytes to 4,096, a multiple of 8
};

/// Why a log was not opened. `message` is one line: the file, the place, the problem and the
/// remedy.
struct Problem {
  enum class Kind : std::uint8_t {
    bad_options,
    no_log,           ///< Start::existing, and there is no log
    log_exists,       ///< Start::create, and there is a log
    foreign,          ///< of another cluster, node or log, or of a later incarnation
    unknown_version,  ///< written by another release
    unknown_file,     ///< not a file of a log; or too many files
    missing,          ///< a segment is absent
    damaged,          ///< durable bytes have changed
    disk,             ///< the disk failed
  };
  Kind kind{};
  std::string file;        ///< name of the file in the folder; may be empty
  std::uint64_t offset{};  ///< where the problem is in `file`
  std::string message;
};

/// What Log::open() found in the folder, for a person.
struct Found {
  std::uint64_t segments{};
  LogPosition first{};      ///< the oldest record that is kept
  LogPosition last{};       ///< 0 if there was never a record
  bool tail_cut = false;    ///< recovery removed a write that a crash cut off before it was durable
  std::string tail_file;    ///< if tail_cut: the file of the removed write
  std::uint64_t tail_at{};  ///< if tail_cut: the offset of the removed write in its file
};

}  // namespace peal::wal
