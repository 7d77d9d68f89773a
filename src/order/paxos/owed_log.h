// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/digest.h"
#include "order/paxos/owed_ranges.h"
#include "order/paxos/owed_records.h"
#include "port/log.h"

namespace peal::order::paxos {

/// A separate log for the values that are retained for excluded members. All retained ranges are
/// also in memory. The log is written when the ranges change, and is read only at a restart. In the
/// log, each range is a head record and its value records. Checkpoints name the ranges that still
/// exist. The log begins with the oldest copy of an existing range. So, to keep the log short, a
/// range that stays while many others come and go is written again at the end of the log.
class OwedLog {
 public:
  /// `log` and `ranges` must outlive this object.
  OwedLog(port::Log& log, OwedRanges& ranges) : log_(log), ranges_(ranges) {}

  /// Reads all ranges from the log. `parts`: the ensembles of this node. False: the log cannot be
  /// read, or holds a range of another ensemble or a record that this release does not know.
  bool replay(std::span<const std::uint8_t> parts);
  /// Appends retained values that the log does not have yet, as many as the log takes now. If the
  /// log is full of durable records, the oldest range is dropped.
  void write();
  /// True if all retained values are on disk, so that they survive a crash.
  bool durable() const;
  /// True if the log failed. Then nothing becomes durable any more.
  bool failed() const { return log_.failure().has_value(); }

  void add_to(Digest& digest) const;

 private:
  class Replay;

  static OwedCopy& newest(OwedRange& range) { return range.again ? *range.again : range.copy; }
  void settle();
  bool write_all();
  bool write_range(OwedRange& range);
  bool write_checkpoint();
  void begin_rewrite();
  bool append(ByteView bytes, OwedCopy& copy);

  port::Log& log_;
  OwedRanges& ranges_;
  std::uint64_t appended_ = 0;  ///< approximate bytes of all records read or appended so far
  std::uint64_t removed_ = 0;   ///< ranges_.removed() at the last checkpoint
  bool shorten_ = false;        ///< a checkpoint can make the log drop the older copy of a range
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::paxos
