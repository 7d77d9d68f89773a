// SPDX-License-Identifier: Apache-2.0
// A log that is an older copy: the node detects this, and then its acceptor is silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "order/paxos/acceptor.h"
#include "order/paxos/copy_check.h"
#include "order/paxos/peers.h"
#include "order/paxos/records.h"
#include "paxos_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::LogHeard;
using wire::LogWord;
using wire::PaxosKind;

/// In the log, incarnations 10, 20 and 30 began at positions 1, 50 and 80. Incarnation 30 asks the
/// other acceptors what they heard of the log.
CopyCheck three_starts() {
  CopyCheck check;
  check.begin({{10, {1}}, {20, {50}}, {30, {80}}}, false);
  return check;
}

bool is_copy(const std::vector<LogHeard>& heard) {
  CopyCheck check = three_starts();
  const bool found = check.note(kTwo.node, {30, kLog, heard});
  EXPECT_EQ(found, check.is_put_back());
  return found;
}

TEST(PaxosCopyCheck, ALogHoldsWhatItsIncarnationsWroteUpToTheNextOne) {
  EXPECT_FALSE(is_copy({}));
  EXPECT_FALSE(is_copy({{10, 49}}));
  EXPECT_TRUE(is_copy({{10, 50}}));
  EXPECT_FALSE(is_copy({{20, 79}}));
  EXPECT_TRUE(is_copy({{20, 80}}));
  EXPECT_TRUE(is_copy({{10, 50}, {20, 60}}));
  EXPECT_FALSE(is_copy({{30, ~std::uint64_t{0}}})) << "the one that asks writes on";
}

TEST(PaxosCopyCheck, ALogWithoutAnIncarnationThatSpokeIsACopy) {
  EXPECT_TRUE(is_copy({{25, 1}}));
  EXPECT_TRUE(is_copy({{5, 1}})) << "it holds all since the first";
}

