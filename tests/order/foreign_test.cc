// SPDX-License-Identifier: Apache-2.0
// How a member handles packets from outside its view: of other incarnations, of other views, and of
// nodes with other lists of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "membership_bench.h"

namespace peal::order::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Strangers : public MembershipBench {
 protected:
  Strangers() { begin(); }
  bool stays() { return it().state() == State::operational; }
  wire::Join said() {
    run(milliseconds(3));
    const auto joins = take_joins();
    EXPECT_FALSE(joins.empty());
    return joins.empty() ? wire::Join{} : joins.back();
  }
  const MemberSet two_{kA, kSelf};
  const MemberSet three_{kA, kSelf, kC};
};

// ---- incarnations ----

TEST_F(Strangers, PacketsOfAnotherClusterAreCountedByWhatDiffers) {
  EXPECT_FALSE(hear(kC, join({kSelf, kC}), kCluster + 1));
  EXPECT_EQ(drops(Drop::other_settings), 1U);
  EXPECT_FALSE(hear(kC, join({kSelf, kC}), kCluster + (std::uint64_t{1} << 32)));
  EXPECT_EQ(drops(Drop::other_cluster), 1U);
  EXPECT_EQ(events(&event::incompatible_peer), 2U);
  EXPECT_EQ(last_event(&event::incompatible_peer).who, kC);
}

TEST_F(Strangers, WhoIsNotConfiguredIsNotListenedTo) {
  EXPECT_FALSE(hear({{9}, 1}, join({kSelf})));
  EXPECT_EQ(drops(Drop::bad_sender), 1U);
  EXPECT_FALSE(hear(kSelf, join({kSelf})));
  EXPECT_EQ(drops(Drop::own), 1U);
}

TEST_F(Strangers, ItBecomesYoungerThanTheLifeOfItsOwnThatOthersKnow) {
  hear(kC, join({kC, kSelf, kD}));
  take_joins();
  run(milliseconds(5));
  const MemberId later{kSelf.node, 500};
  hear(kC, join({later, kC}));
  EXPECT_EQ(it().self(), (MemberId{kSelf.node, 501}));
  EXPECT_EQ(last_event(&event::epoch_corrected).a, 501U);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::epoch);
  const wire::Join next = said();
  EXPECT_THAT(next.processes, ElementsAre(it().self())) << "it begins anew";
  EXPECT_THAT(next.failed, IsEmpty());
  EXPECT_EQ(next.number, kFirstCount + 1);
  EXPECT_EQ(it().view(), (ViewId{0, it().self()}));
  EXPECT_EQ(fatal_, 0);
}

TEST_F(Strangers, AnEarlierLifeOfItsOwnIsNoNews) {
  hear(kC, join({{kSelf.node, 50}, kSelf, kC}));
  EXPECT_EQ(it().self(), kSelf);
  EXPECT_THAT(said().failed, ElementsAre(MemberId{kSelf.node, 50}));
  EXPECT_FALSE(hear({kSelf.node, 50}, join({kC})));
  EXPECT_EQ(drops(Drop::stale), 1U);
  EXPECT_EQ(count(Kind::epoch_notice), 0U) << "it does not tell itself";
}

TEST_F(Strangers, AfterAViewALaterLifeOfItsOwnEndsIt) {
  into_view(two_);
  hear(kC, wire::EpochNotice{{kSelf.node, 500}});
  EXPECT_EQ(fatal_, 1);
  EXPECT_EQ(it().self(), kSelf);
}

TEST_F(Strangers, ANoticeTellsItOfItsOwnLifeOrOfAnothers) {
  hear(kC, wire::EpochNotice{kSelf});
  EXPECT_EQ(events(&event::epoch_corrected), 0U);
  hear(kC, wire::EpochNotice{{kD.node, 300}});
  EXPECT_FALSE(hear(kD, join({kSelf, kD}))) << "the next life of that one is known";
  hear(kC, wire::EpochNotice{{kSelf.node, 500}});
  EXPECT_EQ(it().self().epoch, 501U);
}

