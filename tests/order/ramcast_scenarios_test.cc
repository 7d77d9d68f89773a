// SPDX-License-Identifier: Apache-2.0
// Pitfalls of other implementations, and of the published algorithm: the scenarios C-1 to C-28 of
// the specification, as far as a world without nodes can show them. The world itself checks the
// order, the causes and the keys (C-10, C-16, C-19, C-25). Elsewhere: C-5 is
// RamcastRules.NobodyDeliversBeforeAMajorityHasTheBase; C-6 the fault rc_mark_without_clock of
// RamcastMutants; C-12 WireRamcastMemory.ACellOfAnotherMessageIsRefused; C-14
// AChecksumOfZeroIsAChecksum and the mixtures of records there; C-17 is C-4 here.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ramcast_unheard.h"
#include "ramcast_world.h"

namespace peal::order::ramcast::test {
namespace {

void end_well(World& world) {
  const bool quiet = world.run_until([&] { return world.is_quiet(); }, seconds(5));
  EXPECT_EQ(world.broken(), "");
  ASSERT_TRUE(quiet);
}

void submit_some(World& world, std::uint32_t node, Domain domain, int count) {
  for (int i = 0; i < count; ++i) world.submit(node, domain, 60);
}

/// Runs until another node than `old` leads the domain.
void wait_for_other_leader(World& world, unsigned domain, std::uint32_t old) {
  const auto led_by_other = [&] {
    const auto leader = world.leader(domain);
    return leader && *leader != old;
  };
  ASSERT_TRUE(world.run_until(led_by_other, seconds(2)));
}

TEST(RamcastScenarios, C1ASlowPathToAFollowerDelaysTheOrderAndDoesNotChangeIt) {
  const auto world = settled({.domains = {3}, .outsiders = 2});
  world->cut(3, 2);  // the messages of node 4 do not reach node 3
  submit_some(*world, 3, 1, 20);
  submit_some(*world, 4, 1, 20);
  world->run(microseconds(500));
  world->heal_all();
  end_well(*world);
  EXPECT_EQ(world->keys(2), world->keys(0));
  EXPECT_EQ(world->delivered(2), 40U);
}

TEST(RamcastScenarios, C2AcknowledgementsMayComeBeforeTheTimestampThatTheyAreFor) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 1, .clocks = {0, 100}});
  world->cut(3, 1);  // what the leader of domain 2 proposes does not reach a follower of domain 1
  submit_some(*world, 6, 0, 10);
  submit_some(*world, 6, 1, 10);
  world->run(milliseconds(1));
  world->heal_all();
  end_well(*world);
  EXPECT_EQ(world->keys(1), world->keys(0));
  EXPECT_EQ(world->delivered(1), 20U);
}

TEST(RamcastScenarios, C3ALeaderIsReplacedBehindTimestampsThatItAloneHasSeen) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 2, .clocks = {0, 500}});
  for (const std::uint32_t follower : {1U, 2U}) {
    for (const std::uint32_t other : {3U, 4U, 5U}) world->cut(other, follower);
  }
  submit_some(*world, 6, 0, 4);
  world->run(microseconds(100));
  world->pause(0);
  wait_for_other_leader(*world, 1, 0);
  submit_some(*world, 7, 1, 10);
  world->run(milliseconds(2));
  world->heal_all();
  world->resume(0);
  end_well(*world);
  EXPECT_EQ(world->keys(2), world->keys(1));
  EXPECT_EQ(world->delivered(1), 14U);
}

TEST(RamcastScenarios, C4CandidatesFollowEachOther) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  submit_some(*world, 5, 1, 30);
  world->run(microseconds(30));
  world->pause(0);
  ASSERT_TRUE(
      world->run_until([&] { return world->engine(1).counts().takeovers > 0; }, seconds(2)));
  world->pause(1);  // in the middle of its takeover
  wait_for_other_leader(*world, 1, 0);
  submit_some(*world, 5, 1, 30);
  world->run(milliseconds(5));
  world->resume(1);
  world->resume(0);
  end_well(*world);
  EXPECT_EQ(world->delivered(4), 60U);
  EXPECT_EQ(world->keys(3), world->keys(4));
}

