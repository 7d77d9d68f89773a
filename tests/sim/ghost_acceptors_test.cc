// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/inspection/ghost_acceptors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ghost_reports.h"

// Histories of acceptors, written by hand. An illegal history violates one rule, and GhostAcceptors
// must detect the violation. Legal histories must pass.

namespace peal::sim {
namespace {

using order::paxos::GhostAcceptors;
using order::paxos::GhostOrders;
using order::paxos::Record;
using order::paxos::value_digest;

constexpr std::uint64_t kLife1 = wire::kLogBit | 11, kLife2 = wire::kLogBit | 12,
                        kLife3 = wire::kLogBit | 13;

wire::Nodes three_nodes() {
  wire::Nodes nodes;
  nodes.hash = 5;
  nodes.all = nodes.acceptors = {NodeId{1}, NodeId{2}, NodeId{3}};
  nodes.lives = {kLife1, kLife2, kLife3};
  nodes.first = wire::first_of(nodes);
  return nodes;
}

/// Three acceptors with logs that have bootstrapped an order, and the GhostAcceptors that checks
/// them.
class GhostAcceptorsTest : public GhostReports {
 protected:
  static constexpr std::uint64_t kLives[] = {0, kLife1, kLife2, kLife3};

  void begin() {
    for (std::uint32_t n = 1; n <= 3; ++n) open(n);
    for (std::uint32_t n = 1; n <= 3; ++n) take(n);
    for (std::uint32_t n = 1; n <= 3; ++n) checkpoint(n, 1, {});
  }
  void open(std::uint32_t n, std::uint64_t life = 0, std::vector<Record> records = {},
            bool put_back = false) {
    ghost.opened(next_incarnation(n), life == 0 ? kLives[n] : life, {}, put_back);
    std::uint64_t position = 0;
    for (const Record& record : records) ghost.read(NodeId{n}, LogPosition{++position}, record);
    last[n] = {position};
    ghost.replayed(NodeId{n}, last[n]);
    write(n, started(epochs[n]));
  }
  MemberId next_incarnation(std::uint32_t n) { return {NodeId{n}, ++epochs[n]}; }
  MemberId member(std::uint32_t n) const { return {NodeId{n}, epochs[n]}; }
  static Record started(std::uint64_t epoch) {
    Record record;
    record.kind = Record::Kind::started;
    record.epoch = epoch;
    return record;
  }
  void write(std::uint32_t n, const Record& record, bool durable = true) {
    last[n] = last[n].next();
    ghost.appended(NodeId{n}, last[n], record);
    if (durable) ghost.durable(NodeId{n}, last[n]);
  }
  static Record taken() {
    Record record;
    record.kind = Record::Kind::taken;
    record.lives = {three_nodes().hash, three_nodes().lives};
    record.heard = {{NodeId{1}, 1}, {NodeId{2}, 1}, {NodeId{3}, 1}};
    return record;
  }
  void take(std::uint32_t n) { write(n, taken()); }
  static wire::Round round(std::uint64_t count, std::uint32_t node = 1) {
    return {count, {NodeId{node}, 1}};
  }
  static Record promise_of(wire::Round of) {
    Record record;
    record.kind = Record::Kind::promise;
    record.round = of;
    return record;
  }
  static Record vote_of(wire::Round of, wire::Instance instance, std::uint64_t value) {
    Record record;
    record.kind = Record::Kind::vote;
    record.round = of;
    record.instance = instance;
    record.head = head(value);
    return record;
  }
  static Record decided_of(wire::Instance instance, std::uint64_t value) {
    Record record;
    record.kind = Record::Kind::decided;
    record.instance = instance;
    record.head = head(value);
    return record;
  }
  static Record checkpoint_of(wire::Instance next, wire::Round promised,
                              wire::Instance oldest = 1) {
    Record record;
    record.kind = Record::Kind::checkpoint;
    record.round = promised;
    record.instance = oldest;
    record.state = state(next);
    return record;
  }
  static wire::Checkpoint state(wire::Instance next) {
    wire::Checkpoint state;
    state.next = next;
    state.nodes = three_nodes();
    return state;
  }
  static wire::ValueHead head(std::uint64_t value) {
    wire::ValueHead head;
    head.kind = wire::ValueKind::unit;
    head.view = 1;
    head.number = value;
    return head;
  }
  void vote(std::uint32_t n, wire::Round of, wire::Instance instance, std::uint64_t value,
            bool durable = true) {
    write(n, vote_of(of, instance, value), durable);
  }
  void checkpoint(std::uint32_t n, wire::Instance next, wire::Round promised) {
    write(n, checkpoint_of(next, promised));
  }
  void decides(std::uint32_t n, wire::Instance instance, std::uint64_t value) {
    wire::State follows;
    follows.next = 1;
    follows.first_list = three_nodes().first;
    ghost.said_state({NodeId{n}, 1}, follows);
    ghost.said_decided({NodeId{n}, 1}, instance, value_digest(head(value), {}));
  }
  wire::State said(wire::Instance next, wire::Round voted, wire::Instance upto) {
    wire::State state;
    state.next = next;
    state.first_list = three_nodes().first;
    state.voted_round = voted;
    state.voted_upto = upto;
    return state;
  }
  GhostOrders orders{true, report};
  GhostAcceptors ghost{true, orders, report};
  LogPosition last[4];
  std::uint64_t epochs[4] = {};
};

TEST_F(GhostAcceptorsTest, WhatIsLegalIsNotFound) {
  begin();
  for (std::uint32_t n = 1; n <= 3; ++n) write(n, promise_of(round(1)));
  wire::Promise promise;
  promise.round = round(1);
  promise.next = 1;
  ghost.said_promise({NodeId{2}, 1}, promise);
  vote(1, round(1), 1, 7);
  vote(3, round(1), 1, 7);
  ghost.said_state({NodeId{1}, 1}, said(1, round(1), 1));
  decides(2, 1, 7);
  write(2, decided_of(1, 7));
  for (std::uint32_t n = 1; n <= 3; ++n) checkpoint(n, 2, round(1));
  // The coordinator of a later round finds the vote of one acceptor, and proposes the same value.
  vote(1, round(1), 2, 8);
  vote(2, round(5, 2), 2, 8);
  vote(3, round(5, 2), 2, 8);
  decides(1, 2, 8);
  open(1, 0, {taken(), checkpoint_of(2, round(1)), vote_of(round(1), 2, 8)});
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, AValueThatNoMajorityVotedFor) {
  begin();
  vote(1, round(1), 1, 7);
  decides(2, 1, 7);
  EXPECT_TRUE(finds("n2 takes instance 1 for decided, and no majority"));
}

TEST_F(GhostAcceptorsTest, VotesOfTwoRoundsAreNoMajority) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(2), 1, 7);
  decides(3, 1, 7);
  EXPECT_TRUE(finds("n3 takes instance 1 for decided, and no majority"));
}

