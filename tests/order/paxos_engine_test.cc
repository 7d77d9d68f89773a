// SPDX-License-Identifier: Apache-2.0
// One engine on quorums; the test plays the other nodes. In comments, R-n is a pitfall of the
// specification, and En is an erratum of the paper.
#include <gtest/gtest.h>

#include <algorithm>

#include "paxos_bench.h"
#include "wire/packet.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

constexpr const char* kViewOne = "view 1 123";

TEST(PaxosEngine, AMajorityOfVotesInOneRoundDecides) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  EXPECT_EQ(three.told(), kViewOne);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a", 1);
  EXPECT_EQ(three.told(), kViewOne) << "one vote, not on disk";
  three.sync();
  EXPECT_EQ(three.told(), kViewOne) << "one vote";
  three.vote(kOne, round, 2);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a");
}

// An instance that another node has consumed is decided, even if this node knows few votes for it.
TEST(PaxosEngine, WhatItKnowsToBeDecidedStaysSoWhenLessIsVotedFor) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.vote(kTwo, round, 1, 10);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a", 1);
  three.sync();
  three.vote(kOne, round, 2);
  ASSERT_EQ(three.told(), std::string(kViewOne) + ", 1:a");
  three.sent.clear();
  three.run(milliseconds(40));
  const Bench::Sent* asked = three.last(PaxosKind::repeat);
  ASSERT_NE(asked, nullptr) << "3 to 9 are decided, and not here";
  wire::Repeat lacking;
  ASSERT_EQ(wire::decode_repeat(asked->bytes, lacking), wire::Drop::none);
  EXPECT_EQ(lacking.first, 3U);
  EXPECT_EQ(lacking.count, 7U);
}

TEST(PaxosEngine, WhatIsSaidToComeFromItAndDoesNotStopsIt) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kThree, 1), "forged", 1);
  three.sync();
  three.vote(kOne, round, 2);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", fatal");
}

// E4: votes are counted by acceptor, so a duplicate vote counts once.
TEST(PaxosEngine, AVoteThatComesTwiceIsOne) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a", 1);  // node 3's own vote never becomes durable
  for (int i = 0; i < 5; ++i) three.vote(kOne, round, 2);
  EXPECT_EQ(three.told(), kViewOne);
  {
    const WithMutant active(Mutant::px_minority_decides);
    three.vote(kOne, round, 2);
    EXPECT_NE(three.told(), kViewOne) << "the mutant is noticed";
  }
}

// votes of different rounds are never counted together.
TEST(PaxosEngine, VotesOfDifferentRoundsDecideNothing) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne, 2);
  three.propose(kOne, 2, 2, unit_head(kTwo, 1), "a", 1);
  three.vote(kOne, round, 2);
  const MemberId again{kTwo.node, kTwo.epoch + 1};
  three.vote(again, {1, kTwo}, 2);
  EXPECT_EQ(three.told(), kViewOne);
  const WithMutant active(Mutant::px_rounds_mixed);
  three.vote(kOne, round, 2);
  EXPECT_NE(three.told(), kViewOne) << "the mutant is noticed";
}

// Votes of a majority in an earlier round decide no proposal of a later round. That proposal may
// not have a majority yet.
TEST(PaxosEngine, HowMuchWasDecidedInARoundSaysNothingOfTheNext) {
  Bench three(kThree);
  three.start();
  const Round first = three.join(kOne);
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, first, 4);
  const Round second{2, kTwo};
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, second, 2);
  three.propose(kTwo, 2, 2, unit_head(kTwo, 1), "a", 1);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a");
  three.propose(kTwo, 2, 3, unit_head(kTwo, 2), "b", 1);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a") << "nobody voted for it there";
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, second, 3);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a, 2:b");
}

