// SPDX-License-Identifier: Apache-2.0
// Trials of links, at the member that makes them: when a trial begins, how many echoes it needs to
// pass, and the effects of its result, within a view and for an excluded member.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "membership_bench.h"

namespace peal::order::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Step = wire::Trial::Step;

class Links : public MembershipBench {
 protected:
  Links() { begin(); }
  bool stays() { return it().state() == State::operational; }
  std::uint64_t trials() { return it().tally().trials; }
  /// Echoes of the current trial arrive: `of_last` of the last part, `count` of each other part.
  void echo(const MemberId& from, int count, int of_last) {
    wire::Trial frame;
    frame.step = Step::echo;
    frame.number = trials();
    frame.to = kSelf;
    for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
      const int most = part + 1 == wire::kTrialParts ? of_last : count;
      for (int index = 0; index < most; ++index) {
        frame.part = part;
        frame.index = static_cast<std::uint8_t>(index);
        hear(from, frame);
      }
    }
  }
  void echo(const MemberId& from, int count) { echo(from, count, count); }
  wire::Join said() {
    run(milliseconds(3));
    const auto joins = take_joins();
    EXPECT_FALSE(joins.empty());
    return joins.empty() ? wire::Join{} : joins.back();
  }
  const MemberSet two_{kSelf, kC};
  const MemberSet three_{kA, kSelf, kC};
  const MemberSet four_{kA, kSelf, kC, kD};
};

TEST_F(Links, AnAskIsEchoedAsItCame) {
  wire::Trial ask;
  ask.part = 1;
  ask.index = 7;
  ask.number = 33;
  ask.to = kSelf;
  ask.padding = 500;
  sent_.clear();
  hear(kC, ask);
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].to, kC.node);
  EXPECT_EQ(sent_[0].lane, wire::lane_of(1));
  wire::Trial echo = ask;
  echo.step = Step::echo;
  echo.to = kC;
  EXPECT_THAT(take_trials(), ElementsAre(echo));
  ask.to = kD;
  hear(kC, ask);
  EXPECT_THAT(sent_, IsEmpty());
  EXPECT_EQ(drops(Drop::stale), 1U);
}

// ---- an excluded member ----

class LeftOut : public Links {
 protected:
  LeftOut() {
    into_view(four_);
    lose({kD}, three_);
    run(milliseconds(600));  // until this member no longer ignores kD
    sent_.clear();
  }
  /// A PROBE of kD arrives, which says that kD hears this member.
  void knock() { hear(kD, probe({kSelf})); }
  /// Begins a trial with kD, and runs until all ASKs are sent.
  void ask() {
    const std::uint64_t before = trials();
    knock();
    ASSERT_EQ(trials(), before + 1);
    sent_.clear();
    run(milliseconds(33));
  }
};

TEST_F(LeftOut, ItIsAskedForAllThatGoesOverALink) {
  ask();
  std::array<std::set<std::uint8_t>, wire::kTrialParts> asked;
  for (const Sent& each : sent_) {
    wire::Trial ask;
    ASSERT_EQ(wire::decode_trial(each.bytes, ask), Drop::none);
    EXPECT_EQ(each.to, kD.node);
    EXPECT_EQ(ask.step, Step::ask);
    EXPECT_EQ(ask.to, kD);
    EXPECT_EQ(ask.number, 1U);
    EXPECT_EQ(each.lane, wire::lane_of(ask.part));
    EXPECT_EQ(each.bytes.size(), wire::is_large(ask.part) ? 1'472U : wire::kTrialBytes);
    EXPECT_TRUE(asked[ask.part].insert(ask.index).second);
  }
  for (const auto& part : asked) EXPECT_EQ(part.size(), 32U);
  EXPECT_TRUE(it().is_trying());
}

TEST_F(LeftOut, ItIsTakenInOnceEnoughEchoesOfEachKindCame) {
  ask();
  sent_.clear();
  echo(kD, 32, 25);
  EXPECT_TRUE(stays());
  EXPECT_THAT(sent_, IsEmpty());
  echo(kD, 0, 26);
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::gather_started).reason, &gather::foreign);
  EXPECT_EQ(last_event(&event::gather_started).who, kD);
  EXPECT_FALSE(it().is_trying());
  const auto sent = sent_;
  EXPECT_EQ(said().processes, four_);
  sent_ = sent;
  const auto passed = take_trials();
  ASSERT_EQ(passed.size(), 3U) << "one may be lost";
  for (const wire::Trial& each : passed) {
    EXPECT_EQ(each.step, Step::passed);
    EXPECT_EQ(each.to, kD);
    EXPECT_EQ(each.number, 1U);
  }
}