TEST(PaxosCopyCheck, OfIncarnationsLongAgoItSaysNothing) {
  std::vector<Record::Start> starts;
  for (std::uint64_t i = 1; i <= Record::kStartsMax; ++i) starts.push_back({10 * i, {5 * i}});
  CopyCheck check;
  check.begin(starts, false);
  EXPECT_FALSE(check.note(kTwo.node, {1'000, kLog, {{9, 1'000}}}));
  EXPECT_TRUE(check.note(kTwo.node, {1'000, kLog, {{11, 1}}}));
}

TEST(PaxosCopyCheck, IsSureWithAMajorityAndAsksUntilAllHaveAnswered) {
  Peers peers = three_peers();
  CopyCheck check;
  EXPECT_TRUE(check.is_sure()) << "there is no log on disk";
  EXPECT_EQ(check.word(), LogWord::sure);
  check = three_starts();
  check.look(peers);
  EXPECT_FALSE(check.is_sure());
  EXPECT_EQ(check.word(), LogWord::asks);
  check.note(kTwo.node, {30, kLog, {}});
  check.note(kTwo.node, {30, kLog, {}});
  check.look(peers);
  EXPECT_TRUE(check.is_sure());
  EXPECT_EQ(check.word(), LogWord::asks);
  check.note(kThree.node, {30, kLog, {}});
  check.look(peers);
  EXPECT_EQ(check.word(), LogWord::sure);
  // A late answer may still prove that the log is an older copy.
  EXPECT_TRUE(check.note(kThree.node, {30, kLog, {{20, 90}}}));
  EXPECT_FALSE(check.is_sure());
  EXPECT_EQ(check.word(), LogWord::put_back);
  EXPECT_FALSE(check.note(kTwo.node, {30, kLog, {{20, 90}}})) << "it is said once";
}

wire::State said(std::uint64_t position, LogWord word = LogWord::sure) {
  wire::State state;
  state.life = kLog;
  state.log = position;
  state.log_word = word;
  return state;
}

TEST(PaxosLogsHeard, RememberHowFarTheIncarnationBeforeWas) {
  LogsHeard logs;
  logs.note(10, said(7));
  logs.note(10, said(9));
  logs.note(10, said(8));
  EXPECT_TRUE(logs.before(kLog).empty()) << "it is the one that there is";
  logs.begin();
  const std::vector<LogHeard> nine{{10, 9}};
  EXPECT_EQ(logs.before(kLog), nine);
  EXPECT_TRUE(logs.before(kLog + 1).empty());
  logs.begin();
  EXPECT_EQ(logs.before(kLog), nine) << "the one between said nothing";
  logs.note(30, said(20));
  logs.begin();
  EXPECT_EQ(logs.before(kLog), (std::vector<LogHeard>{{30, 20}}));
}

TEST(PaxosLogsHeard, ForgetNothingBeforeTheNodeWasTold) {
  LogsHeard logs;
  logs.note(10, said(90));
  logs.begin();
  logs.note(20, said(50, LogWord::asks));
  logs.begin();
  EXPECT_EQ(logs.before(kLog), (std::vector<LogHeard>{{10, 90}, {20, 50}}));
  logs.note(30, said(60, LogWord::asks));
  logs.begin();
  EXPECT_EQ(logs.before(kLog), (std::vector<LogHeard>{{10, 90}, {30, 60}}));
  logs.note(40, said(70));
  logs.begin();
  EXPECT_EQ(logs.before(kLog), (std::vector<LogHeard>{{40, 70}}));
}

TEST(PaxosLogsHeard, WhatACopyHoldsSaysNothing) {
  LogsHeard logs;
  logs.note(10, said(90));
  logs.begin();
  logs.note(20, said(50, LogWord::put_back));
  logs.begin();
  EXPECT_EQ(logs.before(kLog), (std::vector<LogHeard>{{10, 90}}));
}

/// How often the engine reported that the log of `node` is an older copy.
auto times_reported(const Bench& bench, NodeId node) {
  return std::count_if(bench.events.begin(), bench.events.end(), [node](const Event& event) {
    return event.kind == &event::log_put_back && event.who.node == node;
  });
}

TEST(PaxosPutBack, NothingIsSaidBeforeTheLogHasTheIncarnation) {
  Bench one(kOne);
  one.disk.set_full(true);
  one.engine->start(one.now, one);
  EXPECT_NE(one.told().find("fatal"), std::string::npos) << one.told();

  Bench full(kOne);
  full.start();
  full.disk.set_full(true);
  full.disk.set_checkpoints_full(true);
  full.restart();
  EXPECT_EQ(full.told(), "fatal") << "nor does it take a checkpoint";

  Bench two(kOne);
  two.engine->start(two.now, two);
  two.run(seconds(1));
  two.state(kTwo, {});
  EXPECT_TRUE(two.sent.empty());
  two.sync();
  EXPECT_FALSE(two.sent.empty());
  EXPECT_EQ(two.last_state().log_word, LogWord::asks);
  EXPECT_EQ(two.last_state().log, two.disk.durable().value);
}

TEST(PaxosPutBack, ALogThatIsFullSaysItWithACheckpoint) {
  Bench one(kOne);
  one.start();
  one.disk.set_full(true);
  one.restart();
  EXPECT_TRUE(one.log.empty()) << one.told();
  one.disk.set_full(false);
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 1U);
  one.restart();
  one.log_heard(kThree, {{101, one.disk.durable().value - 1}});
  EXPECT_EQ(times_reported(one, kOne.node), 0) << "101 is in the log";
  one.log_heard(kThree, {{101, one.disk.durable().value}});
  EXPECT_EQ(times_reported(one, kOne.node), 1);
}

TEST(PaxosPutBack, NobodyPromisesBeforeMostHaveSaidWhatTheyHeardOfItsLog) {
  Bench one(kOne);
  one.do_not_answer();
  one.start();
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 0U);
  one.log_heard(kThree, {});
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 1U);
}

