// SPDX-License-Identifier: Apache-2.0
// How one member of the ring ends an old view: what it writes on the commit token, which units it
// requests, which units it delivers in which view, and what it does if other members never complete
// their recovery.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "order/member_set.h"
#include "order/ring/vocabulary.h"
#include "ring_bench.h"

namespace peal::order::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const MemberSet kAll{{{1}, 101}, {{2}, 102}, {{3}, 103}};

class Repair : public RingBench {
 protected:
  void hold(std::initializer_list<Seq> positions, Service service = Service::agreed) {
    for (const Seq seq : positions) hear(kA, unit(kA, seq, service), "u" + std::to_string(seq));
  }
  /// The token is lost, and all members gather. On the commit token that arrives, the first member
  /// has written this record.
  wire::Commit end_view(const ring::OldViewRecord& of_first) {
    old_ = view_;
    run(milliseconds(230));
    return gather([&](wire::Commit& commit) {
      commit.old_views = {{old_, {kA}, ring::encode(of_first)}};
    });
  }
  /// Starts the recovery. `all`: the record that the survivors of the old view have together.
  void repair(const wire::Commit& commit, const ring::OldViewRecord& all,
              const MemberSet& survivors = kAll) {
    take_log();
    recover(commit, [&](wire::Commit& it) {
      it.old_views = {{old_, survivors, ring::encode(all)}};
      if (survivors != kAll) {
        ring::OldViewRecord other;
        other.obligation = {kC};
        it.old_views.push_back({{1, kC}, {kC}, ring::encode(other)});
      }
    });
  }
  static ring::OldViewRecord record(Seq base, Seq high, Seq safe, std::uint64_t have,
                                    const MemberSet& obligation = kAll) {
    ring::OldViewRecord record;
    record.base = base;
    record.high = high;
    record.safe = safe;
    if (high > base) record.have = {have};
    record.obligation = obligation;
    return record;
  }
  /// A retransmitted unit of the old view arrives, while this member recovers for the next view.
  void bring(Seq seq) {
    wire::Data data = unit(kA, seq);
    data.view = old_;
    data.retransmission = true;
    hear(kA, data, "u" + std::to_string(seq));
  }
  /// The token of the recovery arrives. The other members have set its `recovery_run` to `run`, and
  /// its `recovery_block` to `block`. `missing`: how many packets the members miss, as the token
  /// says.
  wire::Token come(std::uint16_t run, std::uint16_t block = wire::kNoIndex,
                   std::uint32_t missing = 0) {
    wire::Token token = recovery_token();
    token.recovery_run = run;
    token.recovery_block = block;
    token.backlog = missing;
    return pass(token).value_or(wire::Token{});
  }

  ViewId old_{};
};

TEST_F(Repair, ItFoldsWhatItHoldsIntoTheRecord) {
  be(kB);
  hold({1, 2, 4});
  // The first member has positions 1, 3 and 5.
  const wire::Commit commit = end_view(record(1, 5, 0, 0b1010, {kA}));
  ASSERT_EQ(commit.old_views.size(), 1U);
  EXPECT_THAT(commit.old_views[0].survivors, ElementsAre(kA, kB));
  const ring::OldViewRecord folded = ring::decode_record(commit.old_views[0].record);
  EXPECT_EQ(folded, record(2, 5, 0, 0b111, {kA, kB}));
  EXPECT_TRUE(folded.holds(2));
  EXPECT_TRUE(folded.holds(5));
  EXPECT_FALSE(folded.holds(6));
}

TEST_F(Repair, TheGreaterSafeLineAndBaseCount) {
  be(kB);
  hold({1, 2, 3});
  wire::Token token = next();
  token.seq = token.aru = 2;
  hear(kA, unit(kA, 9));  // the unit's position is far above the token's
  const wire::Commit commit = end_view(record(2, 2, 2, 0, {kA}));
  const ring::OldViewRecord folded = ring::decode_record(commit.old_views[0].record);
  EXPECT_EQ(folded.base, 3U);
  EXPECT_EQ(folded.safe, 2U);
  EXPECT_EQ(folded.high, 9U);
  EXPECT_EQ(folded.have, (std::vector<std::uint64_t>{0b100000}));
}