TEST_F(GhostAcceptorsTest, AVoteThatIsNotDurableDoesNotCount) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7, false);
  decides(3, 1, 7);
  EXPECT_TRUE(finds("n3 takes instance 1 for decided, and no majority"));
}

TEST_F(GhostAcceptorsTest, AVoteOfAnotherLifeDoesNotCount) {
  begin();
  vote(1, round(1), 1, 7);
  open(2, wire::kLogBit | 99, {checkpoint_of(1, {})});
  vote(2, round(1), 1, 7);
  EXPECT_TRUE(finds("founded: n2 votes in round 1 of n1.1, and no list names it as it is now"));
  decides(3, 1, 7);
  EXPECT_TRUE(finds("no majority has voted for it"));
}

TEST_F(GhostAcceptorsTest, TwoValuesOfOneInstance) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  decides(3, 1, 8);
  EXPECT_TRUE(finds("n3 takes another value of instance 1 for decided"));
}

TEST_F(GhostAcceptorsTest, TwoValuesOfOneRound) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 8);
  EXPECT_TRUE(finds("n2 votes for another value of instance 1 in round 1 of n1.1 than n1"));
}

TEST_F(GhostAcceptorsTest, AnotherValueAfterTheDecision) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  vote(3, round(2), 1, 8);
  EXPECT_TRUE(finds("n3 votes for another value of instance 1 in round 2"));
}

TEST_F(GhostAcceptorsTest, AllBelowIsNotDecided) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  ghost.said_state({NodeId{3}, 1}, said(2, {}, 0));
  EXPECT_EQ(found(), "");
  ghost.said_state({NodeId{3}, 1}, said(3, {}, 0));
  EXPECT_TRUE(finds("n3 takes all below instance 3 for decided"));
}

TEST_F(GhostAcceptorsTest, OneStateForEachInstance) {
  begin();
  wire::Checkpoint other = state(1);
  other.view = {1, {NodeId{1}, 1}};
  ghost.said_checkpoint({NodeId{3}, 1}, other);
  EXPECT_TRUE(finds("n3 is in another state than others"));
}

