// SPDX-License-Identifier: Apache-2.0
#include "member/stage.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace peal::member {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> texts_of(const Stage::Batch& batch) {
  std::vector<std::string> texts;
  for (const Stage::Item& item : batch.items) texts.emplace_back(as_text(batch.payload(item)));
  return texts;
}

TEST(Stage, HandsOverInOrderWithNumbersFromOne) {
  Stage stage(100'000, 1'000'000);
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
  Stage::Batch& batch = stage.take();
  EXPECT_FALSE(stage.waiting());
  EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"a", large, ""}));
  EXPECT_EQ(batch.items[0].service, Service::safe);
  EXPECT_NE(batch.items[1].block, nullptr);
  // The next batch fills while this one is still in use.
  const auto next = stage.push(as_bytes_view("b"), Service::agreed);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->number, 4U);
  EXPECT_TRUE(next->first);
  EXPECT_EQ(texts_of(batch), (std::vector<std::string>{"a", large, ""}));
  EXPECT_EQ(texts_of(stage.take()), std::vector<std::string>{"b"});
  EXPECT_TRUE(stage.take().items.empty());
  EXPECT_EQ(stage.pushed(), 4U);
}

TEST(Stage, RefusesWhatIsTooLargeAndEverythingAfterClose) {
  Stage stage(10, 100);
  EXPECT_EQ(stage.push(as_bytes_view("12345678901"), Service::agreed).error(), Errc::too_large);
  EXPECT_EQ(stage.push_until(as_bytes_view("12345678901"), Service::agreed, Clock::now()).error(),
            Errc::too_large);
  ASSERT_TRUE(stage.push(as_bytes_view("1234567890"), Service::agreed));
  stage.close();
  EXPECT_EQ(stage.push({}, Service::agreed).error(), Errc::closed);
  EXPECT_EQ(stage.take().items.size(), 1U);
}

TEST(Stage, BlocksAtEachOfItsBounds) {
  Stage stage(1U << 20, 300'000);
  for (std::size_t i = 0; i < Stage::kMessagesMax; ++i) {
    ASSERT_TRUE(stage.push({}, Service::agreed));
  }
  EXPECT_EQ(stage.push({}, Service::agreed).error(), Errc::would_block);
  EXPECT_EQ(stage.take().items.size(), Stage::kMessagesMax);

  const std::string small(16'384, 's');
  for (std::size_t i = 0; i < Stage::kSmallBytesMax / small.size(); ++i) {
    ASSERT_TRUE(stage.push(as_bytes_view(small), Service::agreed));
  }
  EXPECT_EQ(stage.push(as_bytes_view("x"), Service::agreed).error(), Errc::would_block);
  // Blocks are counted apart: one of any size, more up to the bound.
  const std::string huge(1U << 20, 'h'), large(150'000, 'l');
  ASSERT_TRUE(stage.push(as_bytes_view(huge), Service::agreed));
  EXPECT_EQ(stage.push(as_bytes_view(large), Service::agreed).error(), Errc::would_block);
  stage.take();
  ASSERT_TRUE(stage.push(as_bytes_view(large), Service::agreed));
  ASSERT_TRUE(stage.push(as_bytes_view(large), Service::agreed));
  EXPECT_EQ(stage.push(as_bytes_view(large), Service::agreed).error(), Errc::would_block);
}

TEST(Stage, APatientSenderGoesOnWhenThereIsRoomAndStopsOnClose) {
  Stage stage(1'000, 0);
  while (stage.push({}, Service::agreed)) {
  }
  const auto late = stage.push_until({}, Service::agreed, Clock::now());
  EXPECT_EQ(late.error(), Errc::would_block);
  std::thread sender([&] {
    const auto pushed = stage.push_until(as_bytes_view("waited"), Service::agreed,
                                         Clock::now() + std::chrono::minutes(1));
    EXPECT_TRUE(pushed);
  });
  while (!stage.waiting()) std::this_thread::yield();
  stage.take();
  sender.join();
  EXPECT_EQ(texts_of(stage.take()), std::vector<std::string>{"waited"});

  while (stage.push({}, Service::agreed)) {
  }
  std::thread closed([&] {
    const auto pushed =
        stage.push_until({}, Service::agreed, Clock::now() + std::chrono::minutes(1));
    EXPECT_EQ(pushed.error(), Errc::closed);
  });
  stage.close();
  closed.join();
}

TEST(Stage, ManySendersLoseNothing) {
  Stage stage(1'000, 0);
  constexpr std::uint64_t kThreads = 3, kEach = 30'000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&stage, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::string text = std::to_string(t) + ':' + std::to_string(i);
        EXPECT_TRUE(stage.push_until(as_bytes_view(text), Service::agreed,
                                     Clock::now() + std::chrono::minutes(1)));
      }
    });
  }
  std::vector<std::uint64_t> next(kThreads, 0);
  for (std::uint64_t got = 0; got < kThreads * kEach;) {
    for (const std::string& text : texts_of(stage.take())) {
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