TEST_F(Repair, WhatOthersHaveBelowTheirBaseNeedsNoBit) {
  be(kB);
  hold({1, 5});
  // The first member has positions 1 to 3, and 6.
  const wire::Commit commit = end_view(record(3, 6, 0, 0b100, {kA}));
  const ring::OldViewRecord folded = ring::decode_record(commit.old_views[0].record);
  EXPECT_EQ(folded, record(3, 6, 0, 0b110, {kA, kB}));
}

TEST_F(Repair, ViewsSayWhereTheyComeFromAndWhetherTheyAreThePrimaryOne) {
  ring::Options options;
  options.primary = PrimaryRule::majority;
  be(kB, options);
  hold({1, 2});
  const wire::Commit commit = end_view(record(2, 2, 0, 0, {kA}));
  repair(commit, record(2, 2, 0, 0, {kA, kB}), {kA, kB});
  views_.clear();
  deliveries_.clear();
  install();
  ASSERT_EQ(views_.size(), 2U);
  EXPECT_TRUE(views_[0].transitional);
  EXPECT_EQ(views_[0].old, old_);
  EXPECT_EQ(views_[0].id, view_);
  EXPECT_EQ(views_[0].primary, Primary::yes) << "two of three";
  EXPECT_FALSE(views_[1].transitional);
  EXPECT_EQ(views_[1].id, view_);
  EXPECT_EQ(views_[1].primary, Primary::yes);
  EXPECT_NE(old_, view_);
}

TEST_F(Repair, WhoIsAloneOfItsViewComesFromOneThatIsNotThePrimaryOne) {
  ring::Options options;
  options.primary = PrimaryRule::majority;
  be(kB, options);
  const wire::Commit commit = end_view(record(0, 0, 0, 0, {kA}));
  take_log();
  recover(commit, [&](wire::Commit& it) {
    it.old_views = {{old_, {kB}, ring::encode(record(0, 0, 0, 0, {kB}))},
                    {{1, kC}, {kA, kC}, ring::encode(record(0, 0, 0, 0, {kA, kC}))}};
  });
  views_.clear();
  install();
  ASSERT_EQ(views_.size(), 2U);
  EXPECT_EQ(views_[0].primary, Primary::no);
  EXPECT_EQ(views_[1].primary, Primary::yes);
}

TEST_F(Repair, WhatIsNotSafeBelongsToTheOldViewUpToTheFirstGap) {
  be(kB);
  hold({2});
  const wire::Commit commit = end_view(record(0, 2, 0, 0b11, {kA}));
  repair(commit, record(0, 2, 0, 0b11));
  come(0);
  bring(1);
  install();
  EXPECT_THAT(take_log(), ElementsAre("1:u1", "2:u2", "trans 123", "view 123"));
}

TEST_F(Repair, AViewOfSeveralDoesNotGoOverToAnotherListByItself) {
  be(kB);
  engine_->set_nodes(now_, {9, {{1}, {2}, {3}, {4}}}, *this);
  repair(end_view(record(0, 0, 0, 0, {kA})), record(0, 0, 0, 0));
  install();
  EXPECT_EQ(events(&event::nodes_adopted), 0U);
}

TEST_F(Repair, RequestsWaitForARotationAtLeastIfUnitsFollowTheToken) {
  ring::Options options;
  options.request_lag = 0;
  agreed_.request_lag = 0;
  for (const std::uint32_t accelerated : {3U, 0U}) {
    options.accelerated_window = accelerated;
    view_ = {};
    be(kB, options);
    const wire::Commit commit = end_view(record(0, 0, 0, 0, {kA}));
    EXPECT_EQ(ring::decode_options(commit.options).request_lag, accelerated == 0 ? 0U : 1U);
  }
}

