// SPDX-License-Identifier: Apache-2.0
// How a member agrees with others on the members of the next view: what it sends, what it accepts,
// and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "membership_bench.h"

namespace peal::order::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Gathering : public MembershipBench {
 protected:
  Gathering() { begin(); }
  /// The last JOIN that this member has sent since the last call.
  wire::Join said() {
    run(milliseconds(3));
    const auto joins = take_joins();
    EXPECT_FALSE(joins.empty());
    return joins.empty() ? wire::Join{} : joins.back();
  }
  const MemberSet three_{kA, kSelf, kC};
};

TEST_F(Gathering, ItNamesItselfAndThenWhomItHearsOf) {
  auto first = take_joins();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].number, kFirstCount + 1);
  EXPECT_EQ(first[0].view_number_max, kFirstCount);
  EXPECT_EQ(first[0].committed, ViewId{});
  EXPECT_FALSE(first[0].leaving);
  EXPECT_EQ(first[0].list, 1U);
  EXPECT_THAT(first[0].processes, ElementsAre(kSelf));
  EXPECT_THAT(first[0].heard, IsEmpty());
  hear(kC, join(three_));
  const wire::Join next = said();
  EXPECT_EQ(next.number, kFirstCount + 2);
  EXPECT_EQ(next.processes, three_);
  EXPECT_THAT(next.failed, IsEmpty());
  EXPECT_THAT(next.heard, ElementsAre(kC)) << "of the other it was only told";
  EXPECT_THAT(it().awaited(), ElementsAre(kA)) << "who has said the same need not say it again";
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::sets_grew);
  EXPECT_EQ(last_event(&event::gather_started).who, kC);
}

TEST_F(Gathering, ItRepeatsWhatItSaysFromTimeToTime) {
  run(milliseconds(200));
  const auto joins = take_joins();
  EXPECT_GE(joins.size(), 7U);
  EXPECT_LE(joins.size(), 11U);
  for (std::size_t i = 1; i < joins.size(); ++i)
    EXPECT_EQ(joins[i].number, joins[i - 1].number + 1);
  EXPECT_EQ(it().tally().joins_sent, joins.size());
}

TEST_F(Gathering, NoTwoJoinsAreSentWithinTwoMilliseconds) {
  take_joins();
  hear(kC, join({kSelf, kC, kD}));
  hear(kA, join({kA, kSelf}));
  EXPECT_EQ(count(Kind::join), 0U);
  run(milliseconds(3));
  const auto joins = take_joins();
  ASSERT_EQ(joins.size(), 1U) << "one for both";
  EXPECT_THAT(joins[0].processes, ElementsAre(kA, kSelf, kC, kD));
  run(milliseconds(5));
  hear(kC, join({kA, kSelf, kC, kD}, {kA}));
  EXPECT_EQ(count(Kind::join), 1U) << "at once, since it has been silent";
}

TEST_F(Gathering, WhoTakesBackWhatItSaidHasNotAgreed) {
  hear(kC, join(three_));
  hear(kC, join({kSelf, kC}));
  EXPECT_THAT(it().awaited(), ElementsAre(kA, kC));
  EXPECT_EQ(said().processes, three_) << "less changes nothing here";
  hear(kC, join(three_));
  hear(kA, join(three_));
  EXPECT_THAT(it().awaited(), IsEmpty());
  EXPECT_EQ(events(&event::consensus_reached), 1U);
  EXPECT_EQ(count(Kind::commit), 0U) << "another one is the representative";
}

TEST_F(Gathering, AccusationsHaveToBeTheSame) {
  hear(kC, join(three_));
  hear(kA, join(three_, {kC}));
  EXPECT_THAT(said().failed, ElementsAre(kC)) << "it is taken over";
  EXPECT_EQ(events(&event::consensus_reached), 1U) << "with the only one left, which said so";
  hear(kC, join(three_));
  EXPECT_THAT(it().awaited(), IsEmpty()) << "the accused have no vote";
}

TEST_F(Gathering, TheAccusedNamesNobodyAnyMore) {
  hear(kA, join(three_, {kC}));
  said();
  hear(kC, join({kA, kSelf, kC, kD}));
  run(milliseconds(60));
  EXPECT_EQ(said().processes, three_);
}