// an acceptor sends a promise once it is durable. The promise binds later incarnations.
TEST(PaxosEngine, APromiseIsToldOnceItIsOnDiskAndKept) {
  Bench three(kThree);
  three.start();
  three.prepare(kTwo, 5);
  EXPECT_EQ(three.count(PaxosKind::promise), 0U);
  three.sync();
  ASSERT_EQ(three.count(PaxosKind::promise), 1U);
  EXPECT_EQ(three.last(PaxosKind::promise)->to, kTwo.node);
  three.prepare(kTwo, 5);
  EXPECT_EQ(three.count(PaxosKind::promise), 2U) << "asked again, answered again";
  three.restart();
  three.prepare(kOne, 4);
  three.sync();
  EXPECT_EQ(three.count(PaxosKind::promise), 0U);
  EXPECT_EQ(three.last_state().round, (Round{5, kTwo})) << "it says why";
  // A round of a restarted coordinator is another round, even if its count is the same.
  const MemberId again{kTwo.node, kTwo.epoch + 1};
  three.prepare(again, 5);
  three.sync();
  EXPECT_EQ(three.count(PaxosKind::promise), 1U);
  three.propose(kTwo, 5, 1, unit_head(kTwo, 1), "of the one before");
  three.sync();
  EXPECT_NE(three.last_state().voted_round, (Round{5, kTwo}));
}

TEST(PaxosEngine, AVoteIsToldOnceItIsOnDisk) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a", 1);
  three.run(milliseconds(15));
  EXPECT_EQ(three.last_state().voted_upto, 1U);
  three.sync();
  EXPECT_EQ(three.last_state().voted_upto, 2U);
}

// E3: an acceptor that voted in a round accepts no proposal of a lower round, even without a
// promise.
TEST(PaxosEngine, ADelayedProposalOfAnEarlierRoundIsNotVotedFor) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.propose(kTwo, 2, 2, unit_head(kTwo, 1), "new", 1);
  three.propose(kOne, 1, 2, unit_head(kOne, 1), "old", 1);
  three.sync();
  EXPECT_EQ(three.last_state().voted_round, (Round{2, kTwo}));
  three.fetch(kTwo, {2, kTwo}, 2);
  EXPECT_EQ(three.count(PaxosKind::fetched), 1U) << "its vote";
  three.fetch(kTwo, {1, kOne}, 2);
  EXPECT_EQ(three.count(PaxosKind::fetched), 1U) << "and no other";
  three.restart();
  three.propose(kOne, 1, 2, unit_head(kOne, 1), "old", 1);
  three.sync();
  three.vote(kOne, {1, kOne}, 2);
  three.fetch(kTwo, {1, kOne}, 2);
  EXPECT_EQ(three.count(PaxosKind::fetched), 0U);
}

// the decided value of an instance may differ from the value of this node's old vote.
TEST(PaxosEngine, AnOldVoteIsNotTakenForWhatWasDecided) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kOne, 1), "old", 1);
  three.sync();  // no other acceptor votes for this value
  three.vote(kTwo, {2, kTwo}, 2, 3);
  three.vote(kOne, {2, kTwo}, 2, 3);  // instance 2 is decided in another round
  EXPECT_EQ(three.told(), kViewOne);
  three.repeat(kOne, 2, 1);
  EXPECT_EQ(three.count(PaxosKind::decided), 0U) << "it does not know what was decided";
  three.fetch(kOne, {1, kOne}, 2);
  EXPECT_EQ(three.count(PaxosKind::fetched), 1U) << "only what it voted for";
  three.decided(kTwo, 2, unit_head(kTwo, 1), "new");
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:new");
  three.repeat(kOne, 2, 1);
  EXPECT_EQ(three.count(PaxosKind::decided), 1U);
  three.sync();
  three.restart();
  three.repeat(kOne, 2, 1);
  EXPECT_EQ(three.count(PaxosKind::fetched), 0U);
}

TEST(PaxosEngine, AnyValueForTheDecidedOneIsNoticed) {
  const WithMutant active(Mutant::px_any_value_decided);
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kOne, 1), "old", 1);
  three.sync();
  three.vote(kTwo, {2, kTwo}, 2, 3);
  three.vote(kOne, {2, kTwo}, 2, 3);
  EXPECT_NE(three.told(), kViewOne);
}

