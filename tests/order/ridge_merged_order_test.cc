// SPDX-License-Identifier: Apache-2.0
// One node with several ensembles that the test plays: their merged order, and what happens to this
// node's own units.
#include "ridge_ensembles_bench.h"

namespace peal::order::ridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MergedOrder : public EnsemblesBench {
 protected:
  void submit(std::size_t count, const std::string& text = "u") {
    for (std::size_t i = 0; i < count; ++i) queue_.emplace_back(Domain{0}, text);
  }
};

// ---- the merge ----

TEST_F(MergedOrder, UnitsComeByTheirKeysWhicheverEnsembleBringsThem) {
  several(2);
  begin();
  unit(0, 20, 2, 1, "late", 1, Service::safe);
  EXPECT_THAT(told(), IsEmpty()) << "the other ensemble may still bring what belongs before it";
  unit(1, 15, 3, 1, "early");
  EXPECT_THAT(told(), ElementsAre("1:early"));
  nothing(1, 19);
  EXPECT_THAT(told(), ElementsAre("2:late"));
  ASSERT_EQ(deliveries_.size(), 2U);
  EXPECT_EQ(deliveries_[0].origin, member(3));
  EXPECT_EQ(deliveries_[0].service, Service::agreed);
  EXPECT_EQ(deliveries_[1].origin, member(2));
  EXPECT_EQ(deliveries_[1].service, Service::safe);
  EXPECT_EQ(deliveries_[1].view, view_id(1));
  EXPECT_FALSE(deliveries_[1].transitional);
}

TEST_F(MergedOrder, ASendersUnitsComeInItsOrderThoughTheirKeysDoNot) {
  several(2);
  begin();
  unit(0, 20, 2, 3, "c");
  unit(0, 21, 2, 2, "b");
  unit(0, 22, 2, 5, "e");
  unit(0, 23, 3, 1, "other");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:other"));
  unit(1, 31, 2, 1, "a");
  nothing(0, 40);
  EXPECT_THAT(told(), ElementsAre("2:a", "3:b", "4:c"));
  unit(0, 41, 2, 4, "d");
  nothing(1, 50);
  EXPECT_THAT(told(), ElementsAre("5:d", "6:e"));
}

TEST_F(MergedOrder, AUnitThatTwoEnsemblesOrderCountsOnce) {
  several(2);
  begin();
  unit(0, 20, 2, 1, "a");
  unit(0, 21, 2, 3, "c");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:a"));
  unit(1, 31, 2, 1, "again");
  unit(1, 32, 2, 3, "again");
  unit(1, 33, 2, 2, "b");
  nothing(0, 40);
  EXPECT_THAT(told(), ElementsAre("2:b", "3:c"));
}

TEST_F(MergedOrder, NobodyHasMoreUnitsUnderWayThanMayBe) {
  config_.options.member_window = 3;
  several(2);
  begin();
  unit(0, 20, 2, 4, "too far");
  unit(0, 21, 2, 3, "c");
  unit(0, 22, 2, 2, "b");
  unit(0, 23, 2, 1, "a");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:a", "2:b", "3:c"));
}

TEST_F(MergedOrder, UnitsOfStrangersAndOfOtherViewsDoNotCount) {
  several(2);
  begin();
  unit(0, 20, 4, 1, "stranger");
  unit(0, 21, 2, 1, "next view", 2);
  unit(0, 22, 2, 1, "no view", 7);
  unit(0, 23, 2, 1, "a");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:a"));
}

TEST_F(MergedOrder, ADamagedUnitTakesNoPlace) {
  several(2);
  begin();
  Delivery damaged;
  damaged.origin = member(2);
  damaged.unit = pool_.take(0, 5);
  std::memset(damaged.unit.data(), 0, 5);
  value(0, 20, [&](Effects& out) { out.deliver(damaged); });
  unit(0, 21, 2, 1, "a");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:a"));
}

TEST_F(MergedOrder, AViewBeginsAnewAndSaysWhoCameAlong) {
  several(2);
  begin();
  unit(0, 20, 2, 1, "a");
  unit(0, 21, 2, 3, "waits for the second");
  join(0, 22, 2, members({1, 2, 4}), members({1, 2}));
  nothing(1, 30);
  EXPECT_THAT(told(),
              ElementsAre("1:a", "trans 2 from 1: 1 2", "view 2: 1 2 4", "event view_installed"));
  EXPECT_EQ(events_.back().view, view_id(2));
  EXPECT_EQ(events_.back().a, 3U);
  // In the new view, numbers of units and positions begin anew.
  unit(0, 31, 4, 1, "b", 2);
  unit(0, 32, 2, 2, "d", 2);
  unit(0, 33, 2, 1, "c", 2);
  nothing(1, 40);
  EXPECT_THAT(told(), ElementsAre("1:b", "2:c", "3:d"));
  // View 3 comes without a transitional view, and must not repeat the previous transitional view.
  join(0, 41, 3, members({1, 3}));
  nothing(1, 50);
  EXPECT_THAT(told(), ElementsAre("view 3: 1 3", "event view_installed"));
}

