// SPDX-License-Identifier: Apache-2.0
#include "runtime/unreached.h"

#include <gtest/gtest.h>

#include <vector>

namespace peal::runtime::test {
namespace {

constexpr NodeId kBlocked{2};

/// An Unreached that watches one node. The node's stream is open only if `open` is true.
struct Bench {
  std::uint32_t told = 0;
  std::uint32_t asked = 0;
  bool open = false;
  Unreached unreached;
  Instant now{seconds(10).ns};

  void look() {
    unreached.look(
        now,
        [this] {
          ++asked;
          io::StreamState state;
          state.node = kBlocked;
          state.open = open;
          state.problem = open ? "" : "timed out";
          return std::vector{state};
        },
        [this](const io::StreamState& state) {
          EXPECT_EQ(state.node, kBlocked);
          ++told;
        });
    now = now + seconds(1);
  }
  /// Calls look() `looks` times. A packet of the node arrives before each call.
  void look_and_hear(int looks) {
    for (int i = 0; i < looks; ++i) {
      unreached.heard(kBlocked);
      look();
    }
  }
};

TEST(Unreached, IsToldOnceOfANodeThatIsHeard) {
  Bench bench;
  bench.look();
  bench.look_and_hear(2);
  EXPECT_EQ(bench.told, 0U);
  bench.look_and_hear(1);
  EXPECT_EQ(bench.told, 1U);
  bench.look_and_hear(20);
  EXPECT_EQ(bench.told, 1U);
}

TEST(Unreached, ANodeThatIsDownIsNoNews) {
  Bench bench;
  for (int i = 0; i < 20; ++i) bench.look();
  EXPECT_EQ(bench.told, 0U);
}

TEST(Unreached, IsToldAgainOnceAStreamWasThere) {
  Bench bench;
  bench.look();
  bench.look_and_hear(3);
  bench.open = true;
  bench.look();
  bench.open = false;
  bench.look();
  bench.look_and_hear(3);
  EXPECT_EQ(bench.told, 2U);
}

TEST(Unreached, LooksOnceASecond) {
  Bench bench;
  bench.look();
  bench.now = bench.now - milliseconds(1);
  bench.look();
  EXPECT_EQ(bench.asked, 1U);
}

}  // namespace
}  // namespace peal::runtime::test