// R-2, E6: two coordinators may propose the same unit, so that it is decided twice.
TEST(PaxosEngine, AUnitThatIsDecidedTwiceIsDeliveredOnce) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.decided(kOne, 2, unit_head(kTwo, 1), "a");
  three.decided(kOne, 3, unit_head(kTwo, 1), "a");
  three.decided(kOne, 4, unit_head(kTwo, 2), "b");
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a, 2:b");
  EXPECT_EQ(three.counter("quorum_ignored"), 1U);
}

// an empty value, which only fills an instance, is not delivered.
TEST(PaxosEngine, NothingIsDeliveredForAFilledInstance) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.decided(kOne, 2, {wire::ValueKind::nothing, Service::agreed, 0, kOne, 0});
  three.decided(kOne, 3, unit_head(kTwo, 1), "a");
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a");
}

// requests and answers are limited to a few instances, however many are missing.
TEST(PaxosEngine, WhoIsFarBehindAsksForALittleAtATime) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.vote(kOne, round, 1'000'000, 1'000'001);
  three.run(milliseconds(50));
  ASSERT_GT(three.count(PaxosKind::repeat), 0U);
  EXPECT_LT(three.count(PaxosKind::repeat), 30U);
  wire::Repeat asked;
  ASSERT_EQ(wire::decode_repeat(three.last(PaxosKind::repeat)->bytes, asked), wire::Drop::none);
  EXPECT_EQ(asked.first, 2U);
  EXPECT_LE(asked.count, wire::kRepeatMax);
}

// the last decided value is lost, and no later value shows the gap.
TEST(PaxosEngine, WhatIsLostBeforeASilenceIsAskedFor) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.vote(kOne, round, 2, 3);
  three.vote(kTwo, round, 2, 2);
  EXPECT_EQ(three.count(PaxosKind::repeat), 0U) << "it may be about to come";
  EXPECT_EQ(three.engine->why().kind, &wait::packet);
  EXPECT_EQ(three.engine->why().seq, 1U);
  int says_so = 0;
  for (int i = 0; i < 30; ++i) {
    three.run(milliseconds(1));
    says_so += three.last_state().asks ? 1 : 0;
  }
  EXPECT_GT(three.count(PaxosKind::repeat), 0U);
  EXPECT_GT(says_so, 0) << "its coordinator may be too fast";
  three.decided(kOne, 2, unit_head(kTwo, 1), "last");
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:last");
  EXPECT_EQ(three.engine->why().kind, &wait::nothing);
  three.run(milliseconds(30));
  EXPECT_FALSE(three.last_state().asks);
}

// A majority has voted for instance 2, so it is decided, although no node has consumed it. This
// node lacks its value.
TEST(PaxosEngine, WhatMostVotedForIsAskedForBeforeAnybodySaysThatItIsDecided) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, round, 2, 2);
  EXPECT_EQ(three.engine->why().kind, &wait::packet);
  three.run(milliseconds(30));
  EXPECT_GT(three.count(PaxosKind::repeat), 0U);
}

// a node that starts late does not begin with the first instance that it hears of.
TEST(PaxosEngine, WhoStartsLateBeginsWithACheckpoint) {
  Bench three(kThree);
  three.fresh();
  three.start();
  three.propose(kOne, 1, 50, unit_head(kTwo, 1), "a", 49);
  three.sync();
  three.vote(kOne, {1, kOne}, 50, 50);
  three.vote(kTwo, {1, kOne}, 50, 50);
  EXPECT_EQ(three.told(), "");
  three.run(milliseconds(20));
  EXPECT_GT(three.count(PaxosKind::checkpoint_get), 0U);
  wire::Checkpoint said;
  said.next = 51;
  said.nodes = first_nodes();
  said.view = {1, kOne};
  said.members = {{kOne, 0}, {kTwo, 0}};
  said.numbers = {0, 1};
  three.checkpoint(kOne, said);
  // according to the checkpoint, unit 1 of node 2 already has a place.
  three.propose(kOne, 1, 51, unit_head(kTwo, 1), "a", 50);
  three.vote(kOne, {1, kOne}, 51, 50);
  three.vote(kTwo, {1, kOne}, 51, 50);
  EXPECT_EQ(three.told(), "") << "it is in no view";
  EXPECT_EQ(three.counter("quorum_ignored"), 1U);
}

