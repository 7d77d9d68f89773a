// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "base/assert.h"
#include "base/crc32c.h"
#include "base/hooks.h"
#include "wire/frames.h"
#include "wire/packet.h"

namespace peal::wire {
namespace {

constexpr std::size_t kDropCount = static_cast<std::size_t>(Drop::count_);
constexpr std::array<std::string_view, kDropCount> kDropNames{
    "none",           "truncated",    "trailing_bytes",
    "bad_magic",      "bad_version",  "bad_checksum",
    "bad_length",     "unknown_kind", "other_cluster",
    "other_settings", "other_list",   "count_too_large",
    "not_sorted",     "bad_value",    "bad_sender",
    "stale",          "duplicate",    "own",
    "foreign",        "wrong_state",  "out_of_window",
};
static_assert(!kDropNames.back().empty(), "every reason has a name");

bool is_known(std::uint8_t kind) {
  return (kind >= static_cast<std::uint8_t>(FrameKind::token) &&
          kind <= static_cast<std::uint8_t>(FrameKind::settings)) ||
         is_paxos_kind(static_cast<FrameKind>(kind)) ||
         is_toto_kind(static_cast<FrameKind>(kind)) ||
         is_ramcast_kind(static_cast<FrameKind>(kind));
}

}  // namespace

std::string_view drop_name(Drop reason) {
  const auto index = static_cast<std::size_t>(reason);
  PEAL_ASSERT(index < kDropNames.size());
  return kDropNames[index];
}

std::optional<std::uint64_t> cluster_of(ByteView packet) {
  if (packet.size() < kHeaderBytes) return std::nullopt;
  ByteReader in(packet.subspan(kClusterOffset, sizeof(std::uint64_t)));
  return in.u<std::uint64_t>();
}

Drop decode_header(ByteView packet, Header& out, Checksum expected) {
  if (packet.size() < kHeaderBytes) return Drop::truncated;
  ByteReader in(packet.first(kHeaderBytes));
  if (in.u<std::uint16_t>() != kMagic) return Drop::bad_magic;
  if (in.u<std::uint8_t>() != kVersion) return Drop::bad_version;
  const auto kind = in.u<std::uint8_t>();
  const auto length = in.u<std::uint32_t>();
  if (length != packet.size() || packet.size() > kPacketBytesMax) return Drop::bad_length;
  if (!is_known(kind)) return Drop::unknown_kind;
  out.kind = static_cast<FrameKind>(kind);
  out.cluster = in.u<std::uint64_t>();
  // Check the checksum before the sender's id, so that a damaged packet counts as damaged.
  ByteReader checksum(packet.subspan(kChecksumOffset, sizeof(std::uint32_t)));
  const std::uint32_t right = expected == Checksum::present ? packet_checksum(packet) : 0;
  if (!PEAL_MUTANT(checksum_ignored) && checksum.u<std::uint32_t>() != right) {
    return Drop::bad_checksum;
  }
  out.checksum = expected;
  out.sender = read_member(in);
  in.skip(sizeof(std::uint32_t));
  return in.finish();
}

std::uint32_t packet_checksum(ByteView packet) {
  PEAL_ASSERT(packet.size() >= kHeaderBytes);
  // Copy only the header, with its checksum field zero; read the rest in place.
  std::array<std::byte, kHeaderBytes> header{};
  std::memcpy(header.data(), packet.data(), kChecksumOffset);
  return crc32c(packet.subspan(kHeaderBytes), crc32c(header));
}

void complete(ByteSpan packet, Checksum checksum) {
  PEAL_ASSERT(packet.size() >= kHeaderBytes && packet.size() <= kPacketBytesMax);
  Writer length(packet.subspan(kLengthOffset, sizeof(std::uint32_t)));
  length.u(static_cast<std::uint32_t>(packet.size()));
  Writer field(packet.subspan(kChecksumOffset, sizeof(std::uint32_t)));
  field.u(checksum == Checksum::present ? packet_checksum(packet) : 0);
}

ByteReader body_of(ByteView packet) {
  ByteReader in(packet);
  in.skip(kHeaderBytes);
  return in;
}

MemberId sender_of(ByteView packet) {
  ByteReader in(packet);
  in.skip(kSenderOffset);
  return read_member(in);
}

void write_header(Writer& out, FrameKind kind, const Header& header) {
  out.u(kMagic);
  out.u(kVersion);
  out.u(static_cast<std::uint8_t>(kind));
  out.u(std::uint32_t{0});  // length: complete() writes it
  out.u(header.cluster);
  out.member(header.sender);
  out.u(std::uint32_t{0});  // checksum: complete() writes it
}

std::size_t finish(const Writer& written, ByteSpan packet, Checksum checksum) {
  if (written.failed() || written.written() > kPacketBytesMax) return 0;
  complete(packet.first(written.written()), checksum);
  return written.written();
}

}  // namespace peal::wire