TEST_F(GhostAcceptorsTest, OneListForEachNumber) {
  begin();
  wire::Checkpoint other = state(1);
  other.nodes.hash = 6;
  ghost.said_checkpoint({NodeId{3}, 1}, other);
  EXPECT_TRUE(finds("n3 goes by another list of nodes number 0"));
}

TEST_F(GhostAcceptorsTest, ALogThatTellsSomethingElse) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(2), 1, 8);
  vote(3, round(2), 1, 8);
  // n1 voted for another value, and its log does not record the decided value.
  checkpoint(1, 2, round(2));
  EXPECT_TRUE(finds("the log of n1 takes another value of instance 1 for decided"));
}

TEST_F(GhostAcceptorsTest, ANotedValueThatWasNotDecided) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  write(3, decided_of(1, 9));
  EXPECT_TRUE(finds("n3 takes another value of instance 1 for decided"));
}

TEST_F(GhostAcceptorsTest, APromiseIsForgottenOverARestart) {
  begin();
  write(1, promise_of(round(3)));
  open(1, 0, {taken(), checkpoint_of(1, round(2))});
  EXPECT_TRUE(finds("n1 has forgotten over a restart that it promised round 3"));
}

TEST_F(GhostAcceptorsTest, AVoteIsForgottenOverARestart) {
  begin();
  vote(1, round(3), 1, 7);
  open(1, 0, {taken(), checkpoint_of(1, round(3))});
  EXPECT_TRUE(finds("n1 has forgotten over a restart its vote for instance 1"));
}

TEST_F(GhostAcceptorsTest, WhatWasDecidedIsForgottenOverARestart) {
  begin();
  vote(2, round(3), 1, 7);
  vote(3, round(3), 1, 7);
  write(1, decided_of(1, 7));
  open(1, 0, {taken(), checkpoint_of(1, {})});
  EXPECT_TRUE(finds("n1 has forgotten over a restart what was decided for instance 1"));
}

TEST_F(GhostAcceptorsTest, VotesOfALaterRoundMayBeginFurtherBelow) {
  begin();
  vote(1, round(1), 5, 7);
  vote(1, round(3), 2, 8);
  write(1, promise_of(round(4)));
  wire::Promise promise;
  promise.round = round(4);
  promise.next = 1;
  promise.runs = {{5, 1, round(1)}};
  ghost.said_promise({NodeId{1}, 1}, promise);
  EXPECT_TRUE(finds("does not tell its vote for instance 2 in round 3"));
  open(1, 0,
       {taken(), checkpoint_of(1, {}), vote_of(round(1), 5, 7), vote_of(round(3), 2, 8),
        promise_of(round(4))});
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, WhatWasNotDurableMayBeForgotten) {
  begin();
  write(1, promise_of(round(3)), false);
  vote(1, round(3), 1, 7, false);
  open(1, 0, {taken(), checkpoint_of(1, {})});
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, WhatACheckpointMakesUpForMayBeForgotten) {
  begin();
  vote(1, round(3), 1, 7);
  vote(2, round(3), 1, 7);
  checkpoint(1, 2, round(3));
  ghost.let_go(NodeId{1}, last[1]);
  open(1, 0, {checkpoint_of(2, round(3))});
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, OneThatDiesBeforeItHasReadForgetsNothing) {
  begin();
  write(1, promise_of(round(3)));
  ghost.opened(next_incarnation(1), kLife1, {}, false);
  open(1, 0, {taken(), checkpoint_of(1, {})});
  EXPECT_TRUE(finds("n1 has forgotten over a restart that it promised round 3"));
}

TEST_F(GhostAcceptorsTest, ALogLetsGoOfWhatIsNeeded) {
  begin();
  write(1, promise_of(round(3)));
  checkpoint(1, 1, {});
  ghost.let_go(NodeId{1}, last[1]);
  EXPECT_TRUE(finds("n1 lets go of its promise of round 3"));
  vote(2, round(3), 1, 7);
  checkpoint(2, 1, round(3));
  ghost.let_go(NodeId{2}, last[2]);
  EXPECT_TRUE(finds("n2 lets go of a vote that is needed"));
}

TEST_F(GhostAcceptorsTest, BackToALowerRound) {
  begin();
  write(1, promise_of(round(3)));
  vote(1, round(2), 1, 7);
  EXPECT_TRUE(finds("n1 goes back to round 2 of n1.1 from round 3"));
}

