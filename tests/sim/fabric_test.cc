// SPDX-License-Identifier: Apache-2.0
// The simulated memory keeps the contract of port::Memory, under every fault; and breaks it where
// it is told to, so that others can be tested.
#include "sim/world/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/crc32c.h"

namespace peal::sim {
namespace {

using port::Epoch;
using port::Place;
using port::Region;
using port::WriteDone;
using port::WriteEnd;
using Bytes = std::vector<std::byte>;

constexpr MemberId kOwner{{1}, 10};
constexpr MemberId kWriter{{2}, 20};
constexpr MemberId kOther{{3}, 30};
constexpr std::uint8_t kNumber = 4;

/// A fabric with three processes.
struct Bench {
  explicit Bench(std::uint64_t seed = 1, const FabricOptions& options = {})
      : fabric(schedule, seed, options) {
    for (const MemberId& member : {kOwner, kWriter, kOther}) {
      memories[member] = fabric.attach(member, [this] { ++notified; });
    }
  }

  void run(Duration span = milliseconds(10)) {
    const Instant limit = schedule.now() + span;
    while (const auto planned = schedule.advance(limit)) schedule.take_action(planned->a)();
  }
  /// Runs up to the next event.
  bool step(Instant limit) {
    const auto planned = schedule.advance(limit);
    if (planned) schedule.take_action(planned->a)();
    return planned.has_value();
  }

  SimMemory& of(const MemberId& member) { return *memories.at(member); }
  void expose(Epoch epoch, std::size_t bytes = 1'024, const MemberId& writer = kWriter) {
    ASSERT_TRUE(of(kOwner).expose({writer, kNumber}, epoch, bytes));
  }
  void write(Epoch epoch, std::uint64_t offset, const Bytes& bytes, std::uint64_t token = 1,
             const MemberId& writer = kWriter) {
    of(writer).write({kOwner, kNumber, epoch, offset}, bytes, token);
    of(writer).flush();
  }
  Bytes load(std::size_t bytes = 1'024, std::uint64_t offset = 0,
             const MemberId& writer = kWriter) {
    Bytes found(bytes);
    EXPECT_TRUE(of(kOwner).load({writer, kNumber}, offset, found));
    return found;
  }
  std::string ends(const MemberId& writer = kWriter) {
    std::string text;
    WriteDone done;
    while (of(writer).next_done(done)) {
      const char* name = done.end == WriteEnd::ok ? "ok" : "down";
      text += std::to_string(done.token) + (done.end == WriteEnd::denied ? "denied" : name) + " ";
    }
    return text;
  }