TEST(RamcastScenarios, C7ASlotIsUsedAgainWhileAServerOfAnotherDomainPauses) {
  for (const std::uint32_t slots : {1U, 2U}) {
    Shape shape{.domains = {3, 3}, .outsiders = 1};
    shape.options.slots = slots;
    const auto world = settled(shape);
    submit_some(*world, 6, 0, 5);
    world->run(microseconds(3));
    world->pause(4);
    world->run(milliseconds(3));
    submit_some(*world, 6, 0, 5);
    world->run(milliseconds(100));  // a view excludes it, so that slots are used again
    world->resume(4);
    end_well(*world);
    EXPECT_EQ(world->delivered(3), 10U);
    const std::vector<Seq>& all = world->keys(3);
    const std::vector<Seq>& some = world->keys(4);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end()));
  }
}

TEST(RamcastScenarios, C8RelayedMessagesMayComeAtAnyTime) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.slots = 2;
  shape.options.inline_bytes = 0;
  const auto world = settled(shape);
  std::vector<std::vector<std::byte>> relays;
  world->observe([&relays](std::uint32_t /*from*/, ByteView packet) {
    const auto kind = wire::frame_kind_of(packet);
    if (kind == static_cast<wire::FrameKind>(wire::RamcastKind::relay)) {
      relays.emplace_back(packet.begin(), packet.end());
    }
  });
  // The sender lives, and server 2 has its messages from others.
  world->fabric().cut(NodeId{4}, NodeId{3});
  submit_some(*world, 3, 1, 20);
  end_well(*world);
  ASSERT_GE(relays.size(), 10U);
  world->heal_all();
  // All of them again: delivered messages, whose slots other messages use now.
  const auto again = relays;
  for (int round = 0; round < 10; ++round) {
    submit_some(*world, 3, 1, 3);
    world->run(microseconds(5 * round));
    for (std::uint32_t server = 0; server < 3; ++server) {
      for (const auto& packet : again) world->inject(server, packet);
    }
    world->run(microseconds(100));
  }
  end_well(*world);
  EXPECT_EQ(world->delivered(2), 50U);
  EXPECT_EQ(world->keys(2), world->keys(0));
}

TEST(RamcastScenarios, C9ASenderReachesOneServerAndCrashes) {
  for (const bool server_crashes : {false, true}) {
    const auto world = settled({.domains = {3}, .outsiders = 2});
    submit_some(*world, 3, 1, 1);
    end_well(*world);
    world->cut(3, 0);
    world->cut(3, 1);
    submit_some(*world, 3, 1, 1);
    world->run(microseconds(20));
    world->crash(3);
    if (server_crashes) world->crash(2);
    world->run(milliseconds(5));  // nothing of what was sent is under way any more
    world->heal_all();
    submit_some(*world, 4, 1, 10);
    end_well(*world);
    const std::uint64_t relayed = server_crashes ? 0 : 1;
    const auto all = [&] {
      return world->delivered(0) == 11 + relayed && world->delivered(1) == 11 + relayed;
    };
    EXPECT_TRUE(world->run_until(all, milliseconds(200))) << world->delivered(1);
    EXPECT_EQ(world->broken(), "");
  }
}

TEST(RamcastScenarios, C11DomainsWithDifferentRoundsGoOn) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 1});
  submit_some(*world, 6, 0, 20);
  world->run(microseconds(10));
  world->crash(3);
  end_well(*world);
  submit_some(*world, 6, 0, 20);
  submit_some(*world, 1, 0, 20);
  end_well(*world);
  EXPECT_EQ(world->delivered(0), 60U);
  EXPECT_EQ(world->delivered(4), 60U);
}

TEST(RamcastScenarios, C13ClocksPassTheLimitsOf24And32Bits) {
  for (const std::uint64_t limit : {1ULL << 24, 1ULL << 32}) {
    const auto world = settled({.domains = {3, 3}, .outsiders = 1, .clocks = {limit - 5, 0}});
    submit_some(*world, 6, 0, 10);
    submit_some(*world, 6, 2, 10);
    end_well(*world);
    EXPECT_GT(clock_of(world->keys(0).back()), limit);
    EXPECT_EQ(world->delivered(3), 20U);
  }
}