TEST_F(LeftOut, ItIsNotAskedAnyMoreOnceItHasPassed) {
  knock();
  run(milliseconds(30));
  echo(kD, 26);
  EXPECT_FALSE(stays());
  sent_.clear();
  run(milliseconds(150));
  EXPECT_EQ(count(Kind::trial), 0U);
}

TEST_F(LeftOut, WhoFailsStaysOutForLongerEachTime) {
  for (const std::int64_t seconds : {1, 2, 4, 8, 10, 10}) {
    ask();
    echo(kD, 25);
    run(milliseconds(95));
    ASSERT_TRUE(it().is_trying()) << "the last echoes may take a while";
    run(milliseconds(10));
    ASSERT_FALSE(it().is_trying());
    EXPECT_TRUE(stays());
    const std::uint64_t before = trials();
    run(peal::seconds(seconds) - milliseconds(50));
    knock();
    EXPECT_EQ(trials(), before) << seconds << " s";
    run(milliseconds(60));
  }
}

TEST_F(LeftOut, AfterAMinuteItIsAsTheFirstTime) {
  ask();
  run(milliseconds(200));
  run(seconds(61));
  ask();
  run(milliseconds(200));
  run(milliseconds(400));
  const std::uint64_t before = trials();
  knock();
  EXPECT_EQ(trials(), before + 1) << "half a second, and not two";
}

TEST_F(LeftOut, LostInAMinuteItIsLeftOutForLonger) {
  ask();
  echo(kD, 26);
  into_view(four_);
  lose({kD}, three_);
  run(milliseconds(900));
  knock();
  EXPECT_EQ(trials(), 1U);
  run(milliseconds(200));
  knock();
  EXPECT_EQ(trials(), 2U);
}

TEST_F(LeftOut, AMutedOneIsNotTried) {
  lose({kA}, two_);
  run(milliseconds(400));
  hear(kA, probe({kSelf}));
  EXPECT_EQ(trials(), 0U);
  EXPECT_TRUE(stays());
  run(milliseconds(110));
  hear(kA, probe({kSelf}));
  EXPECT_EQ(trials(), 1U);
}

TEST_F(LeftOut, AnotherLifeOfItNeedsNoTrial) {
  const MemberId again{kD.node, kD.epoch + 1};
  hear(again, probe({kSelf}));
  EXPECT_EQ(trials(), 0U);
  EXPECT_FALSE(stays());
}

TEST_F(LeftOut, ItsJoinIsNoProofOfTheLink) {
  hear(kD, join(four_));
  EXPECT_TRUE(stays());
  EXPECT_EQ(trials(), 1U);
}

TEST_F(LeftOut, NorWhileOthersAreLookedFor) {
  it().regather(now_, &gather::stall, {}, *this);
  hear(kD, join(four_));
  EXPECT_EQ(trials(), 1U);
  EXPECT_EQ(said().processes, three_);
  run(milliseconds(30));
  echo(kD, 26);
  EXPECT_EQ(said().processes, four_);
}

TEST_F(LeftOut, ItsProbeWhileOthersAreLookedForIsNoneEither) {
  it().regather(now_, &gather::stall, {}, *this);
  knock();
  EXPECT_EQ(trials(), 1U);
  EXPECT_EQ(said().processes, three_);
}

