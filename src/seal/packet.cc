// SPDX-License-Identifier: Apache-2.0
#include "seal/packet.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::seal {
namespace {

constexpr std::array<std::string_view, kRefusals> kNames{
    "none",
    "too_short",
    "unknown_version",
    "unknown_sender",
    "other_receiver",
    "unknown_key",
    "unknown_incarnation",
    "bad_badge",
    "own",
    "old_incarnation",
    "replayed",
    "too_old",
    "bad_tag",
};
static_assert(!kNames.back().empty(), "every reason has a name");

// Offsets; integers are little-endian.
constexpr std::size_t kVersionAt = 2;
constexpr std::size_t kLaneAt = 3;
constexpr std::size_t kFromAt = 4;
constexpr std::size_t kToAt = 6;
constexpr std::size_t kKeyAt = 8;
constexpr std::size_t kCounterAt = 12;
constexpr std::size_t kCounterBytes = 6;
constexpr std::size_t kBadgeAt = kCounterAt + kCounterBytes;
constexpr std::size_t kEpochAt = kBadgeAt + sizeof(std::uint64_t);
constexpr std::size_t kSaltAt = kEpochAt + sizeof(std::uint64_t);
static_assert(kEpochAt == kShortHeaderBytes && kSaltAt + kSaltBytes == kLongHeaderBytes);

void store_counter(std::uint64_t counter, ByteSpan out) {
  PEAL_ASSERT(counter <= kCounterMax);
  store(out, static_cast<std::uint32_t>(counter));
  store(out.subspan(4), static_cast<std::uint16_t>(counter >> 32));
}

/// What the badge and the subkey of an incarnation are computed from: node, six zeros, epoch.
constexpr std::size_t kMemberBytes = 16;
void store_member(const MemberId& member, ByteSpan out) {
  PEAL_ASSERT(member.node.value >= 1 && member.node.value <= 0xffff);
  store(out, std::uint64_t{member.node.value});
  store(out.subspan(8), member.epoch);
}

Secret derive(const Secret& secret, ByteView salt, std::string_view purpose, std::uint64_t cluster,
              ByteView member) {
  std::array<std::byte, 64> info{};
  PEAL_ASSERT(purpose.size() + sizeof cluster + member.size() <= info.size());
  auto end = std::copy_n(as_bytes_view(purpose).begin(), purpose.size(), info.begin());
  store(ByteSpan(&*end, sizeof cluster), cluster);
  end = std::copy(member.begin(), member.end(), end + sizeof cluster);
  Secret out;
  hkdf_sha256(secret.bytes, salt,
              ByteView(info).first(static_cast<std::size_t>(end - info.begin())), out.bytes);
  return out;
}

}  // namespace

std::string_view refusal_name(Refusal reason) {
  const auto index = static_cast<std::size_t>(reason);
  PEAL_ASSERT(index < kNames.size());
  return kNames[index];
}

void write_header(const Header& header, ByteSpan out) {
  PEAL_ASSERT(out.size() == headroom(header.lane));
  PEAL_ASSERT(header.from.value <= 0xffff && header.to.value <= 0xffff);
  store(out, kMagic);
  store(out.subspan(kVersionAt), kVersion);
  store(out.subspan(kLaneAt), static_cast<std::uint8_t>(header.lane));
  store(out.subspan(kFromAt), static_cast<std::uint16_t>(header.from.value));
  store(out.subspan(kToAt), static_cast<std::uint16_t>(header.to.value));
  store(out.subspan(kKeyAt), header.key.value);
  store_counter(header.counter, out.subspan(kCounterAt));
  store(out.subspan(kBadgeAt), header.badge);
  if (!introduces(header.lane)) return;
  store(out.subspan(kEpochAt), header.epoch);
  std::copy(header.salt.begin(), header.salt.end(), out.subspan(kSaltAt).begin());
}

Refusal read_header(ByteView packet, Header& out) {
  if (packet.size() < kShortHeaderBytes + kTagBytes) return Refusal::too_short;
  const auto lane = load<std::uint8_t>(packet.subspan(kLaneAt));
  if (load<std::uint16_t>(packet) != kMagic ||
      load<std::uint8_t>(packet.subspan(kVersionAt)) != kVersion || lane >= kLanes) {
    return Refusal::unknown_version;
  }
  out.lane = static_cast<Lane>(lane);
  if (packet.size() < overhead(out.lane)) return Refusal::too_short;
  out.from = {load<std::uint16_t>(packet.subspan(kFromAt))};
  out.to = {load<std::uint16_t>(packet.subspan(kToAt))};
  out.key = {load<std::uint32_t>(packet.subspan(kKeyAt))};
  out.counter = load<std::uint32_t>(packet.subspan(kCounterAt)) |
                std::uint64_t{load<std::uint16_t>(packet.subspan(kCounterAt + 4))} << 32;
  out.badge = load<std::uint64_t>(packet.subspan(kBadgeAt));
  if (!introduces(out.lane)) return Refusal::none;
  out.epoch = load<std::uint64_t>(packet.subspan(kEpochAt));
  const ByteView salt = packet.subspan(kSaltAt, kSaltBytes);
  std::copy(salt.begin(), salt.end(), out.salt.begin());
  return Refusal::none;
}

Nonce nonce_of(Lane lane, std::uint64_t counter) {
  Nonce nonce{};
  nonce[0] = static_cast<std::byte>(lane);
  store_counter(counter, ByteSpan(nonce).last(kCounterBytes));
  return nonce;
}

KeySchedule::KeySchedule(const Key& key, std::uint64_t cluster)
    : id_(key.id),
      cluster_(cluster),
      secret_(key.secret),
      badges_(derive(key.secret, {}, "peal seal 1 badges", cluster, {})) {}

std::uint64_t KeySchedule::badge_of(const Incarnation& incarnation) {
  std::array<std::byte, ShortMac::kInputBytes> input{};
  store_member(incarnation.member, input);
  std::copy(incarnation.salt.begin(), incarnation.salt.end(), input.begin() + kMemberBytes);
  return badges_.of(input);
}

Secret KeySchedule::subkey_of(const Incarnation& incarnation) const {
  std::array<std::byte, kMemberBytes> member{};
  store_member(incarnation.member, member);
  return derive(secret_, incarnation.salt, "peal seal 1 packets", cluster_, member);
}

}  // namespace peal::seal
