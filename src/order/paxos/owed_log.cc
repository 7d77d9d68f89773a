// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/owed_log.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// Approximate overhead of a record in a log.
constexpr std::uint64_t kFrameBytes = 48;

}  // namespace

/// Restores the ranges from the records of the log. After each record, the ranges are those that
/// were retained when the record was appended, so they fit into the limit again. The first records
/// may be of removed ranges: the head record of such a range is missing, or the next checkpoint
/// does not name the range.
class OwedLog::Replay final : public port::LogReader {
 public:
  Replay(OwedLog& log, std::span<const std::uint8_t> parts)
      : log_(log), ranges_(log.ranges_), parts_(parts) {}

  void on_record(LogPosition position, ByteView bytes) override {
    OwedRecord record;
    fine = fine && read_owed(bytes, record);
    if (!fine) return;
    const std::uint64_t at = log_.appended_;
    log_.appended_ += bytes.size() + kFrameBytes;
    switch (record.kind) {
      case OwedRecord::Kind::head: begin(record, position, at); break;
      case OwedRecord::Kind::value: add(record); break;
      case OwedRecord::Kind::checkpoint: keep_only(record.ids); break;
    }
  }

  bool fine = true;

 private:
  void begin(const OwedRecord& record, LogPosition position, std::uint64_t at) {
    if (const OwedRange* same = ranges_.find(record.id); same != nullptr) {
      fine = same->part == record.part && same->first == record.instance &&
             same->members == record.members;
      return;
    }
    if (std::find(parts_.begin(), parts_.end(), record.part.ensemble) == parts_.end()) {
      fine = false;
      return;
    }
    ranges_.note_id(record.id);
    OwedRange range;
    range.id = record.id;
    range.part = record.part;
    range.first = record.instance;
    range.members = record.members;
    range.copy.head = position;
    range.copy.at = at;
    if (ranges_.make_room(0)) ranges_.push(std::move(range));
  }

  // A newer copy of a range repeats values that were read already.
  void add(const OwedRecord& record) {
    OwedRange* range = ranges_.find(record.id);
    if (range == nullptr) return;
    fine = record.instance >= range->first && record.instance <= range->end();
    if (fine && record.instance == range->end()) ranges_.grow(*range, record.head, record.bytes);
  }

  void keep_only(const std::vector<std::uint64_t>& ids) {
    std::deque<OwedRange>& all = ranges_.all();
    for (auto range = all.begin(); range != all.end();) {
      const bool named = std::binary_search(ids.begin(), ids.end(), range->id);
      range = named ? std::next(range) : ranges_.erase(range);
    }
  }

  OwedLog& log_;
  OwedRanges& ranges_;
  std::span<const std::uint8_t> parts_;
};

bool OwedLog::replay(std::span<const std::uint8_t> parts) {
  PEAL_ASSERT(ranges_.all().empty());
  if (PEAL_MUTANT(px_owed_not_found)) return true;
  Replay replay(*this, parts);
  if (!log_.replay(replay) || !replay.fine) return false;
  std::deque<OwedRange>& all = ranges_.all();
  for (auto range = all.begin(); range != all.end();) {
    range->copy.last = log_.last();
    range->copy.written = range->durable = range->values.size();
    range->values.shrink_to_fit();
    range->bytes.shrink_to_fit();
    range->copy.bytes = range->bytes.size() + (range->values.size() + 1) * kFrameBytes;
    range = range->values.empty() ? ranges_.erase(range) : std::next(range);
  }
  if (!all.empty()) PEAL_PROBE("paxos.owed_found");
  return true;
}

void OwedLog::settle() {
  for (OwedRange& range : ranges_.all()) {
    const OwedCopy& copy = newest(range);
    const bool whole = copy.head.value != 0 && copy.written == range.values.size();
    if (!whole || copy.last > log_.durable()) continue;
    range.durable = copy.written;
    if (!range.again) continue;
    range.copy = *range.again;
    range.again.reset();
    shorten_ = true;
  }
}

bool OwedLog::durable() const {
  if (PEAL_MUTANT(px_owed_not_kept)) return true;
  const std::deque<OwedRange>& all = ranges_.all();
  return std::all_of(all.begin(), all.end(),
                     [](const OwedRange& range) { return range.durable == range.values.size(); });
}