TEST(RamcastScenarios, C15ALeaderNeedsAMajorityAndNotAll) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  world->crash(0);
  world->pause(4);
  submit_some(*world, 5, 1, 30);
  wait_for_other_leader(*world, 1, 0);
  EXPECT_TRUE(world->run_until([&] { return world->delivered(1) == 30; }, milliseconds(500)));
  world->resume(4);
  end_well(*world);
}

TEST(RamcastScenarios, C18ACrashedMemberHoldsNoMemoryForEver) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  world->crash(2);
  submit_some(*world, 3, 1, 500);
  end_well(*world);
  world->run(milliseconds(50));
  const std::uint32_t held = world->buffers_held(0);
  submit_some(*world, 3, 1, 2'000);
  end_well(*world);
  world->run(milliseconds(50));
  EXPECT_LE(world->buffers_held(0), held + 2 * Options{}.slots);
}

TEST(RamcastScenarios, C20TwoLeadersLiveAndBothWrite) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  submit_some(*world, 3, 1, 20);
  world->run(microseconds(10));
  world->pause(0);
  wait_for_other_leader(*world, 1, 0);
  submit_some(*world, 3, 1, 20);
  world->submit(0, 1, 60);
  world->resume(0);  // it goes on as the leader that it was
  submit_some(*world, 3, 1, 20);
  end_well(*world);
  EXPECT_FALSE(world->engine(0).leads());
  EXPECT_EQ(world->keys(1), world->keys(2));
  EXPECT_EQ(world->delivered(1), 61U);
}

TEST(RamcastScenarios, C21ADeposedLeaderIsStillAMember) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  world->pause(0);
  wait_for_other_leader(*world, 1, 0);
  world->resume(0);
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  world->crash(2);  // nothing is ordered without the deposed leader
  submit_some(*world, 3, 1, 30);
  end_well(*world);
  EXPECT_EQ(world->delivered(0), 30U);
}

TEST(RamcastScenarios, C22ALeaderCrashesWhileItAdmitsANode) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  submit_some(*world, 5, 1, 20);
  end_well(*world);
  world->crash(4);
  world->run(milliseconds(1));
  world->start(4);
  const std::uint64_t views = world->engine(0).counts().views;
  ASSERT_TRUE(
      world->run_until([&] { return world->engine(0).counts().views > views; }, seconds(2)));
  world->crash(0);
  submit_some(*world, 5, 1, 20);
  end_well(*world);
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  EXPECT_EQ(world->view(1).size(), 4U);
  EXPECT_EQ(world->broken(), "");
}

/// Server 0 comes back from outside. It stops for a moment, so that it is admitted and has no base
/// when the leader stops, too. True if it came to that.
bool leader_stops_before_the_base(Duration delay) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  world->pause(0);
  submit_some(*world, 3, 1, 10);
  world->run_until([&] { return world->view(1).size() == 2 && world->view(2).size() == 2; },
                   seconds(2));
  world->resume(0);
  const std::uint64_t views = world->engine(0).counts().views;
  world->run_until([&] { return world->is_outside(0); }, seconds(2));
  world->run(delay);
  world->pause(0);
  const bool admitted =
      world->run_until([&] { return world->view(2).size() == 3; }, milliseconds(20));
  const bool waits = world->engine(0).counts().views == views;
  world->pause(1);
  world->resume(0);
  submit_some(*world, 3, 1, 10);
  world->run_until([&] { return world->leader(1) && *world->leader(1) != 1; }, seconds(1));
  EXPECT_TRUE(world->leader(1) && *world->leader(1) != 1) << delay.ns;
  world->resume(1);
  end_well(*world);
  return admitted && waits;
}