// A view admits the node while the node requests a checkpoint. The node must not take a checkpoint
// of the state after that view.
TEST(PaxosEngine, ACheckpointFromBehindItsOwnViewIsNotTaken) {
  Bench three(kThree);
  three.start();
  wire::Checkpoint said;
  said.next = 1;
  said.nodes = first_nodes();
  three.checkpoint(kOne, said);
  three.vote(kOne, {1, kOne}, 1, 2);
  said.next = 2;
  said.view = {1, kOne};
  said.members = {{kOne, 0}, {kTwo, 0}, {kThree, 0}};
  said.numbers = {0, 0, 0};
  three.checkpoint(kOne, said);
  EXPECT_EQ(three.counter("quorum_next"), 1U);
  EXPECT_EQ(three.told(), "");
}

// no node has a value that this node lacks. A node in no view would take a checkpoint. This
// node is a member of a view, so it stops.
TEST(PaxosEngine, WhatNobodyKeepsIsNotAskedForForEver) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  wire::State said;
  said.round = said.voted_round = round;
  said.leading = true;
  said.voted_upto = 900;
  said.next = 901;
  said.oldest = 500;
  wire::State same = said;
  same.leading = false;
  // Reports of others may be outdated, so the member waits for some time before it stops.
  const auto say_and_wait = [&](int times) {
    int i = 0;
    for (; i < times && three.log.back() != "fatal"; ++i) {
      three.state(kOne, said);
      three.state(kTwo, same);
      three.run(milliseconds(10));
    }
    return i;
  };
  EXPECT_EQ(say_and_wait(200), 100);
  EXPECT_EQ(three.log.back(), "fatal");
  const std::uint64_t asked = three.count(PaxosKind::repeat);
  three.run(seconds(1));
  EXPECT_EQ(three.count(PaxosKind::repeat), asked);
}

// An acceptor that catches up may have voted for the value that the member lacks. The acceptor may
// propose this value again later.
TEST(PaxosEngine, AnAcceptorThatCatchesUpMayHelpAMemberThatIsCutOff) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  wire::State gone;
  gone.round = gone.voted_round = round;
  gone.leading = true;
  gone.voted_upto = 900;
  gone.next = 901;
  gone.oldest = 500;
  three.state(kOne, gone);
  // Node 2 restarts and catches up from its log.
  const MemberId again{kTwo.node, kTwo.epoch + 1};
  wire::State comes;
  comes.oldest = 1;
  for (Instance next = 1; next <= 2; ++next) {
    comes.next = next;
    for (int i = 0; i < 90; ++i) {
      three.state(kOne, gone);
      three.state(again, comes);
      three.run(milliseconds(10));
    }
  }
  EXPECT_NE(three.log.back(), "fatal") << "it came further";
  for (int i = 0; i < 20; ++i) {
    three.state(kOne, gone);
    three.state(again, comes);
    three.run(milliseconds(10));
  }
  EXPECT_EQ(three.log.back(), "fatal") << "it did not";
}

// A node that has left sends nothing, not even a promise that becomes durable after it left.
TEST(PaxosEngine, WhoHasLeftSaysNothingMore) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.prepare(kTwo, 5);
  three.engine->leave(three.now, three);
  EXPECT_TRUE(three.last_state().leaving);
  three.sent.clear();
  three.sync();
  three.run(seconds(1));
  EXPECT_TRUE(three.sent.empty()) << "nor of what gets to the disk later";
  three.ensemble().want_pass(7, three);
  EXPECT_TRUE(three.sent.empty());

  Bench one(kOne);
  one.lead();
  one.engine->leave(one.now, one);
  one.sent.clear();
  EXPECT_FALSE(one.ensemble().pass(one.now, 7, one));
  EXPECT_TRUE(one.sent.empty());
}

