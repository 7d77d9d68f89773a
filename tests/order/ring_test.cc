// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cluster.h"

namespace peal::order::test {
namespace {

Log deliveries(const Log& log) {
  Log result;
  for (const std::string& line : log) {
    if (line.find(':') != std::string::npos) result.push_back(line);
  }
  return result;
}

TEST(Ring, ThreeNodesFormOneView) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  EXPECT_EQ(cluster.log(0), Log{"view abc"});
}

TEST(Ring, AgreedMessagesComeInOneOrder) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  for (int i = 0; i < 200; ++i) {
    cluster.submit(static_cast<std::uint32_t>(i % 3), "m" + std::to_string(i));
  }
  cluster.run(milliseconds(200));
  ASSERT_EQ(deliveries(cluster.log(0)).size(), 200U);
  EXPECT_EQ(cluster.log(0), cluster.log(1));
  EXPECT_EQ(cluster.log(0), cluster.log(2));
}

TEST(Ring, SafeMessagesComeOnceAllHaveThem) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  cluster.submit(1, "s", Service::safe);
  cluster.submit(2, "a");
  cluster.run(milliseconds(200));
  EXPECT_EQ(deliveries(cluster.log(0)).size(), 2U);
  EXPECT_EQ(cluster.log(0), cluster.log(1));
  EXPECT_EQ(cluster.log(0), cluster.log(2));
}

TEST(Ring, AMemberThatDiesIsLeftOut) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  const Instant killed = cluster.now();
  cluster.crash(1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(2); }, seconds(5)));
  EXPECT_LT(cluster.now() - killed, milliseconds(500));
  EXPECT_EQ(cluster.log(0), (Log{"view abc", "trans ac", "view ac"}));
  cluster.start(1);
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
}

TEST(Ring, LossIsRepaired) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  int count = 0;
  cluster.filter = [&](const Flight& flight) {
    return flight.kind != wire::FrameKind::data || ++count % 7 != 0;
  };
  for (int i = 0; i < 500; ++i) {
    cluster.submit(static_cast<std::uint32_t>(i % 3), "m" + std::to_string(i),
                   i % 5 == 0 ? Service::safe : Service::agreed);
  }
  cluster.run(seconds(2));
  ASSERT_EQ(deliveries(cluster.log(0)).size(), 500U);
  EXPECT_EQ(cluster.log(0), cluster.log(1));
  EXPECT_EQ(cluster.log(0), cluster.log(2));
  EXPECT_EQ(cluster.counter(0, "views_installed"), 1U);
}

TEST(Ring, ANodeAloneDeliversToItself) {
  const auto made = formed(1);
  Cluster& cluster = *made;
  for (int i = 0; i < 100; ++i) cluster.submit(0, "m" + std::to_string(i), Service::safe);
  cluster.run(milliseconds(10));
  EXPECT_EQ(deliveries(cluster.log(0)).size(), 100U);
}

TEST(Ring, WhatWaitedForAViewOfOneIsOrderedInIt) {
  Cluster cluster(1, {});
  cluster.start_all();
  cluster.preload(0, "early");
  EXPECT_TRUE(cluster.run_until([&] { return !deliveries(cluster.log(0)).empty(); }, seconds(5)));
}

TEST(Ring, ANodeAloneOrdersNothingThatItsApplicationDoesNotTake) {
  const auto made = formed(1);
  Cluster& cluster = *made;
  cluster.set_room(0, 0);
  for (int i = 0; i < 10; ++i) cluster.submit(0, "m");
  cluster.run(milliseconds(100));
  EXPECT_TRUE(deliveries(cluster.log(0)).empty());
  cluster.set_room(0, 100);
  cluster.run(milliseconds(100));
  EXPECT_EQ(deliveries(cluster.log(0)).size(), 10U);
}

TEST(Ring, AnIdleViewCostsAlmostNothing) {
  const auto made = formed(3);
  Cluster& cluster = *made;
  cluster.run(seconds(1));
  std::uint64_t packets = 0;
  cluster.on_sent = [&](const Flight&) { ++packets; };
  cluster.run(seconds(10));
  EXPECT_LT(packets, 10 * 3 * 15U);  // the token rests 80 ms in each rotation
  // The first message after the silence needs two rotations, but no hold time.
  const Instant before = cluster.now();
  cluster.submit(2, "late");
  ASSERT_TRUE(cluster.run_until([&] { return !deliveries(cluster.log(1)).empty(); }, seconds(1)));
  EXPECT_LT(cluster.now() - before, microseconds(20 * 3 * 2 + 40));
}

TEST(Ring, AnIdleViewSurvivesTheLossOfItsTokenOnTwoHops) {
  for (std::uint32_t nodes : {3U, 10U}) {
    Cluster cluster(nodes, {});
    cluster.start_all();
    ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(nodes); }, seconds(5)));
    std::vector<std::vector<std::byte>> last(nodes);  // the last token that each member sent
    std::vector<bool> to_lose(nodes, false);
    std::uint32_t lost = 0;
    cluster.filter = [&](const Flight& flight) {
      if (flight.kind != wire::FrameKind::token) return true;
      const bool again = last[flight.from] == flight.bytes;
      last[flight.from] = flight.bytes;
      if (again || !to_lose[flight.from]) return true;
      to_lose[flight.from] = false;
      ++lost;
      return false;
    };
    cluster.run(seconds(1));
    const std::size_t seen = cluster.log(0).size();
    for (std::uint32_t second = 1; second < nodes; ++second) {
      lost = 0;
      to_lose[second] = to_lose[second - 1] = true;
      cluster.run(seconds(1));
      EXPECT_EQ(lost, 2U);
      EXPECT_EQ(cluster.log(0).size(), seen) << nodes << " nodes, lost at " << second;
    }
  }
}

}  // namespace
}  // namespace peal::order::test
