// SPDX-License-Identifier: Apache-2.0
// Tries every golden packet with every kind of damage below. Most packets get a new checksum, so
// that they reach the decoders. Each packet must be dropped with a reason, or be accepted. An
// accepted packet must obey the rules of its struct, and encode to the same bytes again.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "golden.h"
#include "golden_examine.h"
#include "wire/packet.h"
#include "wire/paxos.h"
#include "wire/ramcast.h"
#include "wire/toto.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

/// Counts the results of one run.
class Tally {
 public:
  void add_sealed(const Verdict& verdict, const Golden& golden, const char* way) {
    ++sealed_;
    ++reasons_[static_cast<std::size_t>(verdict.header != Drop::none ? verdict.header
                                                                     : verdict.body)];
    if (verdict.wrong != nullptr) fail(golden, way, verdict.wrong);
  }
  /// `differs` is true if the packet differs from the golden packet.
  void add_raw(const Verdict& verdict, bool differs, const Golden& golden, const char* way) {
    ++raw_;
    if (differs && verdict.header == Drop::none) fail(golden, way, "damage not noticed");
    if (!differs && !verdict.accepted()) fail(golden, way, "undamaged packet dropped");
  }
  std::uint64_t sealed() const { return sealed_; }
  std::uint64_t raw() const { return raw_; }
  std::uint64_t of(Drop reason) const { return reasons_[static_cast<std::size_t>(reason)]; }
  void print(const char* what) const {
    std::printf("%s: %llu cases resealed, %llu as damaged;", what,
                static_cast<unsigned long long>(sealed_), static_cast<unsigned long long>(raw_));
    for (std::size_t i = 0; i < reasons_.size(); ++i) {
      if (reasons_[i] == 0) continue;
      const std::string name(i == 0 ? "accepted" : drop_name(static_cast<Drop>(i)));
      std::printf(" %s %llu", name.c_str(), static_cast<unsigned long long>(reasons_[i]));
    }
    std::printf("\n");
  }

 private:
  void fail(const Golden& golden, const char* way, const char* wrong) {
    if (++failures_ > 20) return;  // do not print more failures
    ADD_FAILURE() << golden.name << ", " << way << ": " << wrong;
  }

  std::uint64_t sealed_ = 0;
  std::uint64_t raw_ = 0;
  std::uint64_t failures_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(Drop::count_)> reasons_{};
};

/// Completes `packet` with its length and checksum, if it has a whole header, and examines it.
void try_sealed(Tally& tally, const Golden& golden, const char* way, Bytes& packet) {
  if (packet.size() >= kHeaderBytes && packet.size() <= kPacketBytesMax) complete(packet);
  tally.add_sealed(examine_golden(golden, packet), golden, way);
}

void try_raw(Tally& tally, const Golden& golden, const char* way, const Bytes& packet) {
  tally.add_raw(examine_golden(golden, packet), packet != golden.bytes, golden, way);
}

/// Tries a damaged packet as it is, and with a new checksum.
void try_both(Tally& tally, const Golden& golden, const char* way, Bytes packet) {
  try_raw(tally, golden, way, packet);
  try_sealed(tally, golden, way, packet);
}

std::uint64_t get(const Bytes& bytes, const Field& field) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + field.offset, field.size);
  return value;
}