TEST_F(Repair, WhatItDeliversInTheEndIsOfTheOldView) {
  be(kB);
  hear(kA, unit(kA, 1, Service::safe), "u1");
  hear(kC, unit(kC, 2), "c2");
  const wire::Commit commit = end_view(record(2, 2, 1, 0, {kA}));
  repair(commit, record(2, 2, 1, 0));
  deliveries_.clear();
  install();
  ASSERT_EQ(deliveries_.size(), 2U);
  EXPECT_EQ(deliveries_[0].view, old_);
  EXPECT_EQ(deliveries_[0].seq, 1U);
  EXPECT_EQ(deliveries_[0].origin, kA);
  EXPECT_EQ(deliveries_[0].service, Service::safe);
  EXPECT_EQ(deliveries_[1].view, old_);
  EXPECT_EQ(deliveries_[1].origin, kC);
  EXPECT_EQ(deliveries_[1].service, Service::agreed);
}

TEST_F(Repair, ANewViewBindsItToNobodyOfTheOldOne) {
  be(kB);
  hold({1});
  repair(end_view(record(1, 1, 0, 0, {kA})), record(1, 1, 0, 0, kAll));
  install();
  const wire::Commit next = end_view(record(0, 0, 0, 0, {kA}));
  EXPECT_EQ(ring::decode_record(next.old_views[0].record), record(0, 0, 0, 0, {kA, kB}));
}

TEST_F(Repair, ANewViewHasNothingOfTheTokensOfTheOldOne) {
  be(kB);
  submit(3);
  wire::Token token = next();
  visit(token);
  EXPECT_EQ(next().seq, 3U);
  repair(end_view(record(3, 3, 0, 0, {kA})), record(3, 3, 0, 0, kAll));
  install();
  submit(1);
  originated_.clear();
  token = next();
  token.fcc = 0;
  token = visit(token);
  EXPECT_EQ(token.seq, 1U);
  EXPECT_EQ(token.aru, 1U);
  EXPECT_EQ(token.fcc, 1U);
  EXPECT_THAT(originated_, ElementsAre(1));
}

TEST_F(Repair, WhatComesLateIsKeptAndNotDelivered) {
  be(kB);
  hold({1});
  old_ = view_;
  take_log();
  run(milliseconds(230));
  hold({2, 4});
  EXPECT_THAT(take_log(), IsEmpty());
  const wire::Commit commit = gather([&](wire::Commit& it) {
    it.old_views = {{old_, {kA}, ring::encode(record(1, 1, 0, 0, {kA}))}};
  });
  EXPECT_EQ(ring::decode_record(commit.old_views[0].record), record(2, 4, 0, 0b10, {kA, kB}));
  hold({3});
  EXPECT_EQ(counter("wrong_state"), 1U) << "what it holds has been written down";
}

TEST_F(Repair, WhoWasCompleteStaysBoundIfTheAttemptFails) {
  for (const bool complete : {true, false}) {
    view_ = {};
    be(kB);
    if (complete) hold({1});
    const wire::Commit first = end_view(record(0, 1, 0, 0b1, {kA}));
    repair(first, complete ? record(1, 1, 0, 0) : record(0, 1, 0, 0b1));
    run(milliseconds(230));
    const wire::Commit second = gather([&](wire::Commit& it) {
      it.view.number += 10;
      it.old_views = {{old_, {kA}, ring::encode(record(0, 1, 0, 0b1, {kA}))}};
    });
    const MemberSet bound = ring::decode_record(second.old_views[0].record).obligation;
    EXPECT_EQ(bound, complete ? kAll : (MemberSet{kA, kB}));
  }
}

TEST_F(Repair, ATokenOfTheRecoveryIsTakenOnceAndFromThePredecessorAlone) {
  be(kB);
  const wire::Commit commit = end_view(record(0, 0, 0, 0, {kA}));
  repair(commit, record(0, 0, 0, 0));
  wire::Token token = recovery_token();
  token.recovery_run = 0;
  hear(kC, token);
  EXPECT_EQ(counter("bad_sender"), 1U);
  pass(token);
  sent_.clear();
  hear(kA, token);
  EXPECT_EQ(counter("duplicate"), 1U);
  EXPECT_EQ(count(Kind::token), 0U);
}