TEST(RamcastScenarios, ALeaderStopsWhileAnAdmittedServerHasNoBase) {
  int cases = 0;
  for (int i = 0; i < 30; ++i) {
    if (leader_stops_before_the_base(microseconds(300) + microseconds(10) * i)) ++cases;
  }
  EXPECT_GT(cases, 0);
}

TEST(RamcastScenarios, C23ANodeLeadsLosesAndLeadsAgain) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  submit_some(*world, 3, 1, 20);
  world->run(microseconds(7));
  world->pause(0);
  wait_for_other_leader(*world, 1, 0);
  world->resume(0);
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  submit_some(*world, 3, 1, 20);
  world->run(microseconds(7));
  world->crash(1);
  end_well(*world);
  submit_some(*world, 3, 1, 20);
  end_well(*world);
  EXPECT_TRUE(world->engine(0).leads());
  EXPECT_EQ(world->delivered(0), 60U);
  EXPECT_EQ(world->keys(2), world->keys(0));
}

TEST(RamcastScenarios, LeadersThatNobodyHearsWriteOn) {
  for (std::int64_t offset = 0; offset < 3; ++offset) {
    EXPECT_EQ(unheard_leaders({.fast = false, .offset = offset}).wrong(), "") << offset;
    EXPECT_EQ(unheard_leaders({.offset = offset}).wrong(), "") << offset;
  }
}

/// A memory breaks its promises in this way. Without the fast path nothing is wrong; with it, the
/// order is broken. A stall would not show that.
void expect_needed_by_fast_path(UnheardScenario story) {
  constexpr std::int64_t kSafe = 3, kMost = 40;  // offsets that are tried
  bool broken = false;
  for (story.offset = 0; story.offset < kMost && !broken; ++story.offset) {
    story.fast = true;
    broken = !unheard_leaders(story).broken.empty();
    story.fast = false;
    if (broken || story.offset < kSafe) {
      EXPECT_EQ(unheard_leaders(story).wrong(), "") << story.offset;
    }
  }
  EXPECT_TRUE(broken);
}

TEST(RamcastScenarios, C24ALazyRevocationIsSafeWithoutTheFastPathAlone) {
  expect_needed_by_fast_path({.lazy_revocation = milliseconds(4)});
}

TEST(RamcastScenarios, C24AWriteThatEndsEarlyIsSafeWithoutTheFastPathAlone) {
  expect_needed_by_fast_path({.early_ok = true});
}

TEST(RamcastScenarios, C26ADomainThatPausesHoldsUpNoMessagesToOthers) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 2});
  for (const std::uint32_t server : {3U, 4U, 5U}) world->pause(server);
  submit_some(*world, 7, 1, 50);
  world->run(milliseconds(300));
  EXPECT_EQ(world->places(7).size(), 50U);
  submit_some(*world, 6, 0, 5);
  world->run(milliseconds(1));
  for (const std::uint32_t server : {3U, 4U, 5U}) world->resume(server);
  end_well(*world);
  EXPECT_EQ(world->delivered(3), 5U);
  EXPECT_EQ(world->delivered(0), 55U);
}

/// What the first server writes into one region of the others does not arrive for a while.
void expect_region_to_be_mended(Area area, bool deposed) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.inline_bytes = 0;
  const auto world = settled(shape);
  submit_some(*world, 3, 1, 100);
  world->run(microseconds(20));
  for (const std::uint32_t other : {1U, 2U}) world->cut(0, other, area);
  world->run(milliseconds(300));
  const std::optional<std::uint32_t> leader = world->leader(1);
  EXPECT_EQ(leader && *leader != 0, deposed);
  world->heal_all();
  end_well(*world);
  EXPECT_EQ(world->delivered(1), 100U);
  EXPECT_EQ(world->keys(1), world->keys(2));
}

TEST(RamcastScenarios, C27SignsOfLifeAreLostAndTheLogGoesOn) {
  expect_region_to_be_mended(Area::control, true);
}

TEST(RamcastScenarios, C27SignsOfLifeArriveAndTheLogIsLost) {
  expect_region_to_be_mended(Area::log, false);
}

