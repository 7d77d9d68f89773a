// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "order/ramcast/bad_records.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/links.h"

namespace peal::order::ramcast {

/// Takes the entries of a leader's log, in their order.
class LogTaker {
 public:
  virtual ~LogTaker() = default;
  enum class Taken : std::uint8_t {
    yes,
    later,    ///< it cannot be taken yet, and is offered again
    refused,  ///< it breaks a rule, and is offered again
  };
  virtual Taken take(const wire::LogEntry& entry, ByteView unit) = 0;
};

/// Reads the leader's log in this server's own region O.
class LogReader {
 public:
  LogReader(const Parts& parts, BadRecords& bad);

  /// Begins with a new region, which the coordinator of the round writes.
  void begin(const wire::Round& round, std::uint32_t seed, std::uint64_t grant);
  /// Reads on, at most `entries_max` entries. Returns how many were taken.
  std::size_t read(LogTaker& taker, std::size_t entries_max);
  /// The base ended: the entry that follows has this number.
  void resume_at(std::uint64_t number) { next_ = number; }
  /// The leader says that it has written the entries of this round up to this one.
  void note_written(std::uint64_t entry) { written_ = entry; }
  /// The base of the present region has been read.
  bool is_based() const { return next_ >= kFirstEntry; }

  const wire::Round& round() const { return round_; }
  std::uint64_t grant() const { return grant_; }
  std::uint64_t bytes() const { return offset_; }

 private:
  bool read_entry(LogTaker& taker);
  void refuse(std::uint64_t at, ByteView entry, wire::Drop reason);
  /// The entry at this offset has a wrong checksum or size.
  void doubt(std::uint64_t at, ByteView entry, wire::Drop reason);
  NodeIndex writer() const { return *parts_.layout.index_of(round_.coordinator.node); }

  const Parts& parts_;
  BadRecords& bad_;
  wire::Round round_{};
  std::uint32_t seed_ = 0;
  std::uint64_t grant_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t next_ = 1;
  std::uint64_t written_ = 0;  ///< see note_written()
  std::vector<std::byte> scratch_;
  wire::LogEntry entry_;
};

}  // namespace peal::order::ramcast