TEST_F(Gathering, WhoAccusesItIsAccused) {
  hear(kC, join({kSelf, kC, kD}, {kSelf, kD}));
  const wire::Join next = said();
  EXPECT_THAT(next.processes, ElementsAre(kSelf, kC, kD));
  EXPECT_THAT(next.failed, ElementsAre(kC)) << "and what else it says does not count";
}

TEST_F(Gathering, AnEarlierLifeIsNotWaitedFor) {
  const MemberId again{kC.node, kC.epoch + 1};
  hear(kC, join({kSelf, kC, kD}));
  said();
  hear(again, join({kSelf, again, kD}));
  const wire::Join next = said();
  EXPECT_THAT(next.processes, ElementsAre(kSelf, kC, again, kD));
  EXPECT_THAT(next.failed, ElementsAre(kC));
  EXPECT_THAT(next.heard, ElementsAre(again));
  hear(kC, join({kSelf, kC, kD}));
  EXPECT_EQ(drops(Drop::stale), 1U) << "it is not listened to";
}

TEST_F(Gathering, JoinsThatComeLateAreDropped) {
  wire::Join late = join({kSelf, kC, kD});
  wire::Join newer = join({kSelf, kC, kD});
  hear(kC, newer);
  hear(kC, newer);
  hear(kC, late);
  EXPECT_EQ(drops(Drop::stale), 2U);
  EXPECT_EQ(it().tally().joins_received, 1U);
  const MemberId again{kC.node, kC.epoch + 1};
  late.processes = {kSelf, again};
  late.heard = {kSelf};
  hear(again, late);
  EXPECT_EQ(it().tally().joins_received, 2U) << "another life counts from the beginning";
}

TEST_F(Gathering, AStrangerThatDoesNotHearItIsToldAndNotNamed) {
  take_joins();
  run(milliseconds(5));
  wire::Join deaf = join({kC, kD});
  deaf.heard = {kD};
  hear(kC, deaf);
  EXPECT_THAT(said().processes, ElementsAre(kSelf)) << "so that it can hear it";
  run(milliseconds(5));
  wire::Join hears = join({kC});
  hears.heard = {kSelf};
  hear(kC, hears);
  EXPECT_THAT(said().processes, ElementsAre(kSelf, kC));
}

TEST_F(Gathering, MoreProcessesThanAJoinNamesAreForgotten) {
  MemberSet lives{kSelf};
  for (std::uint64_t life = 1; life < wire::kProcessesMax; ++life) lives.push_back({kC.node, life});
  hear(lives.back(), join(lives));
  EXPECT_EQ(said().processes.size(), wire::kProcessesMax) << "as many as it names fit";
  run(milliseconds(5));
  const MemberId next{kC.node, 10'000};
  hear(next, join({kSelf, next}));
  const wire::Join begun_anew = said();
  EXPECT_THAT(begun_anew.processes, ElementsAre(kSelf, next));
  EXPECT_THAT(begun_anew.failed, IsEmpty());
}

TEST_F(Gathering, WhenTooManyAreForgottenTheSetsStaySorted) {
  MemberSet lives{kSelf};
  for (std::uint64_t life = 1; life < wire::kProcessesMax; ++life) lives.push_back({kC.node, life});
  hear(lives.back(), join(lives));
  run(milliseconds(5));
  ASSERT_LT(kA, kSelf);
  hear(kA, join({kA, kSelf}));
  EXPECT_THAT(said().processes, ElementsAre(kA, kSelf));
}

// ---- members that do not answer ----

TEST_F(Gathering, NobodyRushesIntoAViewOfOne) {
  run(milliseconds(219));
  EXPECT_EQ(alone_, 0);
  run(milliseconds(5));
  EXPECT_EQ(alone_, 1);
  EXPECT_EQ(it().tally().commits, 1U);
  EXPECT_EQ(it().state(), State::recovery);
}

TEST_F(Gathering, WhoDoesNotAgreeInTimeIsAccused) {
  hear(kC, join(three_));
  run(milliseconds(215));
  EXPECT_EQ(events(&event::member_accused), 0U);
  run(milliseconds(10));
  EXPECT_EQ(last_event(&event::member_accused).who, kA);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::consensus_timeout);
  EXPECT_THAT(said().failed, ElementsAre(kA));
  EXPECT_THAT(it().awaited(), ElementsAre(kC)) << "all have to agree on that";
  hear(kC, join(three_, {kA}));
  const wire::Commit commit = second_commit();
  EXPECT_THAT(commit.members, ElementsAre(kSelf, kC));
}