TEST(RamcastScenarios, C28AFollowerThatIsCutOffHoldsUpTheOthersForAWhileOnly) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.log_bytes = 16'384;
  shape.options.slots = 8;
  const auto world = settled(shape);
  for (const std::uint32_t other : {0U, 1U}) {
    world->cut(other, 2);
    world->cut(2, other);
  }
  submit_some(*world, 3, 1, 1'000);
  ASSERT_TRUE(world->run_until([&] { return world->places(3).size() == 1'000; }, seconds(2)));
  world->heal_all();
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  submit_some(*world, 3, 1, 10);
  end_well(*world);
  EXPECT_EQ(world->view(2).size(), 3U);
  EXPECT_EQ(world->keys(2).back(), world->keys(0).back());
}

/// These servers stop, so that hundreds of messages wait, and come back. What server 4 does
/// meanwhile to find out about them is bounded.
void expect_paced_repair(const std::vector<std::uint32_t>& stopped) {
  constexpr std::uint32_t kSenders = 4, kSlots = 64;
  Shape shape{.domains = {5}, .outsiders = kSenders};
  shape.options.inline_bytes = 0;  // a write into a process that stands still would be enough
  const auto world = settled(shape);
  for (std::uint32_t node = 5; node < world->nodes(); ++node) submit_some(*world, node, 1, 1);
  world->run(milliseconds(5));
  for (const std::uint32_t node : stopped) world->pause(node);
  for (std::uint32_t node = 5; node < world->nodes(); ++node) submit_some(*world, node, 1, kSlots);
  world->run(milliseconds(300));
  const Counts before = world->engine(4).counts();
  world->run(milliseconds(300));
  const Counts after = world->engine(4).counts();
  // 2,000 messages in a second, and each of the other servers is asked about them.
  EXPECT_LE(after.pulls - before.pulls + after.queries - before.queries, 600 * 4U);
  // A unit is sent to those that ask for it, and nobody does.
  EXPECT_EQ(after.relays, before.relays);
  for (const std::uint32_t node : stopped) world->resume(node);
  end_well(*world);
}

TEST(RamcastScenarios, RepairIsPacedWhileThereIsNoLeader) { expect_paced_repair({0, 1, 2}); }

TEST(RamcastScenarios, RepairIsPacedWhileMostServersStandStill) { expect_paced_repair({1, 2, 3}); }

/// Four incarnations of a sender reach `alone` only, and the fifth the leader only.
void send_as_many_incarnations(World& world, std::uint32_t sender, std::uint32_t leader,
                               std::uint32_t alone) {
  for (int incarnation = 1; incarnation <= 5; ++incarnation) {
    world.crash(sender);
    world.heal_all();
    for (std::uint32_t server = 0; server < sender; ++server) {
      if (server != (incarnation == 5 ? leader : alone)) world.cut(sender, server);
    }
    world.start(sender);
    world.submit(sender, 1, 60);
    world.run(milliseconds(2));
  }
}

Shape many_incarnations() {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.inline_bytes = 0;
  shape.options.repair = milliseconds(500);  // the first four stay where they are for now
  return shape;
}

TEST(RamcastScenarios, AMemberTakesWhatItsLeaderOrdersOfManyIncarnations) {
  const auto world = settled(many_incarnations());
  send_as_many_incarnations(*world, 3, *world->leader(1), 2);
  EXPECT_EQ(world->engine(*world->leader(1)).counts().proposals, 1U);
  world->heal_all();
  world->run(seconds(2));
  end_well(*world);
  EXPECT_EQ(world->keys(0).size(), 5U);
}

TEST(RamcastScenarios, ACandidateTakesWhatIsOrderedOfManyIncarnations) {
  const auto world = settled(many_incarnations());
  const std::uint32_t leader = *world->leader(1);
  send_as_many_incarnations(*world, 3, leader, 2);
  world->heal_all();
  world->crash(leader);
  wait_for_other_leader(*world, 1, leader);
  end_well(*world);
}

/// One member does not learn what is released, and so has records for all incarnations. What it
/// cannot take from the log would be lost with the leader, which counts what is in its memory.
TEST(RamcastScenarios, ALeaderOrdersNoMoreIncarnationsThanAMemberHasSpaceFor) {
  Shape shape{.domains = {3}, .outsiders = 1};
  shape.options.suspect = seconds(1);
  const auto world = settled(shape);
  const std::uint32_t leader = 0, other = 1, member = 2, sender = 3;
  ASSERT_EQ(world->leader(1), leader);
  world->submit(sender, 1, 60);
  end_well(*world);
  world->run(milliseconds(5));
  for (const std::uint32_t from : {leader, other}) {
    world->cut(from, member, Area::control);
  }
  constexpr int kIncarnations = 12;  // four for each server
  for (int incarnation = 1; incarnation <= kIncarnations + 1; ++incarnation) {
    world->crash(sender);
    if (incarnation > kIncarnations) {
      world->cut(sender, other);
      world->cut(leader, other);
    }
    world->start(sender);
    world->submit(sender, 1, 60);
    world->run(milliseconds(3));
  }
  EXPECT_GE(world->keys(leader).size(), 4U);
  EXPECT_EQ(world->keys(leader).size(), world->keys(member).size());
  world->heal_all();
  end_well(*world);
}

/// In both domains a member learns nothing of what is released, and crashes when the leaders cannot
/// tell any more whether it has space. Views without it are behind messages to both domains.
void expect_views_without_members_that_lag(std::uint64_t seed) {
  Shape shape{.domains = {3, 3}, .outsiders = 4};
  shape.options.slots = 2;
  shape.options.suspect = seconds(1);
  shape.fabric.slow = 0.5;
  const auto world = settled(shape);
  constexpr std::uint32_t kFirstSender = 6;
  for (std::uint32_t sender = kFirstSender; sender < world->nodes(); ++sender) {
    world->submit(sender, 0, 60);
  }
  end_well(*world);
  world->run(milliseconds(5));
  for (const std::uint32_t member : {2U, 5U}) {
    for (std::uint32_t other = member - 2; other < member; ++other) {
      world->cut(other, member, Area::control);
    }
  }
  Random random(seed);
  for (int i = 0; i < 2'000; ++i) {
    for (std::uint32_t sender = kFirstSender; sender < world->nodes(); ++sender) {
      const auto domain = static_cast<Domain>(random.chance(0.5) ? 0 : random.below(3));
      if (world->backlog(sender) < 3) world->submit(sender, domain, 60);
    }
    world->run(microseconds(10));
  }
  world->crash(2);
  world->crash(5);
  world->heal_all();
  end_well(*world);
  EXPECT_EQ(world->view(0).size(), 2U);
  EXPECT_EQ(world->view(3).size(), 2U);
}

TEST(RamcastScenarios, MembersThatLagCrashInTwoDomains) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) expect_views_without_members_that_lag(seed);
}

/// Server 2 has not delivered the view that took in a new incarnation of server 1, as its
/// application takes nothing, when the leader crashes. It asks with the former view first.
TEST(RamcastScenarios, ACandidateWithAnOldViewDoesNotStopTheOthers) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  world->crash(1);
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 2; }, seconds(2)));
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  world->set_room(2, 0);
  world->submit(3, 1, 60);
  world->start(1);
  ASSERT_TRUE(world->run_until([&] { return world->view(1).size() == 3; }, seconds(2)));
  EXPECT_EQ(world->view(2).size(), 2U);
  world->crash(0);
  ASSERT_TRUE(world->run_until([&] { return world->leader(1).has_value(); }, seconds(2)));
  world->set_room(2, 1'000);
  end_well(*world);
}