void OwedLog::write() {
  if (PEAL_MUTANT(px_owed_not_kept)) return;
  settle();
  while (!failed()) {
    if (write_all()) {
      begin_rewrite();
      return;
    }
    // Once the records in progress are durable, the log may have space again.
    if (log_.durable() < log_.last() || ranges_.all().empty()) return;
    PEAL_PROBE("paxos.owed_log_full");
    ranges_.drop_oldest();
  }
}

/// Appends all records that the log does not have yet. False: the log does not take all of them
/// now.
bool OwedLog::write_all() {
  // The checkpoint is written first, so that a restart never finds more ranges than were retained
  // at one time.
  const bool stale = shorten_ || removed_ != ranges_.removed();
  if (stale && !write_checkpoint()) return false;
  for (OwedRange& range : ranges_.all()) {
    if (!write_range(range)) return false;
  }
  return true;
}

bool OwedLog::append(ByteView bytes, OwedCopy& copy) {
  const auto position = log_.append(scratch_, bytes);
  if (!position) return false;
  const std::uint64_t size = scratch_.size() + bytes.size() + kFrameBytes;
  appended_ += size;
  copy.bytes += size;
  copy.last = *position;
  return true;
}

/// Appends the records of the range that the log lacks. False: the log refused a record. The next
/// call continues with that record.
bool OwedLog::write_range(OwedRange& range) {
  OwedCopy& copy = newest(range);
  OwedRecord record;
  record.id = range.id;
  if (copy.head.value == 0) {
    record.kind = OwedRecord::Kind::head;
    record.part = range.part;
    record.instance = range.first;
    record.members = range.members;
    copy.at = appended_;
    write_owed_head(record, scratch_);
    if (!append({}, copy)) return false;
    copy.head = copy.last;
  }
  record.kind = OwedRecord::Kind::value;
  for (; copy.written < range.values.size(); ++copy.written) {
    const OwedRange::Kept& kept = range.values[copy.written];
    record.instance = range.first + copy.written;
    record.head = kept.head;
    write_owed_head(record, scratch_);
    if (!append(range.bytes_of(kept), copy)) return false;
  }
  return true;
}

bool OwedLog::write_checkpoint() {
  OwedRecord record;
  record.kind = OwedRecord::Kind::checkpoint;
  LogPosition from = log_.last().next();
  for (const OwedRange& range : ranges_.all()) {
    if (range.copy.head.value == 0) continue;  // this range is written after the checkpoint
    record.ids.push_back(range.id);
    from = std::min(from, range.copy.head);
  }
  std::sort(record.ids.begin(), record.ids.end());
  write_owed_head(record, scratch_);
  if (!log_.checkpoint(scratch_, from)) return false;
  appended_ += scratch_.size() + kFrameBytes;
  removed_ = ranges_.removed();
  shorten_ = false;
  return true;
}

/// Call it when all ranges are written. If the log, from its oldest range on, is at least
/// bytes_max() longer than one copy of each range, the oldest range is written again at the end.
void OwedLog::begin_rewrite() {
  OwedRange* oldest = nullptr;
  std::uint64_t needed = 0;
  for (OwedRange& range : ranges_.all()) {
    if (range.again || range.durable != range.values.size()) return;
    needed += range.copy.bytes;
    if (oldest == nullptr || range.copy.head < oldest->copy.head) oldest = &range;
  }
  if (oldest == nullptr || appended_ - oldest->copy.at < needed + ranges_.bytes_max()) return;
  PEAL_PROBE("paxos.owed_written_again");
  oldest->again.emplace();
  write_all();  // if the log refuses a record, the next write() continues
}

// Positions in the log are not added, only the numbers of written and of durable values.
void OwedLog::add_to(Digest& digest) const {
  digest.add((removed_ != ranges_.removed() ? 1U : 0U) | (shorten_ ? 2U : 0U));
  for (const OwedRange& range : ranges_.all()) {
    digest.add(range.durable);
    digest.add(range.copy.written);
    digest.add(range.again ? range.again->written + 1 : 0);
  }
}

}  // namespace peal::order::paxos
