// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "port/memory.h"

// What each implementation of port::Memory promises. A program that includes this file says what
// the tests run on: INSTANTIATE_TEST_SUITE_P(…, MemoryConformance, …).

namespace peal::test {

using Bytes = std::vector<std::byte>;

inline constexpr MemberId kOwner{{1}, 10};
inline constexpr MemberId kWriter{{2}, 20};
inline constexpr MemberId kOther{{3}, 30};
inline constexpr std::uint8_t kNumber = 4;

inline Bytes filled(std::size_t size, unsigned value) {
  return Bytes(size, static_cast<std::byte>(value));
}

/// Processes with memories. They are called kOwner, kWriter and kOther at first.
class MemoryWorld {
 public:
  virtual ~MemoryWorld() = default;
  virtual port::Memory& of(const MemberId& member) = 0;
  /// The member's turn ends.
  virtual void flush(const MemberId& member) = 0;
  /// Everybody has a turn, and time passes. A test calls it until something has happened.
  virtual void turn() = 0;
  /// False if there have been so many turns that nothing will happen any more.
  virtual bool may_wait() = 0;
  virtual void start(const MemberId& member) = 0;
  virtual void stop(const MemberId& member) = 0;
  /// Bytes that the owner may expose from now on.
  virtual void limit(std::size_t bytes) = 0;
};

/// The name and the maker of a world.
struct WorldMaker {
  std::string name;
  std::function<std::unique_ptr<MemoryWorld>()> make;
};
inline std::ostream& operator<<(std::ostream& out, const WorldMaker& maker) {
  return out << maker.name;
}

class MemoryConformance : public testing::TestWithParam<WorldMaker> {
 protected:
  void SetUp() override {
    world_ = GetParam().make();
    for (const MemberId& member : {kOwner, kWriter, kOther}) world_->start(member);
  }

  port::Memory& of(const MemberId& member) { return world_->of(member); }
  void expose(port::Epoch epoch, std::size_t bytes = 1'024, const MemberId& writer = kWriter) {
    ASSERT_TRUE(of(kOwner).expose({writer, kNumber}, epoch, bytes));
  }
  void write(port::Epoch epoch, std::uint64_t offset, const Bytes& bytes, std::uint64_t token = 1,
             const MemberId& writer = kWriter) {
    of(writer).write({kOwner, kNumber, epoch, offset}, bytes, token);
    world_->flush(writer);
  }
  Bytes load(std::size_t bytes = 1'024, std::uint64_t offset = 0,
             const MemberId& writer = kWriter) {
    Bytes found(bytes);
    EXPECT_TRUE(of(kOwner).load({writer, kNumber}, offset, found));
    return found;
  }
  /// Waits for so many completions: "1ok 2denied ".
  std::string ends(std::size_t count, const MemberId& writer = kWriter) {
    std::string text;
    while (count > 0) {
      port::WriteDone done;
      while (count > 0 && of(writer).next_done(done)) {
        const char* name = done.end == port::WriteEnd::ok ? "ok " : "down ";
        text +=
            std::to_string(done.token) + (done.end == port::WriteEnd::denied ? "denied " : name);
        --count;
      }
      if (count == 0) break;
      if (!world_->may_wait()) return text + "and nothing more";
      world_->turn();
    }
    return text;
  }
  /// A write that a later one follows has ended too, since they end in order.
  std::string all_ends(const MemberId& writer = kWriter) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
      port::WriteDone done;
      while (of(writer).next_done(done)) text += std::to_string(done.token) + " ";
      world_->turn();
    }
    return text;
  }

  std::unique_ptr<MemoryWorld> world_;
};

TEST_P(MemoryConformance, AWriteArrivesAndEndsOnce) {
  expose({7});
  write({7}, 100, filled(300, 5));
  EXPECT_EQ(ends(1), "1ok ");
  EXPECT_EQ(load(300, 100), filled(300, 5));
  EXPECT_EQ(load(100), filled(100, 0));
  EXPECT_EQ(load(624, 400), filled(624, 0));
  EXPECT_EQ(all_ends(), "");
}