void set(Bytes& bytes, const Field& field, std::uint64_t value) {
  std::memcpy(bytes.data() + field.offset, &value, field.size);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// True if a 16-bit field with this name is not the count of a list.
bool counts_no_list(const std::string& name) {
  if (ends_with(name, "_index")) return true;
  if (ends_with(name, " taken") || ends_with(name, " asked")) return true;  // of one member's nodes
  // The count of a REPEAT, `instances`, has no list.
  return name == "magic" || name == "recovery_run" || name == "recovery_block" || name == "run" ||
         name == "instances";
}

/// The fields that are 16-bit counts of lists.
std::vector<Field> counts_of(const Golden& golden) {
  std::vector<Field> counts;
  for (const Field& field : golden.fields) {
    if (field.size == 2 && !counts_no_list(field.name)) counts.push_back(field);
  }
  return counts;
}

/// Values at which the result may change, for a field of `size` bytes that holds `now`.
std::vector<std::uint64_t> telling_values(std::size_t size, std::uint64_t now) {
  const std::uint64_t top = size == 8 ? ~0ULL : (1ULL << (8 * size)) - 1;
  std::vector<std::uint64_t> values{now - 1, now + 1, now - 64, now + 64, now ^ (top / 2 + 1)};
  for (const std::uint64_t limit :
       {0ULL, 2ULL, 11ULL, 16ULL, 32ULL, 64ULL, 82ULL, 118ULL, 128ULL, 256ULL, 512ULL, 16'384ULL,
        65'507ULL, 65'535ULL, 1ULL << 31, 1ULL << 32, 1ULL << 62, 1ULL << 63}) {
    for (std::uint64_t step = 0; step < 5; ++step) values.push_back(limit + step - 2);
  }
  for (std::uint64_t& value : values) value &= top;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void truncate_everywhere(Tally& tally, const Golden& golden) {
  for (std::size_t size = 0; size < golden.bytes.size(); ++size) {
    const auto end = golden.bytes.begin() + static_cast<std::ptrdiff_t>(size);
    try_both(tally, golden, "truncated", Bytes(golden.bytes.begin(), end));
  }
}

void append(Tally& tally, const Golden& golden) {
  for (const unsigned fill : {0U, 1U, 0x7fU, 0x80U, 0xffU}) {
    for (std::size_t extra = 1; extra <= 128; ++extra) {
      Bytes packet = golden.bytes;
      packet.resize(packet.size() + extra, static_cast<std::byte>(fill));
      try_both(tally, golden, "appended", packet);
    }
  }
  Bytes packet = golden.bytes;
  packet.resize(kPacketBytesMax);
  try_both(tally, golden, "largest packet", packet);
  packet.resize(kPacketBytesMax + 1);
  try_both(tally, golden, "too large a packet", packet);
}

/// Removes, or repeats, each run of 1 to 40 bytes.
void cut_and_repeat(Tally& tally, const Golden& golden) {
  for (std::size_t at = 0; at < golden.bytes.size(); ++at) {
    for (std::size_t run = 1; run <= 40 && at + run <= golden.bytes.size(); ++run) {
      const auto first = static_cast<std::ptrdiff_t>(at);
      const auto last = static_cast<std::ptrdiff_t>(at + run);
      Bytes cut = golden.bytes;
      cut.erase(cut.begin() + first, cut.begin() + last);
      try_sealed(tally, golden, "cut", cut);
      Bytes longer = golden.bytes;
      longer.insert(longer.begin() + last, golden.bytes.begin() + first,
                    golden.bytes.begin() + last);
      try_sealed(tally, golden, "repeated", longer);
    }
  }
}

void flip(Bytes& packet, std::size_t bit) {
  packet[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

/// Flips each bit, and each pair of bits that are less than 32 bits apart.
void flip_bits(Tally& tally, const Golden& golden) {
  const std::size_t bits = golden.bytes.size() * 8;
  Bytes packet = golden.bytes;
  Bytes sealed;
  for (std::size_t first = 0; first < bits; ++first) {
    for (std::size_t second = first; second < std::min(bits, first + 32); ++second) {
      flip(packet, first);
      if (second != first) flip(packet, second);
      try_raw(tally, golden, "bits flipped", packet);
      sealed = packet;
      try_sealed(tally, golden, "bits flipped", sealed);
      if (second != first) flip(packet, second);
      flip(packet, first);
    }
  }
}

void set_bytes(Tally& tally, const Golden& golden) {
  Bytes packet = golden.bytes;
  for (std::size_t at = 0; at < packet.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      packet = golden.bytes;
      packet[at] = static_cast<std::byte>(value);
      try_raw(tally, golden, "byte set", packet);
      try_sealed(tally, golden, "byte set", packet);
    }
  }
}

/// Sets each field to the values of telling_values(), and each count to many more values.
void set_fields(Tally& tally, const Golden& golden) {
  Bytes packet;
  for (const Field& field : golden.fields) {
    if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8) continue;
    for (const std::uint64_t value : telling_values(field.size, get(golden.bytes, field))) {
      packet = golden.bytes;
      set(packet, field, value);
      try_sealed(tally, golden, "field set", packet);
    }
  }
  for (const Field& field : counts_of(golden)) {
    for (std::uint64_t value = 0; value < 65'536; value += value < 1'024 ? 1 : 61) {
      packet = golden.bytes;
      set(packet, field, value);
      try_sealed(tally, golden, "count set", packet);
    }
  }
}

/// Sets each pair of counts to values whose sum wraps in 16 bits. The wrapped sum is 0, or fits the
/// length of the packet, or wraps again when it is multiplied by the size of an element.
void wrap_pairs_of_counts(Tally& tally, const Golden& golden) {
  const std::vector<Field> counts = counts_of(golden);
  Bytes packet;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t j = i + 1; j < counts.size(); ++j) {
      const std::uint64_t fits = get(golden.bytes, counts[i]) + get(golden.bytes, counts[j]);
      const std::array<std::uint64_t, 5> sums{0, fits, 1 << 14, 1 << 15, 21'846};
      for (const std::uint64_t sum : sums) {
        for (std::uint64_t value = 0; value < 65'536; value += value < 300 ? 1 : 97) {
          packet = golden.bytes;
          set(packet, counts[i], value);
          set(packet, counts[j], sum - value);
          try_sealed(tally, golden, "counts wrapped", packet);
        }
      }
    }
  }
}

/// Sets neighbouring 64-bit fields to pairs of values of telling_values(), so that their
/// differences and sums wrap.
void wrap_pairs_of_positions(Tally& tally, const Golden& golden) {
  std::vector<Field> wide;
  for (const Field& field : golden.fields) {
    if (field.size == 8 && field.offset >= kHeaderBytes) wide.push_back(field);
  }
  Bytes packet;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    for (std::size_t j = i + 1; j < std::min(wide.size(), i + 3); ++j) {
      for (const std::uint64_t a : telling_values(8, get(golden.bytes, wide[i]))) {
        for (const std::uint64_t b : telling_values(8, get(golden.bytes, wide[j]))) {
          packet = golden.bytes;
          set(packet, wide[i], a);
          set(packet, wide[j], b);
          try_sealed(tally, golden, "positions wrapped", packet);
        }
      }
    }
  }
}