TEST_F(MergedOrder, ViewsOfOtherEnsemblesAreNotTold) {
  several(2);
  begin();
  join(1, 20, 2, members({1, 2}), members({1, 2}));
  nothing(0, 30);
  EXPECT_THAT(told(), IsEmpty());
  unit(0, 31, 3, 1, "a");
  nothing(1, 40);
  EXPECT_THAT(told(), ElementsAre("1:a")) << "it is still a member";
}

TEST_F(MergedOrder, WhoIsLeftOutGetsNothingUntilItIsInAViewAgain) {
  several(2);
  begin();
  submit(1);
  work();
  value(0, 20, [&](Effects&) { fakes_[0]->merger.on_left_out(); });
  unit(0, 21, 2, 1, "missed");
  nothing(1, 30);
  EXPECT_THAT(told(), IsEmpty());
  submit(1);
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 0U);
  Unit out;
  EXPECT_FALSE(fakes_[0]->host.next_unit(1'000, out));
  join(0, 31, 3, members({1, 2}));
  nothing(1, 40);
  EXPECT_THAT(told(), ElementsAre("view 3: 1 2", "event view_installed"));
  EXPECT_EQ(taken(0).back(), "1:u") << "numbers begin anew in each view";
  EXPECT_TRUE(queue_.empty());
}

TEST_F(MergedOrder, OnlyTheFirstEnsembleLeavesOut) {
  several(2);
  begin();
  value(1, 20, [&](Effects&) { fakes_[1]->merger.on_left_out(); });
  unit(0, 21, 2, 1, "a");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("1:a"));
}

// needs_all() determines which values an ensemble may skip. A node that may still enter a view, or
// must still deliver the end of a view, needs all values of the other ensembles.
TEST_F(MergedOrder, ANodeNeedsAllOfTheOthersAsLongAsItIsInAViewOrMayComeIntoOne) {
  several(2);
  engine_->start(now_, *this);
  paxos::Merger& first = fakes_[0]->merger;
  paxos::Merger& second = fakes_[1]->merger;
  EXPECT_FALSE(second.needs_all());
  join(0, 10, 1, members({1, 2}));
  fakes_[0]->is_joined = fakes_[0]->is_near = false;
  in(0, [](Effects&) {});
  EXPECT_TRUE(second.needs_all()) << "the view is not merged yet";
  EXPECT_FALSE(first.needs_all());
  nothing(1, 10);
  EXPECT_TRUE(second.needs_all()) << "it is in a view";
  value(0, 20, [&](Effects&) { first.on_left_out(); });
  EXPECT_TRUE(second.needs_all()) << "the view's end is not merged yet";
  nothing(1, 20);
  EXPECT_FALSE(second.needs_all());
  value(0, 21, [&](Effects&) { first.on_left_out(); });
  EXPECT_FALSE(second.needs_all()) << "there was no view to end";
  fakes_[0]->is_joined = true;
  in(0, [](Effects&) {});
  EXPECT_TRUE(second.needs_all()) << "it may be taken into views";
  EXPECT_FALSE(first.needs_all());
}

TEST_F(MergedOrder, WhatExcludedMembersAreOwedIsKeptOnceTheViewWithoutThemIsMerged) {
  several(2);
  begin();
  value(0, 20, [&](Effects& out) {
    install(out, 2, members({1, 2}));
    fakes_[0]->merger.on_excluded(members({3}));
  });
  EXPECT_TRUE(fakes_[0]->merger.exclusions_ahead());
  EXPECT_FALSE(fakes_[1]->merger.exclusions_ahead()) << "views of the others end nothing";
  EXPECT_THAT(fakes_[1]->kept_for, IsEmpty());
  nothing(1, 20);
  EXPECT_FALSE(fakes_[0]->merger.exclusions_ahead());
  EXPECT_THAT(fakes_[0]->kept_for, ElementsAre(members({3})));
  EXPECT_THAT(fakes_[1]->kept_for, ElementsAre(members({3})));
  EXPECT_EQ(told().front(), "view 2: 1 2");
}

