// SPDX-License-Identifier: Apache-2.0
// One node with several fake ensembles: the calls that each ensemble gets, and the times at which
// an ensemble announces that it has no values, so that the other ensembles need not wait for it.
#include "paxos_bench.h"
#include "ridge_ensembles_bench.h"

namespace peal::order::ridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The key of an empty value is this many microseconds ahead of the key that is needed now.
constexpr std::uint64_t kAhead = 2'000;

class SideBySide : public EnsemblesBench {
 protected:
  void be_idle(std::size_t ensemble) {
    fakes_[ensemble]->is_idle = true;
    in(ensemble, [](Effects&) {});
  }
  /// Nodes 1 and 2 learn domain 1; nodes 2, 3 and 4 learn domain 2. Node 4 may start later.
  static Layout domains() { return {1, {{{{1}, {2}}, {}}, {{{2}, {3}, {4}}, {}}}, Merging::keys}; }
};

// ---- the parts of the configuration ----

TEST_F(SideBySide, EachEnsembleHasItsPartOfWhatOneEngineMayKeep) {
  paxos::Options& all = config_.options;
  all.window = 900;
  all.window_first = 400;
  all.member_window = 300;
  all.max_gap = 600;
  all.checkpoint_every = 120;
  all.history_bytes_max = 3U << 20;
  several(3);
  ASSERT_EQ(fakes_.size(), 3U);
  std::set<std::uint64_t> clusters;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const paxos::Config& part = fakes_[i]->config;
    EXPECT_EQ(part.options.window, 300U);
    EXPECT_EQ(part.options.window_first, 300U);
    EXPECT_EQ(part.options.member_window, 100U);
    EXPECT_EQ(part.options.max_gap, 200U);
    EXPECT_EQ(part.options.checkpoint_every, 40U);
    EXPECT_EQ(part.options.history_bytes_max, 1U << 20);
    EXPECT_EQ(part.part, i);
    EXPECT_EQ(part.first_candidate, i) << "several nodes coordinate";
    EXPECT_EQ(part.far_behind, 600U);
    EXPECT_EQ(part.universe, config_.universe);
    EXPECT_EQ(part.acceptors, config_.acceptors);
    EXPECT_EQ(part.log, nullptr);
    EXPECT_NE(part.left_out, nullptr);
    EXPECT_EQ(part.left_out, fakes_[0]->config.left_out);
    EXPECT_TRUE(clusters.insert(part.cluster).second) << "packets tell of which they are";
  }
}

TEST_F(SideBySide, NoPartIsTooSmallToWorkWith) {
  paxos::Options& all = config_.options;
  all.window = all.window_first = all.member_window = all.max_gap = all.checkpoint_every = 1;
  all.history_bytes_max = 1 << 16;
  several(2);
  const paxos::Options& part = fakes_[1]->config.options;
  EXPECT_EQ(part.window, 8U);
  EXPECT_EQ(part.window_first, 1U);
  EXPECT_EQ(part.member_window, 8U);
  EXPECT_EQ(part.max_gap, 16U);
  EXPECT_EQ(part.checkpoint_every, 4U);
  EXPECT_EQ(part.history_bytes_max, 1U << 16);
}

TEST_F(SideBySide, ANodeHasTheEnsemblesOfItsDomains) {
  make(domains(), 1);
  ASSERT_EQ(fakes_.size(), 2U);
  EXPECT_EQ(fakes_[1]->config.part, 1);
  EXPECT_EQ(fakes_[1]->config.universe, (std::vector<NodeId>{{1}, {2}}));
  EXPECT_EQ(fakes_[1]->config.acceptors, (std::vector<NodeId>{{1}, {2}}));
  make(domains(), 3);
  ASSERT_EQ(fakes_.size(), 2U);
  EXPECT_EQ(fakes_[0]->config.universe.size(), 4U);
  EXPECT_EQ(fakes_[1]->config.part, 2);
  EXPECT_EQ(fakes_[1]->config.first_candidate, 0U);
  EXPECT_EQ(fakes_[1]->config.universe, (std::vector<NodeId>{{2}, {3}, {4}}));
  make(domains(), 2);
  EXPECT_EQ(fakes_.size(), 3U);
}

