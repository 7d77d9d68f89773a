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

/// The ensemble and the order of retained instances. If a log of votes was lost, retained values
/// may be of an earlier order, whose instances have the same numbers as those of the present order.
struct OwedPart {
  std::uint8_t ensemble = 0;
  std::uint64_t order = 0;  ///< id of the order (wire::Nodes::first); 0: no order is known
  friend bool operator==(const OwedPart&, const OwedPart&) = default;
};

/// One copy of a range in the log: a head record, and the value records after it.
struct OwedCopy {
  LogPosition head{};       ///< position of the head record; 0: not appended
  LogPosition last{};       ///< position of the last record of this copy
  std::uint64_t at = 0;     ///< number of bytes appended before this copy
  std::uint64_t bytes = 0;  ///< bytes of the records of this copy
  std::size_t written = 0;  ///< number of values that were appended
};

/// Consecutive decided values that are retained in memory for some excluded members, and the number
/// of them that the log has (owed_log.h).
struct OwedRange {
  struct Kept {
    wire::ValueHead head;
    std::size_t at = 0;  ///< offset in the range's bytes
    std::size_t size = 0;
  };

  std::uint64_t id = 0;  ///< id of the range in the log; ids are never reused
  OwedPart part;
  MemberSet members;
  Instance first = 0;
  std::vector<Kept> values;
  std::vector<std::byte> bytes;
  OwedCopy copy;
  std::optional<OwedCopy> again;  ///< a newer copy, which is to replace `copy`
  std::size_t durable = 0;        ///< number of values that survive a crash

  Instance end() const { return first + values.size(); }
  std::uint64_t memory() const { return bytes.size() + values.size() * sizeof(Kept); }
  ByteView bytes_of(const Kept& kept) const { return ByteView(bytes).subspan(kept.at, kept.size); }
  void add(const wire::ValueHead& head, ByteView value);
};

/// All ranges that one node retains, within a limit of bytes: the oldest are dropped first.
class OwedRanges {
 public:
  /// Limit of the number of ranges: a checkpoint of the log names all of them.
  static constexpr std::size_t kRangesMax = 1'024;
  /// A member, and the number of dropped values that the member may need.
  struct Dropped {
    MemberId member{};
    std::uint64_t instances = 0;
  };

  explicit OwedRanges(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// The ranges, the oldest first. Only the functions below may change their number and sizes.
  std::deque<OwedRange>& all() { return ranges_; }
  const std::deque<OwedRange>& all() const { return ranges_; }
  OwedRange* find(std::uint64_t id);
  std::uint64_t new_id() { return next_id_++; }
  /// Notes that this id is in use.
  void note_id(std::uint64_t id) { next_id_ = std::max(next_id_, id + 1); }

  /// Removes and returns the range, to be changed and added again.
  OwedRange take(std::deque<OwedRange>::iterator range);
  /// Drops the oldest ranges until `bytes` more fit. False: `bytes` alone exceeds the limit, and no
  /// range was dropped.
  bool make_room(std::uint64_t bytes);
  /// Appends a value to `range`, which is one of all(). False: the value does not fit even if all
  /// other ranges are dropped, and `range` was dropped.
  bool grow(OwedRange& range, const wire::ValueHead& head, ByteView value);
  /// Adds a range after all others. The range must fit.
  void push(OwedRange range);
  std::deque<OwedRange>::iterator erase(std::deque<OwedRange>::iterator range);
  void drop_oldest();
  /// Notes that `instances` more instances were dropped for these members, for lack of space.
  void note_dropped(const MemberSet& members, std::uint64_t instances);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t bytes_max() const { return bytes_max_; }
  /// The number of ranges removed so far, for any reason.
  std::uint64_t removed() const { return removed_; }
  /// The number of instances dropped so far.
  std::uint64_t dropped() const { return dropped_count_; }
  /// Returns the members for which values were dropped since the last call.
  std::vector<Dropped> take_dropped();

 private:
  std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::uint64_t next_id_ = 1;
  std::uint64_t removed_ = 0;
  std::uint64_t dropped_count_ = 0;
  std::deque<OwedRange> ranges_;
  std::vector<Dropped> dropped_;  ///< one entry for each member; at most kToldMax
};

}  // namespace peal::order::paxos
