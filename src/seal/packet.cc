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

// Offsets in the headers. Integers are little-endian.
constexpr std::size_t kCounterBytes = 6;
namespace in_short {
constexpr std::size_t kFrom = 1;
constexpr std::size_t kBadge = 3;
constexpr std::size_t kCounter = 7;
constexpr std::size_t kMark = kCounter + kCounterBytes;
static_assert(kMark + sizeof(std::uint32_t) == kShortHeaderBytes);
}  // namespace in_short
namespace in_long {
constexpr std::size_t kVersion = 2;
constexpr std::size_t kLane = 3;
constexpr std::size_t kFrom = 4;
constexpr std::size_t kTo = 6;
constexpr std::size_t kKey = 8;
constexpr std::size_t kCounter = 12;
constexpr std::size_t kBadge = kCounter + kCounterBytes;
constexpr std::size_t kEpoch = kBadge + sizeof(std::uint64_t);
constexpr std::size_t kSalt = kEpoch + sizeof(std::uint64_t);
static_assert(kSalt + kSaltBytes == kLongHeaderBytes);
static_assert(kDataForm != (kMagic & 0xff), "the first byte tells the two apart");
}  // namespace in_long

void store_counter(std::uint64_t counter, ByteSpan out) {
  PEAL_ASSERT(counter <= kCounterMax);
  store(out, static_cast<std::uint32_t>(counter));
  store(out.subspan(4), static_cast<std::uint16_t>(counter >> 32));
}
std::uint64_t load_counter(ByteView from) {
  return load<std::uint32_t>(from) | std::uint64_t{load<std::uint16_t>(from.subspan(4))} << 32;
}

/// `packet` has at least overhead(Lane::data) bytes.
Refusal read_short(ByteView packet, Header& out) {
  out.lane = Lane::data;
  out.from = {load<std::uint16_t>(packet.subspan(in_short::kFrom))};
  out.counter = load_counter(packet.subspan(in_short::kCounter));
  out.badge = load<std::uint32_t>(packet.subspan(in_short::kBadge));
  out.mark = load<std::uint32_t>(packet.subspan(in_short::kMark));
  return Refusal::none;
}

/// Size of a member as input for its tag and subkey: node (2 bytes), six zeros, epoch (8 bytes).
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
  const auto from = static_cast<std::uint16_t>(header.from.value);
  if (!introduces(header.lane)) {
    PEAL_ASSERT(header.to.value == 0);
    store(out, kDataForm);
    store(out.subspan(in_short::kFrom), from);
    store(out.subspan(in_short::kBadge), static_cast<std::uint32_t>(short_badge(header.badge)));
    store_counter(header.counter, out.subspan(in_short::kCounter));
    store(out.subspan(in_short::kMark), header.mark);
    return;
  }
  store(out, kMagic);
  store(out.subspan(in_long::kVersion), kVersion);
  store(out.subspan(in_long::kLane), static_cast<std::uint8_t>(header.lane));
  store(out.subspan(in_long::kFrom), from);
  store(out.subspan(in_long::kTo), static_cast<std::uint16_t>(header.to.value));
  store(out.subspan(in_long::kKey), header.key.value);
  store_counter(header.counter, out.subspan(in_long::kCounter));
  store(out.subspan(in_long::kBadge), header.badge);
  store(out.subspan(in_long::kEpoch), header.epoch);
  std::copy(header.salt.begin(), header.salt.end(), out.subspan(in_long::kSalt).begin());
}

Refusal read_header(ByteView packet, Header& out) {
  if (packet.size() < overhead(Lane::data)) return Refusal::too_short;
  if (load<std::uint8_t>(packet) == kDataForm) return read_short(packet, out);
  const auto lane = load<std::uint8_t>(packet.subspan(in_long::kLane));
  if (load<std::uint16_t>(packet) != kMagic ||
      load<std::uint8_t>(packet.subspan(in_long::kVersion)) != kVersion || lane >= kLanes ||
      !introduces(static_cast<Lane>(lane))) {
    return Refusal::unknown_version;
  }
  out.lane = static_cast<Lane>(lane);
  if (packet.size() < overhead(out.lane)) return Refusal::too_short;
  out.from = {load<std::uint16_t>(packet.subspan(in_long::kFrom))};
  out.to = {load<std::uint16_t>(packet.subspan(in_long::kTo))};
  out.key = {load<std::uint32_t>(packet.subspan(in_long::kKey))};
  out.counter = load_counter(packet.subspan(in_long::kCounter));
  out.badge = load<std::uint64_t>(packet.subspan(in_long::kBadge));
  out.epoch = load<std::uint64_t>(packet.subspan(in_long::kEpoch));
  const ByteView salt = packet.subspan(in_long::kSalt, kSaltBytes);
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
      badges_(derive(key.secret, {}, "peal seal 2 badges", cluster, {})) {}

std::uint64_t KeySchedule::badge_of(const Incarnation& incarnation) {
  std::array<std::byte, ShortMac::kInputBytes> input{};
  store_member(incarnation.member, input);
  std::copy(incarnation.salt.begin(), incarnation.salt.end(), input.begin() + kMemberBytes);
  return badges_.of(input);
}

Secret KeySchedule::subkey_of(const Incarnation& incarnation) const {
  std::array<std::byte, kMemberBytes> member{};
  store_member(incarnation.member, member);
  return derive(secret_, incarnation.salt, "peal seal 2 packets", cluster_, member);
}

}  // namespace peal::seal
