// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "port/memory.h"

// What two processes tell each other on an open connection. A frame has one or more records; each
// has a head of kRecordBytes and, for a write, its bytes. Integers are little-endian.
//
// | offset | bytes | field                                                           |
// | 0      | 1     | kind                                                            |
// | 1      | 1     | number of the region: all but ready, answer, wake               |
// | 2      | 1     | write: 1 if it is the last part; answer: how the writes ended   |
// | 3      | 1     | 0                                                               |
// | 4      | 4     | write, offer, join: bytes that follow; answer: writes; ask, unknown: question
// | | 8      | 8     | epoch: if there is a number                                     | | 16     |
// 8     | write: offset; expose, offer: bytes of the region               |
//
// Fields that a kind does not have are 0.

namespace peal::io::fabric {

inline constexpr std::size_t kRecordBytes = 24;
/// Most bytes of a frame's records. Larger writes are sent in parts.
inline constexpr std::size_t kFrameBytesMax = 64U << 10;
/// Most bytes of a frame without writes.
inline constexpr std::size_t kSmallFrameBytesMax = 4U << 10;

struct Record {
  enum class Kind : std::uint8_t {
    ready = 1,  ///< both: the first record; its sender has the key. From the owner with shm: with
                ///< the descriptor of the bell's page
    write,      ///< writer, tcp
    answer,     ///< owner, tcp: how the oldest `count` writes without an answer ended
    expose,     ///< owner, shm: with the descriptor of the region
    withdraw,   ///< owner, shm or verbs: the region is gone
    ask,      ///< writer, shm or verbs: is this region exposed? If it is, `expose` or `offer` is on
              ///< its way
    unknown,  ///< owner, shm or verbs: it is not
    wake,     ///< writer, shm or verbs: the owner sleeps
    offer,    ///< owner, verbs: a region, and the owner's end of its queue pair (verbs_ends.h)
    join,     ///< writer, verbs: the other end
    joined,   ///< owner, verbs: the queue pair takes writes
  };
  Kind kind = Kind::ready;
  std::uint8_t number{};
  bool last = true;                         ///< write
  port::WriteEnd end = port::WriteEnd::ok;  ///< answer: ok or denied
  std::uint32_t count{};                    ///< answer, ask, unknown
  std::uint64_t epoch{};
  std::uint64_t value{};  ///< write: offset; expose, offer: bytes
  ByteView bytes;         ///< write, offer, join
};

/// Writes the record; its size is kRecordBytes and its bytes. `out` has space for it.
std::size_t encode_record(const Record& record, ByteSpan out);

/// Reads the records of a frame.
class RecordReader {
 public:
  explicit RecordReader(ByteView frame) : left_(frame) {}
  /// The next record; its bytes are in the frame. Nothing at the end, or if the frame is bad.
  std::optional<Record> next();
  bool failed() const { return failed_; }

 private:
  std::optional<Record> fail() {
    failed_ = true;
    return std::nullopt;
  }
  ByteView left_;
  bool failed_ = false;
};

}  // namespace peal::io::fabric
