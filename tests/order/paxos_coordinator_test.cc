// SPDX-License-Identifier: Apache-2.0
// Phase 1 of one coordinator; the test plays the other nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

// a promise for another round does not count in the current round.
TEST(PaxosCoordinator, PromisesOfOtherRoundsAreNotCounted) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  one.promise(kTwo, {{count + 1, kOne}, 0, {}});
  one.promise(kTwo, {{count, {kOne.node, kOne.epoch - 1}}, 0, {}});
  if (count > 1) one.promise(kTwo, {{count - 1, kOne}, 0, {}});
  one.run(milliseconds(5));
  EXPECT_FALSE(one.last_state().leading);
  one.promise(kTwo, {{count, kOne}, 0, {}});
  one.run(milliseconds(20));
  EXPECT_TRUE(one.last_state().leading);
}

// Meanwhile another node has coordinated in a higher round, of which this node has not heard.
TEST(PaxosCoordinator, WhatItKnowsToBeDecidedIsNotOverwrittenByItsOwnProposal) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  const std::vector<wire::ViewMember> members{{kOne, 0}, {kTwo, 0}, {kThree, 0}};
  one.decided_view(kTwo, 2, 1, members);
  // The promise has a vote only for instance 3, so node 1 proposes empty values for the instances
  // below.
  constexpr Round kOlder{1, {kOne.node, kOne.epoch - 1}};
  one.promise(kTwo, {{count, kOne}, 0, {{3, 1, kOlder}}});
  one.fetched(kTwo, kOlder, 3, unit_head(kTwo, 1), "three");
  one.run(milliseconds(20));
  one.decided(kTwo, 1, {wire::ValueKind::nothing, Service::agreed, 0, kTwo, 0});
  one.run(milliseconds(5));
  EXPECT_EQ(one.told(), "view 1 123");
}

/// How many rounds node 1 begins while its own first promise takes ten seconds to become durable.
/// Both other nodes are alive.
std::uint64_t rounds_on_a_slow_disk() {
  Bench one(kOne);
  one.start();
  for (const Instant end = one.now + seconds(10); one.now < end;) {
    one.state(kTwo, {});
    one.state(kThree, {});
    one.run(milliseconds(20));
  }
  EXPECT_FALSE(one.last_state().leading);
  wire::Prepare asked;
  if (one.count(PaxosKind::prepare) == 0) return 0;
  EXPECT_EQ(wire::decode_prepare(one.last(PaxosKind::prepare)->bytes, asked), wire::Drop::none);
  one.sync();
  one.promise(kTwo, {{asked.count, kOne}, 0, {}});
  one.run(milliseconds(20));
  EXPECT_TRUE(one.last_state().leading);
  return one.counter("quorum_elections");
}

// Each further round would make the promise that the disk is writing worthless.
TEST(PaxosCoordinator, ASlowDiskDelaysOneRoundAndBeginsNoOther) {
  EXPECT_EQ(rounds_on_a_slow_disk(), 1U);
  const WithMutant active(Mutant::px_rounds_overtake);
  EXPECT_GT(rounds_on_a_slow_disk(), 3U) << "the mutant is noticed";
}

TEST(PaxosCoordinator, OnePromiseIsNoMajority) {
  Bench one(kOne);
  one.begin_phase_one();
  one.run(milliseconds(50));
  EXPECT_FALSE(one.last_state().leading) << "its own alone";
  const WithMutant active(Mutant::px_promises_one_short);
  Bench other(kOne);
  other.begin_phase_one();
  other.run(milliseconds(50));
  EXPECT_TRUE(other.last_state().leading) << "the mutant is noticed";
}