TEST_F(GhostAcceptorsTest, ACheckpointIsTheFirstWordOnAnOrder) {
  open(1);
  write(1, decided_of(1, 7));
  EXPECT_TRUE(finds("durable: n1 notes what was decided in an order that its log does not know"));
  write(1, promise_of(round(1)));
  EXPECT_TRUE(finds("of a list that its log does not know"));
}

TEST_F(GhostAcceptorsTest, AListThatTheLogDoesNotKnow) {
  begin();
  write(1, promise_of(round(wire::first_count(1))));
  EXPECT_TRUE(finds("of a list that its log does not know"));
}

TEST_F(GhostAcceptorsTest, APromiseIsSaidBeforeItIsDurable) {
  begin();
  write(2, promise_of(round(3)), false);
  wire::Promise promise;
  promise.round = round(3);
  promise.next = 1;
  ghost.said_promise({NodeId{2}, 1}, promise);
  EXPECT_TRUE(finds("n2 promises round 3 of n1.1, and that is not durable"));
}

TEST_F(GhostAcceptorsTest, APromiseDoesNotTellAVote) {
  begin();
  vote(2, round(1), 1, 7);
  write(2, promise_of(round(3)));
  wire::Promise promise;
  promise.round = round(3);
  promise.next = 1;
  promise.runs = {{1, 1, round(1)}};
  ghost.said_promise({NodeId{2}, 1}, promise);
  EXPECT_EQ(found(), "");
  promise.runs.clear();
  ghost.said_promise({NodeId{2}, 1}, promise);
  EXPECT_TRUE(finds("n2 promises round 3 of n1.1 and does not tell its vote for instance 1"));
}

TEST_F(GhostAcceptorsTest, AVoteIsSaidBeforeItIsDurable) {
  begin();
  vote(2, round(1), 1, 7, false);
  ghost.said_state({NodeId{2}, 1}, said(1, round(1), 1));
  EXPECT_TRUE(finds("n2 says that it voted for instance 1 in round 1 of n1.1, and that is not"));
}

TEST_F(GhostAcceptorsTest, AVoteIsSaidThatWasNotGiven) {
  begin();
  vote(2, round(1), 1, 7);
  ghost.said_state({NodeId{2}, 1}, said(1, round(1), 2));
  EXPECT_TRUE(finds("n2 says that it voted for instance 2 in round 1 of n1.1, and did not"));
}

TEST_F(GhostAcceptorsTest, AnOrderBeginsWithoutOneOfItsAcceptors) {
  for (std::uint32_t n = 1; n <= 3; ++n) open(n);
  take(1);
  take(2);
  checkpoint(1, 1, {});
  EXPECT_TRUE(finds("founded: n1 begins an order, and n3 is not bound to it"));
}

TEST_F(GhostAcceptorsTest, WhoBeginsAnOrderIsSaidBeforeItIsDurable) {
  open(1);
  write(1, taken(), false);
  ghost.said_lives({NodeId{1}, 1}, taken().lives);
  EXPECT_TRUE(finds("n1 says who begins an order, and that is not durable"));
  ghost.durable(NodeId{1}, last[1]);
  ghost.said_lives({NodeId{1}, 1}, taken().lives);
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, OneSpeaksBeforeItsLogSaysThatItHasBegun) {
  ghost.opened(next_incarnation(1), kLife1, {}, false);
  ghost.replayed(NodeId{1}, {});
  last[1] = {};
  write(1, started(1), false);
  ghost.said_state(member(1), {});
  EXPECT_TRUE(finds("n1 speaks, and its log does not say durably that it has begun"));
  ghost.durable(NodeId{1}, last[1]);
  ghost.said_state(member(1), {});
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, OneLifeInTwoOrders) {
  begin();
  Record other = checkpoint_of(1, {});
  other.state.nodes.first = 77;
  write(1, other);
  EXPECT_TRUE(finds("founded: n1 goes over to another order"));
}

TEST_F(GhostAcceptorsTest, InMemoryWhatIsSaidCounts) {
  GhostOrders said_orders{false, report};
  GhostAcceptors memory{false, said_orders, report};
  wire::Promise promise;
  promise.round = round(3);
  memory.said_promise({NodeId{1}, 1}, promise);
  promise.round = round(2);
  memory.said_promise({NodeId{1}, 1}, promise);
  EXPECT_TRUE(finds("n1 promises round 2 of n1.1, and has promised round 3"));
  memory.said_promise({NodeId{1}, 2}, promise);  // another incarnation
  EXPECT_EQ(found(), "");
}