TEST_F(Strangers, AnEpochThatIsNoClockIsNotFollowed) {
  hear(kC, wire::EpochNotice{{kSelf.node, (std::uint64_t{1} << 62) + 1}});
  EXPECT_EQ(it().self(), kSelf);
  EXPECT_FALSE(hear({kD.node, (std::uint64_t{1} << 62) + 1}, join({kSelf})));
  EXPECT_TRUE(hear({kD.node, std::uint64_t{1} << 62}, join({kSelf})));
}

TEST_F(Strangers, AnEarlierLifeIsToldSoButNotAtEachPacket) {
  const MemberId again{kC.node, 200};
  hear(again, join({kSelf, again}));
  take_joins();
  EXPECT_FALSE(hear(kC, join({kSelf, kC})));
  EXPECT_FALSE(hear(kC, join({kSelf, kC})));
  ASSERT_EQ(count(Kind::epoch_notice), 1U);
  for (const Sent& each : sent_) {
    if (each.kind != Kind::epoch_notice) continue;
    wire::EpochNotice notice;
    EXPECT_EQ(wire::decode_epoch_notice(each.bytes, notice), Drop::none);
    EXPECT_EQ(notice.newest, again);
    EXPECT_EQ(each.to, kC.node);
  }
  run(milliseconds(49));
  EXPECT_FALSE(hear(kC, join({kSelf, kC})));
  EXPECT_EQ(count(Kind::epoch_notice), 1U);
  run(milliseconds(2));
  EXPECT_FALSE(hear(kC, join({kSelf, kC})));
  EXPECT_EQ(count(Kind::epoch_notice), 2U);
  EXPECT_EQ(drops(Drop::stale), 4U);
}

TEST_F(Strangers, AtTheVeryBeginningOfTimeToo) {
  now_ = Instant{0};
  sent_.clear();
  begin();
  EXPECT_EQ(count(Kind::join), 1U);
  const MemberId again{kC.node, 200};
  hear(again, join({kSelf, again}));
  EXPECT_FALSE(hear(kC, join({kSelf, kC})));
  EXPECT_EQ(count(Kind::epoch_notice), 1U);
  sent_.clear();
  begin();
  const auto joins = take_joins();
  ASSERT_EQ(joins.size(), 1U);
  EXPECT_THAT(joins[0].heard, IsEmpty()) << "nobody has been heard";
}

TEST_F(Strangers, WhatOthersRefusedCountsAsAPacket) {
  const MemberId again{kC.node, 200};
  it().on_old_incarnation(now_, again, *this);
  EXPECT_EQ(drops(Drop::stale), 1U);
  EXPECT_EQ(count(Kind::epoch_notice), 1U);
  EXPECT_FALSE(hear(kC, join({kSelf, kC}))) << "from then on it is known";
  EXPECT_THAT(said().heard, IsEmpty());
  it().on_old_incarnation(now_, {kSelf.node, 500}, *this);
  EXPECT_EQ(it().self(), kSelf);
  it().leave(now_, *this);
  it().on_old_incarnation(now_, again, *this);
  EXPECT_EQ(drops(Drop::stale), 2U);
}

// ---- looking for nodes outside the view ----

TEST_F(Strangers, WhoHasAllNodesLooksForNobody) {
  into_view({kA, kSelf, kC, kD});
  run(seconds(3));
  EXPECT_EQ(count(Kind::probe), 0U);
}

TEST_F(Strangers, TheMembersLookForOthersInTurn) {
  into_view(two_);
  run(seconds(8));
  const auto probes = take_probes();
  EXPECT_GE(probes.size(), 6U);
  EXPECT_LE(probes.size(), 11U) << "each second time";
  EXPECT_EQ(probes[0].view, it().view());
  EXPECT_EQ(probes[0].list, 1U);
  EXPECT_EQ(it().tally().probes_sent, probes.size());
}

TEST_F(Strangers, WhoGathersDoesNotLookForOthers) {
  into_view(two_);
  it().regather(now_, &gather::stall, {}, *this);
  run(seconds(3));
  EXPECT_EQ(count(Kind::probe), 0U);
}