/// Node 1 votes for one value in instance 1, and node 3 votes for another value in a higher round.
/// Returns the value that node 1 then proposes for instance 1.
std::string recovered_value() {
  constexpr Round kHigher{1, kThree};
  Bench one(kOne);
  wire::Checkpoint beginning;
  beginning.next = 1;
  beginning.nodes = first_nodes();
  one.start();
  one.checkpoint(kTwo, beginning);
  one.propose(kTwo, 1, 1, unit_head(kTwo, 1), "lower");
  one.sync();
  wire::State alive;
  alive.next = alive.oldest = 1;
  for (int i = 0; i < 40 && one.count(PaxosKind::prepare) == 0; ++i) {  // node 2 is silent
    one.state(kThree, alive);
    one.run(milliseconds(20));
  }
  one.sync();
  const Bench::Sent* prepare = one.last(PaxosKind::prepare);
  if (prepare == nullptr) return "(nobody began)";
  wire::Prepare asked;
  EXPECT_EQ(wire::decode_prepare(prepare->bytes, asked), wire::Drop::none);
  one.sent.clear();
  one.promise(kThree, {{asked.count, kOne}, 1, {{1, 1, kHigher}}});
  one.fetched(kThree, kHigher, 1, unit_head(kThree, 1), "higher");
  const auto proposed = std::find_if(one.sent.begin(), one.sent.end(), [](const Bench::Sent& each) {
    return each.kind == PaxosKind::propose;
  });
  if (proposed == one.sent.end()) return "(nothing proposed)";
  wire::ValueFrame frame;
  EXPECT_EQ(wire::decode_value(proposed->bytes, frame), wire::Drop::none);
  EXPECT_EQ(frame.instance, 1U);
  if (frame.head.kind == wire::ValueKind::nothing) return "(filled)";
  return std::string(as_text(ByteView(proposed->bytes).subspan(wire::kDataHeaderBytes)));
}

constexpr Round kLast{1, {kOne.node, kOne.epoch - 1}};

/// Node 3 reports 300 votes. Returns how many of their values node 1 fetches, if each request is
/// answered at once.
std::uint64_t fetched_at_once(Bench& one) {
  const std::uint64_t count = one.begin_phase_one();
  one.state(kThree, {});
  one.promise(kThree, {{count, kOne}, 1, {{1, 300, kLast}}});
  std::uint64_t answered = 0;
  for (std::size_t i = 0; i < one.sent.size() && answered < 1'000; ++i) {
    if (one.sent[i].kind != PaxosKind::fetch) continue;
    wire::Fetch fetch;
    EXPECT_EQ(wire::decode_fetch(one.sent[i].bytes, fetch), wire::Drop::none);
    one.fetched(kThree, kLast, fetch.instance, unit_head(kTwo, fetch.instance), "value");
    ++answered;
  }
  return answered;
}

// A coordinator from outside the chain has none of the values. If it fetched only a few values at
// each timer, this would take longer than the detection of the last coordinator's crash.
TEST(PaxosCoordinator, WhatItLacksIsFetchedAsFastAsItComes) {
  Bench one(kOne);
  EXPECT_EQ(fetched_at_once(one), 300U) << "each once, and no timer";
  EXPECT_TRUE(one.last_state().leading || one.count(PaxosKind::propose) >= 300);
}

TEST(PaxosCoordinator, WhatWasFetchedInVainIsAskedForAgain) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  one.state(kThree, {});
  one.promise(kThree, {{count, kOne}, 1, {{1, 300, kLast}}});
  const std::uint64_t first = one.count(PaxosKind::fetch);
  EXPECT_GT(first, 0U);
  EXPECT_LT(first, 100U) << "not all at once: answers would get lost";
  for (int i = 0; i < 3; ++i) {
    one.state(kThree, {});
    one.run(milliseconds(10));
  }
  EXPECT_GE(one.count(PaxosKind::fetch), 2 * first);
}

// A value that was not requested, or that is of another round, proves no vote.
TEST(PaxosCoordinator, WhatWasNotChosenIsNotTaken) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  one.state(kThree, {});
  one.promise(kThree, {{count, kOne}, 1, {{1, 2, kLast}}});
  one.fetched(kThree, kLast, 7, unit_head(kTwo, 7), "never voted for");
  one.fetched(kThree, {1, kThree}, 1, unit_head(kTwo, 1), "in another round");
  one.run(milliseconds(1));
  EXPECT_EQ(one.count(PaxosKind::propose), 0U);
  one.fetched(kThree, kLast, 1, unit_head(kTwo, 1), "first");
  one.fetched(kThree, kLast, 1, unit_head(kTwo, 1), "again");
  EXPECT_EQ(one.count(PaxosKind::propose), 0U) << "the second is missing";
  one.fetched(kThree, kLast, 2, unit_head(kTwo, 2), "second");
  std::string texts;
  for (const Bench::Sent& each : one.sent) {
    wire::ValueFrame frame;
    if (each.kind != PaxosKind::propose || each.to != NodeId{}) continue;
    EXPECT_EQ(wire::decode_value(each.bytes, frame), wire::Drop::none);
    if (frame.head.kind != wire::ValueKind::unit) continue;
    texts += std::string(as_text(ByteView(each.bytes).subspan(wire::kDataHeaderBytes))) + " ";
  }
  EXPECT_EQ(texts, "first second ");
}

