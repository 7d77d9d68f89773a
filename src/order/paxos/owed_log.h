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

/// What excluded members are owed, in a log of its own: what is kept in memory is written there, a
/// restart reads it, and nothing is read later. Each range is a head and its values. Whatever went
/// is not named by the next checkpoint. The log begins with the oldest copy of a range; a range
/// that many have come and gone behind is written again at its end, so that the log stays small.
class OwedLog {
 public:
  /// Both outlive this.
  OwedLog(port::Log& log, OwedRanges& ranges) : log_(log), ranges_(ranges) {}

  /// What the log holds becomes the ranges: of these parts. False: it holds something that this
  /// release did not write, or cannot be read.
  bool replay(std::span<const std::uint8_t> parts);
  /// Appends what is not in the log yet, as far as it takes it. If it is full with all that is on
  /// disk, the oldest range goes.
  void write();
  /// No crash takes away anything of what is kept now.
  bool durable() const;
  /// Nothing becomes durable any more.
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
  std::uint64_t appended_ = 0;  ///< bytes of records, from the first that was read or given to it
  std::uint64_t removed_ = 0;   ///< ranges that the last checkpoint does not name
  bool shorten_ = false;        ///< the log may let go of a copy
  std::vector<std::byte> scratch_;
};

}  // namespace peal::order::paxos