TEST_F(MergedOrder, ANodeThatIsInNoViewKeepsForTheExcludedToo) {
  several(2);
  engine_->start(now_, *this);
  value(0, 20, [&](Effects&) { fakes_[0]->merger.on_excluded(members({3, 4})); });
  EXPECT_TRUE(fakes_[0]->merger.exclusions_ahead());
  nothing(1, 20);
  EXPECT_FALSE(fakes_[0]->merger.exclusions_ahead());
  EXPECT_THAT(fakes_[1]->kept_for, ElementsAre(members({3, 4})));
  EXPECT_THAT(told(), IsEmpty());
  value(1, 30, [&](Effects&) { fakes_[1]->merger.on_excluded(members({4})); });
  nothing(0, 40);
  EXPECT_EQ(fakes_[0]->kept_for.size(), 1U) << "the views are those of the first";
}

TEST_F(MergedOrder, WhoWouldMissWhatBelongsIntoAViewStops) {
  several(2);
  engine_->start(now_, *this);
  fakes_[1]->begins = 10;
  join(0, 10, 1, members({1, 2}));
  nothing(1, 10);
  EXPECT_EQ(told().front(), "view 1: 1 2") << "it has all from there on";
  fakes_[1]->begins = 21;
  join(0, 20, 2, members({1, 2}));
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("stop: this node was taken into a view while it had fallen "
                                  "behind; restarted, it joins again"));
}

TEST_F(MergedOrder, NothingIsMergedWithoutRoomForIt) {
  several(2);
  begin();
  room_ = 0;
  EXPECT_FALSE(fakes_[1]->merger.has_room());
  unit(0, 20, 2, 1, "a");
  nothing(1, 30);
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_EQ(fakes_[1]->merger.merged(), 10U);
  room_ = 1;
  EXPECT_TRUE(fakes_[1]->merger.has_room());
  work();
  EXPECT_THAT(told(), ElementsAre("1:a"));
  EXPECT_EQ(fakes_[1]->merger.merged(), 20U);
}

TEST_F(MergedOrder, OneCallDoesABoundedAmountOfWorkAndAsksForAnother) {
  config_.options.member_window = 4'096;
  several(2);
  begin();
  room_ = 10'000;
  for (std::uint64_t i = 1; i <= 1'100; ++i) unit(0, 20 + i, 2, i, "a");
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
  nothing(1, 5'000);
  EXPECT_EQ(told().size(), 1'024U);
  EXPECT_EQ(engine_->next_deadline(), Instant{}) << "work is left over";
  timer();
  EXPECT_EQ(told().size(), 76U);
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
}

TEST_F(MergedOrder, AnEnsembleIsAskedForNoMoreThanMayWait) {
  config_.options.max_gap = 40;
  several(2);
  begin();
  EXPECT_EQ(fakes_[0]->host.receive_room_units(), 20U);
  for (std::uint64_t i = 1; i <= 5; ++i) unit(0, 20 + i, 2, i, "a");
  EXPECT_EQ(fakes_[0]->host.receive_room_units(), 15U);
  room_ = 7;
  EXPECT_EQ(fakes_[0]->host.receive_room_units(), 7U);
  room_ = 1'000;
  for (std::uint64_t i = 6; i <= 22; ++i) unit(0, 20 + i, 2, i, "a");
  EXPECT_EQ(fakes_[0]->host.receive_room_units(), 0U);
  // Once the merged order has space again, the ensemble continues without any other input.
  fakes_[0]->calls.clear();
  nothing(1, 100);
  EXPECT_EQ(fakes_[0]->count("work"), 1U);
  EXPECT_EQ(told().size(), 22U);
  nothing(1, 101);
  EXPECT_EQ(fakes_[0]->count("work"), 0U) << "it has room, and nothing to take";
}

// ---- this node's units ----

TEST_F(MergedOrder, OwnUnitsGetTheirPlacesInTheOrderInWhichTheyWereHandedOver) {
  several(2);
  begin();
  submit(1, "a");
  submit(1, "b");
  work();
  EXPECT_THAT(taken(0), ElementsAre("1:a", "2:b"));
  EXPECT_THAT(taken(1), IsEmpty()) << "one ensemble is enough for a few";
  EXPECT_EQ(unit_bytes_max_, 1'000U - wire::kPlacingBytes);
  EXPECT_EQ(fakes_[0]->taken[0].service, Service::safe);
  EXPECT_EQ(placing(fakes_[0]->taken[0]).view, 1U);
  own_unit(0, 20, 0);
  own_unit(0, 21, 1);
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("own 1/1", "1:a", "own 1/2", "2:b"));
  EXPECT_EQ(deliveries_.back().origin, member(1));
}

TEST_F(MergedOrder, AUnitThatThisNodeNeverHandedOverStopsIt) {
  several(2);
  begin();
  unit(0, 20, 1, 1, "not mine");
  nothing(1, 30);
  ASSERT_THAT(told(), ElementsAre(testing::StartsWith("stop: ")));
  unit(0, 31, 2, 1, "a");
  nothing(1, 40);
  EXPECT_THAT(told(), IsEmpty()) << "it has stopped";
}

TEST_F(MergedOrder, SoDoesOneThatIsNotTheNext) {
  several(2);
  begin();
  submit(2);
  work();
  unit(0, 20, 1, 2, "not the next");
  unit(0, 21, 1, 1, "mine");
  unit(0, 22, 1, 3, "never handed over");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre("own 1/1", "1:mine", "own 1/2", "2:not the next",
                                  testing::StartsWith("stop: ")));
}

TEST_F(MergedOrder, NothingIsMergedAfterItStopped) {
  several(2);
  begin();
  unit(0, 20, 1, 1, "not mine");
  unit(0, 21, 2, 1, "a");
  unit(0, 22, 3, 1, "b");
  nothing(1, 30);
  EXPECT_THAT(told(), ElementsAre(testing::StartsWith("stop: ")));
}

TEST_F(MergedOrder, NoMoreUnitsAreUnderWayThanOthersKeep) {
  config_.options.member_window = 2;
  several(2);
  begin();
  submit(3);
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 3U);
  work();
  EXPECT_EQ(taken(0).size(), 2U);
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 0U);
  fakes_[0]->taken.resize(2);
  own_unit(0, 20);
  nothing(1, 30);
  EXPECT_EQ(taken(0).size(), 3U) << "one has its place";
}