// If the node that has the values is gone, the coordinator begins a new round: other acceptors that
// voted for these values may have them.
TEST(PaxosCoordinator, WhoIsGoneIsAskedForItsVotesNoLonger) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  one.state(kThree, {});
  one.promise(kThree, {{count, kOne}, 1, {{1, 300, kLast}}});
  const std::uint64_t rounds = one.count(PaxosKind::prepare);
  wire::State waits;
  waits.round = {count, kOne};  // node 2 follows this node, and does not miss it
  for (int i = 0; i < 40 && one.count(PaxosKind::prepare) == rounds; ++i) {
    one.state(kTwo, waits);  // node 3 is silent
    one.run(milliseconds(10));
  }
  wire::Prepare again;
  ASSERT_EQ(wire::decode_prepare(one.last(PaxosKind::prepare)->bytes, again), wire::Drop::none);
  EXPECT_GT(again.count, count);
}

/// The STATE of a member of the first view. The member has voted in `round` up to instance `upto`.
wire::State voted(const Round& round, Instance upto) {
  wire::State said;
  said.round = said.voted_round = round;
  said.voted_upto = upto;
  said.next = 2;
  said.oldest = said.view = 1;
  said.joined = true;
  return said;
}

/// A coordinator whose own disk makes no record durable.
class PaxosCoordinatorAlone : public testing::Test {
 protected:
  void SetUp() override {
    round_ = one_.lead();
    one_.sent.clear();
    one_.submit("a");
  }
  /// Runs for `span`: node 2 has voted for the unit in instance 2, node 3 has not.
  void run(Duration span) {
    for (const Instant end = one_.now + span; one_.now < end;) {
      one_.state(kTwo, voted(round_, 2));
      one_.state(kThree, voted(round_, 1));
      one_.run(milliseconds(10));
    }
  }
  Bench one_{kOne};
  Round round_{};
};

TEST_F(PaxosCoordinatorAlone, AsksOthersAgainAndNotItself) {
  run(seconds(1));
  std::uint64_t again = 0;
  for (const Bench::Sent& each : one_.sent) {
    EXPECT_NE(each.to, kOne.node) << static_cast<int>(each.kind);
    again += each.kind == PaxosKind::propose && each.to == kThree.node ? 1U : 0U;
  }
  EXPECT_GT(again, 2U);
}

// Packets on the data lane may not reach the acceptor, so the coordinator tries the other lane.
TEST_F(PaxosCoordinatorAlone, AsksByTheOtherLaneWhatItAskedInVain) {
  run(seconds(2));
  std::vector<Lane> lanes;
  for (const Bench::Sent& each : one_.sent) {
    if (each.kind == PaxosKind::propose && each.to == kThree.node) lanes.push_back(each.lane);
  }
  ASSERT_GT(lanes.size(), 3U);
  EXPECT_EQ(lanes.front(), Lane::data);
  EXPECT_EQ(lanes.back(), Lane::control);
  EXPECT_LT(lanes.size(), 20U) << "each time after a longer while";
}

TEST_F(PaxosCoordinatorAlone, ADatagramGoesByTheDataLane) {
  const Bench::Sent* proposed = one_.last(PaxosKind::propose);
  ASSERT_NE(proposed, nullptr);
  EXPECT_EQ(proposed->lane, Lane::data);
}

