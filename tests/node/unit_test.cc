// SPDX-License-Identifier: Apache-2.0
#include "node/unit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace peal::node {
namespace {

using wire::Drop;

constexpr std::uint32_t kMessageBytesMax = 5'000;
using Bytes = std::vector<std::byte>;

Bytes encode(const Chunks& chunks) {
  Bytes out(kUnitBytesMax);
  UnitWriter writer(out, chunks[0].number);
  for (const Chunk& chunk : chunks) {
    if (chunk.whole()) {
      writer.add_whole(chunk.service, chunk.bytes);
    } else if (chunk.first) {
      writer.add_first(chunk.service, chunk.total, chunk.bytes);
    } else {
      writer.add_rest(chunk.service, chunk.offset, chunk.last, chunk.bytes);
    }
  }
  out.resize(writer.size());
  return out;
}

/// Units of all shapes.
std::vector<Bytes> samples() {
  const std::string text(300, 'x');
  const ByteView bytes = as_bytes_view(text);
  std::vector<Bytes> all;
  const auto add = [&all](std::uint64_t number, const auto& fill) {
    Bytes out(2'000);
    UnitWriter writer(out, number);
    fill(writer);
    out.resize(writer.size());
    all.push_back(out);
  };
  add(1, [&](UnitWriter& w) { w.add_whole(Service::agreed, {}); });
  add(7, [&](UnitWriter& w) {
    w.add_whole(Service::fifo, bytes.first(5));
    w.add_whole(Service::causal, {});
    w.add_whole(Service::agreed, bytes.first(1));
  });
  add(9, [&](UnitWriter& w) { w.add_first(Service::agreed, 4'000, bytes.first(20)); });
  add(9, [&](UnitWriter& w) { w.add_rest(Service::agreed, 20, false, bytes.first(20)); });
  add(9, [&](UnitWriter& w) {
    w.add_rest(Service::agreed, 40, true, bytes.first(3));
    w.add_whole(Service::agreed, bytes.first(4));
    w.add_first(Service::causal, 301, bytes);
  });
  add(~0ULL - kChunksMax, [&](UnitWriter& w) {
    for (std::size_t i = 0; i < kChunksMax; ++i) w.add_whole(Service::agreed, bytes.first(i % 3));
  });
  return all;
}

TEST(Unit, DecodesToWhatWasWritten) {
  Chunks chunks;
  const auto units = samples();
  ASSERT_EQ(decode_unit(units[4], Service::agreed, kMessageBytesMax, chunks), Drop::none);
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_FALSE(chunks[0].first);
  EXPECT_TRUE(chunks[0].last);
  EXPECT_EQ(chunks[0].number, 9U);
  EXPECT_EQ(chunks[0].offset, 40U);
  EXPECT_EQ(as_text(chunks[0].bytes), "xxx");
  EXPECT_TRUE(chunks[1].whole());
  EXPECT_EQ(chunks[1].number, 10U);
  EXPECT_EQ(chunks[1].total, 4U);
  EXPECT_TRUE(chunks[2].first);
  EXPECT_FALSE(chunks[2].last);
  EXPECT_EQ(chunks[2].number, 11U);
  EXPECT_EQ(chunks[2].total, 301U);
  EXPECT_EQ(chunks[2].service, Service::causal);
}

TEST(Unit, EverySampleDecodesAndHasOneEncoding) {
  Chunks chunks;
  for (const Bytes& unit : samples()) {
    ASSERT_EQ(decode_unit(unit, Service::agreed, kMessageBytesMax, chunks), Drop::none);
    EXPECT_EQ(encode(chunks), unit);
  }
}

/// True if decode_unit() refuses the bytes, or gives chunks that respect the bounds and encode to
/// the same bytes.
bool is_sound(ByteView bytes, Service service) {
  static Chunks chunks;
  if (decode_unit(bytes, service, kMessageBytesMax, chunks) != Drop::none) return true;
  if (chunks.empty()) return false;
  for (const Chunk& chunk : chunks) {
    if (is_safe(chunk.service) != is_safe(service) || chunk.number == 0) return false;
    if (chunk.total > kMessageBytesMax || chunk.bytes.size() > kMessageBytesMax) return false;
  }
  const Bytes again = encode(chunks);
  return std::equal(again.begin(), again.end(), bytes.begin(), bytes.end());
}

TEST(Unit, HasTheServiceOfTheClassOfItsChunks) {
  Chunks chunks;
  for (const Service chunk : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    Bytes unit(kUnitHeaderBytes + kWholeHeaderBytes + 1);
    UnitWriter(unit, 1).add_whole(chunk, as_bytes_view("x"));
    const auto fits = [&](Service service) {
      return decode_unit(unit, service, kMessageBytesMax, chunks) == Drop::none;
    };
    SCOPED_TRACE(static_cast<int>(chunk));
    EXPECT_EQ(fits(Service::causal), chunk == Service::fifo || chunk == Service::causal);
    EXPECT_EQ(fits(Service::agreed), chunk != Service::safe);
    EXPECT_EQ(fits(Service::safe), chunk == Service::safe);
  }
  EXPECT_EQ(unit_service(Service::fifo, true), Service::causal);
  EXPECT_EQ(unit_service(Service::agreed, true), Service::agreed);
  EXPECT_EQ(unit_service(Service::safe, true), Service::safe);
  EXPECT_EQ(unit_service(Service::causal, false), Service::agreed);
}

TEST(Unit, SurvivesEveryTruncationAndEveryFlippedBit) {
  for (const Bytes& unit : samples()) {
    for (std::size_t size = 0; size < unit.size(); ++size) {
      ASSERT_TRUE(is_sound(ByteView(unit).first(size), Service::agreed)) << size;
    }
    Bytes bad = unit;
    for (std::size_t bit = 0; bit < unit.size() * 8; ++bit) {
      bad[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
      ASSERT_TRUE(is_sound(bad, Service::agreed)) << bit;
      ASSERT_TRUE(is_sound(bad, Service::safe)) << bit;
      bad[bit / 8] = unit[bit / 8];
    }
  }
}

TEST(Unit, SurvivesEveryByteAndEveryPairOfBytesInItsHeaders) {
  const auto units = samples();
  for (std::size_t which : {0U, 1U, 2U, 3U, 4U}) {
    Bytes bad = units[which];
    const std::size_t end = std::min<std::size_t>(bad.size(), 18);
    for (std::size_t i = 0; i < end; ++i) {
      for (unsigned value = 0; value < 256; ++value) {
        bad[i] = static_cast<std::byte>(value);
        ASSERT_TRUE(is_sound(bad, Service::agreed));
      }
      bad[i] = units[which][i];
      for (std::size_t j = i + 1; j < end; ++j) {
        for (unsigned a : {0U, 1U, 0x7fU, 0x80U, 0xffU}) {
          for (unsigned b : {0U, 1U, 0x7fU, 0x80U, 0xffU}) {
            bad[i] = static_cast<std::byte>(a);
            bad[j] = static_cast<std::byte>(b);
            ASSERT_TRUE(is_sound(bad, Service::agreed));
          }
        }
        bad[i] = units[which][i];
        bad[j] = units[which][j];
      }
    }
  }
}

TEST(Unit, SurvivesRandomBytes) {
  Random random(11);
  for (int round = 0; round < 100'000; ++round) {
    Bytes bytes(random.below(64));
    for (std::byte& b : bytes) {
      b = static_cast<std::byte>(random.chance(0.5) ? random.below(8) : random.below(256));
    }
    ASSERT_TRUE(is_sound(bytes, round % 2 == 0 ? Service::agreed : Service::safe));
  }
}

/// For each rule a unit that violates it, with the reason.
TEST(Unit, RefusesWhatNoSenderWrites) {
  Chunks chunks;
  const auto verdict = [&chunks](const std::vector<int>& chunk_bytes, std::uint8_t number = 1) {
    Bytes unit(8);
    unit[0] = static_cast<std::byte>(number);
    for (int b : chunk_bytes) unit.push_back(static_cast<std::byte>(b));
    return decode_unit(unit, Service::agreed, kMessageBytesMax, chunks);
  };
  constexpr int kAgreed = 8, kFirst = 1, kLast = 2;
  EXPECT_EQ(verdict({kAgreed | kFirst | kLast, 0, 0}), Drop::none);
  EXPECT_EQ(verdict({}), Drop::truncated);                                     // no chunk
  EXPECT_EQ(verdict({kAgreed | kFirst | kLast, 0, 0}, 0), Drop::bad_value);    // message number 0
  EXPECT_EQ(verdict({kAgreed | kFirst | kLast | 16, 0, 0}), Drop::bad_value);  // unknown flag
  EXPECT_EQ(verdict({12 | kFirst | kLast, 0, 0}), Drop::bad_value);            // a safe message
  EXPECT_EQ(verdict({kAgreed | kFirst | kLast, 1, 0}), Drop::truncated);
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 2, 0, 0}), Drop::truncated);
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 2, 0, 0, 0, 'x'}), Drop::none);
  EXPECT_EQ(verdict({kAgreed | kFirst, 0, 0, 2, 0, 0, 0}), Drop::bad_value);       // an empty part
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 1, 0, 0, 0, 'x'}), Drop::bad_value);  // whole message
  // A message of 5,001 bytes is too large, one of 5,000 bytes is not.
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 0x89, 0x13, 0, 0, 'x'}), Drop::bad_value);
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 0x88, 0x13, 0, 0, 'x'}), Drop::none);
  EXPECT_EQ(verdict({kAgreed, 1, 0, 0, 0, 0, 0, 'x'}), Drop::bad_value);  // a rest from offset 0
  EXPECT_EQ(verdict({kAgreed | kLast, 1, 0, 0x88, 0x13, 0, 0, 'x'}),
            Drop::bad_value);  // the part's end is past 5,000 bytes
  EXPECT_EQ(verdict({kAgreed | kLast, 1, 0, 0xff, 0xff, 0xff, 0xff, 'x'}), Drop::bad_value);
  // Only the first chunk may be a rest, and no chunk may follow an unfinished one.
  EXPECT_EQ(verdict({kAgreed | 3, 0, 0, kAgreed | kLast, 1, 0, 9, 0, 0, 0, 'x'}), Drop::bad_value);
  EXPECT_EQ(verdict({kAgreed | kFirst, 1, 0, 2, 0, 0, 0, 'x', kAgreed | 3, 0, 0}), Drop::bad_value);
  // There is one chunk too many. Below, the number of the next message would wrap.
  std::vector<int> many;
  for (std::size_t i = 0; i <= kChunksMax; ++i) many.insert(many.end(), {kAgreed | 3, 0, 0});
  EXPECT_EQ(verdict(many), Drop::count_too_large);
  many.resize(3 * kChunksMax);
  EXPECT_EQ(verdict(many), Drop::none);
  Bytes last(8, std::byte{0xff});
  for (const std::byte byte : {std::byte{11}, std::byte{0}, std::byte{0}}) last.push_back(byte);
  EXPECT_EQ(decode_unit(last, Service::agreed, kMessageBytesMax, chunks), Drop::bad_value);
}

TEST(Unit, AWholeMessageAboveTheMaximumIsRefused) {
  Bytes out(200);
  UnitWriter writer(out, 1);
  const std::string text(101, 'x');
  writer.add_whole(Service::agreed, as_bytes_view(text));
  Chunks chunks;
  const ByteView unit = ByteView(out).first(writer.size());
  EXPECT_EQ(decode_unit(unit, Service::agreed, 101, chunks), Drop::none);
  EXPECT_EQ(decode_unit(unit, Service::agreed, 100, chunks), Drop::bad_value);
}

}  // namespace
}  // namespace peal::node
