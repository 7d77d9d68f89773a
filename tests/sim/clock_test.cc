// SPDX-License-Identifier: Apache-2.0
#include "sim/world/clock.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/world/event_queue.h"

namespace peal::sim {
namespace {

TEST(Clock, NeverGoesBackAndDriftsAsTold) {
  for (const std::int32_t drift : {-50'000, -1, 0, 1, 50'000}) {
    const Clock clock(seconds(7), drift);
    EXPECT_EQ(clock.local(Instant{}), Instant{} + seconds(7));
    EXPECT_EQ(clock.local(Instant{} + seconds(1)).ns, 8'000'000'000 + std::int64_t{drift} * 1'000);
    Instant last = clock.local(Instant{});
    for (std::int64_t t = 1; t < 5'000; ++t) {
      const Instant here = clock.local(Instant{t});
      EXPECT_GE(here, last);
      last = here;
    }
  }
}

TEST(Clock, FindsTheMomentOfALocalTime) {
  Random random(5);
  for (int i = 0; i < 2'000; ++i) {
    const Clock clock(Duration{random.between(0, 1'000'000'000'000)},
                      static_cast<std::int32_t>(random.between(-50'000, 50'000)));
    const Instant world{random.between(0, 5'000'000'000'000)};
    const Instant local = clock.local(world);
    const Instant found = clock.world(local);
    EXPECT_GE(clock.local(found), local);
    EXPECT_LE(found.ns, world.ns + 1);
    EXPECT_GE(found.ns, world.ns - 2);
  }
}

TEST(EventQueue, OrdersByTimeAndThenByInsertion) {
  EventQueue queue;
  Random random(1);
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    queue.push(Instant{random.between(0, 50)}, Happening::run, 1, i);
  }
  Planned last = queue.pop();
  while (!queue.empty()) {
    const Planned next = queue.pop();
    ASSERT_TRUE(last.at < next.at || (last.at == next.at && last.order < next.order));
    last = next;
  }
}

}  // namespace
}  // namespace peal::sim
