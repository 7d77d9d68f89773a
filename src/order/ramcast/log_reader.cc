// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/log_reader.h"

#include <array>

namespace peal::order::ramcast {

LogReader::LogReader(const Parts& parts, BadRecords& bad) : parts_(parts), bad_(bad) {
  if (parts.serves()) scratch_.resize(log_entry_bytes_max(parts.options));
}

void LogReader::begin(const wire::Round& round, std::uint32_t seed, std::uint64_t grant) {
  round_ = round;
  seed_ = seed;
  grant_ = grant;
  offset_ = 0;
  next_ = 1;
  written_ = 0;
}

std::size_t LogReader::read(LogTaker& taker, std::size_t entries_max) {
  std::size_t taken = 0;
  while (taken < entries_max && grant_ != 0 && read_entry(taker)) ++taken;
  return taken;
}

bool LogReader::read_entry(LogTaker& taker) {
  const std::uint64_t region = bytes_of(Area::log, parts_.options, parts_.layout);
  const port::Region log{round_.coordinator, static_cast<std::uint8_t>(Area::log)};
  const std::uint64_t at = entry_offset(offset_, region);
  std::array<std::byte, 16> begin;
  if (!parts_.memory.load(log, at % region, begin)) return false;
  if (wire::peek_number(begin) != next_) return false;
  const std::size_t bytes = wire::peek_log_entry(begin, next_);
  const bool whole = bytes >= wire::kLogFixedBytes && bytes <= region - at % region;
  if (!whole || bytes > scratch_.size()) {
    doubt(at, begin, wire::Drop::bad_length);
    return false;
  }
  const ByteSpan copy = ByteSpan(scratch_).first(bytes);
  if (!parts_.memory.load(log, at % region, copy)) return false;
  ByteView unit;
  const wire::Drop drop = wire::decode_log_entry(copy, next_, round_, seed_, entry_, unit);
  if (drop != wire::Drop::none) {
    if (drop == wire::Drop::bad_checksum) {
      doubt(at, copy, drop);
    } else {
      refuse(at, copy, drop);
    }
    return false;
  }
  if (entry_.kind == wire::LogKind::pad) {
    offset_ = at + bytes;
    return true;
  }
  const std::uint64_t expected = next_;
  const LogTaker::Taken taken = taker.take(entry_, unit);
  if (taken == LogTaker::Taken::refused) {
    refuse(at, copy, wire::Drop::bad_value);
  }
  if (taken != LogTaker::Taken::yes) return false;
  if (next_ == expected) ++next_;
  offset_ = at + bytes;
  return true;
}

/// A new incarnation of the leader's node is not to blame for what the former one has written.
void LogReader::refuse(std::uint64_t at, ByteView entry, wire::Drop reason) {
  if (bad_.writer(writer()) == round_.coordinator) {
    bad_.refuse(writer(), Area::log, at, entry, reason);
  }
}

/// Bytes of earlier entries may look like the begin of the next one, as long as it is not written.
void LogReader::doubt(std::uint64_t at, ByteView entry, wire::Drop reason) {
  const bool known = written_ >= next_ && bad_.writer(writer()) == round_.coordinator;
  if (known) bad_.doubt(writer(), Area::log, at, entry, reason);
}

}  // namespace peal::order::ramcast