TEST_F(Gathering, WhoIsLeftAloneWaitsNoLonger) {
  hear(kC, join(three_));
  hear(kC, join({kSelf, kC}));
  take_joins();
  run(milliseconds(230));
  EXPECT_EQ(alone_, 1);
  const auto joins = take_joins();
  ASSERT_FALSE(joins.empty());
  EXPECT_THAT(joins.back().failed, ElementsAre(kA, kC)) << "and says so";
}

TEST_F(Gathering, WhoGoesAwayIsNotWaitedFor) {
  hear(kC, join(three_));
  wire::Join goodbye = join({kC});
  goodbye.leaving = true;
  hear(kC, goodbye);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::leave);
  EXPECT_THAT(said().failed, ElementsAre(kC));
  const std::uint64_t gathers = it().tally().gathers;
  goodbye.number = join({}).number;
  hear(kC, goodbye);
  goodbye.number = join({}).number;
  hear(kD, goodbye);
  EXPECT_EQ(it().tally().gathers, gathers) << "once; and nobody waited for a stranger";
}

TEST_F(Gathering, APauseAccusesNobody) {
  hear(kC, join(three_));
  run(milliseconds(200));
  take_joins();
  it().on_pause(now_, milliseconds(100), *this);
  run(milliseconds(1));
  EXPECT_EQ(count(Kind::join), 1U) << "others may have missed it";
  run(milliseconds(215));
  EXPECT_EQ(events(&event::member_accused), 0U);
  run(milliseconds(10));
  EXPECT_EQ(events(&event::member_accused), 1U);
}

TEST_F(Gathering, WhoHasAgreedAccusesNobodyAfterAPauseEither) {
  run(milliseconds(100));
  hear(kC, join(three_));
  hear(kA, join(three_));
  it().on_pause(now_, milliseconds(100), *this);
  run(milliseconds(215));
  EXPECT_EQ(events(&event::token_lost), 0U);
  run(milliseconds(10));
  EXPECT_EQ(events(&event::token_lost), 1U) << "no commit token came";
  EXPECT_EQ(events(&event::member_accused), 0U);
}

// ---- the commit token ----