// A round has only one proposal for an instance. The acceptor voted for the first proposal.
TEST(PaxosEngine, ASecondProposalOfARoundIsDropped) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "a", 1);
  three.propose(kOne, 1, 2, unit_head(kTwo, 1), "b", 1);
  EXPECT_EQ(three.counter("duplicate"), 1U);
  three.sync();
  three.vote(kOne, round, 2);
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a");
}

// A checkpoint has the key of the last value before it. A node that takes the checkpoint has all
// values with higher keys, so from() returns this key.
TEST(PaxosEngine, WhereItBeginsIsSaidByItsLogOrByACheckpoint) {
  Bench three(kThree);
  three.start();
  EXPECT_EQ(three.ensemble().from(), 0U);
  wire::Checkpoint said;
  said.next = 50;
  said.key = 500;
  said.nodes = first_nodes();
  three.vote(kTwo, {1, kOne}, 49, 50);
  three.checkpoint(kTwo, said);
  EXPECT_EQ(three.ensemble().key(), 500U);
  EXPECT_EQ(three.ensemble().from(), 500U);
  three.decided(kTwo, 50, {wire::ValueKind::nothing, Service::agreed, 0, kTwo, 0});
  EXPECT_EQ(three.ensemble().from(), 500U) << "it stays";
  three.sync();
  three.restart();
  EXPECT_EQ(three.ensemble().from(), 500U) << "what is behind it, it consumes again";
}

TEST(PaxosEngine, IsNearOthersAsLongAsItHearsMostOfThem) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  EXPECT_TRUE(three.ensemble().near());
  three.run(seconds(1));
  EXPECT_FALSE(three.ensemble().near()) << "it does not know where they are";
  three.vote(kOne, {1, kOne}, 1, 2);
  EXPECT_TRUE(three.ensemble().near());
  three.vote(kOne, {1, kOne}, 1, 2 + 512);
  EXPECT_TRUE(three.ensemble().near());
  three.vote(kOne, {1, kOne}, 1, 2 + 4'097);
  EXPECT_FALSE(three.ensemble().near());
}

TEST(PaxosEngine, ADiskThatHangsBeforeItSaysAnythingIsNoticed) {
  Bench three(kThree);
  three.engine->start(three.now, three);
  EXPECT_FALSE(three.ensemble().disk_hangs());
  three.run(seconds(5));
  EXPECT_TRUE(three.ensemble().disk_hangs());
  EXPECT_TRUE(three.sent.empty()) << "its log does not know of it yet";
}

// a coordinator may begin Phase 1 at an instance whose vote the acceptor has dropped already.
TEST(PaxosEngine, APromiseSaysWhatIsDecidedInsteadOfVotesThatAreGone) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.decided(kOne, 2, unit_head(kTwo, 1), "a");
  three.propose(kOne, 1, 3, unit_head(kTwo, 2), "b", 2);
  three.sync();
  three.prepare(kTwo, 2, 1);
  three.sync();
  wire::Promise said;
  ASSERT_EQ(wire::decode_promise(three.last(PaxosKind::promise)->bytes, said), wire::Drop::none);
  EXPECT_EQ(said.next, 3U) << "all below is decided";
  ASSERT_EQ(said.runs.size(), 1U);
  EXPECT_EQ(said.runs[0], (wire::VoteRun{3, 1, {1, kOne}}));
}

// an acceptor whose disk failed stops, and sends nothing more.
TEST(PaxosEngine, WhoseDiskFailedStops) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.prepare(kTwo, 2);
  three.disk.fail();
  three.sync();
  EXPECT_EQ(three.log.back(), "fatal");
  three.sent.clear();
  three.prepare(kTwo, 2);
  three.run(seconds(1));
  EXPECT_TRUE(three.sent.empty());
}