TEST_F(MergedOrder, UnitsGoToTheFirstEnsembleUntilItHasManyAndThenToAllInView) {
  several(3);
  begin();
  fakes_[2]->is_joined = false;
  fakes_[2]->takes = 0;
  submit(60);
  work();
  EXPECT_EQ(taken(0).size(), 28U);
  EXPECT_EQ(taken(1).size(), 32U);
  EXPECT_EQ(taken(2).size(), 0U);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(MergedOrder, TheFirstEnsembleTakesSixteenBeforeAnotherTakesOne) {
  several(2);
  begin();
  fakes_[0]->takes = 15;
  submit(40);
  EXPECT_EQ(fakes_[1]->host.backlog_units(), 0U);
  work();
  EXPECT_EQ(taken(0).size(), 15U);
  EXPECT_EQ(taken(1).size(), 0U);
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 25U);
  fakes_[0]->takes = 10;
  fakes_[1]->takes = 1;
  work();
  EXPECT_EQ(taken(1).size(), 1U);
  EXPECT_EQ(taken(0).size(), 17U) << "at most sixteen ahead of the other one";
}

TEST_F(MergedOrder, StampsAscendAndAreAheadOfAllThatThisNodeHasSeenOrdered) {
  several(2);
  begin();
  submit(2);
  work();
  EXPECT_EQ(placing(fakes_[0]->taken[0]).stamp, micros());
  EXPECT_EQ(placing(fakes_[0]->taken[1]).stamp, micros() + 1);
  now_ = now_ + milliseconds(1);
  unit(1, micros(), 2, 1, "as late as this node's clock");
  submit(1);
  work();
  EXPECT_EQ(placing(fakes_[0]->taken[2]).stamp, micros() + 1);
  unit(1, micros() + 5'000, 2, 2, "of a clock that is ahead");
  submit(1);
  work();
  EXPECT_EQ(placing(fakes_[0]->taken[3]).stamp, micros() + 5'001);
  now_ = now_ + milliseconds(1);
  nothing(1, micros() + 10'000);
  unit(1, wire::kStampMax + 1, 2, 3, "beyond all stamps");
  submit(1);
  work();
  EXPECT_EQ(placing(fakes_[0]->taken[4]).stamp, micros() + 5'001) << "time goes on";
}

// ---- units of an ensemble's view that ended ----

TEST_F(MergedOrder, UnitsThatAnEnsemblesViewTookBackGoOutOnceMoreAsTheyWere) {
  several(2);
  begin();
  submit(1, "a");
  submit(1, "b");
  submit(1, "c");
  work();
  own_unit(0, 20, 0);  // unit a has a place in this ensemble, but not yet in the merged order
  fakes_[0]->takes = 0;
  submit(1, "d");
  join(0, 21, 1, members({1, 2, 3}));
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 3U) << "two to hand over again, and a new one";
  fakes_[0]->takes = 10;
  work();
  EXPECT_THAT(taken(0), ElementsAre("1:a", "2:b", "3:c", "2:b", "3:c", "4:d"));
  EXPECT_EQ(placing(fakes_[0]->taken[3]), placing(fakes_[0]->taken[1]));
  EXPECT_EQ(fakes_[0]->taken[3].service, Service::safe);
  EXPECT_FALSE(fakes_[0]->taken[3].bytes.shares_slab_with(fakes_[0]->taken[1].bytes))
      << "packets of the view before may still use the other buffer";
}

TEST_F(MergedOrder, TheyGoOutByWhicheverEnsembleTakesThem) {
  several(2);
  begin();
  submit(20, "a");
  fakes_[1]->takes = 0;
  work();
  ASSERT_EQ(taken(0).size(), 16U);
  fakes_[0]->takes = 0;
  value(0, 20, [&](Effects& out) {
    install(out, 1, members({1, 2, 3}));
    fakes_[1]->takes = 100;
  });
  EXPECT_THAT(taken(1), IsEmpty()) << "the first one has to have many for that";
  fakes_[0]->takes = 100;
  work();
  EXPECT_EQ(taken(0).size(), 32U);
  EXPECT_EQ(taken(0)[16], "1:a");
  EXPECT_EQ(taken(1).size(), 4U);
}

// Two ensembles may order one unit. A node that an ensemble excludes takes its units back from this
// ensemble, and does not know whether the ensemble has ordered them.
TEST_F(MergedOrder, WhatAnEnsembleHadGoesOutAgainIfItIsLeftOutOfItsView) {
  several(2);
  begin();
  submit(18, "a");
  work();
  ASSERT_THAT(taken(1), ElementsAre("17:a", "18:a"));
  for (FakeEnsemble* fake : fakes_) fake->takes = 0;
  value(1, 20, [&](Effects&) { fakes_[1]->merger.on_left_out(); });
  for (std::uint64_t i = 0; i < 16; ++i) own_unit(0, 30 + i, i);
  nothing(1, 100);
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 2U);
}

TEST_F(MergedOrder, AUnitThatHasItsPlaceDoesNotGoOutAgain) {
  several(2);
  begin();
  submit(18, "a");
  work();
  ASSERT_THAT(taken(1), ElementsAre("17:a", "18:a"));
  for (FakeEnsemble* fake : fakes_) fake->takes = 0;
  join(1, 20, 2, members({1, 2, 3}));
  for (std::uint64_t i = 0; i < 16; ++i) own_unit(0, 30 + i, i);
  nothing(1, 100);
  EXPECT_EQ(told().back(), "16:a");
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 2U);
  Delivery late;
  late.origin = member(1);
  late.unit = fakes_[1]->taken[0].bytes;
  value(0, 101, [&](Effects& out) { out.deliver(late); });
  nothing(1, 102);
  EXPECT_EQ(told().back(), "17:a");
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 1U);
  fakes_[0]->takes = 5;
  work();
  EXPECT_EQ(taken(0).back(), "18:a");
}