TEST_F(LeftOut, WhatItSaysOfItsOwnTrialIsBelievedOnce) {
  wire::Trial passed;
  passed.step = Step::passed;
  passed.to = kSelf;
  hear(kD, passed);
  EXPECT_TRUE(stays());
  hear(kD, join(four_));
  EXPECT_FALSE(stays());
  EXPECT_EQ(trials(), 0U);
}

TEST_F(LeftOut, EchoesOfOthersOrOfAnotherTrialDoNotCount) {
  ask();
  echo(kC, 32);
  EXPECT_TRUE(stays());
  wire::Trial echo;
  echo.step = Step::echo;
  echo.to = kSelf;
  echo.number = trials() + 1;
  for (std::uint8_t part = 0; part < wire::kTrialParts; ++part) {
    for (std::uint8_t index = 0; index < 32; ++index) {
      echo.part = part;
      echo.index = index;
      hear(kD, echo);
    }
  }
  EXPECT_TRUE(stays());
}

TEST_F(LeftOut, OneTrialIsMadeAtATime) {
  lose({kA}, two_);
  run(milliseconds(600));
  knock();
  hear(kA, probe({kSelf}));
  EXPECT_EQ(trials(), 1U);
  take_trials();
  run(milliseconds(33));
  for (const wire::Trial& each : take_trials()) EXPECT_EQ(each.to, kD);
}

TEST_F(LeftOut, ATrialThatAPauseEndsSaysNothing) {
  ask();
  it().on_pause(now_, milliseconds(50), *this);
  EXPECT_FALSE(it().is_trying());
  sent_.clear();
  run(milliseconds(200));
  EXPECT_EQ(count(Kind::trial), 0U);
  knock();
  EXPECT_EQ(trials(), 2U) << "it is not left out for longer";
}

TEST_F(LeftOut, ATrialOfAnEarlierLifeSaysNothingOfTheNext) {
  ask();
  const MemberId again{kD.node, kD.epoch + 1};
  hear(again, wire::EpochNotice{again});
  run(milliseconds(150));
  EXPECT_FALSE(it().is_trying());
  hear(again, probe({kSelf}));
  EXPECT_FALSE(stays()) << "it was never left out";
}

// ---- which member tries a link ----

TEST_F(Links, TheLinkThatWasBadIsTriedByWhoAccused) {
  into_view(four_);
  hear(kA, join(four_, {kD}));  // kA accuses kD: the link between these two is bad
  into_view(three_);
  run(milliseconds(600));
  hear(kD, probe({kSelf}));
  EXPECT_EQ(trials(), 0U);
  EXPECT_TRUE(stays());
  wire::Trial passed;
  passed.step = Step::passed;
  passed.to = kSelf;
  hear(kD, passed);
  hear(kD, join(four_));
  EXPECT_TRUE(stays()) << "its link with this member is not the one";
  lose({kA}, two_);
  run(milliseconds(600));
  for (int second = 0; second < 3 && trials() == 0; ++second) {
    hear(kD, probe({kSelf}));
    run(seconds(1));
  }
  EXPECT_GT(trials(), 0U) << "who accused it is gone, too";
}