// While a member is too far behind, the coordinator proposes no view in which that member stays. A
// restarted node is another member, and waits outside the view meanwhile.
TEST(PaxosCoordinator, AMemberThatIsTooFarBehindPutsOffViewsThatWouldGoOnWithIt) {
  Bench one(kOne, small_windows());
  const Round round = one.lead();
  const auto all = [&one] {
    return one.counter("quorum_next") + one.counter("quorum_instances_ahead");
  };
  const auto says = [&](const MemberId& who, Instance next) {
    wire::State said = voted(round, all() - 1);
    said.next = next;
    one.state(who, said);
  };
  for (int i = 0; i < 60; ++i) {
    one.submit("unit");
    one.sync();
    says(kThree, all());
    says(kTwo, 2);
  }
  ASSERT_EQ(one.engine->why().kind, &wait::window);
  const std::uint64_t views = one.proposed(wire::ValueKind::view);
  const MemberId again{kThree.node, kThree.epoch + 1};
  wire::State back;
  back.next = back.oldest = 1;
  one.state(again, back);
  for (int i = 0; i < 40; ++i) {  // node 3 is silent from here on
    says(kTwo, 2);
    one.run(milliseconds(10));
  }
  EXPECT_EQ(one.proposed(wire::ValueKind::view), views);
  says(kTwo, all());
  one.run(milliseconds(10));
  EXPECT_EQ(one.proposed(wire::ValueKind::view), views + 1);
}

// The progress of the coordinator itself does not limit its proposals: other members may be
// further.
TEST(PaxosCoordinator, IsNotTooFarBehindItself) {
  Options options;
  options.history_bytes_max = 1U << 16;
  options.packet_bytes_max = 8'192;
  options.window = options.member_window = options.window_first = 8;
  ASSERT_LT(gap_max(options), options.window);
  Bench one(kOne, options);
  const Round round = one.lead();
  for (const MemberId& each : {kTwo, kThree}) {
    wire::State said = voted(round, 1);
    said.next = 10;
    one.state(each, said);
  }
  one.sent.clear();
  for (int i = 0; i < 8; ++i) one.submit("a");
  EXPECT_EQ(one.count(PaxosKind::propose), 8U);
}

/// A coordinator whose window has space for eight values, seven of which are in progress.
class PaxosCoordinatorPasses : public testing::Test {
 protected:
  static Options small() {
    Options options;
    options.window = options.member_window = options.window_first = 8;
    return options;
  }
  void SetUp() override {
    round_ = one_.lead();
    for (int i = 0; i < 7; ++i) one_.submit("a");
  }
  bool pass() { return one_.ensemble().pass(one_.now, ++key_, one_); }
  Bench one_{kOne, small()};
  Round round_{};
  std::uint64_t key_ = 100;
};

// Members may keep the window full all the time, while other ensembles wait for keys of this
// ensemble.
TEST_F(PaxosCoordinatorPasses, OneAtATimeBeyondAFullWindow) {
  one_.submit("a");
  EXPECT_TRUE(pass());
  EXPECT_FALSE(pass());
  EXPECT_FALSE(pass());
  one_.sync();
  one_.state(kTwo, voted(round_, 10));
  EXPECT_TRUE(pass()) << "it was consumed";
}

TEST_F(PaxosCoordinatorPasses, NoMoreThanTheWindowIfItIsNotFull) {
  EXPECT_TRUE(pass());
  EXPECT_FALSE(pass()) << "now it is, and what was passed is under way";
}

TEST_F(PaxosCoordinatorPasses, NoSecondOneWhileTheFirstIsNextToBeConsumed) {
  one_.submit("a");
  ASSERT_TRUE(pass());
  for (int i = 0; i < 8; ++i) one_.submit("b");
  one_.sync();
  one_.state(kTwo, voted(round_, 9));
  EXPECT_FALSE(pass());
  one_.sync();
  one_.state(kTwo, voted(round_, 10));
  EXPECT_TRUE(pass());
}

TEST_F(PaxosCoordinatorPasses, ItAsksItselfForNothing) {
  one_.sent.clear();
  one_.ensemble().want_pass(1'000, one_);
  EXPECT_EQ(one_.count(PaxosKind::pass), 0U);
}

// a value that may have been decided is proposed again, unchanged.
TEST(PaxosCoordinator, TheVoteOfTheHighestRoundIsProposedAgain) {
  EXPECT_EQ(recovered_value(), "higher");
  {
    const WithMutant active(Mutant::px_lowest_vote_wins);
    EXPECT_EQ(recovered_value(), "lower");
  }
  const WithMutant active(Mutant::px_recovered_dropped);
  EXPECT_EQ(recovered_value(), "(filled)");
}

}  // namespace
}  // namespace peal::order::paxos::test