TEST_F(SideBySide, TheyShareTheLog) {
  paxos::test::MemoryLog log;
  config_.log = &log;
  several(2);
  ASSERT_NE(fakes_[0]->config.log, nullptr);
  ASSERT_NE(fakes_[1]->config.log, nullptr);
  EXPECT_NE(fakes_[0]->config.log, fakes_[1]->config.log) << "each sees its own part";
  EXPECT_EQ(fakes_[1]->config.owed, nullptr) << "what is owed is of all of them";
  ASSERT_TRUE(fakes_[1]->config.log->append(as_bytes_view("a")));
  EXPECT_EQ(log.kept(), 1U);
}

TEST_F(SideBySide, ANodeStopsThatCannotReadItsLogs) {
  const auto bytes = as_bytes_view("\x05");  // a record of the sixth ensemble
  paxos::test::MemoryLog log;
  ASSERT_TRUE(log.append(bytes));
  log.sync();
  config_.log = &log;
  several(2);
  engine_->start(now_, *this);
  EXPECT_THAT(told(), ElementsAre("stop: a log of this node cannot be read, or is one of fewer or "
                                  "more ensembles"));
  EXPECT_EQ(fakes_[0]->count("start"), 0U);
}

TEST_F(SideBySide, TheSameIfItCannotReadWhatItOwes) {
  paxos::test::MemoryLog log;
  paxos::test::MemoryLog owed;
  ASSERT_TRUE(owed.append(as_bytes_view("nothing that this release wrote")));
  owed.sync();
  config_.log = &log;
  config_.owed = &owed;
  several(2);
  engine_->start(now_, *this);
  EXPECT_EQ(told().size(), 1U);
  engine_.reset();
}

// ---- inputs ----

TEST_F(SideBySide, EachIsToldWhatConcernsAll) {
  several(2);
  engine_->start(now_, *this);
  work();
  engine_->on_durable(now_, *this);
  engine_->on_pause(now_, milliseconds(70), *this);
  engine_->on_drained(now_, *this);
  for (FakeEnsemble* fake : fakes_) {
    EXPECT_THAT(fake->calls, ElementsAre("start", "work", "durable", "pause", "drained"));
    EXPECT_EQ(fake->pause, milliseconds(70));
  }
}

