// SPDX-License-Identifier: Apache-2.0
#include "member/submit_stage.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace peal::member {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMessagesMax = 2'000;
constexpr std::uint64_t kSmallBytesMax = 1U << 20;

SubmitStage::Limits limits(std::uint32_t message_bytes_max, std::uint64_t block_bytes_max) {
  return {message_bytes_max, kSmallBytesMax, block_bytes_max, kMessagesMax};
}

/// Takes all visible messages from the stage, as the loop does, and frees their blocks.
std::vector<std::string> hand_over(SubmitStage& stage) {
  std::vector<std::string> texts;
  while (SubmitStage::Item* item = stage.front()) {
    texts.emplace_back(as_text(item->payload()));
    if (item->block) delete[] std::exchange(item->bytes, nullptr);
    stage.pop();
  }
  return texts;
}

TEST(SubmitStage, HandsOverInOrderWithNumbersFromOne) {
  SubmitStage stage(limits(100'000, 1'000'000));
  const std::string large(50'000, 'l');
  const auto first = stage.push(as_bytes_view("a"), Service::safe);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->number, 1U);
  EXPECT_TRUE(first->first);
  const auto second = stage.push(as_bytes_view(large), Service::agreed);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number, 2U);
  EXPECT_FALSE(second->first);
  ASSERT_TRUE(stage.push({}, Service::fifo));
  EXPECT_TRUE(stage.waiting());
  EXPECT_EQ(stage.front(), nullptr);
  stage.turn(0);
  EXPECT_FALSE(stage.waiting());
  EXPECT_EQ(stage.front()->service, Service::safe);
  // A message that is pushed now becomes visible at the next turn.
  const auto next = stage.push(as_bytes_view("b"), Service::agreed);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->number, 4U);
  EXPECT_TRUE(next->first);
  EXPECT_EQ(hand_over(stage), (std::vector<std::string>{"a", large, ""}));
  stage.turn(3);
  EXPECT_EQ(hand_over(stage), std::vector<std::string>{"b"});
  stage.turn(4);
  EXPECT_EQ(stage.front(), nullptr);
  EXPECT_EQ(stage.pushed(), 4U);
}

