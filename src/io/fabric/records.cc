// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/records.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::io::fabric {
namespace {

constexpr std::size_t kNumber = 1;
constexpr std::size_t kDetail = 2;
constexpr std::size_t kZero = 3;
constexpr std::size_t kCount = 4;
constexpr std::size_t kEpoch = 8;
constexpr std::size_t kValue = 16;
static_assert(kValue + sizeof(std::uint64_t) == kRecordBytes);

std::uint8_t byte_of(ByteView head, std::size_t at) { return load<std::uint8_t>(head.subspan(at)); }

bool has_number(Record::Kind kind) {
  return kind != Record::Kind::ready && kind != Record::Kind::answer && kind != Record::Kind::wake;
}
bool has_bytes(Record::Kind kind) {
  return kind == Record::Kind::write || kind == Record::Kind::offer || kind == Record::Kind::join;
}
bool has_count(Record::Kind kind) {
  return has_bytes(kind) || kind == Record::Kind::answer || kind == Record::Kind::ask ||
         kind == Record::Kind::unknown;
}
bool has_value(Record::Kind kind) {
  return kind == Record::Kind::write || kind == Record::Kind::expose || kind == Record::Kind::offer;
}
/// The largest value of the byte at kDetail.
std::uint8_t detail_max(Record::Kind kind) {
  return kind == Record::Kind::write || kind == Record::Kind::answer ? 1 : 0;
}

}  // namespace

std::size_t encode_record(const Record& record, ByteSpan out) {
  const Record::Kind kind = record.kind;
  std::uint8_t detail = 0;
  if (kind == Record::Kind::write) detail = record.last ? 1 : 0;
  if (kind == Record::Kind::answer) detail = record.end == port::WriteEnd::ok ? 0 : 1;
  const auto length = static_cast<std::uint32_t>(record.bytes.size());
  store(out, static_cast<std::uint8_t>(kind));
  store(out.subspan(kNumber), has_number(kind) ? record.number : std::uint8_t{0});
  store(out.subspan(kDetail), detail);
  store(out.subspan(kZero), std::uint8_t{0});
  store(out.subspan(kCount), has_bytes(kind) ? length : record.count);
  store(out.subspan(kEpoch), record.epoch);
  store(out.subspan(kValue), record.value);
  if (!has_bytes(kind)) return kRecordBytes;
  PEAL_ASSERT(length > 0);
  std::copy(record.bytes.begin(), record.bytes.end(), out.subspan(kRecordBytes).begin());
  return kRecordBytes + length;
}

std::optional<Record> RecordReader::next() {
  if (failed_ || left_.empty()) return std::nullopt;
  if (left_.size() < kRecordBytes) return fail();
  const ByteView head = left_.first(kRecordBytes);
  left_ = left_.subspan(kRecordBytes);
  const std::uint8_t kind = byte_of(head, 0);
  if (kind < static_cast<std::uint8_t>(Record::Kind::ready) ||
      kind > static_cast<std::uint8_t>(Record::Kind::joined)) {
    return fail();
  }
  Record record;
  record.kind = static_cast<Record::Kind>(kind);
  record.number = byte_of(head, kNumber);
  record.count = load<std::uint32_t>(head.subspan(kCount));
  record.epoch = load<std::uint64_t>(head.subspan(kEpoch));
  record.value = load<std::uint64_t>(head.subspan(kValue));
  const std::uint8_t detail = byte_of(head, kDetail);
  const bool well_formed = byte_of(head, kZero) == 0 && detail <= detail_max(record.kind) &&
                           (has_number(record.kind) || (record.number == 0 && record.epoch == 0)) &&
                           (has_count(record.kind) || record.count == 0) &&
                           (has_value(record.kind) || record.value == 0);
  if (!well_formed) return fail();
  if (record.kind == Record::Kind::answer) {
    if (record.count == 0) return fail();
    record.end = detail == 0 ? port::WriteEnd::ok : port::WriteEnd::denied;
  }
  const bool is_region = record.kind == Record::Kind::expose || record.kind == Record::Kind::offer;
  if (is_region && record.value == 0) return fail();
  if (has_bytes(record.kind)) {
    if (record.count == 0 || record.count > left_.size()) return fail();
    if (record.kind == Record::Kind::write) record.last = detail == 1;
    record.bytes = left_.first(record.count);
    left_ = left_.subspan(record.count);
    record.count = 0;
  }
  return record;
}

}  // namespace peal::io::fabric
