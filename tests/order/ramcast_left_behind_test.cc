// SPDX-License-Identifier: Apache-2.0
// Leaders that the others have left behind, and leaders that reach too few.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "order/ramcast/keys.h"
#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

/// Slots are few, so that a sender soon uses them again.
Shape few_slots(std::uint32_t servers, std::uint32_t outsiders) {
  Shape shape{.domains = {servers}, .outsiders = outsiders};
  shape.options.slots = 4;
  shape.options.inline_bytes = 0;
  shape.options.suspect = milliseconds(20);
  shape.options.repair = milliseconds(15);
  return shape;
}

void expect_end(World& world) {
  world.heal_all();
  for (std::uint32_t node = 0; node < world.nodes(); ++node) world.resume(node);
  EXPECT_TRUE(world.run_until([&] { return world.is_settled(); }, seconds(5)));
  EXPECT_TRUE(world.run_until([&] { return world.is_quiet(); }, seconds(5)));
  EXPECT_EQ(world.broken(), "");
}

void split(World& world, const std::vector<std::uint32_t>& some,
           const std::vector<std::uint32_t>& others) {
  for (const std::uint32_t a : some) {
    for (const std::uint32_t b : others) {
      world.cut(a, b);
      world.cut(b, a);
    }
  }
}

bool deliver(World& world, std::uint32_t sender, std::size_t count) {
  const std::size_t before = world.places(sender).size();
  for (std::size_t i = 0; i < count; ++i) world.submit(sender, 1, 60);
  const auto placed = [&] { return world.places(sender).size() == before + count; };
  return world.run_until(placed, seconds(1));
}

/// A view takes in server 4, which has no base yet. The others deliver messages, and then a part of
/// them goes on without server 4 and without the leader, which does not know: it takes for past
/// what its sender has overwritten.
TEST(RamcastLeftBehind, AServerThatIsTakenInGetsNoBaseOfALeaderThatIsLeftBehind) {
  const auto world = settled(few_slots(5, 2));
  ASSERT_TRUE(deliver(*world, 5, 1) && deliver(*world, 6, 1));
  world->crash(4);
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 4; }, seconds(1)));
  world->start(4);
  const auto admitted = [&] {
    for (std::uint32_t server = 0; server < 4; ++server) {
      if (world->view(server).size() != 5) return false;
    }
    return true;
  };
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 5; }, seconds(1)));
  world->pause(4);
  ASSERT_TRUE(world->run_until(admitted, milliseconds(5)));
  ASSERT_TRUE(deliver(*world, 5, 4));
  ASSERT_TRUE(deliver(*world, 6, 1));
  ASSERT_TRUE(world->view(4).empty());
  split(*world, {0, 4}, {1, 2, 3});
  const auto left = [&] { return world->view(1).size() == 3; };
  ASSERT_TRUE(world->run_until(left, seconds(1)));
  ASSERT_TRUE(deliver(*world, 5, 6));
  world->run(milliseconds(1));
  world->resume(4);
  world->run(milliseconds(200));
  EXPECT_EQ(world->broken(), "");
  expect_end(*world);
}

/// Server 6 is a member, has no base of the present leader yet, and has never met the sender 7,
/// which has restarted.
TEST(RamcastLeftBehind, AMemberTakesNoBaseThatSkipsMessagesOfASenderThatItNeverMet) {
  const auto world = settled(few_slots(7, 2));
  ASSERT_TRUE(deliver(*world, 7, 1) && deliver(*world, 8, 1));
  world->pause(6);
  world->crash(0);
  ASSERT_TRUE(world->run_until([&] { return world->leader(1) == 1; }, seconds(1)));
  world->crash(7);
  world->start(7);
  world->cut(7, 6);
  world->cut(6, 7);
  ASSERT_TRUE(deliver(*world, 7, 4));
  ASSERT_TRUE(deliver(*world, 8, 1));
  ASSERT_EQ(world->view(1).size(), 7U) << "the leader has excluded server 6 already";
  split(*world, {1, 6}, {2, 3, 4, 5});
  const auto left = [&] { return world->view(2).size() == 4; };
  ASSERT_TRUE(world->run_until(left, seconds(1)));
  ASSERT_TRUE(deliver(*world, 7, 6));
  world->run(milliseconds(1));
  world->resume(6);
  world->run(milliseconds(200));
  EXPECT_EQ(world->broken(), "");
  world->start(0);
  expect_end(*world);
}

/// All servers live. Half of them hear the leader, which is no majority; with the other half, one
/// of these is a majority.
TEST(RamcastLeftBehind, ALeaderThatHearsNoMajorityIsDeposed) {
  const auto world = settled(few_slots(4, 1));
  ASSERT_TRUE(deliver(*world, 4, 1));
  split(*world, {0}, {2, 3});
  EXPECT_TRUE(deliver(*world, 4, 10));
  EXPECT_NE(world->leader(1), 0U);
  expect_end(*world);
}

TEST(RamcastLeftBehind, ALeaderThatHearsNoMajorityIsDeposedByTheFirstOfTheOthers) {
  const auto world = settled(few_slots(5, 1));
  ASSERT_TRUE(deliver(*world, 5, 1));
  world->crash(0);
  ASSERT_TRUE(deliver(*world, 5, 1));
  ASSERT_EQ(world->leader(1), 1U);
  split(*world, {1}, {3, 4});
  EXPECT_TRUE(deliver(*world, 5, 10));
  EXPECT_NE(world->leader(1), 1U);
  world->start(0);
  expect_end(*world);
}

}  // namespace
}  // namespace peal::order::ramcast::test