// a later proposal does not overwrite a decided value.
TEST(PaxosEngine, AProposalDoesNotOverwriteWhatIsDecided) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.decided(kOne, 3, unit_head(kTwo, 2), "b");
  three.propose(kTwo, 9, 3, unit_head(kTwo, 2), "other", 1);
  three.decided(kOne, 2, unit_head(kTwo, 1), "a");
  EXPECT_EQ(three.told(), std::string(kViewOne) + ", 1:a, 2:b");
}

/// How long node 1 takes to begin a round after the coordinator crashed, if node 1's process runs
/// only for a moment in each 150 ms.
Duration election_of_a_starved_process() {
  Bench one(kOne);
  one.start();
  const Round round = one.join(kTwo);
  const Duration pause = milliseconds(150);
  const Instant died = one.now;
  while (one.count(PaxosKind::prepare) == 0 && one.now - died < seconds(20)) {
    one.now = one.now + pause;
    one.engine->on_pause(one.now, pause, one);
    one.vote(kThree, round, 1, 2);
    one.run(milliseconds(11));
  }
  return one.now - died;
}

TEST(PaxosEngine, AStarvedProcessTakesOverInTime) {
  EXPECT_LT(election_of_a_starved_process(), seconds(1));
  const WithMutant active(Mutant::px_pauses_add_up);
  EXPECT_GE(election_of_a_starved_process(), seconds(2)) << "the mutant is noticed";
}

/// True if node 3 reports that the coordinator does not serve it. The coordinator began its round
/// `span` ago, and is still in Phase 1.
bool misses_after(Duration span) {
  Bench three(kThree);
  three.start();
  three.prepare(kTwo, 5);
  wire::State said;
  said.round = {5, kTwo};
  said.fitness = wire::Fitness::chosen;
  for (const Instant end = three.now + span; three.now < end;) {
    three.state(kTwo, said);
    three.run(milliseconds(10));
  }
  return three.last_state().misses;
}

// A coordinator gets some time for Phase 1. Otherwise each node would begin a round as soon as
// another node does, and no round would complete.
TEST(PaxosEngine, WhoBeginsARoundHasItsTime) {
  const Duration suspect = Options{}.suspect;
  EXPECT_FALSE(misses_after(milliseconds(50)));
  EXPECT_FALSE(misses_after(suspect * 3));
  EXPECT_TRUE(misses_after(suspect * 5));
}