TEST(PaxosPutBack, WhoIsToldOfMoreThanItsLogHoldsVotesNoMoreAndSaysSo) {
  Bench one(kOne);
  one.start();
  one.prepare(kTwo, 5);
  one.sync();
  ASSERT_EQ(one.count(PaxosKind::promise), 1U);
  one.restart();
  one.log_heard(kThree, {{100, 1'000}});
  EXPECT_EQ(times_reported(one, kOne.node), 1);
  one.prepare(kTwo, 6);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 0U);
  one.run(seconds(1));
  EXPECT_EQ(one.last_state().log_word, LogWord::put_back);
  // Now the log itself records that it is an older copy.
  one.restart();
  EXPECT_EQ(times_reported(one, kOne.node), 1);
  one.prepare(kTwo, 7);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 0U);
}

TEST(PaxosPutBack, AnAnswerToAnotherIncarnationOrOfAnotherLogSaysNothing) {
  Bench one(kOne);
  one.do_not_answer();
  one.start();
  --one.self.epoch;
  one.log_heard(kThree, {});
  ++one.self.epoch;
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 0U);
}

TEST(PaxosPutBack, AcceptorsAnswerWhatTheyHeard) {
  Bench one(kOne);
  one.start();
  wire::State state = said(77);
  one.state(kTwo, state);
  EXPECT_EQ(one.count(PaxosKind::log_heard), 0U);
  const MemberId later{kTwo.node, kTwo.epoch + 1};
  state.log = 40;
  state.log_word = LogWord::asks;
  one.state(later, state);
  ASSERT_EQ(one.count(PaxosKind::log_heard), 1U);
  EXPECT_EQ(one.last(PaxosKind::log_heard)->to, kTwo.node);
  wire::LogAnswer answer;
  ASSERT_EQ(wire::decode_log_answer(one.last(PaxosKind::log_heard)->bytes, answer),
            wire::Drop::none);
  EXPECT_EQ(answer, (wire::LogAnswer{later.epoch, kLog, {{kTwo.epoch, 77}}}));
  // Then node 2 reports twice that its log is an older copy. This node reports this as one event.
  state.log_word = LogWord::put_back;
  one.state(later, state);
  one.state(later, state);
  EXPECT_EQ(times_reported(one, kTwo.node), 1);
}

// Several acceptors may share a log. Then the records of the previous incarnation end where the
// first acceptor started. If they ended where a later acceptor started, new records would be at the
// positions of lost records, and an older copy of the log would not be detected.
TEST(PaxosPutBack, SeveralAcceptorsOfOneLogBeginWhereTheFirstDoes) {
  MemoryLog log;
  Acceptor one(log), two(log);
  ASSERT_TRUE(one.start(101));
  log.sync();
  ASSERT_TRUE(two.start(101));
  EXPECT_EQ(two.starts().back(), (Record::Start{101, LogPosition{1}}));
  EXPECT_FALSE(two.is_started());
  log.sync();
  EXPECT_TRUE(two.is_started());
}

TEST(PaxosPutBack, ACheckpointKeepsTheIncarnations) {
  MemoryLog log;
  BufferPool pool(2'048, 64);
  Store store(64, 1U << 20);
  KeptWords kept(1U << 20);
  for (std::uint64_t epoch = 100; epoch < 100 + Record::kStartsMax + 4; ++epoch) {
    Acceptor acceptor(log);
    OrderState state(first_nodes());
    Store fresh(64, 1U << 20);
    KeptWords words(1U << 20);
    ASSERT_TRUE(acceptor.replay(pool, fresh, words, state));
    ASSERT_EQ(acceptor.starts().size(), std::min<std::size_t>(epoch - 100, Record::kStartsMax));
    ASSERT_TRUE(acceptor.start(epoch));
    EXPECT_FALSE(acceptor.is_started());
    log.sync();
    EXPECT_TRUE(acceptor.is_started());
    state.begin();
    if (epoch % 3 == 0) {
      ASSERT_TRUE(acceptor.checkpoint(state, 1, words));
    }
    log.sync();
  }
  Acceptor acceptor(log);
  OrderState state(first_nodes());
  ASSERT_TRUE(acceptor.replay(pool, store, kept, state));
  EXPECT_EQ(acceptor.starts().back().epoch, 100 + Record::kStartsMax + 3);
  EXPECT_EQ(acceptor.starts().front().epoch, 104U);
}

}  // namespace
}  // namespace peal::order::paxos::test
