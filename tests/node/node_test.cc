// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "fake_engine.h"
#include "node/unit.h"

namespace peal::node::test {
namespace {

constexpr std::uint32_t kNodeUnit = 1'000;

TEST(Node, AMessageCutByAViewChangeIsOrderedWhollyInTheNextView) {
  Bench sender(1), old_member(2), joiner(3);
  const std::string payload = pattern(5'000, 1);
  sender.submit("small");
  sender.submit(payload);
  sender.install(1);
  for (int i = 0; i < 3; ++i) old_member.engine->effects->deliver(*sender.order_one(kNodeUnit));
  EXPECT_GT(old_member.node->reassembly_bytes(), 0U);
  EXPECT_EQ(sender.sink.placed.size(), 1U);
  for (Bench* each : {&sender, &old_member, &joiner}) {
    each->install(2, true);
    each->install(2);
  }
  EXPECT_EQ(old_member.node->reassembly_bytes(), 0U);
  sender.order_all(kNodeUnit, {&old_member, &joiner});
  ASSERT_EQ(joiner.sink.got.size(), 1U);
  EXPECT_EQ(joiner.sink.got[0].payload, payload);
  EXPECT_EQ(joiner.sink.got[0].number, 2U);
  ASSERT_EQ(old_member.sink.got.size(), 2U);
  EXPECT_EQ(old_member.sink.got[1].payload, payload);
  ASSERT_EQ(sender.sink.placed.size(), 2U);
  EXPECT_EQ(sender.sink.placed[1].number, 2U);
  EXPECT_EQ(sender.sink.placed[1].view, sender.view);
  EXPECT_EQ(sender.counter("node_restarted_messages"), 1U);
}

TEST(Node, APartialMessageSurvivesTheTransitionalView) {
  Bench sender(1), receiver(2);
  const std::string payload = pattern(1'500, 1);
  sender.submit(payload);
  receiver.engine->effects->deliver(*sender.order_one(kNodeUnit));
  auto tail = *sender.order_one(kNodeUnit);
  receiver.install(2, true);
  tail.transitional = true;
  receiver.engine->effects->deliver(tail);
  ASSERT_EQ(receiver.sink.got.size(), 1U);
  EXPECT_EQ(receiver.sink.got[0].payload, payload);
  EXPECT_TRUE(receiver.sink.got[0].transitional);
}

TEST(Node, NothingNewIsHandedOutWhileSomebodyIsSlow) {
  Bench sender(1);
  sender.install(1);
  sender.transport.slow = NodeId{2};
  sender.submit("waits");
  EXPECT_EQ(sender.engine->host->backlog_units(), 0U);
  order::Unit unit;
  EXPECT_FALSE(sender.engine->host->next_unit(kNodeUnit, unit));
  EXPECT_EQ(sender.node->queued_messages(), 1U);
  sender.transport.slow = NodeId{};
  EXPECT_EQ(sender.engine->host->backlog_units(), 1U);
  EXPECT_TRUE(sender.order_one(kNodeUnit));
  EXPECT_EQ(sender.sink.placed.size(), 1U);
  sender.node->check_invariants();
}

TEST(Node, OnlyRegularViewsChangeTheAudience) {
  Bench bench;
  bench.install(1, true);
  EXPECT_TRUE(bench.transport.audiences.empty());
  bench.install(1);
  ASSERT_EQ(bench.transport.audiences.size(), 1U);
  EXPECT_EQ(bench.transport.audiences[0], std::vector{bench.self});
  EXPECT_EQ(bench.sink.regular_views, 1);
}

TEST(Node, PassesPacketsEventsAndTimeThrough) {
  Bench bench;
  const BufferRef packet = bench.pool.take(0, 10);
  bench.engine->effects->send(NodeId{2}, Lane::token, packet);
  bench.engine->effects->multicast(Lane::data, packet);
  bench.engine->effects->report({});
  bench.node->on_packet({}, Lane::data, packet);
  bench.node->on_timer({});
  bench.node->on_durable({});
  bench.node->on_pause({}, seconds(1));
  bench.node->on_drained({});
  EXPECT_EQ(bench.transport.sends, 1);
  EXPECT_EQ(bench.transport.multicasts, 1);
  EXPECT_EQ(bench.sink.events, 1);
  EXPECT_EQ(bench.engine->packets, 1);
  EXPECT_EQ(bench.engine->timers, 1);
  EXPECT_EQ(bench.engine->durables, 1);
  EXPECT_EQ(bench.engine->pauses, 1);
  EXPECT_EQ(bench.engine->drains, 1);
  EXPECT_EQ(bench.node->next_deadline(), Instant{17});
  EXPECT_EQ(bench.node->preferred_lane(), Lane::data);
  EXPECT_EQ(bench.node->self(), bench.self);
  EXPECT_EQ(bench.engine->host->receive_room_units(), 1'000U);
}

TEST(Node, TellsTheEngineOfWorkOnlyWhenItDoesNotKnow) {
  Bench bench;
  bench.submit("a");
  bench.submit("b");
  EXPECT_EQ(bench.engine->works, 1);
  order::Unit unit;
  EXPECT_TRUE(bench.engine->host->next_unit(kNodeUnit, unit));
  bench.engine->effects->originate({}, 1);
  bench.submit("c");
  EXPECT_EQ(bench.engine->works, 2);
  bench.node->on_room({});
  EXPECT_EQ(bench.engine->works, 3);
}

TEST(Node, TellsTheEngineAgainAfterThePoolWasEmpty) {
  Bench bench(1, Limits{}, 2'048, 1);
  bench.submit("a");
  BufferRef taken = bench.pool.take();
  order::Unit unit;
  EXPECT_FALSE(bench.engine->host->next_unit(kNodeUnit, unit));
  EXPECT_EQ(bench.engine->host->backlog_units(), 1U);
  EXPECT_EQ(bench.counter("node_pool_empty"), 1U);
  taken.reset();
  bench.submit("b");
  EXPECT_EQ(bench.engine->works, 2);
  EXPECT_TRUE(bench.engine->host->next_unit(kNodeUnit, unit));
  bench.engine->effects->originate({}, 1);
  EXPECT_EQ(bench.sink.placed.size(), 2U);
}

TEST(Node, SubmissionsMadeTogetherAreAnnouncedTogether) {
  Bench bench;
  EXPECT_EQ(bench.node->submit_lent(as_bytes_view("a"), Service::agreed), 1U);
  EXPECT_EQ(bench.node->submit_lent(as_bytes_view("b"), Service::agreed), 2U);
  EXPECT_EQ(bench.engine->works, 0);
  bench.node->flush({});
  bench.node->flush({});
  EXPECT_EQ(bench.engine->works, 1);
  EXPECT_EQ(bench.order_all(kNodeUnit, {&bench}), 1U);
  bench.node->flush({});
  EXPECT_EQ(bench.engine->works, 1);
}

TEST(Node, TakesABlockOfTheCallers) {
  Bench bench;
  const std::string payload = pattern(5'000, 1);
  Gathered block{std::make_unique<std::byte[]>(payload.size()),
                 static_cast<std::uint32_t>(payload.size())};
  std::memcpy(block.bytes.get(), payload.data(), payload.size());
  EXPECT_EQ(bench.node->submit_block(block, Service::agreed), 1U);
  EXPECT_EQ(block.bytes, nullptr);
  bench.order_all(kNodeUnit, {&bench});
  ASSERT_EQ(bench.sink.got.size(), 1U);
  EXPECT_EQ(bench.sink.got[0].payload, payload);
}

TEST(Node, UnitsHaveHeadroomForAPacketHeader) {
  Bench bench;
  bench.submit("a");
  order::Unit unit;
  ASSERT_TRUE(bench.engine->host->next_unit(kNodeUnit, unit));
  EXPECT_TRUE(unit.bytes.unique());
  unit.bytes.grow_front(wire::kDataHeaderBytes);
  bench.engine->effects->originate({}, 1);
}

TEST(Node, RefusesWhatDoesNotFitAndWhatIsTooLarge) {
  Limits limits;
  limits.message_bytes_max = 1'000;
  limits.submit_bytes_max = 1'500;
  limits.submit_messages_max = 3;
  Bench bench(1, limits);
  const std::string thousand(1'000, 'x'), more(1'001, 'x');
  EXPECT_EQ(bench.node->submit({}, as_bytes_view(more), Service::agreed).error(), Errc::too_large);
  EXPECT_EQ(bench.submit(thousand), 1U);
  EXPECT_EQ(bench.node->submit({}, as_bytes_view(thousand), Service::agreed).error(),
            Errc::would_block);
  EXPECT_EQ(bench.submit("a"), 2U);
  EXPECT_EQ(bench.submit("b"), 3U);
  EXPECT_EQ(bench.node->submit({}, {}, Service::agreed).error(), Errc::would_block);
  EXPECT_EQ(bench.node->queued_messages(), 3U);
  EXPECT_EQ(bench.node->queued_bytes(), 1'002U);
  EXPECT_EQ(bench.counter("node_submit_blocked"), 2U);
  bench.order_all(kNodeUnit, {&bench});
  EXPECT_EQ(bench.submit(thousand), 4U);
}

TEST(Node, ClosesOnLeave) {
  Bench bench;
  bench.node->leave({});
  bench.node->leave({});
  EXPECT_EQ(bench.engine->leaves, 1);
  EXPECT_EQ(bench.node->submit({}, {}, Service::agreed).error(), Errc::closed);
  bench.node->on_timer({});
  bench.node->on_packet({}, Lane::data, bench.pool.take());
  bench.node->on_room({});
  EXPECT_EQ(bench.engine->timers + bench.engine->packets + bench.engine->works, 0);
  EXPECT_EQ(bench.node->next_deadline(), std::nullopt);
}

TEST(Node, ClosesOnAFatalConflict) {
  Bench bench;
  bench.engine->effects->fatal("identity conflict");
  EXPECT_EQ(bench.sink.fatal, "identity conflict");
  EXPECT_EQ(bench.node->submit({}, {}, Service::agreed).error(), Errc::closed);
  bench.node->leave({});
  EXPECT_EQ(bench.engine->leaves, 0);
}

TEST(Node, TheSinkMayKeepTheBytesOfALargeMessage) {
  Bench bench;
  bench.sink.steal = true;
  const std::string payload = pattern(5'000, 1);
  bench.submit(payload);
  bench.order_all(kNodeUnit, {&bench});
  ASSERT_EQ(bench.sink.stolen.size(), 1U);
  EXPECT_EQ(as_text({bench.sink.stolen[0].bytes.get(), bench.sink.stolen[0].size}), payload);
  EXPECT_EQ(bench.sink.got[0].payload, payload);
}

/// A node skips a malformed unit as a whole, and delivers the units after it.
TEST(Node, SkipsUnitsThatNoNodeWrites) {
  Bench receiver;
  const MemberId origin{NodeId{9}, 1};
  const std::string garbage = pattern(100, 3);
  receiver.deliver_bytes(origin, as_bytes_view(garbage));
  receiver.deliver_bytes(origin, {});
  EXPECT_EQ(receiver.counter("node_bad_units"), 2U);
  std::vector<std::byte> good(100);
  UnitWriter writer(good, 1);
  writer.add_whole(Service::agreed, as_bytes_view("hello"));
  good.resize(writer.size());
  receiver.deliver_bytes(origin, good, Service::safe);  // its chunk has another service
  EXPECT_EQ(receiver.counter("node_bad_units"), 3U);
  EXPECT_TRUE(receiver.sink.got.empty());
  receiver.deliver_bytes(origin, good);
  ASSERT_EQ(receiver.sink.got.size(), 1U);
  EXPECT_EQ(receiver.sink.got[0].payload, "hello");
}

/// A unit ends a message whose start is unknown. The messages behind it keep their indexes.
TEST(Node, IndexCountsEndsThatCannotBeDelivered) {
  Bench receiver;
  std::vector<std::byte> unit(100);
  UnitWriter writer(unit, 4);
  writer.add_rest(Service::agreed, 50, true, as_bytes_view("tail"));
  writer.add_whole(Service::agreed, as_bytes_view("next"));
  unit.resize(writer.size());
  receiver.deliver_bytes({NodeId{9}, 1}, unit);
  ASSERT_EQ(receiver.sink.got.size(), 1U);
  EXPECT_EQ(receiver.sink.got[0].number, 5U);
  EXPECT_EQ(receiver.sink.got[0].index, 1U);
  EXPECT_EQ(receiver.counter("node_ignored_chunks"), 1U);
}

/// For any units, even malformed ones, all members deliver the same messages, and use no more
/// memory than allowed.
TEST(Node, AnyUnitsAreTheSameToAllMembers) {
  Limits limits;
  limits.message_bytes_max = 3'000;
  Random random(9);
  for (int round = 0; round < 30; ++round) {
    Bench sender(1, limits), a(2, limits), b(3, limits);
    const MemberId origins[] = {{NodeId{1}, 1}, {NodeId{1}, 2}, {NodeId{4}, 1}};
    for (int step = 0; step < 200; ++step) {
      if (sender.node->queued_messages() < 5) {
        const auto size = static_cast<std::size_t>(random.below(random.chance(0.5) ? 100 : 3'000));
        sender.submit(pattern(size, 1), random.chance(0.2) ? Service::safe : Service::agreed);
      }
      const auto unit = *sender.order_one(static_cast<std::uint32_t>(random.between(64, 1'000)));
      if (random.chance(0.1)) continue;
      std::vector<std::byte> bytes(unit.unit.view().begin(), unit.unit.view().end());
      if (random.chance(0.3)) {
        bytes[random.below(std::min<std::size_t>(bytes.size(), 24))] =
            static_cast<std::byte>(random.below(random.chance(0.5) ? 16 : 256));
      }
      if (random.chance(0.1)) bytes.resize(random.below(bytes.size() + 1));
      const MemberId& origin = origins[random.below(3)];
      a.deliver_bytes(origin, bytes, unit.service);
      b.deliver_bytes(origin, bytes, unit.service);
      ASSERT_LE(a.node->reassembly_bytes(), 3 * limits.message_bytes_max);
      a.node->check_invariants();
      if (random.chance(0.02)) {
        for (Bench* each : {&sender, &a, &b}) each->install(static_cast<std::uint64_t>(step) + 1);
      }
    }
    ASSERT_EQ(a.sink.got.size(), b.sink.got.size());
    for (std::size_t i = 0; i < a.sink.got.size(); ++i) {
      ASSERT_EQ(a.sink.got[i].payload, b.sink.got[i].payload);
      ASSERT_EQ(a.sink.got[i].number, b.sink.got[i].number);
      ASSERT_EQ(a.sink.got[i].index, b.sink.got[i].index);
    }
    EXPECT_GT(a.counter("node_bad_units"), 0U);
    EXPECT_GT(a.counter("node_ignored_chunks"), 0U);
    EXPECT_EQ(a.counter("node_gathered_messages"), b.counter("node_gathered_messages"));
  }
}

TEST(Node, EqualInputsGiveEqualDigestsAndDifferentOnesDiffer) {
  const auto run = [](std::size_t size) {
    Bench bench;
    bench.submit(pattern(size, 1));
    bench.submit("b", Service::safe);
    bench.order_one(kNodeUnit);
    return bench.node->digest();
  };
  EXPECT_EQ(run(10), run(10));
  EXPECT_NE(run(10), run(11));
  EXPECT_NE(run(2'000), run(2'001));
}

TEST(Node, CountersAreTheEnginesThenItsOwn) {
  Bench bench;
  const auto counters = bench.node->counters();
  ASSERT_GT(counters.size(), 10U);
  EXPECT_EQ(counters[0].name, "fake");
  for (const auto& each : counters.subspan(1)) EXPECT_EQ(each.name.substr(0, 5), "node_");
}

}  // namespace
}  // namespace peal::node::test
