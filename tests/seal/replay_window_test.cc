// SPDX-License-Identifier: Apache-2.0
#include "seal/replay_window.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "seal/packet.h"

namespace peal::seal::test {
namespace {

using Verdict = ReplayWindow::Verdict;
constexpr std::uint64_t kWidth = ReplayWindow::kWidth;

TEST(ReplayWindow, IsAtLeastAsWideAsPromised) { EXPECT_GE(kWidth, 4'096U); }

TEST(ReplayWindow, TakesEachCounterOnceInAnyOrder) {
  ReplayWindow window;
  EXPECT_EQ(window.judge(0), Verdict::replayed) << "no packet has it";
  for (std::uint64_t counter = kWidth; counter >= 1; --counter) {
    ASSERT_EQ(window.judge(counter), Verdict::fresh) << counter;
    window.note(counter);
    ASSERT_EQ(window.judge(counter), Verdict::replayed) << counter;
  }
}

TEST(ReplayWindow, EndsExactlyAtItsWidth) {
  for (const std::uint64_t highest : {kWidth + 1, kWidth + 63, 10 * kWidth, kCounterMax}) {
    ReplayWindow window;
    window.note(highest);
    EXPECT_EQ(window.judge(highest), Verdict::replayed);
    EXPECT_EQ(window.judge(highest - kWidth), Verdict::too_old) << highest;
    EXPECT_EQ(window.judge(highest - kWidth + 1), Verdict::fresh) << highest;
    window.note(highest - kWidth + 1);
    EXPECT_EQ(window.judge(highest - kWidth + 1), Verdict::replayed);
    EXPECT_EQ(window.judge(highest + 1), Verdict::fresh);
    EXPECT_EQ(window.judge(1), Verdict::too_old);
  }
}

TEST(ReplayWindow, AJumpForgetsNothingThatIsStillInside) {
  for (const std::uint64_t jump : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{65},
                                   kWidth - 1, kWidth, kWidth + 64, 3 * kWidth}) {
    ReplayWindow window;
    for (std::uint64_t counter = 1; counter <= 200; counter += 2) window.note(counter);
    window.note(199 + jump);
    for (std::uint64_t counter = 1; counter <= 199 + jump; ++counter) {
      const bool noted = (counter <= 199 && counter % 2 == 1) || counter == 199 + jump;
      const bool inside = 199 + jump - counter < kWidth;
      const Verdict expected = !inside ? Verdict::too_old
                               : noted ? Verdict::replayed
                                       : Verdict::fresh;
      ASSERT_EQ(window.judge(counter), expected) << jump << " " << counter;
    }
  }
}

TEST(ReplayWindow, IsWhatASetWouldBe) {
  Random random(5);
  for (int run = 0; run < 20; ++run) {
    ReplayWindow window;
    std::set<std::uint64_t> seen;
    std::uint64_t highest = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t span = random.below(50) == 0 ? 2 * kWidth : 300;
      const std::uint64_t low = highest > span ? highest - span : 0;
      const std::uint64_t counter = 1 + low + random.below(highest - low + 40);
      const Verdict expected = counter + kWidth <= highest ? Verdict::too_old
                               : seen.count(counter) != 0  ? Verdict::replayed
                                                           : Verdict::fresh;
      ASSERT_EQ(window.judge(counter), expected) << counter << " " << highest;
      if (expected != Verdict::fresh) continue;
      window.note(counter);
      seen.insert(counter);
      highest = std::max(highest, counter);
    }
  }
}

}  // namespace
}  // namespace peal::seal::test