TEST_F(Gathering, TheRepresentativeBeginsWithTheNextNumberOfAll) {
  wire::Join known = join({kSelf, kC});
  known.view_number_max = 5'000;
  hear(kC, known);
  ASSERT_EQ(it().state(), State::commit);
  const wire::Commit commit = second_commit();
  EXPECT_EQ(commit.view, (ViewId{5'001, kSelf}));
  EXPECT_THAT(commit.members, ElementsAre(kSelf, kC));
  EXPECT_EQ(commit.list, 1U);
  ASSERT_EQ(commit.old_views.size(), 1U);
  EXPECT_EQ(commit.old_views[0].view, (ViewId{0, kSelf}));
  EXPECT_THAT(commit.old_views[0].survivors, ElementsAre(kSelf));
  EXPECT_EQ(sent_.back().to, kC.node);
  EXPECT_EQ(sent_.back().lane, Lane::token);
}

TEST_F(Gathering, AnAttemptThatFailsKeepsItsNumberAndWhoWasThere) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  ASSERT_EQ(it().state(), State::commit);
  take_joins();
  run(milliseconds(215));
  EXPECT_THAT(take_joins(), IsEmpty()) << "it has agreed";
  run(milliseconds(10));
  EXPECT_EQ(it().state(), State::gather);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::commit_loss);
  const wire::Join next = said();
  EXPECT_EQ(next.processes, three_);
  EXPECT_EQ(next.committed, (ViewId{7'000, kA}));
  EXPECT_EQ(next.view_number_max, 7'000U);
  run(milliseconds(225));
  EXPECT_EQ(alone_, 1);
  EXPECT_EQ(last_event(&event::commit_started).view, (ViewId{7'001, kSelf}));
}

TEST_F(Gathering, ANumberThatOthersKnowIsNotForgottenForALesserOne) {
  wire::Join known = join(three_);
  known.view_number_max = 9'000;
  hear(kC, known);
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  run(milliseconds(225));
  EXPECT_EQ(said().view_number_max, 9'000U);
}

TEST_F(Gathering, ItsCommitTokenIsSentAgainUntilThereIsASignOfLife) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  EXPECT_EQ(count(Kind::commit), 1U);
  run(milliseconds(70));
  EXPECT_EQ(count(Kind::commit), 4U) << "each 20 ms";
  EXPECT_EQ(it().tally().resent, 3U);
  it().tracked().lives(now_);
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::commit), 4U);
  run(milliseconds(10));
  EXPECT_EQ(count(Kind::commit), 5U);
  it().tracked().arrived();
  it().tracked().lives(now_);
  run(milliseconds(50));
  EXPECT_EQ(count(Kind::commit), 5U) << "what has arrived is not sent again";
}

TEST_F(Gathering, ATokenIsTakenOnlyIfItIsOfWhatWasAgreed) {
  agree(three_);
  const wire::Commit good = first_commit(three_, 7'000);
  const auto refused = [&](const std::function<void(wire::Commit&)>& change, const MemberId& from) {
    wire::Commit commit = good;
    change(commit);
    const std::uint64_t before = drops(Drop::wrong_state) + drops(Drop::bad_sender);
    hear(from, commit);
    EXPECT_EQ(drops(Drop::wrong_state) + drops(Drop::bad_sender), before + 1);
    return it().state() == State::gather;
  };
  EXPECT_TRUE(refused([](wire::Commit&) {}, kC)) << "not from whom it goes to this one";
  EXPECT_TRUE(refused([](wire::Commit& c) { c.hops = 2; }, kA)) << "another's turn";
  EXPECT_TRUE(refused([](wire::Commit& c) { c.hops = 4; }, kA)) << "its second trip";
  EXPECT_TRUE(refused([](wire::Commit& c) { c.list = 2; }, kA)) << "another list";
  EXPECT_TRUE(refused([](wire::Commit& c) { c.members = {kA, kSelf}; }, kA)) << "without one";
  EXPECT_TRUE(refused([](wire::Commit& c) { c.members = {kA, kC}; }, kA)) << "without this one";
  EXPECT_EQ(drops(Drop::bad_sender), 3U);
  hear(kA, good);
  EXPECT_EQ(it().state(), State::commit);
}

TEST_F(Gathering, ATokenOfAnEarlierAttemptIsRefused) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  run(milliseconds(225));
  ASSERT_EQ(it().state(), State::gather);
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  EXPECT_EQ(it().state(), State::gather);
  hear(kA, first_commit(three_, 7'001));
  EXPECT_EQ(it().state(), State::commit);
}

TEST_F(Gathering, WhoDoesNotHearThoseBehindItDoesNotHandTheTokenOn) {
  hear(kA, join(three_));
  run(milliseconds(3));
  hear(kA, first_commit(three_, 7'000));
  EXPECT_EQ(it().state(), State::gather) << "of the last one nothing was heard";
  hear(kC, join(three_));
  hear(kA, first_commit(three_, 7'000));
  EXPECT_EQ(it().state(), State::commit);
}

TEST_F(Gathering, ASecondTripIsTakenOfItsAttemptAlone) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  const wire::Commit good = second_commit();
  wire::Commit other = good;
  other.view.number = 7'001;
  hear(kA, other);
  EXPECT_EQ(it().state(), State::commit);
  hear(kA, first_commit(three_, 7'000));
  EXPECT_EQ(it().state(), State::commit) << "its first trip once more";
  EXPECT_EQ(drops(Drop::wrong_state), 2U);
  sent_.clear();
  hear(kA, good);
  EXPECT_EQ(it().state(), State::recovery);
  EXPECT_EQ(count(Kind::commit), 1U);
  EXPECT_EQ(sent_.back().to, kC.node);
  EXPECT_EQ(agreement_->view, good.view);
  EXPECT_EQ(agreement_->members, three_);
  EXPECT_EQ(agreement_->index, 1U);
  EXPECT_EQ(agreement_->old_view.view, (ViewId{0, kSelf}));
  hear(kA, good);
  EXPECT_EQ(drops(Drop::wrong_state), 3U);
  wire::Commit third = good;
  third.hops = 6;
  hear(kA, third);
  EXPECT_EQ(led_, 0) << "the representative's to see to";
}

TEST_F(Gathering, ARecordThatIsNotItsOwnIsRefused) {
  agree(three_);
  hear(kA, first_commit(three_, 7'000));
  const wire::Commit good = second_commit();
  wire::Commit without = good;
  without.old_views.pop_back();
  hear(kA, without);
  EXPECT_EQ(drops(Drop::bad_value), 1U) << "its old view is missing";
  wire::Commit strange = good;
  strange.old_views.back().survivors = {kC};
  hear(kA, strange);
  EXPECT_EQ(drops(Drop::bad_value), 2U) << "it is no survivor there";
  accepts_ = false;
  hear(kA, good);
  EXPECT_EQ(drops(Drop::bad_value), 3U) << "not what the protocol wrote";
  EXPECT_EQ(it().state(), State::commit);
  accepts_ = true;
  hear(kA, good);
  EXPECT_EQ(it().state(), State::recovery);
}

TEST_F(Gathering, ThoseOfOneOldViewWriteOneRecord) {
  into_view(three_);
  const ViewId old = it().view();
  it().regather(now_, &gather::stall, {}, *this);
  agree(three_);
  wire::Commit commit = first_commit(three_, old.number + 1);
  commit.old_views = {{old, {kA}, std::vector<std::byte>(8, std::byte{1})}};
  hear(kA, commit);
  const wire::Commit next = second_commit();
  ASSERT_EQ(next.old_views.size(), 1U);
  EXPECT_THAT(next.old_views[0].survivors, ElementsAre(kA, kSelf));
}

TEST_F(Gathering, TheRepresentativeLeadsTheRecoveryOnce) {
  const MemberSet two{kSelf, kC};
  hear(kC, join(two));
  wire::Commit commit = second_commit();
  hear(kC, commit);
  ASSERT_EQ(it().state(), State::recovery);
  hear(kC, commit);
  commit.hops = 4;
  wire::Commit other = commit;
  other.view.number += 1;
  hear(kC, other);
  EXPECT_EQ(led_, 0) << "the same trip once more, and another attempt's";
  EXPECT_EQ(drops(Drop::wrong_state), 2U);
  hear(kC, commit);
  EXPECT_EQ(led_, 1);
  hear(kC, commit);
  EXPECT_EQ(led_, 1);
  EXPECT_EQ(drops(Drop::wrong_state), 3U);
}

// ---- events that end the attempt to form a view ----

class Attempts : public Gathering, public testing::WithParamInterface<bool> {
 protected:
  Attempts() {
    agree(three_);
    hear(kA, first_commit(three_, 7'000));
    if (GetParam()) hear(kA, second_commit());
    EXPECT_EQ(it().state(), GetParam() ? State::recovery : State::commit);
  }
  bool goes_on() const { return const_cast<Attempts*>(this)->it().state() != State::gather; }
};

TEST_P(Attempts, WhatWasSaidBeforeDoesNotEndIt) {
  hear(kC, join(three_));
  hear(kC, join({kSelf, kC}));
  wire::Join outside = join({kA, kSelf, kC, kD}, {kSelf});
  outside.committed = {8'000, kD};
  hear(kD, outside);
  EXPECT_TRUE(goes_on()) << "nor what a stranger says";
}
TEST_P(Attempts, WhoAccusesAMemberEndsIt) {
  hear(kC, join(three_, {kSelf}));
  EXPECT_FALSE(goes_on());
  EXPECT_THAT(said().failed, ElementsAre(kC));
}
TEST_P(Attempts, WhoNamesOthersEndsIt) {
  hear(kC, join({kA, kSelf, kC, kD}));
  EXPECT_FALSE(goes_on());
  EXPECT_THAT(said().processes, ElementsAre(kA, kSelf, kC, kD)) << "and they are named";
}
TEST_P(Attempts, WhoHasCommittedToItAndGathersEndsIt) {
  wire::Join again = join(three_);
  again.committed = {6'999, kA};
  hear(kC, again);
  EXPECT_TRUE(goes_on());
  again = join(three_);
  again.committed = {7'000, kA};
  hear(kC, again);
  EXPECT_FALSE(goes_on());
}
TEST_P(Attempts, AGoodbyeOfAMemberEndsIt) {
  wire::Join goodbye = join({kD});
  goodbye.leaving = true;
  hear(kD, goodbye);
  EXPECT_TRUE(goes_on());
  goodbye = join({kC});
  goodbye.leaving = true;
  hear(kC, goodbye);
  EXPECT_FALSE(goes_on());
  EXPECT_THAT(said().failed, ElementsAre(kC));
}
TEST_P(Attempts, ItIsOverWithoutASignOfLife) {
  run(milliseconds(215));
  EXPECT_TRUE(goes_on());
  it().note_life(now_);
  run(milliseconds(215));
  EXPECT_TRUE(goes_on());
  run(milliseconds(10));
  EXPECT_FALSE(goes_on());
  EXPECT_EQ(last_event(&event::token_lost).view, (ViewId{7'000, kA}));
}
INSTANTIATE_TEST_SUITE_P(States, Attempts, testing::Bool());

// ---- in a view ----

class InAView : public Gathering {
 protected:
  InAView() {
    into_view(three_);
    take_joins();
  }
  bool stays() { return it().state() == State::operational; }
};

TEST_F(InAView, NothingOfTheAttemptGoesOn) {
  EXPECT_EQ(events(&event::view_installed), 1U);
  EXPECT_EQ(last_event(&event::view_installed).a, 3U);
  EXPECT_TRUE(it().place().announced());
  run(milliseconds(400));
  EXPECT_TRUE(stays());
  EXPECT_EQ(count(Kind::join), 0U);
  EXPECT_EQ(count(Kind::commit), 0U);
}

TEST_F(InAView, ItTellsHowLongTheChangeTook) {
  it().regather(now_, &gather::stall, {}, *this);
  agree(three_);
  hear(kA, first_commit(three_, it().view().number + 5));
  run(milliseconds(230));  // the attempt to form a view fails
  ASSERT_EQ(it().state(), State::gather);
  into_view(three_);
  EXPECT_GE(last_event(&event::view_installed).b, 225'000'000U);
  EXPECT_LE(last_event(&event::view_installed).b, 250'000'000U);
}

TEST_F(InAView, AMemberThatGathersIsFollowed) {
  hear(kC, join(three_));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::join);
  EXPECT_EQ(flushed_, 1);
  EXPECT_THAT(it().awaited(), ElementsAre(kA));
}
TEST_F(InAView, AMemberThatGatheredBeforeItCameIsNot) {
  wire::Join old = join(three_);
  old.committed = {it().view().number - 1, kA};
  hear(kC, old);
  EXPECT_TRUE(stays());
}
TEST_F(InAView, AMemberThatAccusesItIsNot) {
  hear(kC, join(three_, {kSelf}));
  EXPECT_TRUE(stays());
  hear(kC, join(three_, {kA}));
  EXPECT_FALSE(stays());
  EXPECT_THAT(second_commit().members, ElementsAre(kSelf, kC)) << "both say so";
}
TEST_F(InAView, AStrangerIsTakenInOnceItHearsAMember) {
  wire::Join deaf = join({kD});
  hear(kD, deaf);
  EXPECT_TRUE(stays());
  EXPECT_EQ(count(Kind::probe), 1U) << "so that it can hear it";
  wire::Join hears = join({kD});
  hears.heard = {kA};
  hear(kD, hears);
  EXPECT_FALSE(stays());
  EXPECT_THAT(said().processes, ElementsAre(kA, kSelf, kC, kD));
}
TEST_F(InAView, AStrangerThatNamesAMemberIsTakenIn) {
  wire::Join names = join({kA, kD});
  names.heard = {};
  hear(kD, names);
  EXPECT_FALSE(stays());
}
TEST_F(InAView, AStrangerThatAccusesAMemberIsNot) {
  hear(kD, join({kA, kSelf, kC, kD}, {kC}));
  EXPECT_TRUE(stays());
}
TEST_F(InAView, GoodbyesOfMembersAreHeard) {
  wire::Join goodbye = join({kD});
  goodbye.leaving = true;
  hear(kD, goodbye);
  EXPECT_TRUE(stays());
  goodbye = join(three_);
  goodbye.leaving = true;
  hear(kC, goodbye);
  EXPECT_FALSE(stays());
  EXPECT_THAT(said().failed, ElementsAre(kC));
}
TEST_F(InAView, WhoLeavesSaysSoThreeTimesAndIsSilentThen) {
  const int abandoned = abandoned_;
  it().leave(now_, *this);
  EXPECT_EQ(flushed_, 1);
  EXPECT_EQ(abandoned_, abandoned + 1);
  it().leave(now_, *this);
  run(milliseconds(500));
  const auto joins = take_joins();
  ASSERT_EQ(joins.size(), 3U);
  for (const wire::Join& each : joins) {
    EXPECT_TRUE(each.leaving);
    EXPECT_EQ(each.processes, three_);
    EXPECT_THAT(each.failed, IsEmpty());
  }
  EXPECT_FALSE(it().timers().next().has_value());
}
TEST_F(InAView, WhoLeavesWhileItGathersNamesThoseItLookedFor) {
  it().accuse(now_, kC, &gather::stall, *this);
  take_joins();
  it().leave(now_, *this);
  const auto joins = take_joins();
  ASSERT_EQ(joins.size(), 3U);
  EXPECT_EQ(joins[0].processes, three_);
  EXPECT_THAT(joins[0].failed, IsEmpty());
}
TEST_F(InAView, WhoeverIsAccusedIsLeftOut) {
  it().accuse(now_, kC, &gather::stall, *this);
  EXPECT_EQ(last_event(&event::member_accused).who, kC);
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::stall);
  const wire::Join next = said();
  EXPECT_EQ(next.processes, three_);
  EXPECT_THAT(next.failed, ElementsAre(kC));
}
TEST_F(InAView, ToGatherAgainAccusesNobody) {
  it().regather(now_, &gather::stall, {}, *this);
  EXPECT_THAT(said().failed, IsEmpty());
  EXPECT_EQ(it().tally().gathers, 3U);
}
TEST_F(InAView, ItsDeadlinesEndWithIt) {
  it().note_life(now_);
  it().timers().arm(evs::Timer::engine_0, now_ + seconds(9));
  it().timers().arm(evs::Timer::engine_late, now_ + seconds(9));
  run(milliseconds(100));
  it().regather(now_, &gather::stall, {}, *this);
  EXPECT_FALSE(it().timers().armed(evs::Timer::engine_0));
  EXPECT_FALSE(it().timers().armed(evs::Timer::engine_late));
  run(milliseconds(150));
  EXPECT_EQ(events(&event::token_lost), 0U);
}
TEST_F(InAView, WithoutASignOfLifeTheViewIsOver) {
  it().note_life(now_);
  run(milliseconds(215));
  EXPECT_TRUE(stays());
  run(milliseconds(10));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::token_lost).view, it().view());
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::token_loss);
  EXPECT_EQ(said().processes, three_);
}
TEST_F(InAView, AfterALongPauseItIsSaidThatItWasThat) {
  it().note_life(now_);
  run(milliseconds(215));
  it().on_pause(now_, milliseconds(220), *this);
  run(milliseconds(55));
  EXPECT_TRUE(stays()) << "the others get the time to send it again";
  run(milliseconds(10));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::pause);
  EXPECT_EQ(last_event(&event::paused).a, 220'000'000U);
}
TEST_F(InAView, AfterAShortPauseOrASignOfLifeItWasNot) {
  for (const bool life : {false, true}) {
    it().note_life(now_);
    run(milliseconds(215));
    it().on_pause(now_, milliseconds(life ? 220 : 219), *this);
    if (life) it().note_life(now_);
    run(milliseconds(230));
    ASSERT_FALSE(stays());
    EXPECT_EQ(last_event(&event::gather_started).reason, &gather::token_loss);
    into_view(three_);
  }
}
TEST_F(InAView, APauseMakesNoDeadlineSooner) {
  it().note_life(now_);
  it().on_pause(now_, milliseconds(300), *this);
  run(milliseconds(215));
  EXPECT_TRUE(stays());
  run(milliseconds(10));
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::token_loss);
}
TEST_F(InAView, APauseOfAViewWithoutSignsOfLifeEndsNothing) {
  it().on_pause(now_, seconds(1), *this);
  run(seconds(1));
  EXPECT_TRUE(stays());
}

// ---- packets that are sent again until there is a sign of life ----

class Tracked : public InAView {
 protected:
  void track(Duration extra = {}) {
    BufferRef packet = it().frames().build(Kind::probe, probe({}),
                                           wire::encode_probe);  // a PROBE stands for any packet
    sent_.clear();
    it().send_tracked(now_, kC, packet, *this, extra);
  }
};

TEST_F(Tracked, ItGoesToOneMemberAgainAndAgain) {
  track();
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].to, kC.node);
  EXPECT_EQ(sent_[0].lane, Lane::token);
  run(milliseconds(19));
  EXPECT_EQ(sent_.size(), 1U);
  run(milliseconds(25));
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[2].to, kC.node);
  EXPECT_EQ(sent_[2].bytes, sent_[0].bytes);
}
TEST_F(Tracked, ItMayTakeLongerTheFirstTime) {
  track(milliseconds(30));
  run(milliseconds(49));
  EXPECT_EQ(sent_.size(), 1U);
  run(milliseconds(2));
  EXPECT_EQ(sent_.size(), 2U);
  run(milliseconds(20));
  EXPECT_EQ(sent_.size(), 3U);
}
TEST_F(Tracked, TheExtraTimeMayEndSooner) {
  track(milliseconds(30));
  run(milliseconds(10));
  it().tracked().end_extra(now_);
  run(milliseconds(19));
  EXPECT_EQ(sent_.size(), 1U);
  run(milliseconds(2));
  EXPECT_EQ(sent_.size(), 2U);
}
TEST_F(Tracked, ToEndItMakesNothingLater) {
  track();
  run(milliseconds(15));
  it().tracked().end_extra(now_);
  it().tracked().resend_overdue(now_, *this);
  EXPECT_EQ(sent_.size(), 1U);
  run(milliseconds(6));
  EXPECT_EQ(sent_.size(), 2U);
  it().tracked().arrived();
  it().tracked().end_extra(now_);
  it().tracked().resend_overdue(now_, *this);
  run(milliseconds(50));
  EXPECT_EQ(sent_.size(), 2U);
}
TEST_F(Tracked, WhatWouldWaitLongerMayBeAskedForAtOnce) {
  track(milliseconds(100));
  it().tracked().resend_overdue(now_, *this);
  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_EQ(it().tally().resent, 1U);
  EXPECT_EQ(last_event(&event::token_retransmitted).who, kC);
  run(milliseconds(21));
  EXPECT_EQ(sent_.size(), 3U) << "and after that in the usual time";
}
TEST_F(Tracked, OutsideTheViewItIsNotSentAgain) {
  track();
  it().regather(now_, &gather::stall, {}, *this);
  sent_.clear();
  run(milliseconds(100));
  EXPECT_EQ(count(Kind::probe), 0U);
}

TEST_F(Gathering, OnlyMoreThanHalfOfTheNodesArePrimary) {
  EXPECT_EQ(it().lists().primary_of(three_), Primary::unclaimed);
  evs::Settings settings = usual_settings();
  settings.majority = true;
  begin(settings);
  EXPECT_EQ(it().lists().primary_of(three_), Primary::yes);
  EXPECT_EQ(it().lists().primary_of(MemberSet{kSelf, kC}), Primary::no);
}

}  // namespace
}  // namespace peal::order::test
