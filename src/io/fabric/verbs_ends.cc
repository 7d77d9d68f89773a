// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_ends.h"

#include "base/assert.h"

namespace peal::io::fabric {
namespace {

constexpr std::uint32_t kPairEnd = 1U << 24;
constexpr std::uint8_t kMtuMax = 5;

// Offsets of an end.
constexpr std::size_t kPacketAt = 4;
constexpr std::size_t kLidAt = 8;
constexpr std::size_t kMtuAt = 10;
constexpr std::size_t kLinkAt = 11;
// Offsets of an offer.
constexpr std::size_t kBellAddressAt = 8;
constexpr std::size_t kRegionKeyAt = 16;
constexpr std::size_t kBellKeyAt = 20;
constexpr std::size_t kEndAt = 24;

}  // namespace

void encode_end(const VerbsEnd& end, ByteSpan out) {
  PEAL_ASSERT(out.size() == kVerbsEndBytes);
  store(out, end.pair);
  store(out.subspan(kPacketAt), end.first_packet);
  store(out.subspan(kLidAt), end.lid);
  store(out.subspan(kMtuAt), end.mtu);
  store(out.subspan(kLinkAt), static_cast<std::uint8_t>(end.link));
}

std::optional<VerbsEnd> decode_end(ByteView bytes) {
  if (bytes.size() != kVerbsEndBytes) return std::nullopt;
  VerbsEnd end;
  end.pair = load<std::uint32_t>(bytes);
  end.first_packet = load<std::uint32_t>(bytes.subspan(kPacketAt));
  end.lid = load<std::uint16_t>(bytes.subspan(kLidAt));
  end.mtu = load<std::uint8_t>(bytes.subspan(kMtuAt));
  const auto link = load<std::uint8_t>(bytes.subspan(kLinkAt));
  end.link = static_cast<VerbsEnd::Link>(link);
  const bool is_infiniband = end.link == VerbsEnd::Link::infiniband;
  if (!is_infiniband && (end.link != VerbsEnd::Link::roce || end.lid != 0)) return std::nullopt;
  if (end.pair >= kPairEnd || end.first_packet >= kPairEnd) return std::nullopt;
  if (end.mtu == 0 || end.mtu > kMtuMax) return std::nullopt;
  return end;
}

void encode_offer(const VerbsOffer& offer, ByteSpan out) {
  PEAL_ASSERT(out.size() == kVerbsOfferBytes);
  store(out, offer.address);
  store(out.subspan(kBellAddressAt), offer.bell_address);
  store(out.subspan(kRegionKeyAt), offer.key);
  store(out.subspan(kBellKeyAt), offer.bell_key);
  encode_end(offer.end, out.subspan(kEndAt));
}

std::optional<VerbsOffer> decode_offer(ByteView bytes) {
  if (bytes.size() != kVerbsOfferBytes) return std::nullopt;
  const auto end = decode_end(bytes.subspan(kEndAt));
  if (!end) return std::nullopt;
  VerbsOffer offer;
  offer.address = load<std::uint64_t>(bytes);
  offer.bell_address = load<std::uint64_t>(bytes.subspan(kBellAddressAt));
  offer.key = load<std::uint32_t>(bytes.subspan(kRegionKeyAt));
  offer.bell_key = load<std::uint32_t>(bytes.subspan(kBellKeyAt));
  offer.end = *end;
  return offer;
}

}  // namespace peal::io::fabric
