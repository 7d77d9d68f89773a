// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "order/member_set.h"
#include "order/paxos/store.h"

namespace peal::order::paxos {

/// Whose instances these are. A log of votes that was lost may leave values of an order behind that
/// is over; those of the next one have the same numbers.
struct OwedPart {
  std::uint8_t ensemble = 0;
  std::uint64_t order = 0;  ///< its name; 0: none is known
  friend bool operator==(const OwedPart&, const OwedPart&) = default;
};

/// One copy of a range in the log: a head, and the values behind it.
struct OwedCopy {
  LogPosition head{};       ///< 0: not appended
  LogPosition last{};       ///< of its last record
  std::uint64_t at = 0;     ///< bytes that were appended to the log before it
  std::uint64_t bytes = 0;  ///< of its records
  std::size_t written = 0;  ///< values that were appended
};

/// Decided values in a row that some excluded members are owed, in memory, and how much of them is
/// in the log (owed_log.h).
struct OwedRange {
  struct Kept {
    wire::ValueHead head;
    std::size_t at = 0;  ///< in the range's bytes
    std::size_t size = 0;
  };

  std::uint64_t id = 0;  ///< in the log; never used again
  OwedPart part;
  MemberSet members;
  Instance first = 0;
  std::vector<Kept> values;
  std::vector<std::byte> bytes;
  OwedCopy copy;
  std::optional<OwedCopy> again;  ///< a newer copy, which is to replace that one
  std::size_t durable = 0;        ///< values that no crash takes away any more

  Instance end() const { return first + values.size(); }
  std::uint64_t memory() const { return bytes.size() + values.size() * sizeof(Kept); }
  ByteView bytes_of(const Kept& kept) const { return ByteView(bytes).subspan(kept.at, kept.size); }
  void add(const wire::ValueHead& head, ByteView value);
};

/// All such ranges of one node, in as many bytes as it may keep: the oldest go first.
class OwedRanges {
 public:
  /// A checkpoint of the log names them all.
  static constexpr std::size_t kRangesMax = 1'024;
  /// Who is owed something that is not kept any more, though it may need it.
  struct Dropped {
    MemberId member{};
    std::uint64_t instances = 0;
  };

  explicit OwedRanges(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// Oldest first. Their number and their size do not change but by the calls below.
  std::deque<OwedRange>& all() { return ranges_; }
  const std::deque<OwedRange>& all() const { return ranges_; }
  OwedRange* find(std::uint64_t id);
  std::uint64_t new_id() { return next_id_++; }
  /// It is in use.
  void note_id(std::uint64_t id) { next_id_ = std::max(next_id_, id + 1); }

  /// Takes the range out, to be changed and added again.
  OwedRange take(std::deque<OwedRange>::iterator range);
  /// Drops the oldest until so many bytes fit. False: they never do.
  bool make_room(std::uint64_t bytes);
  /// One more value of `range`, which is one of all(). False: it does not fit even without all
  /// others, and the range was dropped.
  bool grow(OwedRange& range, const wire::ValueHead& head, ByteView value);
  /// Behind all others. It fits.
  void push(OwedRange range);
  std::deque<OwedRange>::iterator erase(std::deque<OwedRange>::iterator range);
  void drop_oldest();
  /// These are owed so much more, for which there is no room.
  void note_dropped(const MemberSet& members, std::uint64_t instances);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_max() const { return bytes_max_; }
  /// Ranges that went, for whatever reason.
  std::uint64_t removed() const { return removed_; }
  /// Instances that were dropped, ever.
  std::uint64_t dropped() const { return dropped_count_; }
  /// Each once; of whom it was told is forgotten.
  std::vector<Dropped> take_dropped();

 private:
  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t removed_ = 0;
  std::uint64_t dropped_count_ = 0;
  std::deque<OwedRange> ranges_;
  std::vector<Dropped> dropped_;  ///< by member; as many as have ranges at most
};

}  // namespace peal::order::paxos