/// Servers 2, 3 and 4 do not hear the leader, and server 1 does, for as long as this lasts.
TEST(RamcastScenarios, AServerThatHearsTheLeaderDoesNotHoldUpTheOthers) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  ASSERT_EQ(world->leader(1), 0U);
  for (const std::uint32_t server : {2U, 3U, 4U}) {
    world->cut(0, server);
    world->cut(server, 0);
  }
  submit_some(*world, 5, 1, 20);
  const auto delivered = [&] {
    return world->delivered(1) == 20 && world->delivered(2) == 20 && world->delivered(4) == 20;
  };
  EXPECT_TRUE(world->run_until(delivered, seconds(2)));
  world->heal_all();
  end_well(*world);
}

/// The view with it waits behind a message that is for another domain, too.
TEST(RamcastScenarios, ARestartedServerSaysWhoseViewItWaitsFor) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 1});
  for (const std::uint32_t server : {3U, 4U}) world->pause(server);
  submit_some(*world, 6, 0, 1);
  world->run(milliseconds(1));
  world->crash(2);
  world->start(2);
  world->run(milliseconds(300));
  const WaitReason reason = world->engine(2).why();
  EXPECT_EQ(reason.kind->name, "readmission");
  ASSERT_EQ(reason.all.size(), 1U);
  EXPECT_EQ(reason.all[0].node.value, 1U);
  for (const std::uint32_t server : {3U, 4U}) world->resume(server);
  end_well(*world);
}