TEST_F(Strangers, WhomItHearsItSaysForAWhile) {
  into_view(three_);
  hear(kD, probe({}));
  const Instant at = now_;
  const auto probes = take_probes();
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_THAT(probes[0].heard, ElementsAre(kA, kC, kD));
  run(milliseconds(1'495));
  it().regather(now_, &gather::stall, {}, *this);
  EXPECT_THAT(said().heard, testing::Contains(kD)) << "three times the time between probes";
  ASSERT_LT(now_ - at, milliseconds(1'500));
  run(milliseconds(40));
  EXPECT_THAT(said().heard, testing::Not(testing::Contains(kD)));
}

TEST_F(Strangers, APacketOfAnotherViewIsAnswered) {
  into_view(two_);
  hear(kC, wire::EpochNotice{kC});
  it().on_foreign(now_, kC, *this);
  auto probes = take_probes();
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_THAT(probes[0].heard, testing::Contains(kC));
  it().regather(now_, &gather::stall, {}, *this);
  run(milliseconds(5));
  take_joins();
  it().on_foreign(now_, kC, *this);
  EXPECT_EQ(count(Kind::join), 1U) << "who gathers says that";
}

TEST_F(Strangers, AProbeOfWhoHearsUsBringsItIn) {
  into_view(three_);
  hear(kD, probe({}));
  EXPECT_TRUE(stays());
  EXPECT_EQ(count(Kind::probe), 1U) << "it is told, so that it can hear us";
  hear(kA, probe({kSelf}));
  EXPECT_TRUE(stays()) << "a member";
  hear(kD, probe({kA}));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::foreign);
  EXPECT_EQ(last_event(&event::gather_started).who, kD);
  EXPECT_THAT(said().processes, ElementsAre(kA, kSelf, kC, kD));
}

TEST_F(Strangers, WhileItGathersToo) {
  hear(kC, join({kA, kSelf, kC}));
  said();
  run(milliseconds(5));
  const std::uint64_t gathers = it().tally().gathers;
  hear(kD, probe({}));
  EXPECT_EQ(count(Kind::join), 1U) << "it does not hear us yet";
  EXPECT_EQ(it().tally().gathers, gathers);
  hear(kC, probe({kSelf}));
  EXPECT_EQ(it().tally().gathers, gathers) << "it is named already";
  hear(kD, probe({kA}));
  EXPECT_EQ(it().tally().gathers, gathers + 1);
  EXPECT_THAT(said().processes, ElementsAre(kA, kSelf, kC, kD));
}

TEST_F(Strangers, DuringAnAttemptNobodyIsInvited) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  const std::uint64_t gathers = it().tally().gathers;
  sent_.clear();
  hear(kD, probe({kSelf}));
  hear(kD, probe({}));
  EXPECT_EQ(it().tally().gathers, gathers);
  EXPECT_THAT(sent_, IsEmpty());
}

TEST_F(Strangers, WhoNeverHearsUsIsDeaf) {
  into_view(two_);
  const auto look = [&](const MemberSet& heard) {
    hear(kD, probe(heard));
    run(milliseconds(650));
  };
  hear(kD, probe({}));
  EXPECT_THAT(it().deaf_peers(), IsEmpty());
  run(milliseconds(630));
  EXPECT_THAT(it().deaf_peers(), IsEmpty()) << "it may not have had the time";
  for (int i = 0; i < 4; ++i) look({});
  EXPECT_THAT(it().deaf_peers(), ElementsAre(kD));
  run(milliseconds(3'200));
  EXPECT_THAT(it().deaf_peers(), ElementsAre(kD)) << "others probe in turn";
  run(milliseconds(1'800));
  EXPECT_THAT(it().deaf_peers(), IsEmpty()) << "it is gone";
  for (int i = 0; i < 4; ++i) look({});
  ASSERT_THAT(it().deaf_peers(), ElementsAre(kD));
  hear(kC, probe({}));
  EXPECT_THAT(it().deaf_peers(), ElementsAre(kD));
  hear(kD, probe({kA}));
  EXPECT_THAT(it().deaf_peers(), IsEmpty()) << "it hears one of us";
}

TEST_F(Strangers, ANextLifeWasNotHeardBecauseTheOneBeforeWas) {
  hear(kC, join({kSelf, kC, kD}));
  EXPECT_THAT(said().heard, ElementsAre(kC));
  hear(kD, wire::EpochNotice{{kC.node, kC.epoch + 1}});
  run(milliseconds(30));
  EXPECT_THAT(said().heard, IsEmpty());
}

TEST_F(Strangers, ThoseWhoMayNotComeInAreNotDeafEither) {
  into_view({kA, kSelf, kC, kD});
  lose({kD}, three_);
  for (int i = 0; i < 4; ++i) {
    hear(kD, probe({}));
    run(milliseconds(650));
  }
  EXPECT_THAT(it().deaf_peers(), ElementsAre(kD));
  hear(kD, probe({kA}));
  EXPECT_TRUE(stays()) << "its link is tried first";
  EXPECT_THAT(it().deaf_peers(), IsEmpty());
}

TEST_F(Strangers, OfNodesThatAreConfiguredEachIsNamedAndOfOthersOne) {
  const auto said_of = [&](const MemberId& from) {
    hear(from, join({kSelf}), kCluster + 1);
    return events(&event::incompatible_peer);
  };
  EXPECT_EQ(said_of(kC), 1U);
  EXPECT_EQ(said_of(kD), 2U);
  EXPECT_EQ(said_of(kD), 2U);
  EXPECT_EQ(said_of({{8}, 1}), 3U);
  EXPECT_EQ(said_of({{9}, 1}), 3U);
}

TEST_F(Strangers, AMemberIsNeverDeaf) {
  into_view(two_);
  for (int i = 0; i < 4; ++i) {
    hear(kA, probe({}));
    run(milliseconds(650));
  }
  EXPECT_THAT(it().deaf_peers(), IsEmpty());
}

// ---- lists of nodes ----

class Lists : public Strangers {
 protected:
  /// A list of nodes 1 to `count`.
  static NodeList list(std::uint64_t hash, std::uint32_t count) {
    NodeList list{hash, {}};
    for (std::uint32_t node = 1; node <= count; ++node) list.nodes.push_back({node});
    return list;
  }
  void begin_with_majority() {
    evs::Settings settings = usual_settings();
    settings.majority = true;
    begin(settings);
  }
  NodesWait::Kind waits() { return it().lists().adoption_waits().kind; }
};

TEST_F(Lists, ItWaitsForAViewWithoutThoseWhoAreRemoved) {
  EXPECT_EQ(waits(), NodesWait::Kind::nothing);
  it().set_nodes(now_, list(2, 2), *this);
  EXPECT_EQ(it().lists().pending(), 2U);
  EXPECT_EQ(waits(), NodesWait::Kind::view);
  into_view(three_);
  EXPECT_EQ(waits(), NodesWait::Kind::running);
  EXPECT_EQ(it().lists().adoption_waits().who, kC);
  it().try_adopt(now_, *this);
  EXPECT_EQ(it().lists().active(), 1U);
  lose({kC}, two_);
  EXPECT_EQ(waits(), NodesWait::Kind::nothing);
  it().try_adopt(now_, *this);
  EXPECT_EQ(it().lists().active(), 2U);
  EXPECT_EQ(it().lists().pending(), 0U);
  EXPECT_EQ(it().tally().lists_adopted, 1U);
  EXPECT_EQ(last_event(&event::nodes_adopted).a, 2U);
  EXPECT_FALSE(it().lists().is_configured(kC.node));
  it().try_adopt(now_, *this);
  EXPECT_EQ(it().tally().lists_adopted, 1U) << "there is no other one";
}

TEST_F(Lists, NewNodesAreLookedForOnceItCounts) {
  into_view({kA, kSelf, kC, kD});
  run(seconds(2));
  it().set_nodes(now_, list(2, 5), *this);
  EXPECT_TRUE(it().lists().is_configured({5}));
  it().try_adopt(now_, *this);
  run(seconds(4));
  EXPECT_GE(count(Kind::probe), 1U);
}

TEST_F(Lists, WithAMajorityRuleListsDifferByOneNodeAndMostAreThere) {
  begin_with_majority();
  into_view(three_);
  it().set_nodes(now_, list(2, 6), *this);
  EXPECT_EQ(waits(), NodesWait::Kind::too_many);
  it().set_nodes(now_, list(3, 5), *this);
  EXPECT_EQ(waits(), NodesWait::Kind::nothing);
  lose({kC}, two_);
  EXPECT_EQ(waits(), NodesWait::Kind::majority) << "half of the four that count";
  it().set_nodes(now_, list(4, 3), *this);
  EXPECT_EQ(waits(), NodesWait::Kind::majority) << "most of three, but not of four";
  it().set_nodes(now_, list(1, 4), *this);
  EXPECT_EQ(waits(), NodesWait::Kind::nothing) << "the wish is taken back";
  EXPECT_EQ(it().lists().pending(), 0U);
}

TEST_F(Lists, MostOfTheLargerListHaveToBeThereToo) {
  evs::Settings settings = usual_settings();
  settings.majority = true;
  settings.nodes = list(1, 5);
  begin(settings);
  into_view(three_);
  it().set_nodes(now_, list(2, 6), *this);
  EXPECT_EQ(waits(), NodesWait::Kind::majority) << "three of five, and half of six";
}

TEST_F(Lists, WhoIsAloneAsksNobody) {
  into_view({kSelf});
  it().set_nodes(now_, list(2, 5), *this);
  EXPECT_EQ(it().lists().active(), 2U);
}

TEST_F(Lists, WhoHasOthersAsksThem) {
  into_view(two_);
  it().set_nodes(now_, list(2, 5), *this);
  EXPECT_EQ(it().lists().active(), 1U);
  it().regather(now_, &gather::stall, {}, *this);
  it().set_nodes(now_, list(3, 5), *this);
  EXPECT_EQ(it().lists().active(), 1U) << "nor without a view";
}

TEST_F(Lists, WhoHasLeftGoesByNoOtherList) {
  into_view({kSelf});
  it().leave(now_, *this);
  it().set_nodes(now_, list(2, 5), *this);
  EXPECT_EQ(it().lists().pending(), 0U);
}

TEST_F(Lists, WhoGoesByAnotherListIsOfNoUse) {
  into_view(three_);
  hear(kD, probe({kA}, 9));
  EXPECT_EQ(dropped(), Drop::other_list);
  EXPECT_TRUE(stays());
  EXPECT_EQ(events(&event::incompatible_peer), 1U);
  it().on_foreign(now_, kD, *this);
  EXPECT_EQ(count(Kind::probe), 0U) << "it would not come";
  wire::Join other = join({kA, kD});
  other.list = 9;
  hear(kD, other);
  EXPECT_EQ(dropped(), Drop::other_list);
  EXPECT_TRUE(stays());
  // Once this member has list 9 pending, it probes node 4 again. A PROBE with this member's active
  // list is accepted.
  it().set_nodes(now_, list(9, 5), *this);
  it().on_foreign(now_, kD, *this);
  EXPECT_EQ(count(Kind::probe), 1U) << "it may be that we come";
  run(milliseconds(10));
  hear(kD, probe({kA}));
  EXPECT_FALSE(stays());
}

TEST_F(Lists, OfAListThatIsToComeNobodyComplains) {
  into_view(two_);
  it().set_nodes(now_, list(9, 5), *this);
  hear(kD, probe({kA}, 9));
  EXPECT_EQ(dropped(), Drop::other_list);
  EXPECT_EQ(events(&event::incompatible_peer), 0U);
  EXPECT_EQ(it().lists().active(), 1U);
}

TEST_F(Lists, InTheViewListsAreNobodysMistake) {
  into_view(two_);
  wire::ProbeFrame ours = probe({kSelf}, 9);
  ours.view = it().view();
  hear(kA, ours);
  EXPECT_EQ(dropped(), Drop::none);
  it().regather(now_, &gather::stall, {}, *this);
  hear(kA, ours);
  EXPECT_EQ(dropped(), Drop::other_list) << "the view is over";
}

TEST_F(Lists, OnceAllHaveItItFollowsWhoGoesByIt) {
  into_view(three_);
  it().set_nodes(now_, list(9, 5), *this);
  it().lists().all_have_next();
  hear(kD, probe({}, 9));
  EXPECT_EQ(it().lists().active(), 9U);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::nodes);
  const wire::Join next = said();
  EXPECT_EQ(next.list, 9U);
  EXPECT_EQ(next.processes, three_);
}

TEST_F(Lists, WhoIsRemovedIsNotNamedAnyMore) {
  into_view(three_);
  it().set_nodes(now_, list(9, 2), *this);
  it().lists().all_have_next();
  hear(kA, probe({kSelf}, 9));
  EXPECT_EQ(it().lists().active(), 9U);
  EXPECT_EQ(said().processes, two_);
}

TEST_F(Lists, NorWhileItGathers) {
  into_view(three_);
  it().set_nodes(now_, list(9, 2), *this);
  it().lists().all_have_next();
  it().accuse(now_, kC, &gather::stall, *this);
  wire::Join other = join(two_);
  other.list = 9;
  hear(kA, other);
  EXPECT_EQ(it().lists().active(), 9U);
  const wire::Join next = said();
  EXPECT_EQ(next.processes, two_);
  EXPECT_THAT(next.failed, IsEmpty());
}

TEST_F(Lists, WhatARemovedNodeSaysIsOfNoUseThen) {
  into_view(three_);
  it().set_nodes(now_, list(9, 2), *this);
  it().lists().all_have_next();
  hear(kC, probe({kSelf}, 9));
  EXPECT_EQ(dropped(), Drop::other_list);
  EXPECT_EQ(it().lists().active(), 9U);
}

TEST_F(Lists, DuringAnAttemptItDoesNotFollow) {
  into_view(three_);
  it().set_nodes(now_, list(9, 5), *this);
  it().lists().all_have_next();
  const std::uint64_t number = it().view().number + 1;
  it().regather(now_, &gather::stall, {}, *this);
  agree(three_);
  hear(kA, first_commit(three_, number));
  ASSERT_EQ(it().state(), State::commit);
  hear(kD, probe({}, 9));
  EXPECT_EQ(it().lists().active(), 1U);
}

TEST_F(Lists, ThatAllHaveItHoldsForTheLastViewAlone) {
  into_view(two_);
  it().set_nodes(now_, list(9, 5), *this);
  it().lists().all_have_next();
  it().set_nodes(now_, list(9, 5), *this);  // the same pending list
  it().regather(now_, &gather::stall, {}, *this);
  into_view(two_);
  hear(kD, probe({}, 9));
  EXPECT_EQ(it().lists().active(), 1U);
  it().lists().all_have_next();
  it().set_nodes(now_, list(8, 5), *this);
  hear(kD, probe({}, 8));
  EXPECT_EQ(it().lists().active(), 1U) << "another wish";
}

TEST_F(Lists, WithAMajorityRuleItLeavesAListThatAPrimaryViewWentBy) {
  begin_with_majority();
  into_view(three_);
  it().set_nodes(now_, list(2, 5), *this);
  it().lists().all_have_next();
  hear(kD, probe({}, 2));
  ASSERT_EQ(it().lists().active(), 2U) << "the first one is as good as one that counted";
  it().set_nodes(now_, list(3, 6), *this);
  it().lists().all_have_next();
  hear(kD, probe({}, 3));
  EXPECT_EQ(it().lists().active(), 2U) << "of this one no view was primary";
  into_view(three_);
  it().lists().all_have_next();
  hear(kD, probe({}, 3));
  EXPECT_EQ(it().lists().active(), 3U) << "now one was";
}

TEST_F(Lists, WithAMajorityRuleAListThatDiffersByMoreIsNotFollowed) {
  begin_with_majority();
  into_view(three_);
  it().set_nodes(now_, list(2, 6), *this);
  it().lists().all_have_next();
  hear(kD, probe({}, 2));
  EXPECT_EQ(it().lists().active(), 1U);
}

TEST_F(Lists, AListAdoptedInAPrimaryViewIsConfirmedAtOnce) {
  begin_with_majority();
  into_view(three_);
  it().set_nodes(now_, list(2, 5), *this);
  it().try_adopt(now_, *this);
  ASSERT_EQ(it().lists().active(), 2U);
  it().set_nodes(now_, list(3, 6), *this);
  it().lists().all_have_next();
  hear(kD, probe({}, 3));
  EXPECT_EQ(it().lists().active(), 3U);
}

}  // namespace
}  // namespace peal::order::test