  Schedule schedule;
  Fabric fabric;
  std::map<MemberId, std::unique_ptr<SimMemory>> memories;
  int notified = 0;
};

Bytes filled(std::size_t size, unsigned value) {
  return Bytes(size, static_cast<std::byte>(value));
}

TEST(SimFabric, AWriteArrivesAndEndsOnce) {
  Bench bench;
  bench.expose({7});
  bench.write({7}, 100, filled(300, 5));
  EXPECT_EQ(bench.load(), filled(1'024, 0)) << "it travels";
  bench.run();
  EXPECT_EQ(bench.load(300, 100), filled(300, 5));
  EXPECT_EQ(bench.load(100), filled(100, 0));
  EXPECT_EQ(bench.ends(), "1ok ");
  bench.run();
  EXPECT_EQ(bench.ends(), "");
  EXPECT_GE(bench.notified, 2);
}

TEST(SimFabric, WritesLeaveAtTheEndOfTheTurn) {
  Bench bench;
  bench.expose({7});
  bench.of(kWriter).write({kOwner, kNumber, {7}, 0}, filled(8, 5), 1);
  bench.run();
  EXPECT_EQ(bench.load(8), filled(8, 0));
  bench.of(kWriter).flush();
  bench.run();
  EXPECT_EQ(bench.load(8), filled(8, 5));
}

TEST(SimFabric, OnlyTheNamedWriterWritesUnderTheNamedEpochInsideTheRegion) {
  Bench bench;
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run();
  EXPECT_EQ(bench.ends(), "1denied ") << "not exposed";
  bench.expose({7});
  bench.write({8}, 0, filled(8, 5), 2);
  bench.write({7}, 1'020, filled(8, 5), 3);
  bench.write({7}, 2'000, filled(8, 5), 4);
  bench.write({7}, ~0ULL, filled(8, 5), 5);
  bench.run();
  EXPECT_EQ(bench.ends(), "2denied 3denied 4denied 5denied ");
  bench.write({7}, 0, filled(8, 5), 6, kOther);
  bench.run();
  EXPECT_EQ(bench.ends(kOther), "6denied ");
  EXPECT_EQ(bench.load(), filled(1'024, 0));
}

TEST(SimFabric, ANewExposureIsNewMemory) {
  Bench bench;
  bench.expose({7});
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run();
  bench.write({7}, 0, filled(8, 6), 2);
  bench.expose({8}, 64);
  bench.run();
  EXPECT_EQ(bench.ends(), "1ok 2denied ");
  EXPECT_EQ(bench.load(64), filled(64, 0));
}

TEST(SimFabric, ARevokedRegionCanBeLoadedUntilItIsDropped) {
  Bench bench;
  bench.expose({7});
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run();
  bench.of(kOwner).revoke({kWriter, kNumber});
  bench.write({7}, 0, filled(8, 6), 2);
  bench.run();
  EXPECT_EQ(bench.ends(), "1ok 2denied ");
  EXPECT_EQ(bench.load(8), filled(8, 5));
  bench.of(kOwner).drop({kWriter, kNumber});
  Bytes found(8);
  EXPECT_FALSE(bench.of(kOwner).load({kWriter, kNumber}, 0, found));
}

TEST(SimFabric, LoadsStayInsideTheRegion) {
  Bench bench;
  bench.expose({7}, 64);
  Bytes found(16);
  EXPECT_TRUE(bench.of(kOwner).load({kWriter, kNumber}, 48, found));
  EXPECT_FALSE(bench.of(kOwner).load({kWriter, kNumber}, 49, found));
  EXPECT_FALSE(bench.of(kOwner).load({kWriter, kNumber}, ~0ULL, found));
  EXPECT_FALSE(bench.of(kOwner).load({kOther, kNumber}, 0, found));
}

TEST(SimFabric, TooMuchMemoryIsRefused) {
  Bench bench;
  bench.of(kOwner).limit(1'000);
  EXPECT_TRUE(bench.of(kOwner).expose({kWriter, 1}, {1}, 600));
  const auto refused = bench.of(kOwner).expose({kWriter, 2}, {1}, 600);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Errc::too_large);
  EXPECT_TRUE(bench.of(kOwner).expose({kWriter, 1}, {2}, 900)) << "replaces the first one";
}

TEST(SimFabric, WritesToARegionKeepTheirOrder) {
  FabricOptions options;
  options.slow = 0.3;
  options.slow_most = microseconds(50);
  Bench bench(3, options);
  bench.expose({7}, 8);
  std::string expected;
  for (unsigned i = 1; i <= 200; ++i) {
    bench.write({7}, 0, filled(8, i), i);
    expected += std::to_string(i) + "ok ";
  }
  unsigned last = 0;
  const Instant limit = bench.schedule.now() + milliseconds(100);
  while (bench.step(limit)) {
    const auto now = std::to_integer<unsigned>(bench.load(8)[0]);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(last, 200U);
  EXPECT_EQ(bench.ends(), expected);
}

/// Each record is 8 times one byte per segment, with a checksum in front.
TEST(SimFabric, ReadersSeeHalfOfAWriteInEveryOrder) {
  for (const auto tear : {FabricOptions::Tear::ascending, FabricOptions::Tear::descending,
                          FabricOptions::Tear::random, FabricOptions::Tear::never}) {
    FabricOptions options;
    options.tear = tear;
    options.segment_bytes = 8;
    Bench bench(5, options);
    bench.expose({7}, 256);
    int torn = 0, begins = 0, ends = 0;
    for (unsigned i = 1; i <= 100; ++i) {
      bench.write({7}, 0, filled(256, i), i);
      const Instant limit = bench.schedule.now() + milliseconds(1);
      while (bench.step(limit)) {
        const Bytes now = bench.load(256);
        if (now == filled(256, i) || now == filled(256, i - 1)) continue;
        ++torn;
        if (now.front() == static_cast<std::byte>(i)) ++begins;
        if (now.back() == static_cast<std::byte>(i)) ++ends;
      }
    }
    if (tear == FabricOptions::Tear::never) {
      EXPECT_EQ(torn, 0);
      continue;
    }
    EXPECT_GT(torn, 100);
    if (tear == FabricOptions::Tear::ascending) {
      EXPECT_EQ(begins, torn);
    }
    if (tear == FabricOptions::Tear::descending) {
      EXPECT_EQ(ends, torn);
    }
    if (tear == FabricOptions::Tear::random) {
      EXPECT_LT(begins, torn);
    }
  }
}

/// Writes numbers to growing offsets, revokes at a random time, and compares the bytes at that
/// moment with the writes that end as ok, and with the bytes at the end. Returns the differences.
int broken_promises(const FabricOptions& options, int trials) {
  int broken = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Bench bench(static_cast<std::uint64_t>(trial), options);
    bench.expose({7}, 64 * 64);
    Random random(static_cast<std::uint64_t>(trial));
    for (unsigned i = 0; i < 64; ++i) {
      bench.of(kWriter).write({kOwner, kNumber, {7}, 64 * i}, filled(64, 1), i);
      if (random.chance(0.3)) bench.of(kWriter).flush();
    }
    bench.of(kWriter).flush();
    for (std::uint64_t steps = random.below(100); steps > 0; --steps) {
      if (!bench.step(bench.schedule.now() + milliseconds(1))) break;
    }
    bench.of(kOwner).revoke({kWriter, kNumber});
    const Bytes snapshot = bench.load(64 * 64);
    bench.run();
    if (bench.load(64 * 64) != snapshot) ++broken;
    WriteDone done;
    while (bench.of(kWriter).next_done(done)) {
      const auto at = snapshot.begin() + static_cast<std::ptrdiff_t>(64 * done.token);
      const bool there = std::all_of(at, at + 64, [](std::byte b) { return b == std::byte{1}; });
      if (done.end == WriteEnd::ok && !there) ++broken;
    }
  }
  return broken;
}

TEST(SimFabric, AWriteThatEndsAsOkIsInEveryLaterSnapshot) {
  FabricOptions options;
  options.tear = FabricOptions::Tear::random;
  options.segment_bytes = 8;
  EXPECT_EQ(broken_promises(options, 500), 0);
}

TEST(SimFabric, LazyRevocationAndEarlyCompletionsBreakThat) {
  FabricOptions lazy;
  lazy.lazy_revocation = microseconds(20);
  EXPECT_GT(broken_promises(lazy, 100), 10);
  FabricOptions early;
  early.early_ok = true;
  EXPECT_GT(broken_promises(early, 100), 10);
}

TEST(SimFabric, ACrashedWriterLeavesABeginningOfItsWrites) {
  int partly = 0;
  std::size_t least = 64, most = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    FabricOptions options;
    options.segment_bytes = 8;
    options.tear = FabricOptions::Tear::descending;
    Bench bench(seed, options);
    bench.expose({7}, 64 * 64);
    for (unsigned i = 0; i < 64; ++i) bench.write({7}, 64 * i, filled(64, 1), i);
    bench.memories.erase(kWriter);
    bench.run();
    const Bytes found = bench.load(64 * 64);
    std::size_t whole = 0;
    while (whole < 64 && std::equal(found.begin() + static_cast<std::ptrdiff_t>(64 * whole),
                                    found.begin() + static_cast<std::ptrdiff_t>(64 * whole + 64),
                                    filled(64, 1).begin())) {
      ++whole;
    }
    const auto set = std::count(found.begin(), found.end(), std::byte{1});
    EXPECT_LT(set, static_cast<std::ptrdiff_t>(64 * whole + 64)) << "nothing behind the first gap";
    if (set > static_cast<std::ptrdiff_t>(64 * whole)) ++partly;
    least = std::min(least, whole);
    most = std::max(most, whole);
  }
  EXPECT_GT(partly, 100) << "most ends are inside a write";
  EXPECT_LT(least, 5U);
  EXPECT_GT(most, 55U);
}

TEST(SimFabric, AWriteToACrashedOwnerEndsAsDownLater) {
  Bench bench;
  bench.expose({7});
  bench.write({7}, 0, filled(8, 5), 1);
  bench.memories.erase(kOwner);
  const Instant begin = bench.schedule.now();
  while (bench.notified == 0) ASSERT_TRUE(bench.step(begin + seconds(1)));
  EXPECT_GE(bench.schedule.now() - begin, bench.fabric.options().down_after);
  EXPECT_EQ(bench.ends(), "1down ");
}

TEST(SimFabric, ALinkThatIsCutDelaysAWriteOrEndsIt) {
  Bench bench;
  bench.expose({7});
  bench.fabric.cut(kWriter.node, kOwner.node);
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run(microseconds(100));
  EXPECT_EQ(bench.load(8), filled(8, 0));
  bench.fabric.heal(kWriter.node, kOwner.node);
  bench.run();
  EXPECT_EQ(bench.load(8), filled(8, 5)) << "a short cut is a delay";
  EXPECT_EQ(bench.ends(), "1ok ");

  bench.fabric.cut(kWriter.node, kOwner.node);
  bench.write({7}, 0, filled(8, 6), 2);
  bench.run(milliseconds(20));
  EXPECT_EQ(bench.ends(), "2down ");
  bench.fabric.heal_all();
  bench.run();
  EXPECT_EQ(bench.load(8), filled(8, 5)) << "a write that is down never arrives later";
  bench.write({7}, 0, filled(8, 7), 3);
  bench.run();
  EXPECT_EQ(bench.ends(), "3ok ");
}

TEST(SimFabric, WritesArriveAndAreDownIfTheirCompletionsCannotComeBack) {
  Bench bench;
  bench.expose({7});
  bench.fabric.cut(kOwner.node, kWriter.node);
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run();
  EXPECT_EQ(bench.ends(), "1down ");
  EXPECT_EQ(bench.load(8), filled(8, 5));
}

TEST(SimFabric, AnEarlierIncarnationsWritesGoNowhere) {
  Bench bench;
  bench.expose({7});
  bench.memories.erase(kOwner);
  const MemberId again{kOwner.node, 11};
  bench.memories[again] = bench.fabric.attach(again, [] {});
  ASSERT_TRUE(bench.of(again).expose({kWriter, kNumber}, {7}, 64));
  bench.write({7}, 0, filled(8, 5), 1);
  bench.run();
  EXPECT_EQ(bench.ends(), "1down ");
  Bytes found(64);
  ASSERT_TRUE(bench.of(again).load({kWriter, kNumber}, 0, found));
  EXPECT_EQ(found, filled(64, 0));
}

TEST(SimFabric, ObserversSeeEveryWrite) {
  Bench bench;
  bench.expose({7});
  std::size_t bytes = 0;
  bench.fabric.observe([&](const MemberId& from, const Place& place, ByteView content) {
    EXPECT_EQ(from, kWriter);
    EXPECT_EQ(place.owner, kOwner);
    bytes += content.size();
  });
  bench.write({7}, 0, filled(8, 5), 1);
  bench.write({9}, 0, filled(16, 5), 2);
  EXPECT_EQ(bytes, 24U);
  EXPECT_EQ(bench.fabric.counts().writes, 2U);
}

TEST(SimFabric, TheSameSeedGivesTheSameRun) {
  const auto run = [](std::uint64_t seed) {
    FabricOptions options;
    options.slow = 0.1;
    Bench bench(seed, options);
    bench.expose({7});
    std::vector<std::int64_t> times;
    for (unsigned i = 0; i < 50; ++i) bench.write({7}, i, filled(200, i), i);
    while (bench.step(bench.schedule.now() + seconds(1))) {
      times.push_back(bench.schedule.now().ns);
      times.push_back(crc32c(bench.load()));
    }
    return times;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace peal::sim