TEST_F(Repair, ItAsksForWhatOthersHoldAndTakesNothingElse) {
  be(kB);
  hold({1, 2, 4});
  const wire::Commit commit = end_view(record(2, 6, 0, 0b1111, {kA}));
  repair(commit, record(2, 6, 0, 0b1011));  // positions 3, 4 and 6; no member has 5
  wire::Token token = come(1);
  EXPECT_EQ(token.recovery_run, 0U);
  EXPECT_EQ(token.recovery_block, 1U);
  ASSERT_EQ(token.sections.size(), 1U);
  EXPECT_EQ(token.sections[0].view, old_);
  EXPECT_EQ(token.sections[0].ranges[0].first, 3U);
  EXPECT_EQ(token.sections[0].ranges[0].bitmap, 0b1001U);
  bring(5);
  EXPECT_EQ(counter("wrong_state"), 1U) << "no survivor has it";
  bring(3);
  EXPECT_EQ(come(1).recovery_run, 0U);
  bring(6);
  token = come(1);
  EXPECT_EQ(token.recovery_run, 2U);
  EXPECT_THAT(take_log(), IsEmpty());
}

TEST_F(Repair, ItAnswersWhatOthersLack) {
  be(kB);
  hold({1, 2});
  const wire::Commit commit = end_view(record(0, 2, 0, 0b10, {kA}));
  repair(commit, record(2, 2, 0, 0));
  wire::Token token = recovery_token();
  wire::RequestSection section;
  section.view = old_;
  section.ranges.push_back({1, 0b1011});
  token.sections.push_back(section);
  sent_.clear();
  const auto sent = pass(token);
  ASSERT_TRUE(sent.has_value());
  EXPECT_TRUE(sent->sections.empty()) << "what nobody has is no use to ask for";
  EXPECT_EQ(data().size(), 2U);
}

TEST_F(Repair, TheViewIsInstalledWhenAllAreComplete) {
  be(kB);
  hold({1, 2});
  const wire::Commit commit = end_view(record(2, 2, 0, 0, {kA}));
  repair(commit, record(2, 2, 0, 0));
  EXPECT_EQ(come(1).recovery_run, 2U);
  EXPECT_THAT(take_log(), IsEmpty());
  come(2);
  EXPECT_THAT(take_log(), ElementsAre("trans 123", "view 123"));
  EXPECT_GT(view_.number, old_.number);
  // In the new view, positions begin anew, and the token is that of the new view.
  wire::Token token = next();
  token.recovery_run = 0;
  submit(1);
  token = visit(token);
  EXPECT_EQ(token.seq, 1U);
}

TEST_F(Repair, WhatNoSurvivorKnowsToBeStableComesInTheTransitionalView) {
  be(kB);
  hold({1});
  hold({2, 3}, Service::safe);
  hold({4});
  const wire::Commit commit = end_view(record(4, 4, 2, 0, {kA}));
  repair(commit, record(4, 4, 2, 0));
  install();
  EXPECT_THAT(take_log(), ElementsAre("2:u2", "trans 123", "t3:u3", "t4:u4", "view 123"));
}

TEST_F(Repair, TheSurvivorsAloneAreInTheTransitionalView) {
  be(kB);
  hold({1});
  const wire::Commit commit = end_view(record(1, 1, 0, 0, {kA}));
  repair(commit, record(1, 1, 0, 0, {kA, kB}), {kA, kB});
  install();
  EXPECT_THAT(take_log(), ElementsAre("trans 12", "view 123"));
}

