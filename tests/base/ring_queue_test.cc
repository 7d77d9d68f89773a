// SPDX-License-Identifier: Apache-2.0
#include "base/ring_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "base/random.h"

namespace peal {
namespace {

TEST(RingQueue, GoesRoundLikeADeque) {
  Random random(7);
  RingQueue<std::uint64_t> ring(8);
  std::deque<std::uint64_t> model;
  for (std::uint64_t step = 0; step < 100'000; ++step) {
    // The queue grows far beyond its reserved capacity and shrinks again, many times.
    const bool growing = step / 5'000 % 2 == 0;
    if (random.chance(growing ? 0.7 : 0.3)) {
      if (random.chance(0.5)) {
        ring.push_back(step);
      } else {
        ring.push_back() = step;
      }
      model.push_back(step);
    } else if (!model.empty() && random.chance(0.3)) {
      ring.pop_back();
      model.pop_back();
    } else if (!model.empty()) {
      ring.pop_front();
      model.pop_front();
    }
    if (random.chance(0.0002)) {
      ring.clear();
      model.clear();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
    if (model.empty()) continue;
    ASSERT_EQ(ring.front(), model.front());
    ASSERT_EQ(ring.back(), model.back());
    const std::size_t index = random.below(model.size());
    ASSERT_EQ(ring[index], model[index]);
  }
}

TEST(RingQueue, LetsGoOfWhatLeaves) {
  const auto held = std::make_shared<int>(1);
  RingQueue<std::shared_ptr<int>> ring;
  for (int i = 0; i < 5; ++i) ring.push_back(held);
  EXPECT_EQ(held.use_count(), 6);
  ring.pop_front();
  EXPECT_EQ(held.use_count(), 5);
  ring.pop_back();
  EXPECT_EQ(held.use_count(), 4);
  EXPECT_EQ(ring.push_back(), nullptr) << "nothing of what was there";
  ring.clear();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace peal