/// Two of five are excluded together, and come back one after the other. The two other members
/// besides the leader crash, and so fast that no view can leave both of them out.
void expect_replaced(const std::vector<std::uint32_t>& restarted) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  for (const std::uint32_t there : {0U, 1U, 2U}) {
    for (const std::uint32_t away : {3U, 4U}) {
      world->cut(there, away);
      world->cut(away, there);
    }
  }
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 3; }, seconds(1)));
  for (const std::uint32_t server : {1U, 2U}) world->crash(server);
  world->heal_all();
  submit_some(*world, 5, 1, 10);
  world->run(milliseconds(100));
  for (const std::uint32_t server : restarted) world->start(server);
  EXPECT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  end_well(*world);
}

TEST(RamcastScenarios, MembersThatRestartAreReplacedWhereTheyStand) {
  expect_replaced({1, 2});
  expect_replaced({1});
  expect_replaced({2});
}

/// The server has restarted. A view takes it in, and the next one leaves it out before it has got a
/// base: it knows of neither.
TEST(RamcastScenarios, ARestartedServerIsExcludedBeforeItHasABase) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  world->crash(2);
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 2; }, seconds(1)));
  world->start(2);
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 3; }, seconds(1)));
  for (const std::uint32_t other : {0U, 1U, 3U}) {
    world->cut(2, other);
    world->cut(other, 2);
  }
  ASSERT_TRUE(world->run_until([&] { return world->view(0).size() == 2; }, seconds(1)));
  ASSERT_TRUE(world->view(2).empty());
  world->heal_all();
  EXPECT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(1)));
  end_well(*world);
}

TEST(RamcastScenarios, AnExcludedMemberGetsWhatItsLastViewOwesToIt) {
  const auto world = settled({.domains = {3}, .outsiders = 1});
  submit_some(*world, 3, 1, 10);
  end_well(*world);
  submit_some(*world, 3, 1, 40);
  world->run(microseconds(4));
  world->pause(2);
  submit_some(*world, 3, 1, 400);  // many times the slots
  world->run(milliseconds(300));
  EXPECT_EQ(world->view(0).size(), 2U);
  world->resume(2);
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  end_well(*world);
  EXPECT_GT(world->engine(2).counts().caught_up, 0U);
  EXPECT_EQ(world->view(2).size(), 3U);
}

TEST(RamcastScenarios, WhatIsOwedSurvivesTheLeaderThatExcluded) {
  const auto world = settled({.domains = {5}, .outsiders = 1});
  submit_some(*world, 5, 1, 40);
  world->run(microseconds(4));
  world->pause(4);
  submit_some(*world, 5, 1, 400);
  world->run(milliseconds(300));
  EXPECT_EQ(world->view(0).size(), 4U);
  world->crash(0);
  wait_for_other_leader(*world, 1, 0);
  world->resume(4);
  ASSERT_TRUE(world->run_until([&] { return world->is_settled(); }, seconds(2)));
  end_well(*world);
  EXPECT_EQ(world->view(4).size(), 4U);
}

}  // namespace
}  // namespace peal::order::ramcast::test