TEST_F(Links, WhoAccusedFirstTriesItWhateverOthersSay) {
  into_view(four_);
  it().accuse(now_, kD, &gather::stall, *this);
  it().regather(now_, &gather::stall, {}, *this);
  into_view(three_);
  run(milliseconds(600));
  hear(kA, join(four_, {kD}));
  into_view(three_);
  run(milliseconds(1'200));
  hear(kD, probe({kSelf}));
  EXPECT_EQ(trials(), 1U);
}

TEST_F(Links, WhoWasSilentToAllIsTriedByAnybody) {
  into_view(four_);
  hear(kA, join(four_, {kD}));
  into_view(three_);
  it().regather(now_, &gather::stall, {}, *this);
  hear(kA, join(four_));
  hear(kC, join(four_));
  run(milliseconds(230));  // kD does not agree in time
  EXPECT_EQ(last_event(&event::member_accused).who, kD);
  into_view(three_);
  for (int second = 0; second < 12 && trials() == 0; ++second) {
    run(seconds(1));
    hear(kD, probe({kSelf}));
  }
  EXPECT_EQ(trials(), 1U);
}

// ---- inside a view ----

class InnerLinks : public Links {
 protected:
  InnerLinks() { into_view(four_); }
  /// Sends a packet to `to`. The packet arrives only after this member has sent it `again` more
  /// times.
  void pass(const MemberId& to, int again) {
    const BufferRef packet = it().frames().build(Kind::probe, probe({}), wire::encode_probe);
    it().send_tracked(now_, to, packet, *this);
    run(milliseconds(20 * again + 1));
    it().tracked().arrived();
  }
  /// Runs until all ASKs of the current trial are sent. Returns their receiver.
  MemberId asked() {
    sent_.clear();
    run(milliseconds(33));
    const auto trials = take_trials();
    EXPECT_FALSE(trials.empty());
    for (const wire::Trial& each : trials) EXPECT_EQ(each.to, trials.front().to);
    return trials.empty() ? MemberId{} : trials.front().to;
  }
};

TEST_F(InnerLinks, AFewThatAreSentAgainAreNoSign) {
  for (int i = 0; i < 50; ++i) pass(kC, i % 8 == 0 ? 1 : 0);
  EXPECT_EQ(trials(), 0U);
}

TEST_F(InnerLinks, OneThatIsSentAgainEachTimeIs) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(trials(), 0U);
    pass(kC, 1);
  }
  pass(kC, 0);
  EXPECT_EQ(trials(), 1U);
  EXPECT_EQ(asked(), kC);
}

TEST_F(InnerLinks, OrOnceVeryOften) {
  pass(kC, 3);
  pass(kC, 0);
  EXPECT_EQ(trials(), 1U);
}

TEST_F(InnerLinks, HoweverOftenOneCountsAsFour) {
  pass(kC, 9);
  it().on_pause(now_, milliseconds(1), *this);
  pass(kC, 0);
  ASSERT_EQ(trials(), 1U);
  asked();
  echo(kC, 24);
  run(milliseconds(110));
  ASSERT_TRUE(stays());
  run(seconds(2));
  for (int i = 0; i < 3; ++i) pass(kC, 1);
  pass(kC, 0);
  EXPECT_EQ(trials(), 1U) << "a trial that was passed forgets what was before";
}

TEST_F(InnerLinks, WhatWasSentToAnotherDoesNotCount) {
  for (int i = 0; i < 10; ++i) {
    pass(kC, 1);
    pass(kD, 1);
  }
  EXPECT_EQ(trials(), 0U);
}

TEST_F(InnerLinks, AnotherOneInBetweenBeginsTheCountAnew) {
  for (int i = 0; i < 4; ++i) pass(kC, 1);
  pass(kD, 0);
  pass(kC, 1);
  pass(kC, 1);
  EXPECT_EQ(trials(), 0U);
}

TEST_F(InnerLinks, AfterAPauseTheNextSignIsAsGood) {
  pass(kC, 3);
  pass(kC, 0);
  EXPECT_EQ(trials(), 1U);
  it().on_pause(now_, milliseconds(50), *this);
  pass(kC, 3);
  pass(kC, 0);
  EXPECT_EQ(trials(), 2U);
}

TEST_F(InnerLinks, ALinkThatWorksIsNotTriedAgainAtOnce) {
  pass(kC, 3);
  pass(kC, 0);
  asked();
  echo(kC, 24);
  run(milliseconds(110));
  EXPECT_FALSE(it().is_trying());
  EXPECT_TRUE(stays());
  EXPECT_EQ(events(&event::stall_excluded), 0U);
  pass(kC, 4);
  pass(kC, 4);
  EXPECT_EQ(trials(), 1U);
  run(seconds(2));
  pass(kC, 4);
  EXPECT_EQ(trials(), 2U);
}