/// Exchanges each pair of elements of the body (nodes, members, ranges, views), and replaces the
/// second by the first.
void reorder_elements(Tally& tally, const Golden& golden) {
  for (const std::size_t size : {4UL, 12UL, 16UL, 20UL}) {
    for (std::size_t i = kHeaderBytes; i + size <= golden.bytes.size(); ++i) {
      for (std::size_t j = i + size; j + size <= golden.bytes.size(); ++j) {
        const auto a = static_cast<std::ptrdiff_t>(i);
        const auto b = static_cast<std::ptrdiff_t>(j);
        const auto length = static_cast<std::ptrdiff_t>(size);
        Bytes packet = golden.bytes;
        std::swap_ranges(packet.begin() + a, packet.begin() + a + length, packet.begin() + b);
        try_sealed(tally, golden, "elements exchanged", packet);
        packet = golden.bytes;
        std::copy_n(golden.bytes.begin() + a, length, packet.begin() + b);
        try_sealed(tally, golden, "element repeated", packet);
      }
    }
  }
}

using Way = void (*)(Tally&, const Golden&);
constexpr std::array<Way, 9> kWays{
    truncate_everywhere, append,     cut_and_repeat,       flip_bits,
    set_bytes,           set_fields, wrap_pairs_of_counts, wrap_pairs_of_positions,
    reorder_elements,
};