TEST_F(Repair, BehindAGapOnlyWhatIsOfMembersThatAreBoundIsDelivered) {
  be(kB);
  hold({1});
  hear(kC, unit(kC, 3), "c3");
  hear(kA, unit(kA, 4), "u4");
  const wire::Commit commit = end_view(record(1, 4, 0, 0b110, {kA}));
  repair(commit, record(1, 4, 0, 0b110, {kA, kB}), {kA, kB});
  install();
  EXPECT_THAT(take_log(), ElementsAre("trans 12", "t4:u4", "view 123"))
      << "what the third one's depends on may be lost";
}

TEST_F(Repair, WhoIsBoundIsSoThoughItDoesNotComeAlong) {
  be(kB);
  hold({1});
  hear(kC, unit(kC, 3), "c3");
  const wire::Commit commit = end_view(record(1, 3, 0, 0b10, {kA}));
  repair(commit, record(1, 3, 0, 0b10, kAll), {kA, kB});
  install();
  EXPECT_THAT(take_log(), ElementsAre("trans 12", "t3:c3", "view 123"));
}

TEST_F(Repair, RecordsThatLackWhatItHasAreRefused) {
  be(kB);
  hold({1, 2, 4});
  const wire::Commit commit = end_view(record(1, 5, 0, 0, {kA}));
  for (const ring::OldViewRecord& bad :
       {record(1, 5, 0, 0b111), record(2, 3, 0, 0b1), record(2, 5, 0, 0b111, {kA, kC})}) {
    const std::size_t before = events(&event::recovery_started);
    wire::Commit second = commit;
    second.old_views = {{old_, kAll, ring::encode(bad)}};
    second.hops = 4;
    std::vector<std::byte> bytes(60'000);
    bytes.resize(ring::encode_commit({Kind::commit, kRingCluster, kA}, second, bytes));
    hear(bytes);
    EXPECT_EQ(events(&event::recovery_started), before);
  }
  EXPECT_EQ(counter("bad_value"), 3U);
  repair(commit, record(2, 5, 0, 0b111));
}

// ---- members that never complete their recovery ----

class Guard : public Repair {
 protected:
  /// Starts the recovery. If `lacks` is true, this member itself lacks position 1. If `lacks` is
  /// false, it lacks nothing.
  void begin(bool lacks) {
    be(kB);
    if (!lacks) hold({1});
    const wire::Commit commit = end_view(record(0, 1, 0, 0b1, {kA}));
    repair(commit, lacks ? record(0, 1, 0, 0b1) : record(1, 1, 0, 0));
    sent_.clear();
  }
  /// The others miss `missing` packets, and the last of them that misses one is `block`.
  void rounds(int count, Duration each, std::uint16_t block, std::uint32_t missing = 0) {
    for (int i = 0; i < count && !gathers(); ++i) {
      come(0, block, missing);
      run(each);
    }
  }
  bool gathers() const { return events(&event::recovery_guard) > 0 && engine_gathers(); }
  bool engine_gathers() const { return engine_->why().kind == &wait::gathering; }
  MemberSet failed() const {
    MemberSet failed;
    for (const Sent& each : sent_) {
      wire::Join join;
      if (each.kind != Kind::join) continue;
      EXPECT_EQ(wire::decode_join(each.bytes, join), Drop::none);
      failed = join.failed;
    }
    return failed;
  }
};

TEST_F(Guard, WhoLacksSomethingForManyRoundsIsAccused) {
  begin(false);
  rounds(49, milliseconds(11), 2);
  EXPECT_EQ(counter("recovery_guards"), 0U);
  rounds(10, milliseconds(11), 2);
  EXPECT_EQ(counter("recovery_guards"), 1U);
  run(milliseconds(5));
  EXPECT_THAT(failed(), ElementsAre(kC));
}

TEST_F(Guard, ManyRoundsInAShortTimeAreNone) {
  begin(false);
  rounds(700, microseconds(500), 2);
  EXPECT_EQ(counter("recovery_guards"), 0U);
  rounds(700, microseconds(500), 2);
  EXPECT_EQ(counter("recovery_guards"), 1U);
}

TEST_F(Guard, ARepairThatGoesOnIsNeverAccusedForItsRounds) {
  begin(false);
  for (std::uint32_t missing = 40; missing > 0; --missing) {
    rounds(49, milliseconds(2), 2, missing);  // 98 ms
  }
  EXPECT_EQ(counter("recovery_guards"), 0U) << "after 3.9 s";
  rounds(260, milliseconds(2), 2, 1);
  EXPECT_EQ(counter("recovery_guards"), 1U);
}

TEST_F(Guard, TheTokenCarriesHowManyPacketsTheMembersMissTogether) {
  be(kB);
  hold({1, 2});
  repair(end_view(record(5, 5, 0, 0, {kA})), record(5, 5, 0, 0));  // it misses positions 3 to 5
  EXPECT_EQ(come(0, 2, 7).backlog, 10U);
  bring(4);
  EXPECT_EQ(come(0, 2, 10).backlog, 9U);
  EXPECT_EQ(come(0, 2, 1).backlog, 2U) << "less than this member's own part";
  EXPECT_LT(come(0, 2, 0xffff'ffff).backlog, 1U << 30);
}

TEST_F(Guard, SoAreFewRoundsInALongTimeUntilItIsTooLong) {
  begin(false);
  rounds(40, milliseconds(120), 2);
  EXPECT_EQ(counter("recovery_guards"), 0U);
  rounds(2, milliseconds(120), 2);
  EXPECT_EQ(counter("recovery_guards"), 1U);
}

TEST_F(Guard, WhoLacksSomethingItselfGivesTheOthersTimeToSaySo) {
  begin(true);
  rounds(505, milliseconds(1), wire::kNoIndex);
  EXPECT_EQ(counter("recovery_guards"), 1U);
  EXPECT_FALSE(engine_gathers());
  rounds(490, milliseconds(1), wire::kNoIndex);
  EXPECT_FALSE(engine_gathers());
  rounds(30, milliseconds(1), wire::kNoIndex);
  EXPECT_EQ(counter("recovery_guards"), 2U);
  EXPECT_TRUE(engine_gathers());
  run(milliseconds(5));
  EXPECT_THAT(failed(), IsEmpty()) << "it knows of nobody else";
}

TEST_F(Guard, ThatTimeIsAsLongAsTheFirst) {
  begin(true);
  rounds(505, milliseconds(1), wire::kNoIndex);
  ASSERT_EQ(counter("recovery_guards"), 1U);
  rounds(520, microseconds(100), wire::kNoIndex);
  EXPECT_EQ(counter("recovery_guards"), 1U) << "many rounds, in a short time";
  EXPECT_FALSE(engine_gathers());
}

TEST_F(Guard, AMemberThatIsNotThereIsNotAccused) {
  begin(false);
  rounds(505, milliseconds(1), 3);
  EXPECT_EQ(counter("recovery_guards"), 1U);
  EXPECT_FALSE(engine_gathers());
}

TEST_F(Guard, IfAnotherOneLacksSomethingTooTheyPart) {
  begin(true);
  rounds(1'020, milliseconds(1), 2);
  EXPECT_TRUE(engine_gathers());
  run(milliseconds(5));
  EXPECT_THAT(failed(), ElementsAre(kC));
}

TEST_F(Guard, EachAttemptGivesThemThatTime) {
  begin(true);
  rounds(1'020, milliseconds(1), wire::kNoIndex);
  ASSERT_TRUE(engine_gathers());
  const wire::Commit commit = gather([&](wire::Commit& it) {
    it.view.number += 10;
    it.old_views = {{old_, {kA}, ring::encode(record(0, 1, 0, 0b1, {kA}))}};
  });
  repair(commit, record(0, 1, 0, 0b1));
  const std::uint64_t before = counter("recovery_guards");
  for (int i = 0; i < 520; ++i) {
    come(0);
    run(milliseconds(1));
  }
  EXPECT_EQ(counter("recovery_guards"), before + 1);
  EXPECT_FALSE(engine_gathers());
}

}  // namespace
}  // namespace peal::order::test