TEST_P(MemoryConformance, WritesLeaveAtTheEndOfTheTurn) {
  expose({7});
  write({7}, 0, filled(8, 1), 1);
  EXPECT_EQ(ends(1), "1ok ");
  of(kWriter).write({kOwner, kNumber, {7}, 0}, filled(8, 5), 2);
  EXPECT_EQ(load(8), filled(8, 1));
  world_->flush(kWriter);
  EXPECT_EQ(ends(1), "2ok ");
  EXPECT_EQ(load(8), filled(8, 5));
}

TEST_P(MemoryConformance, BytesAreCopiedBeforeTheCallReturns) {
  expose({7});
  Bytes bytes = filled(8, 5);
  of(kWriter).write({kOwner, kNumber, {7}, 0}, bytes, 1);
  bytes = filled(8, 6);
  world_->flush(kWriter);
  EXPECT_EQ(ends(1), "1ok ");
  EXPECT_EQ(load(8), filled(8, 5));
}

TEST_P(MemoryConformance, OnlyTheNamedWriterWritesUnderTheNamedEpochInsideTheRegion) {
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1denied ") << "not exposed";
  expose({7});
  write({8}, 0, filled(8, 5), 2);
  write({7}, 1'020, filled(8, 5), 3);
  write({7}, 2'000, filled(8, 5), 4);
  write({7}, ~0ULL, filled(8, 5), 5);
  EXPECT_EQ(ends(4), "2denied 3denied 4denied 5denied ");
  write({7}, 0, filled(8, 5), 6, kOther);
  EXPECT_EQ(ends(1, kOther), "6denied ");
  EXPECT_EQ(load(), filled(1'024, 0));
  write({7}, 1'016, filled(8, 5), 7);
  EXPECT_EQ(ends(1), "7ok ");
}

TEST_P(MemoryConformance, RegionsOfOneWriterAreApart) {
  ASSERT_TRUE(of(kOwner).expose({kWriter, 1}, {7}, 64));
  ASSERT_TRUE(of(kOwner).expose({kWriter, 2}, {9}, 64));
  of(kWriter).write({kOwner, 1, {7}, 0}, filled(64, 1), 1);
  of(kWriter).write({kOwner, 2, {9}, 0}, filled(64, 2), 2);
  of(kWriter).write({kOwner, 1, {9}, 0}, filled(64, 3), 3);
  world_->flush(kWriter);
  // Writes to different regions may end in any order; each region keeps its own.
  const std::string text = ends(3);
  EXPECT_NE(text.find("1ok"), std::string::npos) << text;
  EXPECT_NE(text.find("2ok"), std::string::npos) << text;
  EXPECT_NE(text.find("3denied"), std::string::npos) << text;
  Bytes found(64);
  ASSERT_TRUE(of(kOwner).load({kWriter, 1}, 0, found));
  EXPECT_EQ(found, filled(64, 1));
  ASSERT_TRUE(of(kOwner).load({kWriter, 2}, 0, found));
  EXPECT_EQ(found, filled(64, 2));
}

TEST_P(MemoryConformance, ANewExposureIsNewMemory) {
  expose({7});
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1ok ");
  expose({8}, 64);
  EXPECT_EQ(load(64), filled(64, 0));
  write({7}, 0, filled(8, 6), 2);
  EXPECT_EQ(ends(1), "2denied ");
  EXPECT_EQ(load(64), filled(64, 0));
  write({8}, 0, filled(8, 7), 3);
  EXPECT_EQ(ends(1), "3ok ");
  EXPECT_EQ(load(8), filled(8, 7));
}

TEST_P(MemoryConformance, ARevokedRegionCanBeLoadedUntilItIsDropped) {
  expose({7});
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1ok ");
  of(kOwner).revoke({kWriter, kNumber});
  of(kOwner).revoke({kWriter, kNumber});
  write({7}, 0, filled(8, 6), 2);
  EXPECT_EQ(ends(1), "2denied ");
  EXPECT_EQ(load(8), filled(8, 5));
  of(kOwner).drop({kWriter, kNumber});
  Bytes found(8);
  EXPECT_FALSE(of(kOwner).load({kWriter, kNumber}, 0, found));
  write({7}, 0, filled(8, 6), 3);
  EXPECT_EQ(ends(1), "3denied ");
  of(kOwner).drop({kWriter, kNumber});
  of(kOwner).revoke({kWriter, kNumber});
}

TEST_P(MemoryConformance, LoadsStayInsideTheRegion) {
  expose({7}, 64);
  Bytes found(16);
  EXPECT_TRUE(of(kOwner).load({kWriter, kNumber}, 48, found));
  EXPECT_FALSE(of(kOwner).load({kWriter, kNumber}, 49, found));
  EXPECT_FALSE(of(kOwner).load({kWriter, kNumber}, ~0ULL, found));
  EXPECT_FALSE(of(kOwner).load({kOther, kNumber}, 0, found));
  EXPECT_FALSE(of(kOwner).load({kWriter, kNumber + 1}, 0, found));
}

TEST_P(MemoryConformance, TooMuchMemoryIsRefused) {
  world_->limit(1'000);
  EXPECT_TRUE(of(kOwner).expose({kWriter, 1}, {1}, 600));
  const auto refused = of(kOwner).expose({kWriter, 2}, {1}, 600);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::too_large);
  Bytes found(1);
  EXPECT_FALSE(of(kOwner).load({kWriter, 2}, 0, found));
  EXPECT_TRUE(of(kOwner).expose({kWriter, 1}, {2}, 900)) << "replaces the first one";
  of(kOwner).drop({kWriter, 1});
  EXPECT_TRUE(of(kOwner).expose({kWriter, 2}, {1}, 600)) << "dropped memory counts no more";
}

TEST_P(MemoryConformance, WritesToARegionKeepTheirOrder) {
  expose({7}, 8);
  std::string expected;
  unsigned last = 0;
  for (unsigned i = 1; i <= 200; ++i) {
    of(kWriter).write({kOwner, kNumber, {7}, 0}, filled(8, i), i);
    if (i % 7 == 0) world_->flush(kWriter);
    if (i % 3 == 0) world_->turn();
    const auto now = std::to_integer<unsigned>(load(8)[0]);
    EXPECT_GE(now, last);
    last = now;
    expected += std::to_string(i) + "ok ";
  }
  world_->flush(kWriter);
  EXPECT_EQ(ends(200), expected);
  EXPECT_EQ(load(8), filled(8, 200));
}

TEST_P(MemoryConformance, WritesOfAnySizeArriveAtAnyPlace) {
  constexpr std::size_t kBytes = 400'000;
  expose({7}, kBytes);
  Bytes expected = filled(kBytes, 0);
  Random random(5);
  std::uint64_t token = 0;
  for (const std::size_t size : {1U, 7U, 8U, 9U, 63U, 64U, 65U, 1'000U, 4'096U, 65'535U, 65'536U,
                                 65'537U, 131'072U, 300'001U, 400'000U}) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t offset = random.below(kBytes - size + 1);
      Bytes bytes(size);
      for (std::byte& each : bytes) each = static_cast<std::byte>(random.below(256));
      std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      write({7}, offset, bytes, ++token);
      EXPECT_EQ(ends(1), std::to_string(token) + "ok ");
      ASSERT_TRUE(load(kBytes) == expected) << size << " bytes at " << offset;
    }
  }
  write({7}, 1, filled(kBytes, 1), 99);
  EXPECT_EQ(ends(1), "99denied ");
  // Nobody knows how much of a write that is denied arrived. It is inside the region, though.
  EXPECT_EQ(load(1), Bytes(expected.begin(), expected.begin() + 1));
}

TEST_P(MemoryConformance, AWriteThatEndsAsOkIsInEveryLaterCopy) {
  Random random(7);
  constexpr unsigned kWrites = 64;
  for (std::uint64_t trial = 1; trial <= 100; ++trial) {
    expose({trial}, 64 * kWrites);
    unsigned written = 0;
    const std::uint64_t until = random.below(kWrites);
    while (written < until) {
      of(kWriter).write({kOwner, kNumber, {trial}, 64 * written}, filled(64, 1), written);
      ++written;
      if (random.chance(0.3)) world_->flush(kWriter);
      if (random.chance(0.2)) world_->turn();
    }
    of(kOwner).revoke({kWriter, kNumber});
    const Bytes copy = load(64 * kWrites);
    for (; written < kWrites; ++written) {
      of(kWriter).write({kOwner, kNumber, {trial}, 64 * written}, filled(64, 1), written);
    }
    world_->flush(kWriter);
    for (unsigned ended = 0; ended < kWrites;) {
      port::WriteDone done;
      while (of(kWriter).next_done(done)) {
        EXPECT_EQ(done.token, ended++);
        const auto at = copy.begin() + static_cast<std::ptrdiff_t>(64 * done.token);
        const bool is_there =
            std::all_of(at, at + 64, [](std::byte b) { return b == std::byte{1}; });
        if (done.end == port::WriteEnd::ok) {
          EXPECT_TRUE(is_there) << done.token;
        }
        EXPECT_NE(done.end, port::WriteEnd::down);
      }
      ASSERT_TRUE(world_->may_wait());
      world_->turn();
    }
    EXPECT_EQ(load(64 * kWrites), copy);
  }
}

TEST_P(MemoryConformance, AWriteToAStoppedOwnerEndsAsDown) {
  expose({7});
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1ok ");
  world_->stop(kOwner);
  // With shared memory, the first writes may still find the memory: nobody will read it.
  std::string text;
  for (std::uint64_t token = 2; text.find("down") == std::string::npos; ++token) {
    ASSERT_TRUE(world_->may_wait());
    world_->turn();
    write({7}, 0, filled(8, 5), token);
    text = ends(1);
    EXPECT_EQ(text.find("denied"), std::string::npos) << text;
  }
}

TEST_P(MemoryConformance, AnEarlierIncarnationsWritesGoNowhere) {
  expose({7});
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1ok ");
  world_->stop(kOwner);
  const MemberId again{kOwner.node, kOwner.epoch + 1};
  world_->start(again);
  ASSERT_TRUE(of(again).expose({kWriter, kNumber}, {7}, 64));
  std::string text;
  std::uint64_t token = 1;
  while (text.find("down") == std::string::npos) {
    ASSERT_TRUE(world_->may_wait());
    world_->turn();
    write({7}, 0, filled(8, 5), ++token);
    text = ends(1);
  }
  Bytes found(64);
  ASSERT_TRUE(of(again).load({kWriter, kNumber}, 0, found));
  EXPECT_EQ(found, filled(64, 0));
  // The new incarnation is a process of its own.
  do {
    ASSERT_TRUE(world_->may_wait());
    of(kWriter).write({again, kNumber, {7}, 0}, filled(8, 6), ++token);
    world_->flush(kWriter);
    text = ends(1);
    world_->turn();
  } while (text != std::to_string(token) + "ok ");
  ASSERT_TRUE(of(again).load({kWriter, kNumber}, 0, found));
  EXPECT_EQ(Bytes(found.begin(), found.begin() + 8), filled(8, 6));
}

TEST_P(MemoryConformance, AWriteToAnUnknownProcessEndsAsDown) {
  of(kWriter).write({{{9}, 1}, kNumber, {7}, 0}, filled(8, 5), 1);
  world_->flush(kWriter);
  EXPECT_EQ(ends(1), "1down ");
}

TEST_P(MemoryConformance, ANewIncarnationOfTheWriterIsAnotherWriter) {
  expose({7});
  write({7}, 0, filled(8, 5), 1);
  EXPECT_EQ(ends(1), "1ok ");
  world_->stop(kWriter);
  const MemberId again{kWriter.node, kWriter.epoch + 1};
  world_->start(again);
  of(again).write({kOwner, kNumber, {7}, 0}, filled(8, 6), 2);
  world_->flush(again);
  EXPECT_EQ(ends(1, again), "2denied ");
  EXPECT_EQ(load(8), filled(8, 5));
  ASSERT_TRUE(of(kOwner).expose({again, kNumber}, {1}, 64));
  of(again).write({kOwner, kNumber, {1}, 0}, filled(8, 7), 3);
  world_->flush(again);
  EXPECT_EQ(ends(1, again), "3ok ");
  EXPECT_EQ(load(8), filled(8, 5));
  EXPECT_EQ(load(8, 0, again), filled(8, 7));
}

}  // namespace peal::test