// In the id of a packet, the upper 32 bits identify the cluster, and the lower 32 bits identify the
// settings.
TEST(PaxosEngine, PacketsOfOtherClustersAndSettingsAreToldApart) {
  Bench three(kThree);
  three.start();
  const auto hear_of = [&three](std::uint64_t cluster) {
    wire::Header header;
    header.cluster = cluster;
    header.sender = kOne;
    Bytes packet(1'000);
    packet.resize(wire::encode_prepare(header, {1, 1}, packet));
    three.hear(packet);
  };
  const std::uint64_t own = three.cluster();
  hear_of(own + 1);
  EXPECT_EQ(three.counter("other_settings"), 1U);
  EXPECT_EQ(three.counter("other_cluster"), 0U);
  hear_of(own + (std::uint64_t{1} << 32));
  EXPECT_EQ(three.counter("other_settings"), 1U);
  EXPECT_EQ(three.counter("other_cluster"), 1U);
  EXPECT_EQ(std::count_if(three.events.begin(), three.events.end(),
                          [](const Event& each) { return each.kind == &event::incompatible_peer; }),
            2);
}

TEST(PaxosEngine, PacketsOfOtherEnginesAreUnknownAndThoseWithOtherSettingsReported) {
  Bench three(kThree);
  three.start();
  const auto hear_of = [&three](std::uint64_t cluster, wire::FrameKind kind) {
    wire::Header header;
    header.cluster = cluster;
    header.sender = kOne;
    Bytes packet(1'000);
    packet.resize(wire::encode_epoch_notice(header, {kOne}, packet));
    packet[3] = static_cast<std::byte>(kind);
    wire::complete(packet);
    three.hear(packet);
  };
  hear_of(three.cluster(), wire::FrameKind::epoch_notice);
  hear_of(three.cluster(), wire::FrameKind::settings);
  EXPECT_EQ(three.counter("unknown_kind"), 2U);
  EXPECT_TRUE(three.events.empty());
  hear_of(three.cluster() + 1, wire::FrameKind::epoch_notice);
  EXPECT_EQ(three.counter("other_settings"), 1U);
  ASSERT_EQ(three.events.size(), 1U);
  EXPECT_EQ(three.events[0].kind, &event::incompatible_peer);
  EXPECT_EQ(three.events[0].who, kOne);
}

// ---- reasons for waiting ----

TEST(PaxosWhy, SaysWhatIsWaitedFor) {
  Bench three(kThree);
  three.start();
  EXPECT_EQ(three.engine->why().kind, &wait::majority);
  EXPECT_EQ(three.engine->why().who.node, kOne.node) << "one that was never heard of";
  const auto nodes = [&three] {
    std::vector<NodeId> found;
    for (const MemberId& each : three.engine->why().all) found.push_back(each.node);
    return found;
  };
  EXPECT_EQ(nodes(), (std::vector{kOne.node, kTwo.node})) << "all that are missing are named";
  const Round round = three.join(kOne);
  EXPECT_EQ(three.engine->why().kind, &wait::nothing);
  three.submit("a");
  EXPECT_EQ(three.engine->why().kind, &wait::quorum);
  three.room = 0;
  EXPECT_EQ(three.engine->why().kind, &wait::slow_application);
  three.room = 10;
  three.run(seconds(1));  // no packet arrives
  EXPECT_EQ(three.engine->why().kind, &wait::majority);
  EXPECT_TRUE(three.engine->why().kind->without_majority) << "in a view that claimed to be primary";
  EXPECT_EQ(nodes(), (std::vector{kOne.node, kTwo.node}));
  three.vote(kOne, round, 1, 2);
  const WaitReason why = three.engine->why();
  EXPECT_EQ(why.kind, &wait::quorum);
  EXPECT_EQ(why.who.node, kTwo.node) << "who has not voted";
  three.run(seconds(1));
  three.vote(kTwo, round, 1, 2);
  EXPECT_EQ(three.engine->why().kind, &wait::coordinator) << "a majority is there, and none leads";
  EXPECT_EQ(three.engine->why().who, kTwo);
}

TEST(PaxosWhy, ACoordinatorNamesTheMemberThatIsTooFarBehind) {
  const Options options = small_windows();
  Bench one(kOne, options);
  const Round round = one.lead();
  Instance next = 0;
  const auto says = [&](const MemberId& who, Instance consumed) {
    wire::State said;
    said.round = said.voted_round = round;
    said.voted_upto = next - 1;
    said.next = consumed;
    said.oldest = 1;
    said.view = 1;
    one.state(who, said);
  };
  // Node 2 votes for all instances but consumes none, because its application is full.
  for (int i = 0; i < 100; ++i) {
    one.submit("unit");
    one.sync();
    next = one.counter("quorum_next") + one.counter("quorum_instances_ahead");
    says(kTwo, 2);
    says(kThree, next);
    if (i == 0) {
      EXPECT_EQ(one.engine->why().kind, &wait::nothing);
    }
  }
  EXPECT_EQ(next, 2U + options.max_gap);
  EXPECT_EQ(one.engine->why().kind, &wait::window);
  EXPECT_EQ(one.engine->why().who, kTwo);
  says(kTwo, next);
  EXPECT_EQ(one.engine->why().kind, &wait::quorum);
}

}  // namespace
}  // namespace peal::order::paxos::test
