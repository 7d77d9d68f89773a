// SPDX-License-Identifier: Apache-2.0
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/judge/liveness.h"

namespace peal::sim {
namespace {

WorldOptions small_cluster(std::uint64_t seed) {
  WorldOptions options;
  options.nodes = 3;
  options.seed = seed;
  options.limits.message_bytes_max = 1U << 20;
  options.limits.submit_bytes_max = 4U << 20;
  options.limits.submit_small_bytes_max = 1U << 20;
  return options;
}

struct Cluster {
  explicit Cluster(const WorldOptions& options)
      : recorder(ledger_options(options)), world(options, recorder) {
    for (std::uint32_t n = 1; n <= options.nodes; ++n) world.start(NodeId{n});
    world.run_until(Instant{} + seconds(1));
  }
  static HistoryRecorder::Options ledger_options(const WorldOptions& options) {
    HistoryRecorder::Options out;
    out.nodes = options.nodes;
    out.keep_history = true;
    return out;
  }
  std::uint64_t views(std::uint32_t node) { return world.process(NodeId{node})->status.views; }

  HistoryRecorder recorder;
  World world;
};

/// A run with load, a crash, a restart and a split. Returns its digest.
std::uint64_t eventful_run(std::uint64_t seed) {
  Cluster cluster(small_cluster(seed));
  World& world = cluster.world;
  Load load;
  load.nodes = {NodeId{1}, NodeId{2}, NodeId{3}};
  load.until = world.now() + seconds(2);
  world.loads().add(load);
  world.network().conditions().loss = 0.05;
  world.run_until(world.now() + milliseconds(100));
  world.crash(NodeId{2});
  world.run_until(world.now() + milliseconds(700));
  world.start(NodeId{2});
  const std::vector<std::vector<NodeId>> parts{{NodeId{1}}, {NodeId{2}, NodeId{3}}};
  world.network().split(parts);
  world.run_until(world.now() + milliseconds(700));
  EXPECT_GT(cluster.recorder.figures().deliveries_checked, 1'000U);
  EXPECT_FALSE(cluster.recorder.broken());
  return world.digest();
}

TEST(World, RepeatsARunExactly) {
  EXPECT_EQ(eventful_run(1), eventful_run(1));
  EXPECT_NE(eventful_run(1), eventful_run(2));
}

TEST(World, FormsOneViewAndDeliversEverywhere) {
  Cluster cluster(small_cluster(1));
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(cluster.world.process(NodeId{n})->status.members.size(), 3U);
    cluster.world.submit(NodeId{n}, Service::safe, cluster.world.loads().payload(NodeId{n}, 5'000));
  }
  cluster.world.run_until(cluster.world.now() + milliseconds(100));
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_EQ(cluster.world.process(NodeId{n})->work.messages_delivered, 3U);
  }
  EXPECT_TRUE(cluster_is_idle(cluster.world));
  cluster.recorder.finish();
  EXPECT_TRUE(cluster.recorder.violations().empty());
}

TEST(World, PacketsOfACrashedNodeStillArrive) {
  Cluster cluster(small_cluster(1));
  World& world = cluster.world;
  world.network().conditions().delay = milliseconds(5);
  world.submit(NodeId{1}, Service::agreed, "last words");
  while (world.traffic().packets_of(PacketKind::data) == 0)
    ASSERT_TRUE(world.step(Instant{seconds(9).ns}));
  world.crash(NodeId{1});
  EXPECT_EQ(world.process(NodeId{1}), nullptr);
  world.run_until(world.now() + milliseconds(50));
  EXPECT_EQ(world.process(NodeId{2})->work.messages_delivered, 1U);
  EXPECT_EQ(world.process(NodeId{3})->work.messages_delivered, 1U);
}

TEST(World, ARestartedNodeIsAnotherMember) {
  Cluster cluster(small_cluster(1));
  const MemberId before = cluster.world.process(NodeId{3})->self;
  cluster.world.crash(NodeId{3});
  cluster.world.start(NodeId{3});
  const MemberId after = cluster.world.process(NodeId{3})->self;
  EXPECT_EQ(after.node, before.node);
  EXPECT_GT(after.epoch, before.epoch);
  EXPECT_EQ(cluster.recorder.faults().of(Fault::crash), 1U);
  EXPECT_EQ(cluster.recorder.faults().of(Fault::restart), 1U);
}

TEST(World, ACrashCutsAStepInTheMiddle) {
  for (std::uint64_t sends = 1; sends <= 6; ++sends) {
    Cluster cluster(small_cluster(1));
    World& world = cluster.world;
    const std::uint64_t before = world.process(NodeId{1})->work.packets_sent;
    const std::uint64_t all_before = cluster.recorder.figures().packets;
    EXPECT_GT(before, 0U);
    world.crash_after_sends(NodeId{1}, sends);
    for (int i = 0; i < 20; ++i) world.submit(NodeId{1}, Service::agreed, "x");
    while (world.process(NodeId{1}) != nullptr) ASSERT_TRUE(world.step(Instant{seconds(9).ns}));
    EXPECT_GE(cluster.recorder.figures().packets - all_before, sends);
    EXPECT_EQ(cluster.recorder.faults().of(Fault::crash_in_call), 1U);
    world.run_until(world.now() + seconds(2));
    cluster.recorder.finish();
    EXPECT_TRUE(cluster.recorder.violations().empty()) << cluster.recorder.violations()[0].text;
  }
}

TEST(World, APausedNodeReadsWhatPiledUp) {
  Cluster cluster(small_cluster(1));
  World& world = cluster.world;
  world.pause(NodeId{2}, milliseconds(60));
  world.submit(NodeId{2}, Service::agreed, "submitted while paused");
  world.submit(NodeId{1}, Service::agreed, "sent while n2 is paused");
  world.run_until(world.now() + milliseconds(50));
  EXPECT_EQ(world.process(NodeId{2})->work.messages_delivered, 0U);
  world.run_until(world.now() + milliseconds(200));
  EXPECT_EQ(world.process(NodeId{2})->work.messages_delivered, 2U);
  EXPECT_EQ(cluster.views(2), 1U);
}

TEST(World, ALeavingNodeSaysSoAndIsGone) {
  Cluster cluster(small_cluster(1));
  cluster.world.leave(NodeId{3});
  cluster.world.run_until(cluster.world.now() + milliseconds(1));
  EXPECT_EQ(cluster.world.process(NodeId{3}), nullptr);
  cluster.world.run_until(cluster.world.now() + milliseconds(100));
  EXPECT_EQ(cluster.world.process(NodeId{1})->status.members.size(), 2U);
  bool left = false;
  for (const trace::Event& event : cluster.recorder.events()) {
    left = left || (event.kind == trace::Kind::leave && event.node.node == NodeId{3});
  }
  EXPECT_TRUE(left);
}

TEST(World, ASlowApplicationTakesItsMessagesOneByOne) {
  Cluster cluster(small_cluster(1));
  World& world = cluster.world;
  world.set_application(NodeId{2}, 4, milliseconds(1));
  for (int i = 0; i < 50; ++i)
    world.submit(NodeId{1}, Service::agreed, world.loads().payload(NodeId{1}, 1'400));
  world.run_until(world.now() + milliseconds(10));
  EXPECT_LT(world.process(NodeId{1})->work.messages_delivered, 50U);
  world.run_until(world.now() + seconds(1));
  EXPECT_EQ(world.process(NodeId{2})->work.messages_delivered, 50U);
  EXPECT_EQ(cluster.views(1), 1U);
}

TEST(World, AFullSocketLosesPackets) {
  WorldOptions options = small_cluster(1);
  options.process.socket_packets = 4;
  Cluster cluster(options);
  cluster.world.set_slowness(NodeId{2}, 200);
  for (int i = 0; i < 50; ++i) {
    cluster.world.submit(NodeId{1}, Service::agreed,
                         cluster.world.loads().payload(NodeId{1}, 1'400));
  }
  cluster.world.run_until(cluster.world.now() + milliseconds(40));
  EXPECT_GT(cluster.recorder.faults().of(Fault::socket_full), 0U);
  cluster.world.set_slowness(NodeId{2}, 1);
  cluster.world.run_until(cluster.world.now() + seconds(1));
  EXPECT_EQ(cluster.world.process(NodeId{2})->work.messages_delivered, 50U);
}

TEST(World, OldAndRandomPacketsDoNoHarm) {
  Cluster cluster(small_cluster(1));
  World& world = cluster.world;
  for (int i = 0; i < 200; ++i) {
    world.strays().inject_random(NodeId{static_cast<std::uint32_t>(1 + i % 3)});
    EXPECT_TRUE(world.strays().replay(std::nullopt, microseconds(i)));
    world.run_until(world.now() + microseconds(100));
  }
  EXPECT_EQ(cluster.recorder.faults().of(Fault::garbage), 200U);
  EXPECT_FALSE(cluster.recorder.broken());
}

TEST(World, PlannedActionsHappenInTheirOrder) {
  Cluster cluster(small_cluster(1));
  std::vector<int> order;
  const Instant at = cluster.world.now() + milliseconds(3);
  cluster.world.plan(at, [&] { order.push_back(2); });
  cluster.world.plan(at, [&] { order.push_back(3); });
  cluster.world.plan(at - milliseconds(1), [&] { order.push_back(1); });
  cluster.world.run_until(at);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace peal::sim