TEST_F(MergedOrder, UnitsOfAViewThatEndedDoNotGoOutAgain) {
  several(2);
  begin();
  submit(18, "old");
  work();
  ASSERT_EQ(taken(1).size(), 2U);
  for (FakeEnsemble* fake : fakes_) fake->takes = 0;
  join(0, 20, 2, members({1, 2}));
  nothing(1, 20);
  fakes_[0]->takes = 18;
  submit(18, "new");
  work();
  ASSERT_EQ(taken(0).back(), "18:new");
  for (std::uint64_t i = 0; i < 10; ++i) own_unit(0, 30 + i, 16 + i);
  // The second ensemble still has two units of the previous view. The node has already sent their
  // messages anew, so these units do not go out again.
  join(1, 40, 2, members({1, 2}));
  EXPECT_EQ(told().back(), "10:new");
  EXPECT_EQ(fakes_[0]->host.backlog_units(), 0U);
}

TEST_F(MergedOrder, WhoIsInNoViewTakesNothingBack) {
  several(2);
  begin();
  submit(18, "a");
  work();
  value(0, 20, [&](Effects&) { fakes_[0]->merger.on_left_out(); });
  nothing(1, 20);
  join(1, 21, 2, members({1, 2}));
  EXPECT_EQ(fakes_[1]->host.backlog_units(), 0U);
  (void)told();
  join(0, 30, 1, members({1, 2}));
  nothing(1, 40);
  EXPECT_EQ(told().front(), "view 1: 1 2");
}

}  // namespace
}  // namespace peal::order::ridge::test