// ---- lost logs and older copies ----

TEST_F(GhostAcceptorsTest, ALostLogSaysNothingBeforeAListNamesTheNewOne) {
  constexpr std::uint64_t kNew = wire::kLogBit | 99;
  begin();
  vote(1, round(1), 1, 7);
  vote(3, round(1), 1, 7);
  open(2, kNew);  // the promises and votes of the lost log are gone, which is no violation
  EXPECT_EQ(found(), "");
  write(2, checkpoint_of(1, {}));
  write(2, promise_of(round(2)));
  EXPECT_TRUE(finds("founded: n2 votes in round 2 of n1.1, and no list names it as it is now"));
}

TEST_F(GhostAcceptorsTest, ALostLogThatAListNamesIsAnAcceptor) {
  constexpr std::uint64_t kNew = wire::kLogBit | 99;
  begin();
  vote(1, round(1), 1, 7);
  vote(3, round(1), 1, 7);
  open(2, kNew);
  Record named = checkpoint_of(2, {});
  named.state.nodes.number = 1;
  named.state.nodes.lives[1] = kNew;
  for (const std::uint32_t n : {1U, 2U, 3U}) write(n, named);
  const wire::Round later = round(wire::first_count(1));
  write(2, promise_of(later));
  vote(1, later, 2, 8);
  vote(2, later, 2, 8);
  decides(3, 2, 8);
  EXPECT_EQ(found(), "");
}

TEST_F(GhostAcceptorsTest, ACopyMayHaveForgotten) {
  begin();
  vote(1, round(1), 1, 7);
  write(1, promise_of(round(3)));
  wire::Promise promise;
  promise.round = round(3);
  promise.next = 2;
  ghost.said_promise(member(1), promise);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
  write(1, promise_of(round(2)));  // legal, because the copy lacks round 3
  promise.round = round(2);
  ghost.said_promise(member(1), promise);
  EXPECT_EQ(found(), "");
  open(1, 0, {started(1), taken(), checkpoint_of(1, {}), started(2)});
  EXPECT_TRUE(finds("n1 has forgotten over a restart that it promised round 2"));
}

/// n1 wrote five records. Then its log was replaced by a copy with the first three of them.
class GhostOfCopies : public GhostAcceptorsTest {
 protected:
  void put_back() {
    begin();
    write(1, promise_of(round(1)));
    write(1, promise_of(round(2)));
    open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
    ASSERT_EQ(found(), "");
  }
  wire::LogAnswer heard(std::uint64_t epoch, std::uint64_t position) {
    return {epochs[1], kLife1, {{epoch, position}}};
  }
};

TEST_F(GhostOfCopies, ItPromisesThoughItWasTold) {
  put_back();
  ghost.told_of_log(member(1), member(2), heard(1, 4));
  write(1, promise_of(round(3)));
  EXPECT_TRUE(finds("n1 promises or votes in round 3 of n1.1, and was told that its log is an"));
}

TEST_F(GhostOfCopies, ItVotesThoughItWasTold) {
  put_back();
  ghost.told_of_log(member(1), member(2), heard(1, 5));
  vote(1, round(3), 1, 7);
  EXPECT_TRUE(finds("n1 promises or votes in round 3 of n1.1, and was told that its log is an"));
}

TEST_F(GhostOfCopies, ItSaysWhatItPromisedBeforeItWasTold) {
  put_back();
  write(1, promise_of(round(3)));
  ghost.told_of_log(member(1), member(2), heard(1, 4));
  wire::Promise promise;
  promise.round = round(3);
  promise.next = 1;
  ghost.said_promise(member(1), promise);
  EXPECT_TRUE(finds("n1 says that it promises round 3 of n1.1, and was told"));
}

TEST_F(GhostOfCopies, ItSaysThatItVotedBeforeItWasTold) {
  put_back();
  vote(1, round(3), 1, 7);
  ghost.told_of_log(member(1), member(2), heard(1, 4));
  wire::State state = said(1, round(3), 1);
  state.log_word = wire::LogWord::put_back;  // so no node counts the vote
  ghost.said_state(member(1), state);
  EXPECT_EQ(found(), "");
  state.log_word = wire::LogWord::sure;
  ghost.said_state(member(1), state);
  EXPECT_TRUE(finds("n1 says that it voted, and was told"));
}

