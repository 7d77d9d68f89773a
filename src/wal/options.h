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
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 30;  ///< a header has 32 bits for it
inline constexpr std::size_t kFilesMax = 65'536;

/// A log that is not there is made by create only, and with existing it is an error: a node that
/// lost its log must not go on as if it had promised nothing.
enum class Start : std::uint8_t { create, existing };

struct Options {
  Identity owner{};
  std::uint64_t epoch{};                    ///< of this incarnation; larger than all before
  std::uint64_t salt{};                     ///< random, new at each start
  std::uint64_t log{};                      ///< random, not 0: the id of a log that is made
  std::uint64_t segment_bytes = 64U << 20;  ///< kSegmentBytesMin to kSegmentBytesMax
  std::uint64_t bytes_max = 4ULL << 30;     ///< on disk, and one spare; 4 segments at least
  std::size_t read_bytes = 512U << 10;      ///< of a segment at once; fits a processor's cache
  std::size_t record_bytes_max = 1U << 20;  ///< fits a segment and a batch
  std::size_t batch_bytes_max = 4U << 20;   ///< that wait for a commit; two of these are in memory
  Pages pages = Pages::ordinary;            ///< of the memory for these two
  /// A commit of so many bytes is written in whole blocks, which a disk can take from memory as
  /// they are; of fewer, behind the one before it in the same block, which keeps the log small.
  std::size_t blocks_from = port::kLargeWriteBytes;
  std::size_t block_bytes = port::kDiskBlockBytes;  ///< kFrameBytes to this, a multiple of 8
};

/// Why a log was not opened. `message` is one line: file, place, what is wrong and what to do.
struct Problem {
  enum class Kind : std::uint8_t {
    bad_options,
    no_log,           ///< Start::existing, and there is none
    log_exists,       ///< Start::create, and there is one
    foreign,          ///< of another cluster or node, or of a later incarnation
    unknown_version,  ///< made by another release
    unknown_file,     ///< not a file of a log
    missing,          ///< a segment is not there
    damaged,          ///< something that was durable was changed
    disk,             ///< the disk refused
  };
  Kind kind{};
  std::string file;        ///< its name in the folder; may be empty
  std::uint64_t offset{};  ///< where in it, if damaged
  std::string message;
};

/// What opening found, for a person.
struct Found {
  std::uint64_t segments{};
  LogPosition first{};    ///< of the oldest record that is kept
  LogPosition last{};     ///< 0 if there was never one
  bool tail_cut = false;  ///< a write was cut off by a crash, and is gone; it was never reported
  std::string tail_file;  ///< if so: where
  std::uint64_t tail_at{};
};

}  // namespace peal::wal