TEST_F(SideBySide, APacketGoesToTheEnsembleThatItIsOf) {
  several(3);
  engine_->start(now_, *this);
  for (FakeEnsemble* fake : fakes_) fake->calls.clear();
  in(1, [](Effects&) {});
  EXPECT_EQ(fakes_[1]->count("packet"), 1U);
  in(2, [](Effects&) {});
  EXPECT_EQ(fakes_[2]->count("packet"), 1U);
  EXPECT_EQ(fakes_[0]->count("packet"), 0U);
  hear(12'345);
  EXPECT_EQ(fakes_[0]->count("packet"), 1U) << "one of them counts what is for none";
  EXPECT_EQ(fakes_[1]->count("packet") + fakes_[2]->count("packet"), 0U);
}

TEST_F(SideBySide, TimersFireWhenTheyAreDue) {
  several(3);
  engine_->start(now_, *this);
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
  fakes_[0]->deadline = now_ + milliseconds(2);
  EXPECT_EQ(engine_->next_deadline(), now_ + milliseconds(2));
  fakes_[1]->deadline = now_ + milliseconds(1);
  fakes_[2]->deadline = now_ + milliseconds(3);
  EXPECT_EQ(engine_->next_deadline(), now_ + milliseconds(1));
  now_ = now_ + milliseconds(2);
  timer();
  EXPECT_EQ(fakes_[0]->count("timer"), 1U) << "due right now";
  EXPECT_EQ(fakes_[1]->count("timer"), 1U);
  EXPECT_EQ(fakes_[2]->count("timer"), 0U);
}

TEST_F(SideBySide, GoodbyeIsSaidInAllOfThemAndNothingIsDoneAfterwards) {
  several(2);
  begin();
  engine_->leave(now_, *this);
  fakes_[0]->deadline = now_;
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
  unit(0, 20, 2, 1, "a");
  unit(1, 30, 2, 2, "b");
  work();
  timer();
  engine_->leave(now_, *this);
  for (FakeEnsemble* fake : fakes_) EXPECT_THAT(fake->calls, ElementsAre("leave"));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(SideBySide, ItStopsOnceAndForAll) {
  several(2);
  begin();
  in(0, [](Effects& out) {
    out.fatal("one");
    out.fatal("two");
  });
  EXPECT_THAT(told(), ElementsAre("stop: one"));
  fakes_[0]->next = [](Effects& out) { out.fatal("three"); };
  work();
  engine_->on_durable(now_, *this);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(fakes_[1]->count("work"), 0U);
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
}

TEST_F(SideBySide, IfOneStopsTheOthersAreNotAsked) {
  several(2);
  begin();
  fakes_[0]->next = [](Effects& out) { out.fatal("one"); };
  work();
  EXPECT_EQ(fakes_[0]->count("work"), 1U);
  EXPECT_EQ(fakes_[1]->count("work"), 0U);
}

TEST_F(SideBySide, IfOneStopsOverItsUnitsTheOthersAreNotAsked) {
  several(2);
  begin();
  room_ = 0;
  EXPECT_EQ(fakes_[1]->host.receive_room_units(), 0U);
  room_ = 10;
  queue_.emplace_back(Domain{0}, "a");
  fakes_[0]->next = [](Effects& out) { out.fatal("one"); };
  in(1, [](Effects&) {});
  EXPECT_EQ(fakes_[0]->count("work"), 1U);
  EXPECT_EQ(fakes_[1]->count("work"), 0U);
  EXPECT_THAT(told(), ElementsAre("stop: one"));
}

TEST_F(SideBySide, ItWaitsForTheFirstListThatCannotCountYet) {
  several(3);
  EXPECT_EQ(engine_->nodes_wait().kind, NodesWait::Kind::nothing);
  fakes_[1]->wait = {NodesWait::Kind::member, member(3)};
  fakes_[2]->wait = {NodesWait::Kind::view, {}};
  EXPECT_EQ(engine_->nodes_wait().kind, NodesWait::Kind::member);
  EXPECT_EQ(engine_->nodes_wait().who, member(3));
}

// ---- events that ensembles report ----

TEST_F(SideBySide, WhatConcernsAllIsReportedOnce) {
  several(2);
  begin();
  const auto report = [this](std::size_t ensemble, const EventKind& kind) {
    in(ensemble, [&](Effects& out) { out.report({&kind, {}, {}, 0, 0, nullptr}); });
  };
  for (const std::size_t each : {0U, 1U}) {
    report(each, event::paused);
    report(each, event::nodes_not_given);
    report(each, event::view_installed);
  }
  EXPECT_THAT(told(), ElementsAre("event paused", "event nodes_not_given"));
  report(1, event::log_put_back);
  EXPECT_THAT(told(), ElementsAre("event log_put_back")) << "what concerns one, that one says";
}

TEST_F(SideBySide, AListCountsOnceAllHaveGoneOverToIt) {
  several(2);
  begin();
  const auto adopt = [this](std::size_t ensemble, std::uint64_t list) {
    in(ensemble, [&](Effects& out) {
      out.report({&event::nodes_adopted, view_id(7), member(2), list, 5, nullptr});
    });
  };
  adopt(0, 11);
  adopt(1, 12);
  EXPECT_THAT(told(), IsEmpty());
  adopt(1, 11);
  ASSERT_THAT(told(), ElementsAre("event nodes_adopted"));
  EXPECT_EQ(events_.back().view, view_id(1)) << "of all ensembles together";
  EXPECT_EQ(events_.back().who, member(2));
  EXPECT_EQ(events_.back().a, 11U);
  EXPECT_EQ(events_.back().b, 5U);
}

TEST_F(SideBySide, PacketsGoOnAsTheyAre) {
  several(2);
  begin();
  in(1, [](Effects& out) {
    out.send({3}, Lane::data, {});
    out.multicast(Lane::data, {});
  });
  EXPECT_THAT(told(), ElementsAre("send 3", "multicast"));
}

TEST_F(SideBySide, TheDiskOfOneIsTheDiskOfAll) {
  several(2);
  EXPECT_FALSE(fakes_[0]->merger.disk_hangs());
  fakes_[1]->hangs = true;
  EXPECT_TRUE(fakes_[0]->merger.disk_hangs());
}

// ---- admission to views ----

TEST_F(SideBySide, ANodeComesIntoTheViewsOfTheOthersBeforeThatOfTheFirst) {
  several(3);
  engine_->start(now_, *this);
  const auto ready = [this] {
    in(0, [](Effects&) {});
    std::string text;
    for (const FakeEnsemble* fake : fakes_) text += fake->ready ? '1' : '0';
    return text;
  };
  fakes_[0]->is_near = fakes_[1]->is_near = true;
  EXPECT_EQ(ready(), "000") << "it may have to begin anew in the third one";
  fakes_[0]->is_near = false;
  fakes_[2]->is_near = true;
  EXPECT_EQ(ready(), "000");
  fakes_[0]->is_near = true;
  EXPECT_EQ(ready(), "011");
  fakes_[2]->is_joined = true;
  EXPECT_EQ(ready(), "011") << "it is not in the second one's view";
  fakes_[2]->is_joined = false;
  fakes_[1]->is_joined = true;
  EXPECT_EQ(ready(), "011");
  fakes_[2]->is_joined = true;
  fakes_[0]->begins = 90;
  fakes_[1]->begins = 70;
  fakes_[2]->begins = 60;
  EXPECT_EQ(ready(), "111");
  EXPECT_EQ(fakes_[0]->ready_from, 70U) << "from there on it has what the others order";
  EXPECT_EQ(fakes_[1]->ready_from, 0U);
  fakes_[0]->is_joined = true;
  fakes_[2]->is_joined = fakes_[2]->is_near = false;
  EXPECT_EQ(ready(), "100") << "who is in the view stays in it";
}

// ---- merge by keys: an ensemble announces that it has no values ----

TEST_F(SideBySide, AnIdleEnsembleLetsPassWhatAnotherOneOrdered) {
  several(2);
  begin();
  unit(0, micros() + 100, 2, 1, "a");
  EXPECT_THAT(fakes_[1]->passed, IsEmpty()) << "it has something under way";
  be_idle(1);
  ASSERT_EQ(fakes_[1]->passed.size(), 1U);
  EXPECT_EQ(fakes_[1]->passed[0], micros() + 101 + kAhead) << "for a while after that, too";
  EXPECT_THAT(fakes_[0]->passed, IsEmpty());
}

TEST_F(SideBySide, ItSaysSoAgainBeforeThatIsUsedUpAndNotSooner) {
  several(2);
  begin();
  const std::uint64_t last = micros() + 100;
  unit(0, last, 2, 1, "a");
  fakes_[1]->at = last + kAhead / 2;
  be_idle(1);
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
  fakes_[1]->at = last + kAhead / 2 - 1;
  be_idle(1);
  EXPECT_EQ(fakes_[1]->passed.size(), 1U);
}

TEST_F(SideBySide, OneThatCannotSayItNowSaysItLater) {
  several(2);
  begin();
  unit(0, micros(), 2, 1, "a");
  fakes_[1]->can_pass = false;
  be_idle(1);
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
  fakes_[1]->can_pass = true;
  work();
  EXPECT_EQ(fakes_[1]->passed.size(), 1U);
}

TEST_F(SideBySide, NobodyPassesWhatIsBeyondAllStamps) {
  several(2);
  begin();
  unit(0, wire::kStampMax + 1, 2, 1, "a");
  be_idle(1);
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
}

TEST_F(SideBySide, TheLastOfAllStampsIsPassed) {
  several(2);
  begin();
  unit(0, wire::kStampMax, 2, 1, "a");
  be_idle(1);
  EXPECT_EQ(fakes_[1]->passed.size(), 1U);
}

TEST_F(SideBySide, NobodyWaitsForAnEnsembleIfNothingWasOrdered) {
  several(2);
  begin();
  nothing(0, micros() + 100);
  be_idle(1);
  be_idle(0);
  for (FakeEnsemble* fake : fakes_) {
    // An ensemble may have proposed one empty value, because of the views.
    EXPECT_LE(fake->passed.size(), 1U);
    fake->at = micros() + 10'000;
    fake->passed.clear();
  }
  be_idle(1);
  be_idle(0);
  EXPECT_THAT(fakes_[0]->passed, IsEmpty());
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
}

// This node does not see the values that another ensemble ordered before this node began there. But
// other nodes may still have to merge such values, which wait for this ensemble.
TEST_F(SideBySide, ItLetsPassWhereThisNodeBeganInOtherEnsembles) {
  several(3);
  engine_->start(now_, *this);
  fakes_[0]->begins = micros() + 500;
  fakes_[1]->begins = micros() + 7'000;
  be_idle(1);
  ASSERT_EQ(fakes_[1]->passed.size(), 1U);
  EXPECT_EQ(fakes_[1]->passed[0], micros() + 500 + kAhead);
  be_idle(2);
  ASSERT_EQ(fakes_[2]->passed.size(), 1U);
  EXPECT_EQ(fakes_[2]->passed[0], micros() + 7'000 + kAhead);
}

TEST_F(SideBySide, WhereItBeganBeyondAllStampsNobodyHasToCome) {
  several(2);
  engine_->start(now_, *this);
  fakes_[0]->begins = wire::kStampMax + 1;
  be_idle(1);
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
  fakes_[0]->begins = wire::kStampMax;
  be_idle(1);
  EXPECT_EQ(fakes_[1]->passed.size(), 1U);
}

TEST_F(SideBySide, ABusyEnsemblePassesIfSomebodyAsks) {
  several(2);
  begin();
  const std::uint64_t wanted = micros() + 400;
  in(1, [&](Effects&) { fakes_[1]->merger.on_pass_wanted(wanted); });
  ASSERT_EQ(fakes_[1]->passed.size(), 1U);
  EXPECT_EQ(fakes_[1]->passed[0], wanted + 1 + kAhead) << "ahead of the key that was asked for";
  in(1, [&](Effects&) { fakes_[1]->merger.on_pass_wanted(wanted); });
  in(1, [&](Effects&) { fakes_[1]->merger.on_pass_wanted(wanted - 300); });
  EXPECT_EQ(fakes_[1]->passed.size(), 1U) << "that is under way";
  now_ = now_ + milliseconds(10);
  work();
  EXPECT_EQ(fakes_[1]->passed.size(), 2U) << "it may have been lost";
  fakes_[1]->at = wanted;
  now_ = now_ + milliseconds(10);
  work();
  EXPECT_EQ(fakes_[1]->passed.size(), 2U) << "it has come there";
}

// ---- domains ----

TEST_F(SideBySide, PacketsOfADomainGoToItsNodes) {
  make(domains(), 3);
  engine_->start(now_, *this);
  in(1, [](Effects& out) { out.multicast(Lane::data, {}); });
  EXPECT_THAT(told(), ElementsAre("send 2", "send 4"));
  in(0, [](Effects& out) { out.multicast(Lane::data, {}); });
  EXPECT_THAT(told(), ElementsAre("multicast"));
}

TEST_F(SideBySide, AListThatDoesNotCountYetAddsNodesOfADomain) {
  Layout layout = domains();
  layout.domains[1].nodes = {{2}, {3}, {5}, {6}};
  make(layout, 3);
  engine_->start(now_, *this);
  const NodeList list{9, {{1}, {3}, {5}, {6}}, {{1}, {3}, {5}}};
  engine_->set_nodes(now_, list, *this);
  EXPECT_EQ(fakes_[0]->list.nodes, list.nodes);
  EXPECT_EQ(fakes_[1]->list.hash, 9U);
  EXPECT_EQ(fakes_[1]->list.nodes, (std::vector<NodeId>{{3}, {5}, {6}}));
  engine_->set_nodes(now_, list, *this);
  in(1, [](Effects& out) { out.multicast(Lane::data, {}); });
  EXPECT_THAT(told(), ElementsAre("send 2", "send 5", "send 6"))
      << "each of both lists once, and not itself";
}

TEST_F(SideBySide, ADomainsEnsembleGoesByTheCompanyThatAllHaveChosen) {
  make(domains(), 2);
  const NodeList list{1, {{1}, {2}, {3}, {4}}, {{1}, {2}, {3}}};
  const std::vector<NodeList> parts = fakes_[0]->merger.parts(list);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].nodes, (std::vector<NodeId>{{1}, {2}}));
  EXPECT_EQ(parts[1].nodes, (std::vector<NodeId>{{2}, {3}, {4}}));
  EXPECT_THAT(fakes_[1]->merger.parts(list), IsEmpty()) << "a part has no parts";
  fakes_[0]->chosen = {3};
  fakes_[0]->is_fit = false;
  EXPECT_TRUE(fakes_[0]->merger.in_company_of_all({1}));
  EXPECT_TRUE(fakes_[0]->merger.fit_for_all());
  EXPECT_FALSE(fakes_[1]->merger.in_company_of_all({1}));
  EXPECT_TRUE(fakes_[1]->merger.in_company_of_all({3}));
  EXPECT_FALSE(fakes_[1]->merger.fit_for_all());
  fakes_[0]->is_fit = true;
  EXPECT_TRUE(fakes_[1]->merger.fit_for_all());
}

TEST_F(SideBySide, WhatOneDomainHasUnderWayIsNoReasonForAnotherToWait) {
  make(domains(), 2);
  begin();
  fakes_[1]->takes = 0;
  for (int i = 0; i < 40; ++i) queue_.emplace_back(Domain{2}, "a");
  work();
  EXPECT_EQ(taken(2).size(), 40U);
}

TEST_F(SideBySide, UnitsUnderWayAreAllOfOneDomain) {
  make(domains(), 2);
  begin();
  queue_ = {{1, "a"}, {1, "b"}, {2, "c"}};
  work();
  EXPECT_THAT(taken(0), IsEmpty());
  EXPECT_THAT(taken(1), ElementsAre("1:a", "2:b"));
  EXPECT_THAT(taken(2), IsEmpty()) << "the first of another waits";
  EXPECT_EQ(fakes_[2]->host.backlog_units(), 0U);
  all_come_to(19);
  own_unit(1, 20, 0);
  all_come_to(20);
  EXPECT_THAT(taken(2), IsEmpty());
  own_unit(1, 21, 1);
  all_come_to(21);
  EXPECT_THAT(taken(2), ElementsAre("3:c"));
}

TEST_F(SideBySide, WithDomainsAnOwnUnitThatIsNotTheNextStopsIt) {
  make(domains(), 2);
  begin();
  queue_ = {{1, "a"}, {1, "b"}};
  work();
  unit(1, 20, 2, 2, "b");
  all_come_to(30);
  EXPECT_THAT(told(), ElementsAre(testing::StartsWith("stop: ")));
}

TEST_F(SideBySide, WithDomainsAPositionIsThatOfTheValueForAllWhoLearnIt) {
  make(domains(), 2);
  begin();
  unit(1, 20, 1, 1, "a");
  unit(0, 25, 1, 4, "b");
  unit(2, 26, 3, 2, "c");
  unit(2, 27, 3, 1, "came before");
  all_come_to(30);
  EXPECT_THAT(told(), ElementsAre(std::to_string(20 * kEnsemblesMax + 1) + ":a",
                                  std::to_string(25 * kEnsemblesMax) + ":b",
                                  std::to_string(26 * kEnsemblesMax + 2) + ":c"));
  EXPECT_EQ(domain_of(deliveries_[0].seq), 1);
}

/// This node, `self`, learns both domains. A unit of domain 1 waits here for keys of domain 2,
/// whose coordinator is `coordinator`.
class AskToPass : public SideBySide {
 protected:
  void wait_for_domain_two(std::uint32_t self, std::uint32_t coordinator) {
    make(domains(), self);
    begin();
    fakes_.back()->coordinator = member(coordinator);
    last_ = micros() + 100;
    unit(1, last_, 1, 1, "a");
  }
  std::uint64_t last_ = 0;
};

TEST_F(AskToPass, TheFirstWhoLearnsBothAsksAtOnceAndAgain) {
  wait_for_domain_two(2, 3);
  EXPECT_THAT(fakes_[2]->wanted, ElementsAre(last_ + kAhead / 2));
  EXPECT_EQ(engine_->next_deadline(), now_ + microseconds(500));
  work();
  EXPECT_EQ(fakes_[2]->wanted.size(), 1U) << "the answer is on its way";
  now_ = now_ + microseconds(500);
  timer();
  EXPECT_EQ(fakes_[2]->wanted.size(), 2U);
  fakes_[2]->at = last_ + kAhead / 2 - 1;
  now_ = now_ + microseconds(500);
  timer();
  EXPECT_EQ(fakes_[2]->wanted.size(), 3U) << "before what was said is used up";
  nothing(2, last_ + kAhead / 2);
  EXPECT_EQ(engine_->next_deadline(), std::nullopt) << "a time that is over calls nobody";
  now_ = now_ + milliseconds(500);
  work();
  EXPECT_EQ(fakes_[2]->wanted.size(), 3U) << "it has come there";
}

TEST_F(AskToPass, NobodyAsksACoordinatorThatLearnsWhatWaits) {
  wait_for_domain_two(2, 1);
  EXPECT_THAT(fakes_[2]->wanted, IsEmpty());
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
}

TEST_F(AskToPass, NobodyAsksItselfOrACoordinatorThatIsNotKnown) {
  wait_for_domain_two(2, 2);
  EXPECT_THAT(fakes_[2]->wanted, IsEmpty());
  fakes_[2]->coordinator = {};
  now_ = now_ + milliseconds(5);
  work();
  now_ = now_ + milliseconds(5);
  work();
  EXPECT_THAT(fakes_[2]->wanted, IsEmpty());
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
}

TEST_F(AskToPass, BeforeAnyViewWhoNeedsItAsks) {
  make(domains(), 2);
  engine_->start(now_, *this);
  fakes_[2]->coordinator = member(3);
  last_ = micros() + 100;
  unit(1, last_, 1, 1, "a");
  EXPECT_EQ(fakes_[2]->wanted.size(), 1U);
}

TEST_F(AskToPass, NobodyAsksIfNothingWasOrdered) {
  make(domains(), 2);
  engine_->start(now_, *this);
  fakes_[2]->coordinator = member(3);
  for (int i = 0; i < 5; ++i) {
    work();
    now_ = now_ + milliseconds(5);
  }
  EXPECT_THAT(fakes_[2]->wanted, IsEmpty());
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
}

TEST_F(AskToPass, WhoIsNotTheFirstAsksIfThatDoesNotHelp) {
  Layout layout = domains();
  layout.domains = {{{{1}, {2}, {3}}, {}}, {{{2}, {3}, {4}}, {}}};
  make(layout, 3);
  begin();
  fakes_[2]->coordinator = member(4);
  last_ = micros() + 100;
  unit(1, last_, 1, 1, "a");
  EXPECT_THAT(fakes_[2]->wanted, IsEmpty());
  EXPECT_EQ(engine_->next_deadline(), now_ + milliseconds(2));
  now_ = now_ + milliseconds(2);
  timer();
  EXPECT_EQ(fakes_[2]->wanted.size(), 1U);
  EXPECT_EQ(engine_->next_deadline(), now_ + milliseconds(2));
  fakes_[2]->at = last_;
  now_ = now_ + milliseconds(2);
  timer();
  EXPECT_EQ(fakes_[2]->wanted.size(), 1U) << "nothing waits for it; the first one sees to the rest";
}

}  // namespace
}  // namespace peal::order::ridge::test
