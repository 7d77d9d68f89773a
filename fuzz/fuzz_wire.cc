// SPDX-License-Identifier: Apache-2.0
// Gives any bytes to the decoders of all frames. Each input is tried unchanged, and then with a
// corrected header, so that the code after the check of the checksum is reached. An accepted frame
// must obey the rules of its struct and encode to the same bytes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "examine.h"
#include "wire/packet.h"

namespace {

using peal::ByteSpan;
using peal::ByteView;
namespace wire = peal::wire;

void stop_if_wrong(const wire::test::Verdict& verdict) {
  if (verdict.wrong == nullptr) return;
  std::fprintf(stderr, "a decoder accepted what it must not: %s\n", verdict.wrong);
  std::abort();
}

/// The packet does not say which protocol wrote the options and records of a COMMIT: try each.
void examine_all(ByteView packet) {
  using wire::test::Records;
  stop_if_wrong(wire::test::examine(packet, wire::Checksum::present, Records::ring));
  if (wire::frame_kind_of(packet) != wire::FrameKind::commit) return;
  stop_if_wrong(wire::test::examine(packet, wire::Checksum::present, Records::toto));
}

/// The number of kinds of frames in frames.h.
constexpr unsigned kRingKinds = 9;

/// Returns a known kind unchanged, and maps any other number to a known kind.
std::uint8_t known_kind(std::uint8_t kind) {
  const auto frame = static_cast<wire::FrameKind>(kind);
  if ((kind >= 1 && kind <= kRingKinds) || wire::is_paxos_kind(frame) ||
      wire::is_toto_kind(frame) || wire::is_ramcast_kind(frame)) {
    return kind;
  }
  unsigned index = kind % (kRingKinds + wire::kPaxosKinds + wire::kTotoKinds + wire::kRamcastKinds);
  if (index < kRingKinds) return static_cast<std::uint8_t>(1 + index);
  index -= kRingKinds;
  if (index < wire::kPaxosKinds) return static_cast<std::uint8_t>(wire::kPaxosKindFirst + index);
  index -= wire::kPaxosKinds;
  if (index < wire::kTotoKinds) return static_cast<std::uint8_t>(wire::kTotoKindFirst + index);
  return static_cast<std::uint8_t>(wire::kRamcastKindFirst + (index - wire::kTotoKinds));
}

/// Sets magic, version, a known kind, a sender, length and checksum to valid values.
void put_right(ByteSpan packet) {
  wire::Writer start(packet.first(wire::kLengthOffset));
  const auto kind = std::to_integer<std::uint8_t>(packet[3]);
  start.u(wire::kMagic);
  start.u(wire::kVersion);
  start.u(known_kind(kind));
  wire::ByteReader sender(packet.subspan(wire::kSenderOffset, 4));
  wire::Writer node(packet.subspan(wire::kSenderOffset, 4));
  node.u(1 + (sender.u<std::uint32_t>() - 1) % wire::kNodeMax);
  wire::complete(packet);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > wire::kPacketBytesMax) return -1;
  // The block has exactly the size of the packet, so that the sanitizer detects reads past its end.
  const auto packet = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(packet.get(), data, size);
  const ByteSpan bytes(packet.get(), size);
  examine_all(bytes);
  if (size < wire::kHeaderBytes) return 0;
  put_right(bytes);
  examine_all(bytes);
  return 0;
}
