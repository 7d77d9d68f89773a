// SPDX-License-Identifier: Apache-2.0
// RamCast without faults, and single faults at chosen moments.
#include <gtest/gtest.h>

#include <string>

#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

/// Runs until all servers are in one view for each domain.
void settle(World& world) {
  ASSERT_TRUE(world.run_until([&] { return world.is_settled(); }, seconds(2)));
}

void finish(World& world) {
  const bool quiet = world.run_until([&] { return world.is_quiet(); }, seconds(5));
  EXPECT_EQ(world.broken(), "");
  ASSERT_TRUE(quiet);
}

TEST(Ramcast, OneNodeOrdersAlone) {
  World world({.domains = {1}}, 1);
  world.start_all();
  settle(world);
  for (int i = 0; i < 100; ++i) world.submit(0, 1, 100);
  finish(world);
  EXPECT_EQ(world.delivered(0), 100U);
}

TEST(Ramcast, ThreeNodesOrderWhatAllOfThemSend) {
  World world({.domains = {3}}, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 300; ++i) world.submit(i % 3, 1, 100);
  finish(world);
  for (std::uint32_t node = 0; node < 3; ++node) EXPECT_EQ(world.delivered(node), 300U);
  EXPECT_EQ(world.keys(0), world.keys(1));
  EXPECT_EQ(world.keys(0), world.keys(2));
}

TEST(Ramcast, ANodeOutsideOfAllDomainsSends) {
  World world({.domains = {3}, .outsiders = 1}, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 200; ++i) world.submit(3, 1, 100);
  finish(world);
  EXPECT_EQ(world.places(3).size(), 200U);
  EXPECT_EQ(world.keys(1), world.places(3));
}

TEST(Ramcast, LargeUnitsDoNotTravelInTheLog) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.inline_bytes = 64;
  World world(shape, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 200; ++i) world.submit(3, 1, i % 2 == 0 ? 1'200 : 30);
  finish(world);
  EXPECT_EQ(world.delivered(2), 200U);
}

TEST(Ramcast, SeveralDomainsAgreeOnTheKeysOfTheirMessages) {
  World world({.domains = {3, 3, 1}, .outsiders = 1}, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 300; ++i) {
    world.submit(i % world.nodes(), static_cast<Domain>(i / 3 % 4), 60);
  }
  finish(world);
}

TEST(Ramcast, FollowersThatLearnFromTheLog) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.lazy = true;
  World world(shape, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 200; ++i) world.submit(3, 1, 100);
  finish(world);
  EXPECT_EQ(world.delivered(2), 200U);
}

TEST(Ramcast, AnotherNodeLeadsWhenTheLeaderHasCrashed) {
  World world({.domains = {3}, .outsiders = 1}, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 50; ++i) world.submit(3, 1, 100);
  world.run(microseconds(20));
  world.crash(0);
  for (std::uint32_t i = 0; i < 50; ++i) world.submit(3, 1, 100);
  finish(world);
  settle(world);
  EXPECT_EQ(world.view(1), (std::vector<NodeId>{{2}, {3}}));
  EXPECT_EQ(world.places(3).size(), 100U);
  for (std::uint32_t i = 0; i < 200; ++i) world.submit(2, 1, 100);
  finish(world);
}

TEST(Ramcast, ARestartedNodeIsAdmitted) {
  World world({.domains = {3}, .outsiders = 1}, 1);
  world.start_all();
  settle(world);
  for (std::uint32_t i = 0; i < 50; ++i) world.submit(3, 1, 100);
  finish(world);
  world.crash(1);
  world.run(milliseconds(1));
  world.start(1);
  for (std::uint32_t i = 0; i < 50; ++i) world.submit(3, 1, 100);
  finish(world);
  settle(world);
  for (std::uint32_t i = 0; i < 50; ++i) world.submit(1, 1, 100);
  finish(world);
  EXPECT_GE(world.delivered(1), 50U);
}

}  // namespace
}  // namespace peal::order::ramcast::test
