// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/bad_records.h"

#include <algorithm>

#include "base/crc32c.h"
#include "order/ramcast/vocabulary.h"

namespace peal::order::ramcast {
namespace {

std::size_t place_of(Area area) { return static_cast<std::size_t>(area) - 1; }

constexpr std::array kRegions{&region::messages, &region::cells, &region::control, &region::replies,
                              &region::log};

bool is_empty(ByteView record) {
  return std::all_of(record.begin(), record.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

BadRecords::Seen* BadRecords::find(Written& written, std::uint64_t offset, ByteView record) {
  const std::uint32_t checksum = crc32c(record, 0);
  Seen* free = nullptr;
  for (Seen& seen : written.seen) {
    if (seen.used && seen.offset == offset) {
      if (seen.checksum != checksum) seen = {offset, checksum, true, false, now_, now_};
      seen.last = now_;
      return &seen;
    }
    // What was in doubt, and is not read any more, was a write under way.
    const bool past = !seen.used || now_ - seen.last > parts_.options.suspect;
    if (past && (free == nullptr || !seen.used)) free = &seen;
  }
  if (free != nullptr) *free = {offset, checksum, true, false, now_, now_};
  return free;
}

void BadRecords::count(Written& written, Seen& seen, wire::Drop reason) {
  if (seen.counted) return;
  seen.counted = true;
  ++parts_.counts.refused;
  parts_.drop(reason);
  const std::uint32_t bit = 1U << static_cast<unsigned>(reason);
  if ((written.told & bit) != 0) return;
  written.told |= bit;
  written.to_tell |= bit;
  news_ = true;
}

void BadRecords::refuse(NodeIndex writer, Area area, std::uint64_t offset, ByteView record,
                        wire::Drop reason) {
  if (reason == wire::Drop::bad_checksum) return doubt(writer, area, offset, record, reason);
  Written& written = writers_[writer].areas[place_of(area)];
  if (Seen* seen = find(written, offset, record)) count(written, *seen, reason);
}

void BadRecords::doubt(NodeIndex writer, Area area, std::uint64_t offset, ByteView record,
                       wire::Drop reason) {
  if (is_empty(record)) return;
  Written& written = writers_[writer].areas[place_of(area)];
  Seen* seen = find(written, offset, record);
  // The last record of a writer that has stopped, or is cut off, may stay unfinished.
  const Instant heard = writers_[writer].heard;
  if (seen != nullptr && heard - seen->since > parts_.options.exclude()) {
    count(written, *seen, reason);
  }
}

void BadRecords::on_pause() {
  for (Writer& writer : writers_) {
    for (Written& written : writer.areas) {
      for (Seen& seen : written.seen) seen.used = seen.used && seen.counted;
    }
  }
}

void BadRecords::report(const ViewId& view, Effects& out) {
  if (!news_) return;
  news_ = false;
  for (Writer& writer : writers_) {
    for (std::size_t area = 0; area < kAreas; ++area) {
      Written& written = writer.areas[area];
      for (unsigned reason = 0; reason < 32; ++reason) {
        if (((written.to_tell >> reason) & 1U) == 0) continue;
        out.report({&event::bad_record, view, writer.who, reason, 0, kRegions[area]});
      }
      written.to_tell = 0;
    }
  }
}

}  // namespace peal::order::ramcast
