// SPDX-License-Identifier: Apache-2.0
#include "wal/format.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/crc32c.h"
#include "base/hooks.h"

namespace peal::wal {
namespace {

constexpr std::uint64_t kMagic = 0x0a4c41574c414550;  // "PEALWAL\n"
constexpr std::size_t kHeaderChecksumAt = 12;
constexpr std::string_view kSuffix = ".wal";
constexpr std::size_t kDigits = 16;

std::uint32_t header_checksum(ByteView bytes) {
  const std::uint32_t before = crc32c(bytes.first(kHeaderChecksumAt));
  return crc32c(bytes.subspan(kHeaderChecksumAt + 4, kHeaderBytes - kHeaderChecksumAt - 4), before);
}

std::uint32_t frame_checksum(ByteView frame, std::uint32_t seed) {
  return crc32c(frame.subspan(4), PEAL_MUTANT(wm5_stale_accepted) ? 0 : seed);
}

bool is_kind(std::uint32_t value) {
  return value == static_cast<std::uint32_t>(FrameKind::record) ||
         value == static_cast<std::uint32_t>(FrameKind::mark) ||
         value == static_cast<std::uint32_t>(FrameKind::end);
}

}  // namespace

std::uint32_t encode(const SegmentHeader& header, ByteSpan out) {
  PEAL_ASSERT(out.size() >= kHeaderBytes);
  store<std::uint64_t>(out, kMagic);
  store<std::uint32_t>(out.subspan(8), kVersion);
  store<std::uint64_t>(out.subspan(16), header.owner.cluster);
  store<std::uint32_t>(out.subspan(24), header.owner.node.value);
  store<std::uint32_t>(out.subspan(28), header.file_bytes);
  store<std::uint64_t>(out.subspan(32), header.epoch);
  store<std::uint64_t>(out.subspan(40), header.serial);
  store<std::uint64_t>(out.subspan(48), header.first.value);
  store<std::uint64_t>(out.subspan(56), header.oldest);
  store<std::uint64_t>(out.subspan(64), header.salt);
  store<std::uint64_t>(out.subspan(72), header.log);
  const std::uint32_t checksum = header_checksum(out);
  store<std::uint32_t>(out.subspan(kHeaderChecksumAt), checksum);
  return checksum;
}

std::uint32_t version_of(ByteView bytes) { return load<std::uint32_t>(bytes.subspan(8)); }

Result<DecodedHeader, HeaderFault> decode_header(ByteView bytes) {
  if (bytes.size() < kHeaderBytes) return unexpected(HeaderFault::too_short);
  if (load<std::uint64_t>(bytes) != kMagic) return unexpected(HeaderFault::no_segment);
  const auto checksum = load<std::uint32_t>(bytes.subspan(kHeaderChecksumAt));
  const bool right = checksum == header_checksum(bytes);
  // With this release's version, a wrong checksum means damage. Another version may have another
  // layout, with its checksum at another offset.
  if (!right && version_of(bytes) == kVersion) return unexpected(HeaderFault::bad_checksum);
  if (version_of(bytes) != kVersion) return unexpected(HeaderFault::unknown_version);
  DecodedHeader decoded;
  decoded.seed = checksum;
  SegmentHeader& header = decoded.header;
  header.owner.cluster = load<std::uint64_t>(bytes.subspan(16));
  header.owner.node = NodeId{load<std::uint32_t>(bytes.subspan(24))};
  header.file_bytes = load<std::uint32_t>(bytes.subspan(28));
  header.epoch = load<std::uint64_t>(bytes.subspan(32));
  header.serial = load<std::uint64_t>(bytes.subspan(40));
  header.first = LogPosition{load<std::uint64_t>(bytes.subspan(48))};
  header.oldest = load<std::uint64_t>(bytes.subspan(56));
  header.salt = load<std::uint64_t>(bytes.subspan(64));
  header.log = load<std::uint64_t>(bytes.subspan(72));
  return decoded;
}

void seal_frame(ByteSpan out, const Frame& frame, std::size_t record_bytes, std::uint32_t seed) {
  PEAL_ASSERT(out.size() == frame_bytes(record_bytes));
  store<std::uint32_t>(out.subspan(4), static_cast<std::uint32_t>(frame.kind));
  store<std::uint32_t>(out.subspan(8), static_cast<std::uint32_t>(record_bytes));
  store<std::uint32_t>(out.subspan(12), seed);
  store<std::uint64_t>(out.subspan(16), frame.position.value);
  store<std::uint64_t>(out.subspan(24), frame.durable.value);
  store<std::uint64_t>(out.subspan(32), frame.oldest);
  const ByteSpan padding = out.subspan(kFrameBytes + record_bytes);
  std::fill(padding.begin(), padding.end(), std::byte{0});
  store<std::uint32_t>(out, frame_checksum(out, seed));
}

std::uint64_t frame_bytes_by_head(ByteView head, std::uint32_t seed) {
  const auto kind = load<std::uint32_t>(head.subspan(4));
  const auto length = load<std::uint32_t>(head.subspan(8));
  const bool of_segment = load<std::uint32_t>(head.subspan(12)) == seed;
  if (!is_kind(kind) || !(of_segment || PEAL_MUTANT(wm5_stale_accepted))) return 0;
  if (kind == static_cast<std::uint32_t>(FrameKind::end) && length != 0) return 0;
  return frame_bytes(length);
}

std::optional<Frame> read_frame(ByteView segment, std::size_t at, std::uint32_t seed) {
  if (at > segment.size() || segment.size() - at < kFrameBytes) return std::nullopt;
  const ByteView head = segment.subspan(at);
  const std::uint64_t bytes = frame_bytes_by_head(head, seed);
  if (bytes == 0 || bytes > head.size()) return std::nullopt;
  const ByteView whole = head.first(static_cast<std::size_t>(bytes));
  if (load<std::uint32_t>(whole) != frame_checksum(whole, seed) && !PEAL_MUTANT(wm1_no_checksum)) {
    return std::nullopt;
  }
  Frame frame;
  frame.kind = static_cast<FrameKind>(load<std::uint32_t>(head.subspan(4)));
  frame.position = LogPosition{load<std::uint64_t>(head.subspan(16))};
  frame.durable = LogPosition{load<std::uint64_t>(head.subspan(24))};
  frame.oldest = load<std::uint64_t>(head.subspan(32));
  frame.record = whole.subspan(kFrameBytes, load<std::uint32_t>(head.subspan(8)));
  return frame;
}

std::string segment_name(std::uint64_t serial) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string name(kDigits, '0');
  for (std::size_t i = kDigits; i-- > 0; serial >>= 4) name[i] = kHex[serial & 0xf];
  return name + std::string(kSuffix);
}

std::optional<std::uint64_t> serial_of(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || name.substr(kDigits) != kSuffix) {
    return std::nullopt;
  }
  std::uint64_t serial = 0;
  for (const char c : name.substr(0, kDigits)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    serial = serial << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (serial == 0) return std::nullopt;
  return serial;
}

}  // namespace peal::wal
