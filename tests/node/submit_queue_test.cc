// SPDX-License-Identifier: Apache-2.0
#include "node/submit_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>

#include "base/random.h"
#include "fake_engine.h"

namespace peal::node {
namespace {

using test::pattern;

void take_and_pop(SubmitQueue& queue) {
  queue.take();
  queue.pop(1);
}

TEST(SubmitQueue, NumbersCountFromOneWithoutHoles) {
  SubmitQueue queue{Limits{}};
  EXPECT_EQ(queue.push({}, Service::agreed), 1U);
  EXPECT_EQ(queue.push({}, Service::safe), 2U);
  EXPECT_EQ(queue.front_number(), 1U);
  take_and_pop(queue);
  EXPECT_EQ(queue.front_number(), 2U);
  EXPECT_EQ(queue.front_service(), Service::safe);
  take_and_pop(queue);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.push({}, Service::agreed), 3U);
}

TEST(SubmitQueue, ARefusedMessageTakesNoNumber) {
  Limits limits;
  limits.message_bytes_max = 10;
  limits.submit_messages_max = 2;
  SubmitQueue queue(limits);
  const std::string eleven(11, 'x');
  EXPECT_EQ(queue.push(as_bytes_view(eleven), Service::agreed).error(), Errc::too_large);
  EXPECT_EQ(queue.push({}, Service::agreed), 1U);
  EXPECT_EQ(queue.push({}, Service::agreed), 2U);
  EXPECT_EQ(queue.push({}, Service::agreed).error(), Errc::would_block);
  take_and_pop(queue);
  EXPECT_EQ(queue.push({}, Service::agreed), 3U);
}

TEST(SubmitQueue, BlocksAtItsBytesButTakesAnyMessageWhenEmpty) {
  Limits limits;
  limits.message_bytes_max = 1'000'000;
  limits.submit_bytes_max = 500'000;
  SubmitQueue queue(limits);
  const std::string large = pattern(900'000, 1);
  EXPECT_TRUE(queue.push(as_bytes_view(large), Service::agreed));
  EXPECT_EQ(queue.push(as_bytes_view("x"), Service::agreed).error(), Errc::would_block);
  EXPECT_EQ(queue.bytes(), 900'000U);
  take_and_pop(queue);
  EXPECT_TRUE(queue.push(as_bytes_view("x"), Service::agreed));
}

TEST(SubmitQueue, TheRingOfSmallMessagesBlocksWhenItIsFull) {
  Limits limits;
  limits.submit_small_bytes_max = 4'096;
  SubmitQueue queue(limits);
  const std::string small(256, 's');
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(queue.push(as_bytes_view(small), Service::agreed));
  EXPECT_EQ(queue.push(as_bytes_view("x"), Service::agreed).error(), Errc::would_block);
  take_and_pop(queue);
  EXPECT_TRUE(queue.push(as_bytes_view(small), Service::agreed));
}

TEST(SubmitQueue, TakesABlockInsteadOfCopyingIt) {
  Limits limits;
  limits.submit_messages_max = 1;
  SubmitQueue queue(limits);
  for (std::size_t size : {0U, 5U, 100'000U}) {
    auto block = std::make_unique<std::byte[]>(size);
    const std::byte* const where = block.get();
    EXPECT_TRUE(queue.push_block({block.get(), size}, block, Service::agreed));
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(queue.front_payload().data(), where);
    EXPECT_EQ(queue.front_payload().size(), size);
    block = std::make_unique<std::byte[]>(size);
    EXPECT_EQ(queue.push_block({block.get(), size}, block, Service::agreed).error(),
              Errc::would_block);
    EXPECT_NE(block, nullptr);
    take_and_pop(queue);
  }
}

TEST(SubmitQueue, LeavesLentBytesWhereTheyAre) {
  SubmitQueue queue(Limits{});
  const std::string lent(300, 'l');
  EXPECT_EQ(queue.push(as_bytes_view("copied"), Service::agreed), 1U);
  EXPECT_EQ(queue.push_lent(as_bytes_view(lent), Service::agreed), 2U);
  EXPECT_EQ(queue.push(as_bytes_view("too"), Service::agreed), 3U);
  EXPECT_EQ(queue.popped(), 0U);
  take_and_pop(queue);
  EXPECT_EQ(queue.front_payload().data(), as_bytes_view(lent).data());
  take_and_pop(queue);
  EXPECT_EQ(queue.popped(), 2U);
  EXPECT_EQ(as_text(queue.front_payload()), "too");
  queue.check_invariants();
}

TEST(SubmitQueue, WhatIsTakenCountsUntilItIsPopped) {
  SubmitQueue queue(Limits{});
  EXPECT_TRUE(queue.push(as_bytes_view("one"), Service::agreed));
  EXPECT_TRUE(queue.push(as_bytes_view("three"), Service::safe));
  queue.take();
  EXPECT_EQ(queue.messages(), 2U);
  EXPECT_EQ(queue.bytes(), 8U);
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.waiting_bytes(), 5U);
  EXPECT_EQ(queue.front_number(), 2U);
  EXPECT_EQ(as_text(queue.front_payload()), "three");
  EXPECT_EQ(queue.front_service(), Service::safe);
  EXPECT_EQ(queue.taken_service(0), Service::agreed);
  EXPECT_EQ(queue.popped(), 0U);
  queue.take();
  EXPECT_EQ(queue.taken_service(1), Service::safe);
  queue.pop(1);
  EXPECT_EQ(queue.popped(), 1U);
  EXPECT_EQ(queue.bytes(), 5U);
  EXPECT_EQ(queue.waiting_bytes(), 0U);
  EXPECT_EQ(queue.taken_service(0), Service::safe);
  queue.check_invariants();
  queue.rewind();
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.waiting_bytes(), 5U);
  EXPECT_EQ(queue.front_number(), 2U);
  EXPECT_EQ(as_text(queue.front_payload()), "three");
  queue.check_invariants();
}

TEST(SubmitQueue, WhatIsForgottenGoesWithWhatIsTakenBeforeIt) {
  SubmitQueue queue(Limits{});
  const auto push = [&](int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(queue.push(as_bytes_view("abc"), Service::agreed));
  };
  push(3);
  queue.take();
  queue.forget();  // messages 2 and 3 are in no unit
  EXPECT_EQ(queue.waiting(), 0U);
  push(2);
  EXPECT_EQ(queue.front_number(), 4U);
  queue.take();
  queue.forget();  // message 5 is in no unit
  queue.check_invariants();
  EXPECT_EQ(queue.messages(), 5U);
  queue.pop(1);
  EXPECT_EQ(queue.popped(), 3U);
  queue.check_invariants();
  queue.pop(1);
  EXPECT_EQ(queue.popped(), 5U);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
  push(1);
  EXPECT_EQ(queue.front_number(), 6U);
  queue.forget();
  EXPECT_TRUE(queue.empty()) << "nothing was taken";
  queue.check_invariants();
}

TEST(SubmitQueue, WhatIsForgottenDoesNotComeBack) {
  SubmitQueue queue(Limits{});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(as_bytes_view("abc"), Service::agreed));
  queue.take();
  queue.take();
  queue.forget();
  EXPECT_EQ(queue.push(as_bytes_view("new"), Service::agreed), 4U);
  queue.take();
  queue.rewind();
  EXPECT_EQ(queue.popped(), 3U);
  EXPECT_EQ(queue.waiting(), 1U);
  EXPECT_EQ(queue.waiting_bytes(), 3U);
  EXPECT_EQ(as_text(queue.front_payload()), "new");
  queue.check_invariants();
}

TEST(SubmitQueue, KeepsEveryByteThroughAMillionRandomSteps) {
  Limits limits;
  limits.submit_small_bytes_max = 4'096;
  limits.submit_bytes_max = 40'000;
  limits.submit_messages_max = 100;
  limits.message_bytes_max = 20'000;
  SubmitQueue queue(limits);
  Random random(3);
  std::deque<std::pair<std::uint64_t, std::size_t>> model;  // number and size of each message
  std::uint64_t number = 0, blocked = 0;
  std::size_t taken = 0;
  const std::string text = pattern(30'000, 0);
  for (int step = 0; step < 1'000'000; ++step) {
    if (random.chance(0.35)) {
      const std::size_t size =
          random.chance(0.02) ? random.below(20'001) : random.below(random.chance(0.3) ? 4 : 300);
      const auto pushed =
          queue.push(as_bytes_view(text).subspan(number % 1'000, size), Service::agreed);
      if (pushed) {
        ASSERT_EQ(*pushed, number + 1);
        model.emplace_back(number++, size);
      } else {
        ASSERT_EQ(pushed.error(), Errc::would_block);
        ASSERT_FALSE(model.empty());
        ++blocked;
      }
    } else if (random.chance(0.5) && taken < model.size()) {
      const auto [expected, size] = model[taken++];
      ASSERT_EQ(queue.front_number(), expected + 1);
      ASSERT_EQ(as_text(queue.front_payload()), text.substr(expected % 1'000, size));
      queue.take();
    } else if (random.chance(0.01)) {
      queue.rewind();
      taken = 0;
    } else if (taken > 0) {
      const std::size_t count = 1 + random.below(std::min<std::size_t>(taken, 3));
      queue.pop(count);
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(count));
      taken -= count;
    }
    ASSERT_EQ(queue.waiting(), model.size() - taken);
    ASSERT_EQ(queue.messages(), model.size());
    if (step % 1'000 == 0) queue.check_invariants();
  }
  EXPECT_GT(blocked, 1'000U);
  EXPECT_GT(number, 100'000U);
}

}  // namespace
}  // namespace peal::node
