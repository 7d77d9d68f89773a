// SPDX-License-Identifier: Apache-2.0
// Whole engines in situations that few seeds reach: many members, small packets, an application
// that takes nothing, packets that come too early.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "order/toto/commit_record.h"
#include "order/toto/vocabulary.h"
#include "toto_cluster.h"

namespace peal::order::toto::test {
namespace {

using order::test::Cluster;
using order::test::Flight;
using order::test::Log;

/// Members `from` to `to` of a cluster.
bool in(std::uint32_t member, std::uint32_t from, std::uint32_t to) {
  return member >= from && member <= to;
}

// With more members than a unit's packet can name, a control node goes before a unit. That node may
// be the vote that decides what the application has no space for.
TEST(TotoEngine, AControlNodeInFrontOfAUnitMayFillTheApplication) {
  constexpr std::uint32_t kMembers = 14, kLast = kMembers - 1;
  Cluster cluster(maker({}), kMembers);
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(kMembers); }, seconds(5)));
  cluster.run(milliseconds(10));

  // Members 0 to 6 have the message of 0 only, members 7 to 12 that of 7 only.
  std::vector<Bytes> held;
  cluster.filter = [&](const Flight& flight) {
    if (!is(flight, wire::TotoKind::node)) return true;
    if (flight.to == kLast) held.push_back(flight.bytes);
    if (flight.to == kLast) return false;
    return in(flight.from, 0, 6) == in(flight.to, 0, 6);
  };
  cluster.submit(0, "u");
  cluster.submit(7, "w");
  cluster.run(microseconds(90));
  ASSERT_EQ(held.size(), kMembers - 1) << "a node of each other member";
  cluster.set_room(kLast, 0);
  cluster.preload(kLast, "x");
  for (const Bytes& packet : held) cluster.inject(kLast, packet);
  const std::size_t before = cluster.log(kLast).size();
  cluster.run(microseconds(10));
  EXPECT_EQ(cluster.log(kLast).size(), before) << "its application takes nothing";

  cluster.filter = [](const Flight&) { return true; };
  cluster.set_room(kLast, 100);
  cluster.poke(kLast);
  cluster.run(milliseconds(100));
  EXPECT_TRUE(cluster.in_view_of(kMembers));
  for (std::uint32_t member = 0; member < kMembers; ++member) {
    const Log& log = cluster.log(member);
    ASSERT_EQ(log.size(), before + 3) << member;
    EXPECT_EQ(log[before], "1:u");
    EXPECT_EQ(log[before + 1], "2:w");
    EXPECT_EQ(log[before + 2], "3:x");
  }
}

// The packets of units are small enough. Those of acknowledgements name all members.
TEST(TotoEngine, AcknowledgementsOfManyMembersMayExceedTheLargestPacketOfUnits) {
  constexpr std::uint32_t kMembers = 60;
  Options options;
  options.packet_bytes_max = 256;
  Cluster cluster(maker(options), kMembers);
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(kMembers); }, seconds(20)));
  cluster.run(milliseconds(100));
  std::vector<std::uint64_t> gathers;
  for (std::uint32_t member = 0; member < kMembers; ++member) {
    gathers.push_back(cluster.counter(member, "gathers"));
    cluster.preload(member, "of " + std::to_string(member));
  }
  for (std::uint32_t member = 0; member < kMembers; ++member) cluster.poke(member);
  cluster.run(seconds(1));
  EXPECT_TRUE(cluster.in_view_of(kMembers));
  for (std::uint32_t member = 0; member < kMembers; ++member) {
    EXPECT_EQ(cluster.log(member), cluster.log(0));
    EXPECT_EQ(cluster.counter(member, "out_of_window"), 0U);
    EXPECT_EQ(cluster.counter(member, "gathers"), gathers[member]);
  }
  EXPECT_GT(cluster.log(0).size(), kMembers);
}

// The representative begins the rounds of PASS. A PASS that comes before is not of this attempt's
// rounds.
TEST(TotoEngine, TheRepresentativeTakesNoPassBeforeItHasSentTheFirst) {
  for (int which = 0; which < 4; ++which) {
    SCOPED_TRACE(which);
    Cluster cluster(maker({}), 3);
    cluster.start_all();
    ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
    Bytes like, commit;
    cluster.on_sent = [&](const Flight& flight) {
      if (flight.from == 1 && is(flight, wire::TotoKind::status)) like = flight.bytes;
    };
    cluster.run(milliseconds(100));
    ASSERT_FALSE(like.empty());
    cluster.crash(2);
    int commits = 0;
    cluster.filter = [&](const Flight& flight) {
      if (flight.to != 0 || flight.kind != wire::FrameKind::commit || !commit.empty()) return true;
      if (commits++ != which) return true;
      commit = flight.bytes;
      return false;
    };
    if (!cluster.run_until([&] { return !commit.empty(); }, seconds(3))) continue;
    wire::Commit body;
    ASSERT_EQ(decode_commit(commit, body), wire::Drop::none);
    wire::TotoPass pass;
    pass.view = body.view;
    pass.hop = 1;
    Bytes bytes(200);
    bytes.resize(wire::encode_toto_pass(header_of(like), pass, bytes));
    cluster.inject(0, bytes);
    cluster.inject(0, commit);
    EXPECT_TRUE(cluster.run_until([&] { return cluster.in_view_of(2); }, seconds(3)));
    cluster.submit(0, "next");
    cluster.run(milliseconds(50));
    EXPECT_TRUE(cluster.log(1).back().ends_with(":next"));
  }
}

