// SPDX-License-Identifier: Apache-2.0
// Records in memory: what is torn, stale, of another message or damaged is refused, with the
// reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "ramcast_samples.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr int kRecordRounds = 2'000;
constexpr std::uint32_t kEntrySeed = 99;

/// One kind of record: writes a sample, decodes it as its reader expects it, and decodes it as the
/// reader of another place would.
struct Kind {
  std::string name;
  Bytes good;
  std::function<Drop(ByteView)> decode;
  std::function<Drop(ByteView)> decode_earlier;  ///< the reader expects an earlier number; or null
  std::function<Drop(ByteView)> decode_later;    ///< the reader expects a later number; or null
  std::function<Bytes(Random&)> other;           ///< another record of the same size, if possible
  std::uint32_t seed = 0;
};

Bytes bytes_of(const Slot& slot, unsigned domain, const Bytes& unit) {
  Bytes bytes(slot_header_bytes(slot.head.indexes.size()) + unit.size());
  EXPECT_EQ(encode_slot(slot, domain, unit, bytes), bytes.size());
  return bytes;
}

Bytes bytes_of(const LogEntry& entry, const Bytes& unit) {
  Bytes bytes(log_entry_bytes(entry.head.indexes.size(), unit.size()));
  EXPECT_EQ(encode_log_entry(entry, unit, kEntrySeed, bytes), bytes.size());
  return bytes;
}

Bytes bytes_of(const Cell& cell) {
  Bytes bytes(kCellBytes);
  encode_cell(cell, bytes);
  return bytes;
}

Bytes bytes_of(const Control& control) {
  Bytes bytes(kControlBytes);
  encode_control(control, bytes);
  return bytes;
}

Bytes bytes_of(const SenderReply& reply) {
  Bytes bytes(kReplyBytes);
  encode_reply(reply, bytes);
  return bytes;
}

Bytes bytes_of(const SenderRelease& release) {
  Bytes bytes(kReleaseBytes);
  encode_release(release, bytes);
  return bytes;
}

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.below(256));
  return bytes;
}

Drop decode_plain_slot(ByteView bytes, std::uint64_t index) {
  Slot slot;
  return decode_slot(bytes, index, 2, slot);
}

Drop decode_plain_entry(ByteView bytes, std::uint64_t number) {
  LogEntry entry;
  ByteView unit;
  return decode_log_entry(bytes, number, plain_log_entry().round, kEntrySeed, entry, unit);
}

Drop decode_plain_cell(ByteView bytes, std::uint64_t index) {
  Cell cell;
  return decode_cell(bytes, index, {{{1}, 10}, 7}, cell);
}

Drop decode_plain_reply(ByteView bytes, std::uint64_t number) {
  SenderReply reply;
  return decode_reply(bytes, number, reply);
}

Kind slot_kind() {
  Random random(1);
  const Bytes unit = random_bytes(random, 40);
  return {"slot",
          bytes_of(plain_slot(), 2, unit),
          [](ByteView b) { return decode_plain_slot(b, 6); },
          [](ByteView b) { return decode_plain_slot(b, 5); },
          [](ByteView b) { return decode_plain_slot(b, 7); },
          [](Random& r) {
            Slot other = plain_slot();
            other.head.after = r.below(1'000'000);
            return bytes_of(other, 2, random_bytes(r, 40));
          }};
}

Kind entry_kind() {
  Random random(2);
  const Bytes unit = random_bytes(random, 40);
  return {"entry",
          bytes_of(plain_log_entry(), unit),
          [](ByteView b) { return decode_plain_entry(b, 12); },
          [](ByteView b) { return decode_plain_entry(b, 11); },
          [](ByteView b) { return decode_plain_entry(b, 13); },
          [](Random& r) {
            LogEntry other = plain_log_entry();
            other.stamp = 1 + r.below(1'000'000);
            return bytes_of(other, random_bytes(r, 40));
          },
          kEntrySeed};
}