TEST(WireBadInput, MoreThanAMillionDamagedPacketsAreDroppedOrCanonical) {
  static_assert(std::endian::native == std::endian::little, "get() and set() copy bytes");
  Tally all;
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    for (const Way way : kWays) way(all, golden);
  }
  all.print("bad input");
  EXPECT_GT(all.sealed(), 1'000'000U);
  EXPECT_GT(all.raw(), 500'000U);
  // The cases reach every reason to drop a packet, and some packets are accepted.
  EXPECT_GT(all.of(Drop::none), 10'000U);
  for (const Drop reason :
       {Drop::truncated, Drop::trailing_bytes, Drop::bad_magic, Drop::bad_version, Drop::bad_length,
        Drop::unknown_kind, Drop::count_too_large, Drop::not_sorted, Drop::bad_value}) {
    EXPECT_GT(all.of(reason), 0U) << drop_name(reason);
  }
  EXPECT_EQ(all.of(Drop::bad_checksum), 0U);
}

/// Examines a packet without a checksum. If it is accepted, it must encode to the same bytes.
void try_absent(const Golden& golden, const char* way, const Bytes& packet,
                std::uint64_t& accepted) {
  const Verdict verdict = examine_golden(golden, packet, Checksum::absent);
  EXPECT_STREQ(verdict.wrong, nullptr) << golden.name << ", " << way;
  if (verdict.accepted()) ++accepted;
}

TEST(WireBadInput, WithoutChecksumsEveryBitAndByteOfEveryKindIsDroppedOrCanonical) {
  std::uint64_t accepted = 0;
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    Bytes good = golden.bytes;
    complete(good, Checksum::absent);
    ASSERT_TRUE(examine_golden(golden, good, Checksum::absent).accepted()) << name;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Bytes packet = good;
      flip(packet, bit);
      try_absent(golden, "bit flipped", packet, accepted);
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
      Bytes packet = good;
      for (unsigned value = 0; value < 256; ++value) {
        packet[at] = static_cast<std::byte>(value);
        try_absent(golden, "byte set", packet, accepted);
      }
    }
    for (std::size_t size = 0; size < good.size(); ++size) {
      const Bytes packet(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(examine_golden(golden, packet, Checksum::absent).header, Drop::none)
          << name << " " << size;
    }
  }
  EXPECT_GT(accepted, 10'000U);
}

constexpr std::size_t kNowhere = ~std::size_t{0};

/// The offset of the unit of a NODE; kNowhere if the node has no unit.
std::size_t start_of_node_unit(const Bytes& packet) {
  Node node;
  EXPECT_EQ(drop_name(decode_node(packet, node)), "none");
  return node.kind == NodeKind::control ? kNowhere : node_header_bytes(node.advances.size());
}

/// The offset of a packet's unit, which may have any bytes; kNowhere if the packet has no unit.
std::size_t start_of_unit(const Bytes& packet) {
  if (static_cast<FrameKind>(packet[3]) == frame_kind(TotoKind::node)) {
    return start_of_node_unit(packet);
  }
  if (static_cast<FrameKind>(packet[3]) == frame_kind(RamcastKind::relay)) {
    MessageRelay relay;
    EXPECT_EQ(drop_name(decode_message_relay(packet, relay)), "none");
    return relay_header_bytes(relay.head.indexes.size());
  }
  if (static_cast<FrameKind>(packet[3]) == frame_kind(RamcastKind::backlog)) {
    Backlog backlog;
    EXPECT_EQ(drop_name(decode_backlog(packet, backlog)), "none");
    return backlog_header_bytes(backlog.message.head.indexes.size());
  }
  if (static_cast<FrameKind>(packet[3]) == FrameKind::data) {
    return is_trial_of_data(packet) ? kNowhere : kDataHeaderBytes;
  }
  std::size_t start = kNowhere;
  switch (static_cast<PaxosKind>(packet[3])) {
    case PaxosKind::submit:
    case PaxosKind::propose:
    case PaxosKind::decided: start = kDataHeaderBytes; break;
    case PaxosKind::fetched: start = kFetchedHeaderBytes; break;
    case PaxosKind::word:
      if (packet[kNoVoteBytes - 1] == std::byte{0}) return kNowhere;
      start = kWordHeaderBytes;
      break;
    case PaxosKind::relay:
    case PaxosKind::distribute: start = kRelayHeaderBytes; break;
    case PaxosKind::link_check: return kLinkCheckHeaderBytes;  // any number of zeros may follow
    default: return kNowhere;
  }
  constexpr std::size_t kHeadBytes = 30;
  const auto kind = static_cast<PaxosKind>(packet[3]);
  const bool relay = kind == PaxosKind::relay || kind == PaxosKind::distribute;
  // A relay whose flag `own` is set omits the bytes of the unit.
  if (relay && packet[start - kHeadBytes - 1] != std::byte{0}) return kNowhere;
  return static_cast<ValueKind>(packet[start - kHeadBytes]) == ValueKind::unit ? start : kNowhere;
}

/// The smallest size to which a packet can be cut within its unit. Only the units of a NODE and of
/// RamCast's RELAY must have at least one byte.
std::size_t least_size_with_unit(const Bytes& packet) {
  const std::size_t start = start_of_unit(packet);
  const auto kind = static_cast<FrameKind>(packet[3]);
  const bool full = kind == frame_kind(TotoKind::node) || kind == frame_kind(RamcastKind::relay);
  return full && start != kNowhere ? start + 1 : start;
}

TEST(WireBadInput, EveryTruncationOfEveryKindIsDroppedUnlessTheTailIsAUnit) {
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    for (std::size_t size = 0; size < golden.bytes.size(); ++size) {
      Bytes packet = golden.bytes;
      packet.resize(size);
      packet.shrink_to_fit();
      if (size >= kHeaderBytes) complete(packet);
      const Verdict verdict = examine_golden(golden, packet);
      const Drop reason = size < kHeaderBytes ? verdict.header : verdict.body;
      const bool cut_in_unit = size >= least_size_with_unit(golden.bytes);
      EXPECT_EQ(drop_name(reason), drop_name(cut_in_unit ? Drop::none : Drop::truncated))
          << name << " cut to " << size;
    }
  }
}

TEST(WireBadInput, AByteBehindTheContentIsDroppedUnlessItIsOfAUnit) {
  for (const std::string& name : golden_names()) {
    const Golden golden = load_golden(name);
    Bytes packet = golden.bytes;
    packet.push_back(std::byte{0});
    complete(packet);
    const bool has_unit = start_of_unit(golden.bytes) != kNowhere;
    EXPECT_EQ(drop_name(examine_golden(golden, packet).body),
              drop_name(has_unit ? Drop::none : Drop::trailing_bytes))
        << name;
  }
}

}  // namespace
}  // namespace peal::wire::test