// c's node follows a node that b sent late, and one of a that a has not made. a notices the second
// only when b's node has come.
TEST(TotoEngine, ARefusedNodeIsReportedWithItsOrigin) {
  Cluster cluster(maker({}), 3);
  std::map<std::uint32_t, Bytes> nodes;
  cluster.on_sent = [&](const Flight& flight) {
    if (is(flight, wire::TotoKind::node)) nodes[flight.from] = flight.bytes;
  };
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  cluster.submit(2, "first");
  cluster.run(milliseconds(20));
  Bytes late;
  cluster.filter = [&](const Flight& flight) {
    if (flight.from != 0 || flight.to != 1 || !is(flight, wire::TotoKind::node)) return true;
    late = flight.bytes;
    return false;
  };
  cluster.submit(0, "late", Service::causal);
  cluster.run(microseconds(5));
  ASSERT_FALSE(late.empty());
  wire::Node node = node_of(nodes.at(2));
  ++node.seq;
  node.kind = wire::NodeKind::control;
  node.advances.clear();
  // c has made one node yet, which follows nothing.
  node.advances.push_back({0, static_cast<std::uint16_t>(node_of(late).seq)});
  node.advances.push_back({1, 1'000});
  cluster.inject(1, packet_of(node, nodes.at(2)));
  EXPECT_EQ(cluster.counter(1, "refused"), 0U) << "it waits for the node of a";
  cluster.inject(1, late);
  EXPECT_EQ(cluster.counter(1, "refused"), 1U);
  const auto told = cluster.last_event(1, &event::node_refused);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->who.node, NodeId{3});
}

// A member whose own node can never join would hold up every safe message.
TEST(TotoEngine, AMemberWhoseNextNodeIsRefusedIsExcluded) {
  Cluster cluster(maker({}), 3);
  std::map<std::uint32_t, Bytes> nodes;
  cluster.on_sent = [&](const Flight& flight) {
    if (is(flight, wire::TotoKind::node)) nodes[flight.from] = flight.bytes;
  };
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  cluster.submit(2, "first");
  cluster.run(milliseconds(20));
  // From now on, each node of c that reaches another member names a node that nobody has made.
  cluster.filter = [&](const Flight& flight) {
    if (flight.from != 2 || !is(flight, wire::TotoKind::node)) return true;
    wire::Node node = node_of(flight.bytes);
    if (node.origin != 2) return true;
    node.kind = wire::NodeKind::control;
    node.advances.clear();
    node.advances.push_back({static_cast<std::uint16_t>(flight.to), 1'000});
    cluster.inject(flight.to, packet_of(node, flight.bytes));
    return false;
  };
  cluster.submit(0, "safe", Service::safe);
  cluster.run(milliseconds(100));
  const auto has_delivered = [&](std::uint32_t member) {
    return std::ranges::any_of(cluster.log(member),
                               [](const std::string& line) { return line.ends_with(":safe"); });
  };
  EXPECT_FALSE(has_delivered(0));
  const WaitReason why = cluster.engine(0).why();
  EXPECT_EQ(why.kind, &wait::refused);
  EXPECT_EQ(why.who.node, NodeId{3});
  EXPECT_TRUE(cluster.run_until([&] { return has_delivered(0) && has_delivered(1); }, seconds(3)));
}

// A member that did not run for long waits for a sign that the view still exists, and says so.
TEST(TotoEngine, TheWaitAfterAPauseIsTold) {
  Cluster cluster(maker({}), 3);
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  cluster.run(milliseconds(20));
  cluster.filter = [](const Flight& flight) { return flight.to != 0; };
  cluster.pause(0, seconds(1));
  cluster.submit(0, "after");
  cluster.run(milliseconds(10));
  EXPECT_EQ(cluster.engine(0).why().kind, &wait::sign_of_life);
  cluster.filter = [](const Flight&) { return true; };
  EXPECT_TRUE(
      cluster.run_until([&] { return cluster.log(1).back().ends_with(":after"); }, seconds(1)));
}

TEST(TotoEngine, TheReportOfASilentMemberNamesIt) {
  Cluster cluster(maker({}), 3);
  cluster.start_all();
  ASSERT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  cluster.run(milliseconds(20));
  const auto gathered = [&](std::uint32_t member) {
    return cluster.events(member, &event::gather_started);
  };
  const std::uint64_t before[] = {gathered(0), gathered(1)};
  cluster.crash(2);
  ASSERT_TRUE(cluster.run_until([&] { return gathered(0) > before[0] || gathered(1) > before[1]; },
                                seconds(2)));
  const std::uint32_t first = gathered(0) > before[0] ? 0 : 1;
  const auto told = cluster.last_event(first, &event::gather_started);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->reason->name, gather::silence.name);
  EXPECT_EQ(told->who.node, NodeId{3});
}

}  // namespace
}  // namespace peal::order::toto::test