TEST(SubmitStage, KeepsSmallBytesUntilTheyAreReleased) {
  SubmitStage stage(limits(1'000, 0));
  std::vector<ByteView> lent;
  std::uint64_t pushed = 0, released = 0;
  for (int round = 0; round < 2'000; ++round) {
    for (int i = 0; i < 3; ++i, ++pushed) {
      ASSERT_TRUE(stage.push(as_bytes_view(std::string(700, static_cast<char>('a' + pushed % 26))),
                             Service::agreed));
    }
    stage.turn(released);
    for (; stage.front() != nullptr; stage.pop()) lent.push_back(stage.front()->payload());
    if (pushed - released < 1'000) continue;
    for (; released < pushed - 10; ++released) {
      const ByteView bytes = lent[released];
      ASSERT_EQ(as_text(bytes), std::string(700, static_cast<char>('a' + released % 26)));
    }
  }
}

TEST(SubmitStage, RefusesWhatIsTooLargeAndEverythingAfterClose) {
  SubmitStage stage(limits(10, 100));
  EXPECT_EQ(stage.push(as_bytes_view("12345678901"), Service::agreed).error(), Errc::too_large);
  EXPECT_EQ(
      stage.push_until(as_bytes_view("12345678901"), Service::agreed, {}, Clock::now()).error(),
      Errc::too_large);
  ASSERT_TRUE(stage.push(as_bytes_view("1234567890"), Service::agreed));
  stage.close();
  EXPECT_EQ(stage.push({}, Service::agreed).error(), Errc::closed);
  stage.turn(0);
  EXPECT_EQ(hand_over(stage).size(), 1U);
}

TEST(SubmitStage, BlocksAtEachOfItsBounds) {
  SubmitStage stage(limits(1U << 20, 300'000));
  for (std::size_t i = 0; i < kMessagesMax; ++i) ASSERT_TRUE(stage.push({}, Service::agreed));
  EXPECT_EQ(stage.push({}, Service::agreed).error(), Errc::would_block);
  stage.turn(0);
  EXPECT_EQ(hand_over(stage).size(), kMessagesMax);
  EXPECT_EQ(stage.push({}, Service::agreed).error(),
            // Messages that were handed over still count, until turn() releases them.
            Errc::would_block);
  stage.turn(kMessagesMax);

  const std::string small(16'384, 's');
  for (std::size_t i = 0; i < kSmallBytesMax / small.size(); ++i) {
    ASSERT_TRUE(stage.push(as_bytes_view(small), Service::agreed));
  }
  EXPECT_EQ(stage.push(as_bytes_view("x"), Service::agreed).error(), Errc::would_block);
  // Blocks have their own limit. One block may exceed it; several blocks together may not.
  const std::string huge(1U << 20, 'h'), large(150'000, 'l');
  ASSERT_TRUE(stage.push(as_bytes_view(huge), Service::agreed));
  EXPECT_EQ(stage.push(as_bytes_view(large), Service::agreed).error(), Errc::would_block);
  stage.turn(kMessagesMax);
  hand_over(stage);
  stage.turn(kMessagesMax);  // blocks need no release: the node owns them now
  ASSERT_TRUE(stage.push(as_bytes_view(large), Service::agreed));
  ASSERT_TRUE(stage.push(as_bytes_view(large), Service::agreed));
  EXPECT_EQ(stage.push(as_bytes_view(large), Service::agreed).error(), Errc::would_block);
  EXPECT_EQ(stage.push(as_bytes_view("x"), Service::agreed).error(), Errc::would_block);
  stage.turn(kMessagesMax + 1);
  EXPECT_TRUE(stage.push(as_bytes_view("x"), Service::agreed));
}

TEST(SubmitStage, APatientSenderGoesOnWhenThereIsRoomAndStopsOnClose) {
  SubmitStage stage(limits(1'000, 0));
  while (stage.push({}, Service::agreed)) {
  }
  const auto late = stage.push_until({}, Service::agreed, {}, Clock::now());
  EXPECT_EQ(late.error(), Errc::would_block);
  std::thread sender([&] {
    const auto pushed = stage.push_until(as_bytes_view("waited"), Service::agreed, {},
                                         Clock::now() + std::chrono::minutes(1));
    EXPECT_TRUE(pushed);
  });
  stage.turn(0);
  hand_over(stage);
  stage.turn(kMessagesMax);
  sender.join();
  stage.turn(kMessagesMax);
  EXPECT_EQ(hand_over(stage), std::vector<std::string>{"waited"});

  while (stage.push({}, Service::agreed)) {
  }
  std::thread closed([&] {
    const auto pushed =
        stage.push_until({}, Service::agreed, {}, Clock::now() + std::chrono::minutes(1));
    EXPECT_EQ(pushed.error(), Errc::closed);
  });
  stage.close();
  closed.join();
}

TEST(SubmitStage, ManySendersLoseNothing) {
  SubmitStage stage(limits(1'000, 0));
  constexpr std::uint64_t kThreads = 3, kEach = 30'000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&stage, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::string text = std::to_string(t) + ':' + std::to_string(i);
        EXPECT_TRUE(stage.push_until(as_bytes_view(text), Service::agreed, {},
                                     Clock::now() + std::chrono::minutes(1)));
      }
    });
  }
  std::vector<std::uint64_t> next(kThreads, 0);
  for (std::uint64_t got = 0; got < kThreads * kEach;) {
    stage.turn(got);
    for (const std::string& text : hand_over(stage)) {
      const auto thread = static_cast<std::size_t>(text[0] - '0');
      ASSERT_EQ(std::stoull(text.substr(2)), next[thread]++);
      ++got;
    }
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stage.pushed(), kThreads * kEach);
}

}  // namespace
}  // namespace peal::member