Kind cell_kind() {
  return {"cell",
          bytes_of(plain_cell()),
          [](ByteView b) { return decode_plain_cell(b, 5); },
          [](ByteView b) { return decode_plain_cell(b, 4); },
          [](ByteView b) { return decode_plain_cell(b, 6); },
          [](Random& r) {
            Cell other = plain_cell();
            other.digest = r.next();
            other.key = 1 + r.below(1'000'000);
            return bytes_of(other);
          }};
}

Kind control_kind() {
  return {"control",
          bytes_of(plain_control_cell()),
          [](ByteView b) {
            Control control;
            return decode_control(b, control);
          },
          nullptr,
          nullptr,
          [](Random& r) {
            Control other = plain_control_cell();
            other.beat = 1 + r.below(1'000'000);
            other.delivered = other.released + r.below(1'000'000);
            return bytes_of(other);
          }};
}

Kind reply_kind() {
  return {"reply",
          bytes_of(SenderReply{7, 1'650}),
          [](ByteView b) { return decode_plain_reply(b, 7); },
          [](ByteView b) { return decode_plain_reply(b, 6); },
          [](ByteView b) { return decode_plain_reply(b, 8); },
          [](Random& r) {
            return bytes_of(SenderReply{7, 1 + r.below(1'000'000)});
          }};
}

Kind release_kind() {
  return {"release",
          bytes_of(SenderRelease{4, 1'633}),
          [](ByteView b) {
            SenderRelease release;
            return decode_release(b, release);
          },
          nullptr,
          nullptr,
          [](Random& r) {
            return bytes_of(SenderRelease{r.below(1'000'000), r.below(1'000'000)});
          }};
}

std::vector<Kind> all_kinds() {
  return {slot_kind(), entry_kind(), cell_kind(), control_kind(), reply_kind(), release_kind()};
}

TEST(WireRamcastMemory, AWholeRecordIsAccepted) {
  for (const Kind& kind : all_kinds()) EXPECT_EQ(drop_name(kind.decode(kind.good)), "none");
}

TEST(WireRamcastMemory, EveryChangedBitIsRefused) {
  for (const Kind& kind : all_kinds()) {
    for (std::size_t bit = 0; bit < 8 * kind.good.size(); ++bit) {
      Bytes bytes = kind.good;
      bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      EXPECT_NE(kind.decode(bytes), Drop::none) << kind.name << " bit " << bit;
    }
  }
}

TEST(WireRamcastMemory, EveryTruncationIsRefused) {
  for (const Kind& kind : all_kinds()) {
    for (std::size_t size = 0; size < kind.good.size(); ++size) {
      EXPECT_NE(kind.decode(ByteView(kind.good).first(size)), Drop::none) << kind.name << size;
    }
    Bytes longer = kind.good;
    longer.push_back(std::byte{0});
    EXPECT_NE(kind.decode(longer), Drop::none) << kind.name;
  }
}

TEST(WireRamcastMemory, MemoryThatWasNeverWrittenIsRefused) {
  for (const Kind& kind : all_kinds()) {
    for (const unsigned fill : {0U, 0xffU}) {
      const Bytes bytes(kind.good.size(), static_cast<std::byte>(fill));
      EXPECT_NE(kind.decode(bytes), Drop::none) << kind.name << fill;
    }
  }
}

TEST(WireRamcastMemory, RecordsOfOtherNumbersAreRefusedAndSayWhichIsLater) {
  for (const Kind& kind : all_kinds()) {
    if (kind.decode_later == nullptr) continue;
    EXPECT_EQ(drop_name(kind.decode_later(kind.good)), "stale") << kind.name;
    EXPECT_EQ(drop_name(kind.decode_earlier(kind.good)), "out_of_window") << kind.name;
  }
}

/// Pieces of 8 or 64 bytes of two records, in any mixture.
TEST(WireRamcastMemory, MixturesOfTwoRecordsAreRefused) {
  Random random(20'261);
  for (const Kind& kind : all_kinds()) {
    int mixed = 0;
    for (int round = 0; round < kRecordRounds; ++round) {
      const Bytes other = kind.other(random);
      ASSERT_EQ(other.size(), kind.good.size());
      ASSERT_EQ(drop_name(kind.decode(other)), "none") << kind.name;
      Bytes torn = kind.good;
      const std::size_t piece = random.chance(0.5) ? 8 : 64;
      for (std::size_t at = 0; at < torn.size(); at += piece) {
        if (random.chance(0.5)) continue;
        const auto first = static_cast<std::ptrdiff_t>(at);
        const auto length = static_cast<std::ptrdiff_t>(std::min(piece, torn.size() - at));
        std::copy_n(other.begin() + first, length, torn.begin() + first);
      }
      if (torn == kind.good || torn == other) continue;
      ++mixed;
      EXPECT_NE(kind.decode(torn), Drop::none) << kind.name << " round " << round;
    }
    EXPECT_GT(mixed, 100) << kind.name;
  }
}

/// With a right checksum any bytes are either refused, or stand for the record that they encode.
TEST(WireRamcastMemory, RecordsWithARightChecksumHaveOneEncoding) {
  Random random(20'262);
  int accepted = 0;
  for (const Kind& kind : all_kinds()) {
    for (int round = 0; round < 20 * kRecordRounds; ++round) {
      Bytes bytes = kind.good;
      for (std::uint64_t i = 1 + random.below(3); i > 0; --i) {
        bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
      }
      store(ByteSpan(bytes), crc32c(ByteView(bytes).subspan(4), kind.seed));
      if (kind.decode(bytes) != Drop::none) continue;
      ++accepted;
      Bytes again = bytes;
      if (kind.name == "cell") {
        Cell cell;
        ASSERT_EQ(decode_cell(bytes, 5, {{{1}, 10}, 7}, cell), Drop::none);
        again = bytes_of(cell);
      } else if (kind.name == "control") {
        Control control;
        ASSERT_EQ(decode_control(bytes, control), Drop::none);
        again = bytes_of(control);
      } else if (kind.name == "slot") {
        Slot slot;
        ASSERT_EQ(decode_slot(bytes, 6, 2, slot), Drop::none);
        const std::size_t front = slot_header_bytes(slot.head.indexes.size());
        again = bytes_of(slot, 2,
                         Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(front), bytes.end()));
      } else if (kind.name == "entry") {
        LogEntry entry;
        ByteView unit;
        ASSERT_EQ(decode_log_entry(bytes, 12, plain_log_entry().round, kEntrySeed, entry, unit),
                  Drop::none);
        again = bytes_of(entry, Bytes(unit.begin(), unit.end()));
      }
      EXPECT_EQ(again, bytes) << kind.name << " round " << round;
    }
  }
  EXPECT_GT(accepted, 10'000);
}

TEST(WireRamcastMemory, SlotsRoundTrip) {
  Random random(20'263);
  for (int round = 0; round < kRecordRounds; ++round) {
    const Slot slot = random_slot(random);
    const Bytes unit = random_bytes(random, 1 + random.below(100));
    for (unsigned domain = 1; domain <= kDomainsMax; ++domain) {
      if (((slot.head.to >> domain) & 1U) == 0) continue;
      const Bytes bytes = bytes_of(slot, domain, unit);
      const std::uint64_t index = index_in(slot.head, domain);
      ASSERT_EQ(peek_slot(bytes, index), bytes.size());
      ASSERT_EQ(peek_slot(bytes, index + 1), 0U);
      Slot decoded = plain_slot();
      ASSERT_EQ(drop_name(decode_slot(bytes, index, domain, decoded)), "none");
      ASSERT_EQ(decoded, slot);
      Bytes small(bytes.size() - 1);
      ASSERT_EQ(encode_slot(slot, domain, unit, small), 0U);
    }
  }
}

TEST(WireRamcastMemory, EntriesRoundTrip) {
  Random random(20'264);
  std::vector<int> kinds(16);
  for (int round = 0; round < kRecordRounds; ++round) {
    const LogEntry entry = random_log_entry(random);
    ++kinds[static_cast<std::size_t>(entry.kind)];
    const Bytes unit = random_log_unit(random, entry.kind);
    const Bytes bytes = bytes_of(entry, unit);
    ASSERT_EQ(bytes.size() % kLogAlign, 0U);
    ASSERT_EQ(peek_log_entry(bytes, entry.number), bytes.size());
    LogEntry decoded = plain_log_entry();
    ByteView found;
    ASSERT_EQ(
        drop_name(decode_log_entry(bytes, entry.number, entry.round, kEntrySeed, decoded, found)),
        "none");
    ASSERT_EQ(decoded, entry);
    ASSERT_TRUE(std::equal(found.begin(), found.end(), unit.begin(), unit.end()));
  }
  for (int kind = static_cast<int>(LogKind::base); kind <= static_cast<int>(LogKind::commit);
       ++kind) {
    EXPECT_GT(kinds[static_cast<std::size_t>(kind)], 0) << kind;
  }
}

TEST(WireRamcastMemory, CellsRoundTrip) {
  Random random(20'265);
  for (int round = 0; round < kRecordRounds; ++round) {
    const Cell cell = random_cell(random);
    Cell decoded = plain_cell();
    const MessageId message{{{3}, cell.sender_epoch}, cell.number};
    ASSERT_EQ(drop_name(decode_cell(bytes_of(cell), cell.index, message, decoded)), "none");
    ASSERT_EQ(decoded, cell);
    const Control control = random_control(random);
    Control read = plain_control_cell();
    ASSERT_EQ(drop_name(decode_control(bytes_of(control), read)), "none");
    ASSERT_EQ(read, control);
  }
}

TEST(WireRamcastMemory, AnEntryOfAnotherRoundOrSeedIsRefused) {
  const Bytes bytes = bytes_of(plain_log_entry(), {});
  LogEntry entry;
  ByteView unit;
  const Round round = plain_log_entry().round;
  EXPECT_EQ(drop_name(decode_log_entry(bytes, 12, {10, kSender}, kEntrySeed, entry, unit)),
            "foreign");
  EXPECT_EQ(drop_name(decode_log_entry(bytes, 12, round, kEntrySeed + 1, entry, unit)),
            "bad_checksum");
  EXPECT_EQ(drop_name(decode_log_entry(bytes, 12, round, kEntrySeed, entry, unit)), "none");
}

TEST(WireRamcastMemory, ACellOfAnotherMessageIsRefused) {
  const Bytes bytes = bytes_of(plain_cell());
  Cell cell;
  EXPECT_EQ(drop_name(decode_cell(bytes, 5, {{{1}, 10}, 7}, cell)), "none");
  EXPECT_EQ(drop_name(decode_cell(bytes, 5, {{{1}, 11}, 7}, cell)), "foreign");
  EXPECT_EQ(drop_name(decode_cell(bytes, 5, {{{1}, 10}, 8}, cell)), "bad_value");
}

TEST(WireRamcastMemory, ASlotIsForItsReadersDomain) {
  const Bytes bytes = bytes_of(plain_slot(), 2, {std::byte{1}});
  Slot slot;
  EXPECT_EQ(drop_name(decode_slot(bytes, 6, 2, slot)), "none");
  EXPECT_EQ(drop_name(decode_slot(bytes, 6, 1, slot)), "bad_value") << "its index there is 5";
  EXPECT_EQ(drop_name(decode_slot(bytes, 6, 3, slot)), "bad_value") << "not a destination";
  EXPECT_EQ(drop_name(decode_slot(bytes_of(plain_slot(), 2, {}), 6, 2, slot)), "truncated");
}

std::string with_cell(const std::function<void(Cell&)>& change) {
  Cell cell = plain_cell();
  change(cell);
  Cell decoded;
  return std::string(drop_name(decode_cell(bytes_of(cell), 5, {{{1}, 10}, 7}, decoded)));
}

TEST(WireRamcastMemory, ACellSaysOnlyWhatFitsTogether) {
  EXPECT_EQ(with_cell([](Cell& c) { c.stamp = 0; }), "bad_value");
  EXPECT_EQ(with_cell([](Cell& c) { c.round = {}; }), "bad_value");
  EXPECT_EQ(with_cell([](Cell& c) { c.key = 0; }), "bad_value");
  EXPECT_EQ(with_cell([](Cell& c) { c.acknowledged = false; }), "bad_value");
  EXPECT_EQ(with_cell([](Cell& c) { c.mark_entry = 0; }), "bad_value");
  EXPECT_EQ(with_cell([](Cell& c) { c.mark_entry = c.mark_clock = 0; }), "none");
  EXPECT_EQ(with_cell([](Cell& c) { c.committed = true; }), "none");
  EXPECT_EQ(with_cell([](Cell& c) {
              c = {c.index, c.sender_epoch, c.number, {}, 0, false, false, 0, 0, 0, 0};
            }),
            "bad_value")
      << "a cell that says nothing";
}

std::string with_control(const std::function<void(Control&)>& change) {
  Control control = plain_control_cell();
  change(control);
  Control decoded;
  return std::string(drop_name(decode_control(bytes_of(control), decoded)));
}

TEST(WireRamcastMemory, ControlCellsObeyTheirLimits) {
  EXPECT_EQ(with_control([](Control& c) { c.beat = 0; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.missing = 0x7fff; }), "none");
  EXPECT_EQ(with_control([](Control& c) { c.missing = 0x8000; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.bytes = 4; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.mark_clock = 1; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.released = c.delivered; }), "none");
  EXPECT_EQ(with_control([](Control& c) { c.released = c.delivered + 1; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.released_in = c.released + 1; }), "bad_value");
  EXPECT_EQ(with_control([](Control& c) { c.entry = kCounterMax + 1; }), "bad_value");
}

/// A checksum of zero is one of 2^32 that a record may have.
TEST(WireRamcastMemory, AChecksumOfZeroIsAChecksum) {
  SenderReply reply{7, 1};
  while (true) {
    const Bytes bytes = bytes_of(reply);
    if (peek_cell(bytes) % 65'536 == 0) {
      EXPECT_EQ(drop_name(decode_plain_reply(bytes, 7)), "none");
      break;
    }
    ++reply.key;
  }
  // The checksum is linear in the bytes, so bytes with the checksum zero can be computed: the last
  // four bytes of a slot's unit cancel it.
  Bytes unit(8);
  Bytes slot = bytes_of(plain_slot(), 2, unit);
  const std::size_t tail = slot.size() - 4;
  const auto checksum_with = [&](std::uint32_t value) {
    store(ByteSpan(slot).subspan(tail), value);
    return crc32c(ByteView(slot).subspan(4));
  };
  const std::uint32_t origin = checksum_with(0);
  std::uint32_t value = 0;
  // Gaussian elimination over the 32 bits of the tail.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> rows;  // effect, bits
  for (unsigned bit = 0; bit < 32; ++bit) {
    rows.emplace_back(checksum_with(1U << bit) ^ origin, 1U << bit);
  }
  std::uint32_t left = origin;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const std::uint32_t mask = 1U << bit;
    const auto pivot = std::find_if(rows.begin(), rows.end(),
                                    [mask](const auto& row) { return (row.first & mask) != 0; });
    ASSERT_NE(pivot, rows.end());
    const auto [effect, bits] = *pivot;
    rows.erase(pivot);
    for (auto& row : rows) {
      if ((row.first & mask) == 0) continue;
      row.first ^= effect;
      row.second ^= bits;
    }
    if ((left & mask) == 0) continue;
    left ^= effect;
    value ^= bits;
  }
  ASSERT_EQ(checksum_with(value), 0U);
  store(ByteSpan(slot), std::uint32_t{0});
  EXPECT_EQ(drop_name(decode_plain_slot(slot, 6)), "none");
}

}  // namespace
}  // namespace peal::wire::test
