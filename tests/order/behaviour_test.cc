// SPDX-License-Identifier: Apache-2.0
// Properties of the ring that users ask about.
#include <gtest/gtest.h>

#include "cluster.h"
#include "order/member_set.h"

namespace peal::order::test {
namespace {

using wire::FrameKind;

std::size_t delivered(const Log& log) {
  std::size_t count = 0;
  for (const std::string& line : log) count += line.find(':') != std::string::npos ? 1U : 0U;
  return count;
}

TEST(Behaviour, AnApplicationThatDoesNotReadStopsTheSendersAndSaysSo) {
  auto cluster = formed(3);
  cluster->set_room(2, 0);
  cluster->run(milliseconds(100));
  for (int i = 0; i < 100; ++i) cluster->submit(0, "x");
  cluster->run(milliseconds(500));
  EXPECT_EQ(delivered(cluster->log(0)), 0U);
  const WaitReason why = cluster->engine(0).why();
  EXPECT_EQ(why.kind, &wait::slow_application);
  EXPECT_EQ(why.who.node.value, 3U);
  // The slow application lets no member order anything. So the token does not circulate at full
  // speed.
  std::uint64_t packets = 0;
  cluster->on_sent = [&](const Flight&) { ++packets; };
  cluster->run(seconds(1));
  EXPECT_LT(packets, 3 * 250U);
  cluster->set_room(2, 1'000);
  cluster->poke(2);
  cluster->run(milliseconds(100));
  EXPECT_EQ(delivered(cluster->log(1)), 100U);
  EXPECT_EQ(cluster->counter(0, "views_installed"), 1U);
}

TEST(Behaviour, ALeavingMemberIsGoneAtOnce) {
  auto cluster = formed(3);
  const Instant before = cluster->now();
  cluster->leave(1);
  ASSERT_TRUE(cluster->run_until([&] { return cluster->log(0).back() == "view ac"; }, seconds(2)));
  EXPECT_LT(cluster->now() - before, milliseconds(50));
}

TEST(Behaviour, ANodeThatNobodyHearsSaysSo) {
  auto cluster = formed(3);
  const auto says = [&](std::uint32_t node) { return cluster->engine(node).why(); };
  EXPECT_NE(says(0).kind, &wait::not_heard);
  cluster->filter = [](const Flight& flight) { return flight.from != 0; };
  ASSERT_TRUE(cluster->run_until(
      [&] { return says(0).kind == &wait::not_heard && says(0).all.size() == 2; }, seconds(10)));
  EXPECT_EQ(cluster->log(0).back(), "view a") << "it goes on alone";
  EXPECT_NE(says(1).kind, &wait::not_heard) << "nobody there hears of anybody";
  cluster->filter = [](const Flight&) { return true; };
  ASSERT_TRUE(cluster->run_until([&] { return cluster->in_view_of(3); }, seconds(10)));
  EXPECT_NE(says(0).kind, &wait::not_heard);
}

TEST(Behaviour, TwoWhoMeetHearEachOther) {
  // The cluster splits into two parts, which then merge. While they merge, no node reports that
  // others do not hear it.
  auto cluster = formed(4);
  cluster->filter = [](const Flight& flight) { return flight.from / 2 == flight.to / 2; };
  ASSERT_TRUE(cluster->run_until([&] { return cluster->log(0).back() == "view ab"; }, seconds(10)));
  cluster->run(seconds(2));
  cluster->filter = [](const Flight&) { return true; };
  bool said = false;
  ASSERT_TRUE(cluster->run_until(
      [&] {
        for (std::uint32_t node = 0; node < 4; ++node) {
          said = said || cluster->engine(node).why().kind == &wait::not_heard;
        }
        return cluster->in_view_of(4);
      },
      seconds(10)));
  EXPECT_FALSE(said);
}

TEST(Behaviour, AMemberThatHearsNoDataIsLeftOut) {
  auto cluster = formed(3);
  cluster->filter = [](const Flight& flight) {
    return !(flight.kind == FrameKind::data && flight.to == 1);
  };
  for (int i = 0; i < 50; ++i) cluster->submit(0, "x");
  ASSERT_TRUE(cluster->run_until(
      [&] { return cluster->log(0).back() == "view ac" || cluster->counter(0, "stalls") > 0; },
      seconds(5)));
  cluster->run(seconds(3));
  EXPECT_EQ(delivered(cluster->log(2)), 50U);
  EXPECT_GT(cluster->counter(0, "stalls") + cluster->counter(2, "stalls"), 0U);
}

TEST(Behaviour, ARestartedMemberWithAnEarlierClockCorrectsItself) {
  auto cluster = formed(3);
  cluster->crash(1);
  cluster->set_next_epoch(50);  // the first incarnations have epochs from 100 on
  cluster->start(1);
  ASSERT_TRUE(cluster->run_until([&] { return cluster->in_view_of(3); }, seconds(5)));
  EXPECT_GT(cluster->engine(1).self().epoch, 100U);
  for (const std::string& line : cluster->log(1)) EXPECT_EQ(line.find("fatal"), std::string::npos);
}

// With authentication, the engine does not get packets of an earlier incarnation. The engine is
// notified of these packets instead.
TEST(Behaviour, AMemberWhosePacketsAreRefusedAsOlderIsToldAndCorrectsItself) {
  auto cluster = formed(3);
  const MemberId before = cluster->engine(1).self();
  cluster->crash(1);
  cluster->set_next_epoch(50);
  cluster->filter = [&](const Flight& flight) {
    wire::Header header;
    EXPECT_EQ(wire::decode_header(flight.bytes, header), wire::Drop::none);
    return flight.from != 1 || header.sender.epoch > before.epoch;
  };
  const std::uint64_t stale = cluster->counter(0, "stale");
  cluster->start(1);
  ASSERT_TRUE(cluster->run_until(
      [&] {
        if (cluster->engine(1).self().epoch < before.epoch) cluster->refuse_older(0, before);
        return cluster->in_view_of(3);
      },
      seconds(5)));
  EXPECT_GT(cluster->engine(1).self().epoch, before.epoch);
  EXPECT_GT(cluster->counter(0, "stale"), stale) << "and they are counted as before";
}

TEST(Behaviour, TwoLiveProcessesWithOneIdentityDoNotBothGoOn) {
  auto cluster = formed(2);
  wire::Join join;
  join.number = 1;
  join.processes = {{{1}, 9'999}};
  std::vector<std::byte> packet(1'000);
  packet.resize(wire::encode_join({FrameKind::join, 7, {{1}, 9'999}}, join, packet));
  cluster->inject(0, packet);
  EXPECT_NE(cluster->log(0).back().find("fatal"), std::string::npos);
}

TEST(Behaviour, StrangersAreNamedOnce) {
  auto cluster = formed(2);
  wire::Join join;
  join.number = 1;
  join.processes = {{{2}, 500}};
  std::vector<std::byte> packet(1'000);
  packet.resize(
      wire::encode_join({FrameKind::join, std::uint64_t{8} << 32, {{2}, 500}}, join, packet));
  for (int i = 0; i < 10; ++i) cluster->inject(0, packet);
  EXPECT_EQ(cluster->counter(0, "other_cluster"), 10U);
  EXPECT_EQ(cluster->events(0, &event::incompatible_peer), 1U);
  EXPECT_EQ(cluster->counter(0, "views_installed"), 1U);
}

class Leftovers : public testing::Test {
 protected:
  Leftovers() : cluster_(4, {}) {
    for (std::uint32_t node = 0; node < 3; ++node) cluster_.start(node);
    EXPECT_TRUE(cluster_.run_until([&] { return cluster_.in_view_of(3); }, seconds(5)));
    for (std::uint32_t node = 0; node < 3; ++node) known_.push_back(cluster_.engine(node).self());
    known_.push_back(outside_);
  }
  /// True if node 0 leaves its view and gathers after a JOIN with these sets from a node outside.
  bool obeys(const MemberSet& processes, const MemberSet& failed) {
    wire::Join join;
    join.number = 1;
    join.processes = processes;
    join.failed = failed;
    join.list = 1;
    std::vector<std::byte> packet(1'000);
    packet.resize(wire::encode_join({FrameKind::join, 7, outside_}, join, packet));
    const std::uint64_t before = cluster_.counter(0, "gathers");
    const std::uint64_t received = cluster_.counter(0, "joins_received");
    cluster_.inject(0, packet);
    EXPECT_EQ(cluster_.counter(0, "joins_received"), received + 1);
    return cluster_.counter(0, "gathers") > before;
  }

  const MemberId outside_{{4}, 500};
  Cluster cluster_;
  MemberSet known_;  ///< the members of the view, and the node outside
};

TEST_F(Leftovers, AJoinFromOutsideThatAccusesOneOfUsIsIgnored) {
  EXPECT_FALSE(obeys(known_, {known_[1]}));
}
TEST_F(Leftovers, AJoinWhoseSenderAccusesItselfIsDropped) {
  wire::Join join;
  join.number = 1;
  join.processes = known_;
  join.failed = {outside_};
  join.list = 1;
  std::vector<std::byte> packet(1'000);
  packet.resize(wire::encode_join({FrameKind::join, 7, outside_}, join, packet));
  cluster_.inject(0, packet);
  EXPECT_EQ(cluster_.counter(0, "bad_value"), 1U);
  EXPECT_EQ(cluster_.counter(0, "joins_received"), cluster_.counter(1, "joins_received"));
}
TEST_F(Leftovers, AJoinFromOutsideThatAccusesNobodyIsHonoured) { EXPECT_TRUE(obeys(known_, {})); }
TEST_F(Leftovers, AJoinThatAccusesAMemberWhoHasRestartedIsHonoured) {
  MemberSet processes = known_;
  insert(processes, {known_[1].node, known_[1].epoch + 50});
  EXPECT_TRUE(obeys(processes, {known_[1]}));
}

TEST(Behaviour, PartitionedSidesGoOnAndMerge) {
  auto cluster = formed(5);
  cluster->filter = [](const Flight& flight) { return (flight.from < 2) == (flight.to < 2); };
  ASSERT_TRUE(cluster->run_until(
      [&] { return cluster->log(0).back() == "view ab" && cluster->log(4).back() == "view cde"; },
      seconds(3)));
  cluster->submit(0, "left");
  cluster->submit(4, "right");
  cluster->run(milliseconds(100));
  EXPECT_EQ(delivered(cluster->log(1)), 1U);
  EXPECT_EQ(delivered(cluster->log(2)), 1U);
  cluster->filter = [](const Flight&) { return true; };
  ASSERT_TRUE(cluster->run_until([&] { return cluster->in_view_of(5); }, seconds(15)));
}

TEST(Behaviour, OnlyAMajorityIsPrimary) {
  ring::Options options;
  options.primary = PrimaryRule::majority;
  auto cluster = formed(5, options);
  EXPECT_EQ(cluster->primary(0), Primary::yes);
  cluster->filter = [](const Flight& flight) { return (flight.from < 2) == (flight.to < 2); };
  ASSERT_TRUE(cluster->run_until(
      [&] { return cluster->log(0).back() == "view ab" && cluster->log(4).back() == "view cde"; },
      seconds(3)));
  EXPECT_EQ(cluster->primary(0), Primary::no);
  EXPECT_EQ(cluster->primary(4), Primary::yes);
}

TEST(Behaviour, AShortPauseChangesNoView) {
  auto cluster = formed(3);
  // For 150 ms, all packets from and to node b are lost, as if its process were stopped.
  const Instant until = cluster->now() + milliseconds(150);
  cluster->filter = [&](const Flight& flight) {
    return cluster->now() >= until || (flight.from != 1 && flight.to != 1);
  };
  for (int i = 0; i < 100; ++i) cluster->submit(0, "x");
  cluster->run(seconds(2));
  EXPECT_EQ(cluster->counter(0, "views_installed"), 1U);
  EXPECT_EQ(delivered(cluster->log(1)), 100U);
}

TEST(Behaviour, EveryTokenLostOnceChangesNoView) {
  auto cluster = formed(3);
  std::uint64_t tokens = 0;
  cluster->filter = [&](const Flight& flight) {
    return flight.kind != FrameKind::token || ++tokens % 2 == 0;
  };
  for (int i = 0; i < 100; ++i) cluster->submit(static_cast<std::uint32_t>(i % 3), "x");
  cluster->run(seconds(5));
  EXPECT_EQ(cluster->counter(0, "views_installed"), 1U);
  EXPECT_EQ(delivered(cluster->log(1)), 100U);
}

TEST(Behaviour, AKnobOutOfRangeNamesKeyValueAndRange) {
  ring::Options options;
  options.max_gap = 9'000;
  EXPECT_EQ(ring::validate(options), "ring.max_gap = 9000 is not accepted: it must be 16 to 8192");
  options = {};
  options.token_loss = milliseconds(50);
  EXPECT_NE(ring::validate(options).find("token_loss_ms = 50"), std::string::npos);
  EXPECT_EQ(ring::validate({}), "");
}

}  // namespace
}  // namespace peal::order::test