TEST_F(InnerLinks, WhoDoesNotEchoIsAccusedIfAnotherDoes) {
  pass(kC, 3);
  pass(kC, 0);
  EXPECT_EQ(asked(), kC);
  echo(kC, 23);
  run(milliseconds(105));
  EXPECT_TRUE(stays());
  EXPECT_EQ(trials(), 2U);
  EXPECT_EQ(asked(), kA) << "the one before it";
  echo(kA, 24);
  run(milliseconds(105));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::stall_excluded).who, kC);
  EXPECT_THAT(said().failed, ElementsAre(kC));
}

TEST_F(InnerLinks, IfNobodyEchoesTheViewStays) {
  pass(kC, 3);
  pass(kC, 0);
  asked();
  run(milliseconds(105));
  EXPECT_EQ(asked(), kA);
  run(milliseconds(105));
  EXPECT_TRUE(stays()) << "it may be this member's own links";
  EXPECT_FALSE(it().is_trying());
  EXPECT_EQ(trials(), 2U);
}

TEST_F(InnerLinks, OfThePredecessorTheFirstOtherTells) {
  it().suspect(now_, kA, false);
  EXPECT_EQ(asked(), kA);
  run(milliseconds(105));
  EXPECT_EQ(asked(), kC);
}

TEST_F(InnerLinks, WhoIsAtFaultIsAccusedThoughItsLinkWorks) {
  it().suspect(now_, kD, true);
  EXPECT_TRUE(it().is_trying());
  EXPECT_EQ(asked(), kD);
  echo(kD, 24);
  run(milliseconds(105));
  EXPECT_EQ(last_event(&event::stall_excluded).who, kD);
  EXPECT_THAT(said().failed, ElementsAre(kD));
}

TEST_F(InnerLinks, OrIfNobodyEchoes) {
  it().suspect(now_, kD, true);
  asked();
  run(milliseconds(105));
  EXPECT_TRUE(stays());
  asked();
  run(milliseconds(105));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::stall_excluded).who, kD);
}

TEST_F(InnerLinks, WhoIsNotAtFaultStaysIfItsLinkWorks) {
  it().suspect(now_, kD, false);
  asked();
  echo(kD, 24);
  run(milliseconds(105));
  EXPECT_TRUE(stays());
  EXPECT_EQ(trials(), 1U);
}

TEST_F(InnerLinks, ItSuspectsNeitherItselfNorTwoAtATime) {
  it().suspect(now_, kSelf, true);
  EXPECT_EQ(trials(), 0U);
  it().suspect(now_, kC, true);
  it().suspect(now_, kD, true);
  EXPECT_EQ(trials(), 1U);
  EXPECT_EQ(asked(), kC);
}

TEST_F(InnerLinks, WhatATrialShowsCountsInItsViewAlone) {
  it().suspect(now_, kD, true);
  asked();
  it().regather(now_, &gather::stall, {}, *this);
  into_view(four_);
  echo(kD, 24);
  run(milliseconds(105));
  EXPECT_TRUE(stays());
  EXPECT_FALSE(it().is_trying());
  EXPECT_EQ(trials(), 1U);
}

TEST_F(InnerLinks, NorWithoutAView) {
  it().suspect(now_, kD, true);
  asked();
  it().regather(now_, &gather::stall, {}, *this);
  echo(kD, 24);
  run(milliseconds(105));
  EXPECT_EQ(events(&event::stall_excluded), 0U);
}

TEST_F(Links, OfTwoTheOtherOneIsAccusedIfItDoesNotEcho) {
  into_view(two_);
  it().suspect(now_, kC, false);
  run(milliseconds(140));
  EXPECT_FALSE(stays());
  EXPECT_EQ(last_event(&event::stall_excluded).who, kC);
}

}  // namespace
}  // namespace peal::order::test