TEST_F(GhostOfCopies, ItSaysSoItself) {
  put_back();
  Record word;
  word.kind = Record::Kind::put_back;
  write(1, word);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {}), started(2), word});
  write(1, promise_of(round(3)));
  EXPECT_TRUE(finds("and was told that its log is an older copy"));
}

TEST_F(GhostOfCopies, ASecondCopyLacksWhatWasWrittenToTheFirst) {
  put_back();
  write(1, promise_of(round(1)));
  open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
  ghost.told_of_log(member(1), member(2), heard(2, 4));
  write(1, promise_of(round(3)));
  EXPECT_TRUE(finds("and was told that its log is an older copy"));
}

TEST_F(GhostOfCopies, WhatTellsNothing) {
  put_back();
  ghost.told_of_log(member(1), member(2), heard(1, 3));  // the copy has these three records
  wire::LogAnswer other = heard(1, 4);
  ++other.life;
  ghost.told_of_log(member(1), member(2), other);
  other = heard(1, 4);
  --other.asker;
  ghost.told_of_log(member(1), member(2), other);
  ghost.told_of_log(member(1), {NodeId{2}, epochs[2] + 1}, heard(1, 4));
  write(1, promise_of(round(3)));
  EXPECT_EQ(found(), "");
}

TEST_F(GhostOfCopies, NobodyHeardOfAVoteThatIsLost) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
  vote(1, round(2), 1, 8);
  vote(3, round(2), 1, 8);
  decides(3, 1, 8);
  EXPECT_EQ(found(), "");
}

TEST_F(GhostOfCopies, OneThatHeardOfAVoteThatIsLostCountsIt) {
  begin();
  vote(1, round(1), 1, 7);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
  vote(2, round(1), 1, 7);
  EXPECT_FALSE(orders.decided(three_nodes().first, 1).has_value());
  ghost.said_state(member(3), said(2, {}, 0));
  EXPECT_EQ(found(), "");
  vote(3, round(2), 1, 8);
  EXPECT_TRUE(finds("n3 votes for another value of instance 1 in round 2"));
}

TEST_F(GhostOfCopies, WhatSomebodyTookForDecidedStaysIt) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  decides(2, 1, 7);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {})}, true);
  vote(1, round(2), 1, 8);
  EXPECT_TRUE(finds("n1 votes for another value of instance 1 in round 2"));
}

TEST_F(GhostOfCopies, AVoteThatTheCopyHoldsIsNotLost) {
  begin();
  vote(1, round(1), 1, 7);
  vote(2, round(1), 1, 7);
  open(1, 0, {started(1), taken(), checkpoint_of(1, {}), vote_of(round(1), 1, 7)}, true);
  vote(3, round(2), 1, 8);
  EXPECT_TRUE(finds("n3 votes for another value of instance 1 in round 2"));
}

TEST_F(GhostAcceptorsTest, MemoryIsBounded) {
  begin();
  for (std::uint64_t life = 100; life < 100 + 2 * GhostAcceptors::kLivesMax; ++life) {
    open(1, wire::kLogBit | life);
  }
  const wire::Instance far = 10 * GhostOrders::kInstancesMax;
  orders.claim(three_nodes().first, far, 1, {NodeId{1}});
  EXPECT_FALSE(found().empty());  // because no acceptor voted for it
  EXPECT_TRUE(orders.is_decided(three_nodes().first, far));
  EXPECT_FALSE(orders.decided(three_nodes().first, 1).has_value());
}

TEST_F(GhostAcceptorsTest, FiguresSayWhatStartsRead) {
  begin();
  vote(1, round(1), 1, 7);
  ghost.opened(next_incarnation(1), kLife1, LogPosition{10}, false);
  ghost.read(NodeId{1}, LogPosition{2}, checkpoint_of(1, {}));
  ghost.read(NodeId{1}, LogPosition{3}, vote_of(round(1), 1, 7));
  ghost.read(NodeId{1}, LogPosition{10}, promise_of(round(2)));
  ghost.replayed(NodeId{1}, LogPosition{10});
  const order::LogFigures& figures = ghost.figures();
  EXPECT_EQ(figures.logs_read, 1U);
  EXPECT_EQ(figures.logs_cut, 1U);
  EXPECT_EQ(figures.votes_read, 1U);
  EXPECT_EQ(figures.votes_needed, 1U);
  EXPECT_EQ(figures.older_votes_needed, 1U);
  EXPECT_EQ(figures.promises_read, 1U);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace peal::sim
