// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/owed_ranges.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of members reported at a time. For further members, dropped instances are only
/// counted in dropped().
constexpr std::size_t kToldMax = wire::kMembersMax;

}  // namespace

void OwedRange::add(const wire::ValueHead& head, ByteView value) {
  values.push_back({head, bytes.size(), value.size()});
  bytes.insert(bytes.end(), value.begin(), value.end());
}

OwedRange* OwedRanges::find(std::uint64_t id) {
  const auto at = std::find_if(ranges_.begin(), ranges_.end(),
                               [id](const OwedRange& range) { return range.id == id; });
  return at == ranges_.end() ? nullptr : &*at;
}

OwedRange OwedRanges::take(std::deque<OwedRange>::iterator range) {
  OwedRange taken = std::move(*range);
  bytes_ -= taken.memory();
  ranges_.erase(range);
  return taken;
}

bool OwedRanges::make_room(std::uint64_t bytes) {
  if (bytes > bytes_max_) return false;
  while (bytes_ + bytes > bytes_max_ || ranges_.size() >= kRangesMax) drop_oldest();
  return true;
}

bool OwedRanges::grow(OwedRange& range, const wire::ValueHead& head, ByteView value) {
  const std::uint64_t id = range.id;
  const std::uint64_t more = value.size() + sizeof(OwedRange::Kept);
  // `range` stays valid when another range, the first in the deque, is removed. But `range` itself
  // may be the first.
  while (bytes_ + more > bytes_max_) {
    const bool last = ranges_.front().id == id;
    drop_oldest();
    if (last) return false;
  }
  range.add(head, value);
  bytes_ += more;
  return true;
}

void OwedRanges::push(OwedRange range) {
  bytes_ += range.memory();
  PEAL_ASSERT(bytes_ <= bytes_max_ && ranges_.size() < kRangesMax);
  ranges_.push_back(std::move(range));
}

std::deque<OwedRange>::iterator OwedRanges::erase(std::deque<OwedRange>::iterator range) {
  bytes_ -= range->memory();
  ++removed_;
  return ranges_.erase(range);
}

void OwedRanges::drop_oldest() {
  PEAL_ASSERT(!ranges_.empty());
  PEAL_PROBE("paxos.owed_dropped");
  note_dropped(ranges_.front().members, ranges_.front().values.size());
  erase(ranges_.begin());
}

void OwedRanges::note_dropped(const MemberSet& members, std::uint64_t instances) {
  dropped_count_ += instances;
  for (const MemberId& member : members) {
    const auto same = std::find_if(dropped_.begin(), dropped_.end(),
                                   [&](const Dropped& each) { return each.member == member; });
    if (same != dropped_.end()) {
      same->instances += instances;
    } else if (dropped_.size() < kToldMax) {
      dropped_.push_back({member, instances});
    }
  }
}

std::vector<OwedRanges::Dropped> OwedRanges::take_dropped() { return std::exchange(dropped_, {}); }

}  // namespace peal::order::paxos
