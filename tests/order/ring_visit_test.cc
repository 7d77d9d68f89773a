// SPDX-License-Identifier: Apache-2.0
// One member's handling of the token and of packets between its visits: places, windows, requests
// and answers, deliveries, rests and stalls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ring_bench.h"
#include "wire/packet.h"

namespace peal::order::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Visit : public RingBench {
 protected:
  /// A section that requests positions: `first` + i for each set bit i of the bitmap.
  wire::RequestSection requests(Seq first, std::uint64_t bitmap) const {
    wire::RequestSection section;
    section.view = view_;
    section.ranges.push_back({first, bitmap});
    return section;
  }
  /// Units of another member up to position `upto` arrive, and then a token that includes them.
  void bring(Seq upto, const MemberId& origin = kA) {
    wire::Token token = next();
    for (Seq seq = token.seq + 1; seq <= upto; ++seq) hear(origin, unit(origin, seq));
    token.seq = token.aru = upto;
    visit(token);
  }
  /// The token arrives three times without new units, so that all members are known to have
  /// everything.
  void settle() {
    for (int i = 0; i < 3; ++i) {
      wire::Token token = next();
      token.fcc = 0;
      pass(token);
    }
  }
};

// ---- places ----

TEST_F(Visit, ItsUnitsGetThePlacesBehindTheTokens) {
  be(kB);
  submit(3);
  bring(4);
  EXPECT_THAT(originated_, ElementsAre(5, 6, 7));
  const wire::Token token = next();
  EXPECT_EQ(token.seq, 7U);
  EXPECT_EQ(token.aru, 7U);
  EXPECT_EQ(token.aru_index, wire::kNoIndex);
  EXPECT_EQ(token.fcc, 3U);
  const auto sent = data();
  ASSERT_EQ(sent.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[i].seq, 5 + i);
    EXPECT_EQ(sent[i].origin, kB);
    EXPECT_EQ(sent[i].view, view_);
    EXPECT_EQ(sent[i].post, i > 0) << "one before the token, two after it";
    EXPECT_EQ(sent[i].hop + 3, token.hop) << "of this visit: three before the next one";
    EXPECT_FALSE(sent[i].retransmission);
  }
  EXPECT_EQ(sent_[0].kind, Kind::data);
  EXPECT_EQ(sent_[1].kind, Kind::token);
  EXPECT_EQ(sent_[1].to, kC.node);
  EXPECT_THAT(take_log(),
              ElementsAre("1:text", "2:text", "3:text", "4:text", "5:mine", "6:mine", "7:mine"));
}

TEST_F(Visit, OfThatFewFollowTheTokenIfItIsSaidSo) {
  ring::Options options;
  options.accelerated_window = 1;
  be(kB, options);
  submit(3);
  visit(next());
  const auto sent = data();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent_[2].kind, Kind::token);
  EXPECT_FALSE(sent[1].post);
  EXPECT_TRUE(sent[2].post);
}

TEST_F(Visit, AVisitSendsWhatItsWindowsAllow) {
  ring::Options options;
  options.personal_window = 7;
  be(kB, options);
  submit(100);
  wire::Token token = next();
  token.window = 50;
  EXPECT_EQ(visit(token).seq, 7U) << "its own";
  token = next();
  token.fcc = 7 + 45;  // in the last rotation: 7 packets of this member, 45 of the others
  EXPECT_EQ(visit(token).seq, 12U) << "what the others left of the window of all";
  EXPECT_EQ(next().fcc, 50U);
  token = next();
  token.fcc = 60;
  EXPECT_EQ(visit(token).seq, 12U);
  EXPECT_EQ(counter("personal_window"), 7U);
  EXPECT_EQ(counter("global_window"), 50U);
}

TEST_F(Visit, TheWindowOfAllIsBoundedByTheGapThatMayBe) {
  ring::Options options;
  options.max_gap = 400;
  be(kB, options);
  submit(300);
  wire::Token token = next();
  token.window = 5'000;
  EXPECT_EQ(visit(token).seq, 100U) << "a fourth of it, if packets are asked for after a rotation";
}

TEST_F(Visit, UnlessItIsConfigured) {
  ring::Options options;
  agreed_.max_gap = 400;
  options.global_window = 200;
  be(kB, options);
  submit(300);
  wire::Token token = next();
  token.window = 5'000;
  EXPECT_EQ(visit(token).seq, 200U);
}

TEST_F(Visit, NobodyIsAheadOfTheSlowestByMoreThanTheGap) {
  ring::Options options;
  agreed_.max_gap = 16;
  options.personal_window = 100;
  options.global_window = 100;
  be(kB, options);
  submit(100);
  wire::Token token = next();
  token.window = 100;
  token.seq = 10;
  token.aru = 0;
  token.aru_index = 2;
  EXPECT_EQ(visit(token).seq, 16U);
  token = next();
  token.fcc = 0;
  EXPECT_EQ(visit(token).seq, 16U);
}

TEST_F(Visit, TheLeastRoomOfAnApplicationBoundsIt) {
  be(kB);
  submit(100);
  wire::Token token = next();
  token.credit = 3;
  token.credit_index = 2;
  EXPECT_EQ(visit(token).seq, 3U);
  EXPECT_EQ(next().credit, 3U);
  EXPECT_EQ(next().credit_index, 2U);
  room_ = 2;
  token = next();
  token.credit = 10;
  EXPECT_EQ(visit(token).seq, 5U) << "its own room is less";
  EXPECT_EQ(next().credit, 2U);
  EXPECT_EQ(next().credit_index, 1U);
  room_ = 4;
  EXPECT_EQ(visit(next()).seq, 9U) << "what it said itself does not bind it";
  EXPECT_EQ(next().credit, 4U);
  token = next();
  token.credit = 0;
  token.credit_index = wire::kNoIndex;
  EXPECT_EQ(visit(token).seq, 13U) << "nobody has said anything";
}

TEST_F(Visit, UnitsFitTheSmallestPacketOfAll) {
  agreed_.packet_bytes_max = 600;
  be(kB);
  submit(1);
  visit(next());
  EXPECT_EQ(unit_bytes_max_, 600 - wire::kDataHeaderBytes);
  hear(kA, unit(kA, 2), std::string(600 - wire::kDataHeaderBytes + 1, 'x'));
  EXPECT_EQ(counter("out_of_window"), 1U);
}

// ---- units that all members have (aru) ----

TEST_F(Visit, WhoMissesPacketsLowersTheLine) {
  be(kB);
  wire::Token token = next();
  token.seq = token.aru = 5;
  token = visit(token);
  EXPECT_EQ(token.aru, 0U);
  EXPECT_EQ(token.aru_index, 1U);
  for (const Seq seq : {1U, 2U, 4U}) hear(kA, unit(kA, seq));
  EXPECT_EQ(visit(next()).aru, 2U) << "and raises it again";
  for (const Seq seq : {3U, 5U}) hear(kA, unit(kA, seq));
  token = visit(next());
  EXPECT_EQ(token.aru, 5U);
  EXPECT_EQ(token.aru_index, wire::kNoIndex);
}

TEST_F(Visit, WhatAnotherOneLoweredItLeavesTo) {
  be(kB);
  for (Seq seq = 1; seq <= 5; ++seq) hear(kA, unit(kA, seq));
  wire::Token token = next();
  token.seq = 5;
  token.aru = 3;
  token.aru_index = 2;
  token = visit(token);
  EXPECT_EQ(token.aru, 3U);
  EXPECT_EQ(token.aru_index, 2U);
}

TEST_F(Visit, WhoHasJustAsMuchLeavesItToThatOneToo) {
  be(kB);
  for (Seq seq = 1; seq <= 3; ++seq) hear(kA, unit(kA, seq));
  wire::Token token = next();
  token.seq = 5;
  token.aru = 3;
  token.aru_index = 2;
  token = visit(token);
  EXPECT_EQ(token.aru, 3U);
  EXPECT_EQ(token.aru_index, 2U);
}

TEST_F(Visit, ADeliverySaysWhoseItIs) {
  be(kB);
  hear(kC, unit(kC, 1, Service::safe), "c");
  hear(kA, unit(kA, 2), "a");
  wire::Token token = next();
  token.seq = token.aru = 2;
  for (int i = 0; i < 3; ++i) {
    visit(token);
    token = next();
  }
  ASSERT_EQ(deliveries_.size(), 2U);
  EXPECT_EQ(deliveries_[0].view, view_);
  EXPECT_EQ(deliveries_[0].seq, 1U);
  EXPECT_EQ(deliveries_[0].origin, kC);
  EXPECT_EQ(deliveries_[0].service, Service::safe);
  EXPECT_FALSE(deliveries_[0].transitional);
  EXPECT_EQ(deliveries_[1].seq, 2U);
  EXPECT_EQ(deliveries_[1].origin, kA);
  EXPECT_EQ(deliveries_[1].service, Service::agreed);
}

TEST_F(Visit, NorAreUnitsOfAnotherView) {
  be(kB);
  wire::Data data = unit(kA, 1);
  data.view.number += 1;
  hear(kA, data);
  EXPECT_EQ(counter("foreign"), 1U);
  EXPECT_EQ(count(Kind::probe), 0U) << "a slower member may still send what is of the old view";
}

TEST_F(Visit, ATokenOfAnotherViewFromAMemberIsNotThatOfAStranger) {
  be(kB);
  wire::Token token = next();
  token.view.number += 1;
  hear(kA, token);
  EXPECT_EQ(counter("foreign"), 1U);
  EXPECT_EQ(count(Kind::probe), 0U);
}

TEST_F(Visit, WhatIsAheadOfTheTokenDoesNotRaiseItBeyondTheToken) {
  be(kB);
  hear(kA, unit(kA, 1));
  hear(kA, unit(kA, 2));
  wire::Token token = next();
  token.seq = 1;
  hear(predecessor(), token);
  EXPECT_EQ(counter("bad_value"), 1U) << "what nobody can have ordered";
}

// ---- delivery ----

TEST_F(Visit, ASafeUnitWaitsUntilAllHaveItAndHoldsUpTheRest) {
  be(kB);
  hear(kA, unit(kA, 1));
  hear(kA, unit(kA, 2, Service::safe));
  hear(kA, unit(kA, 3));
  EXPECT_THAT(take_log(), ElementsAre("1:text"));
  wire::Token token = next();
  token.seq = token.aru = 3;
  visit(token);
  EXPECT_THAT(take_log(), IsEmpty()) << "all have it who had the token since";
  visit(next());
  EXPECT_THAT(take_log(), ElementsAre("2:text", "3:text"));
}

TEST_F(Visit, AGapHoldsUpWhatIsBehindIt) {
  be(kB);
  hear(kA, unit(kA, 2));
  hear(kA, unit(kA, 3));
  EXPECT_THAT(take_log(), IsEmpty());
  hear(kA, unit(kA, 1));
  EXPECT_THAT(take_log(), ElementsAre("1:text", "2:text", "3:text"));
  hear(kA, unit(kA, 3));
  EXPECT_EQ(counter("duplicates"), 1U);
  EXPECT_THAT(take_log(), IsEmpty());
}

TEST_F(Visit, WhatDoesNotFitIsDropped) {
  be(kB);
  hear(kA, unit(kA, 5'000'000));
  EXPECT_EQ(counter("out_of_window"), 1U);
  hear(kA, unit(kA, 1), std::string(1'472 - wire::kDataHeaderBytes + 1, 'x'));
  EXPECT_EQ(counter("out_of_window"), 2U);
  EXPECT_THAT(take_log(), IsEmpty());
  hear(kA, unit(kA, 1), std::string(1'472 - wire::kDataHeaderBytes, 'x'));
  EXPECT_EQ(take_log().size(), 1U);
}

TEST_F(Visit, UnitsOfOtherViewsAreNotTaken) {
  be(kB);
  wire::Data old = unit(kA, 1);
  old.view.number -= 1;
  hear(kA, old);
  wire::Data strange = unit({{3}, 99}, 1);
  hear(kA, strange);
  EXPECT_EQ(counter("foreign"), 2U);
  EXPECT_THAT(take_log(), IsEmpty());
}

TEST_F(Visit, WhatAllHaveIsLetGoOf) {
  ring::Options options;
  options.max_gap = 16;
  be(kB, options);  // there is space for 64 packets
  for (Seq seq = 1; seq <= 200; ++seq) {
    bring(seq);
    visit(next());
    visit(next());
  }
  EXPECT_EQ(take_log().size(), 200U);
  EXPECT_EQ(counter("duplicates"), 0U);
  hear(kA, unit(kA, 200));
  EXPECT_EQ(counter("duplicates"), 1U);
  EXPECT_EQ(counter("out_of_window"), 0U);
}

// ---- requests ----

TEST_F(Visit, WhatIsMissingIsAskedForOneRotationLater) {
  be(kB);
  hear(kA, unit(kA, 2));
  wire::Token token = next();
  token.seq = 4;
  token = visit(token);
  EXPECT_TRUE(token.sections.empty()) << "it may be on its way behind the token";
  EXPECT_EQ(token.losses, 0U);
  token = next();
  token.seq = 70;
  token = visit(token);
  ASSERT_EQ(token.sections.size(), 1U);
  EXPECT_EQ(token.sections[0], requests(1, 0b1101)) << "not what the token brought just now";
  EXPECT_EQ(token.losses, 3U);
  EXPECT_EQ(counter("requested"), 3U);
  hear(kA, unit(kA, 3));
  token = next();
  token.sections.clear();
  token = visit(token);
  ASSERT_EQ(token.sections.size(), 1U);
  EXPECT_EQ(token.sections[0].ranges[0].bitmap, ~std::uint64_t{0} & ~std::uint64_t{0b110});
  EXPECT_EQ(token.sections[0].ranges[1].first, 65U);
  EXPECT_EQ(token.losses, 66U) << "for the first time";
  EXPECT_EQ(visit(next()).losses, 0U);
}

TEST_F(Visit, OrAsManyLaterAsAllAgreedOn) {
  for (const std::uint32_t lag : {0U, 3U, 9U}) {
    view_ = {};
    agreed_.request_lag = lag;
    ring::Options options;
    if (lag == 0) options.accelerated_window = 0;
    be(kB, options);
    wire::Token token = next();
    token.seq = 1;
    std::uint32_t visits = 0;
    while (visit(token).sections.empty() && visits < 20) {
      ++visits;
      token = next();
    }
    EXPECT_EQ(visits, std::min(lag, 7U)) << "at most seven";
  }
}

TEST_F(Visit, RequestsThatNobodyAnswersSlowTheTokenDown) {
  be(kA);
  wire::Token token = next();
  token.seq = 3;
  token.aru = 0;
  token.aru_index = 2;
  int rounds = 0;
  while (pass(token) && rounds < 30) {
    ++rounds;
    token = next();
  }
  EXPECT_LT(rounds, 12);
  const std::size_t before = count(Kind::token);
  run(milliseconds(1) - microseconds(1));
  EXPECT_EQ(count(Kind::token), before);
  run(microseconds(1));
  EXPECT_EQ(count(Kind::token), before + 1) << "once";
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::token), before + 1);
}

TEST_F(Visit, AnAnswerTakesTheRequestAway) {
  be(kB);
  submit(3);
  visit(next());
  sent_.clear();
  wire::Token token = next();
  token.sections.push_back(requests(2, 0b10011));
  token = visit(token);
  ASSERT_EQ(token.sections.size(), 1U);
  EXPECT_EQ(token.sections[0], requests(6, 1)) << "this one it has not";
  const auto sent = data();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].seq, 2U);
  EXPECT_TRUE(sent[0].retransmission);
  EXPECT_EQ(sent[0].origin, kB);
  EXPECT_EQ(counter("retransmitted"), 2U);
}

TEST_F(Visit, WhatAllHaveAndWhatOtherViewsWantIsNotAnswered) {
  be(kB);
  bring(3);
  visit(next());
  visit(next());
  sent_.clear();
  wire::Token token = next();
  token.sections.push_back(requests(1, 0b111));
  token.sections.push_back(requests(1, 1));
  token.sections[1].view.number += 1;
  EXPECT_TRUE(visit(token).sections.empty());
  EXPECT_EQ(counter("retransmitted"), 0U);
}

TEST_F(Visit, AnswersCountAsWhatItSends) {
  ring::Options options;
  options.personal_window = 5;
  be(kB, options);
  submit(5);
  wire::Token token = next();
  token.window = 5;
  visit(token);
  submit(5);
  token = next();
  token.sections.push_back(requests(1, 0b111));
  EXPECT_EQ(visit(token).seq, 7U);
  EXPECT_EQ(next().fcc, 5U);
}

// ---- accepted and dropped tokens ----

TEST_F(Visit, ATokenIsTakenOnceAndFromThePredecessorAlone) {
  be(kB);
  const wire::Token good = next();
  hear(kC, good);
  EXPECT_EQ(counter("bad_sender"), 1U);
  wire::Token other = good;
  other.view.number += 1;
  hear(kA, other);
  EXPECT_EQ(counter("foreign"), 1U);
  const std::uint64_t visits = counter("visits");
  visit(good);
  hear(kA, good);
  EXPECT_EQ(counter("duplicate"), 1U);
  other = good;
  other.hop = good.hop - 1;
  hear(kA, other);
  EXPECT_EQ(counter("duplicate"), 2U);
  EXPECT_EQ(counter("visits"), visits + 1);
}

TEST_F(Visit, WithoutAViewNoTokenIsTaken) {
  be(kB);
  run(milliseconds(230));
  hear(kA, next());
  EXPECT_EQ(counter("wrong_state"), 1U);
}

TEST_F(Visit, PacketsOfOtherEnginesAreUnknown) {
  be(kB);
  std::vector<std::byte> bytes(60'000);
  bytes.resize(wire::encode_hold_cancel({Kind::hold_cancel, kRingCluster, kA}, {view_}, bytes));
  const auto as_kind = [&](std::uint8_t kind) {
    std::vector<std::byte> other = bytes;
    other[3] = static_cast<std::byte>(kind);
    wire::complete(other);
    hear(other);
  };
  as_kind(wire::kPaxosKindFirst);
  as_kind(wire::kPaxosKindLast);
  as_kind(static_cast<std::uint8_t>(Kind::settings));
  EXPECT_EQ(counter("unknown_kind"), 3U);
  bytes.resize(60'000);
  bytes.resize(wire::encode_hold_cancel({Kind::hold_cancel, kRingCluster, kB}, {view_}, bytes));
  as_kind(wire::kPaxosKindFirst);
  EXPECT_EQ(counter("unknown_kind"), 4U) << "whoever sends it";
  bytes[2] = std::byte{9};
  hear(bytes);
  EXPECT_EQ(counter("bad_version"), 1U);
  EXPECT_EQ(events(&event::incompatible_peer), 1U);
  // A node with another engine also has other settings. This node reports an event about that.
  bytes.resize(60'000);
  bytes.resize(wire::encode_hold_cancel({Kind::hold_cancel, kRingCluster + 1, kA}, {view_}, bytes));
  as_kind(wire::kPaxosKindFirst);
  EXPECT_EQ(counter("other_settings"), 1U);
  EXPECT_EQ(events(&event::incompatible_peer), 2U);
}

TEST_F(Visit, WhatIsReadAfterALongPauseIsOldButUnitsAreNot) {
  be(kB);
  engine_->on_pause(now_, milliseconds(219), *this);
  visit(next());
  engine_->on_pause(now_, milliseconds(220), *this);
  hear(kA, next());
  EXPECT_EQ(counter("stale"), 1U);
  hear(kA, unit(kA, 1));
  EXPECT_THAT(take_log(), ElementsAre("1:text"));
  engine_->on_drained(now_, *this);
  wire::Token token = next();
  token.seq = 1;
  visit(token);
  EXPECT_EQ(counter("stale"), 1U);
}

// ---- which lane is read first ----

TEST_F(Visit, APostOfThePredecessorSaysThatTheTokenIsThere) {
  be(kB);
  const wire::Token token = visit(next());
  wire::Data data = unit(kA, 1);
  data.hop = token.hop + 2;
  const auto prefers_after = [&](const MemberId& from, const wire::Data& each) {
    hear(from, each);
    return engine_->preferred_lane() == Lane::token;
  };
  EXPECT_FALSE(prefers_after(kA, data)) << "before the token";
  data.post = true;
  data.seq = 2;
  EXPECT_FALSE(prefers_after(kC, data)) << "of another one";
  data.seq = 3;
  data.retransmission = true;
  EXPECT_FALSE(prefers_after(kA, data));
  data.seq = 4;
  data.retransmission = false;
  data.hop = token.hop - 1;
  EXPECT_FALSE(prefers_after(kA, data)) << "of the visit before";
  data.seq = 5;
  data.hop = token.hop + 2;
  EXPECT_TRUE(prefers_after(kA, data));
  wire::Token comes = next();
  comes.seq = 5;
  visit(comes);
  EXPECT_EQ(engine_->preferred_lane(), Lane::data);
}

TEST_F(Visit, WhoIsAggressiveTakesAnyUnitOfThePredecessorForThat) {
  ring::Options options;
  options.priority = ring::PriorityMethod::aggressive;
  be(kB, options);
  const wire::Token token = visit(next());
  wire::Data data = unit(kA, 1);
  data.hop = token.hop + 2;
  hear(kA, data);
  EXPECT_EQ(engine_->preferred_lane(), Lane::token);
}

// ---- a token that this member sends again ----

TEST_F(Visit, ItIsSentAgainUnlessSomebodyBehindWasSeenToHaveIt) {
  be(kB);
  const wire::Token token = visit(next());
  const std::size_t before = count(Kind::token);
  run(milliseconds(15));
  wire::Data data = unit(kC, 1);
  data.hop = token.hop - 1;
  hear(kC, data);
  data.seq = 2;
  data.hop = token.hop + 1;
  data.retransmission = true;
  hear(kC, data);
  run(milliseconds(6));
  EXPECT_EQ(count(Kind::token), before + 1) << "neither says that it has";
  run(milliseconds(15));
  data.seq = 3;
  data.retransmission = false;
  data.hop = token.hop;
  hear(kC, data);
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::token), before + 1);
  run(milliseconds(6));
  EXPECT_EQ(count(Kind::token), before + 2);
}

// ---- rests ----

class Rests : public Visit {
 protected:
  /// The token circulates until it rests at this member, the representative.
  void rest() {
    for (int i = 0; i < 10; ++i) {
      wire::Token token = next();
      token.fcc = 0;
      if (!pass(token)) return;
    }
    FAIL() << "it does not rest";
  }
};

TEST_F(Rests, AnIdleTokenRestsAtTheRepresentativeForLongerEachTime) {
  be(kA);
  rest();
  EXPECT_GT(counter("tokens_held"), 0U);
  for (const int most : {8, 16, 32, 64}) {
    const std::size_t before = count(Kind::token);
    run(milliseconds(most) - microseconds(1));
    EXPECT_EQ(count(Kind::token), before) << most;
    run(microseconds(1));
    EXPECT_EQ(count(Kind::token), before + 1) << most;
    EXPECT_FALSE(pass(next()));
  }
}

TEST_F(Rests, ATokenThatWasLostOnItsWayRestsShorterAgain) {
  be(kA);
  rest();
  run(milliseconds(8));
  EXPECT_FALSE(pass(next()));
  run(milliseconds(16));
  run(milliseconds(21));
  EXPECT_FALSE(pass(next()));
  const std::size_t before = count(Kind::token);
  run(milliseconds(8));
  EXPECT_EQ(count(Kind::token), before + 1);
}

TEST_F(Rests, ARotationInWhichSomethingMovesBeginsAnew) {
  be(kA);
  rest();
  run(milliseconds(8));
  EXPECT_FALSE(pass(next()));
  run(milliseconds(16));
  wire::Token moves = next();
  moves.fcc = 1;
  EXPECT_TRUE(pass(moves));
  rest();
  const std::size_t before = count(Kind::token);
  run(milliseconds(8));
  EXPECT_EQ(count(Kind::token), before + 1);
}

TEST_F(Rests, OnceItGoesOnItIsSentAgainLikeAnyOther) {
  be(kA);
  rest();
  run(milliseconds(8));
  const std::size_t before = count(Kind::token);
  run(milliseconds(21));
  EXPECT_EQ(count(Kind::token), before + 1) << "the one behind it keeps no token";
}

TEST_F(Rests, WhoHasSomethingToOrderTakesItAtOnce) {
  be(kA);
  rest();
  submit(1);
  const std::size_t before = count(Kind::token);
  work();
  EXPECT_EQ(count(Kind::token), before + 1);
  EXPECT_THAT(originated_, ElementsAre(1));
  work();
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::token), before + 1) << "it is gone, and does not go again after its rest";
}

TEST_F(Rests, ANewerTokenTakesThePlaceOfOneThatRests) {
  be(kA);
  rest();
  wire::Token newer = next();
  newer.hop += 3;  // this token is one rotation newer than the token that rests here
  newer.fcc = 1;
  const std::size_t before = count(Kind::token);
  ASSERT_TRUE(pass(newer));
  submit(1);
  work();
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::token), before + 1) << "the one that rested is gone";
  EXPECT_THAT(originated_, IsEmpty()) << "there is no token here to order with";
}

TEST_F(Rests, AnotherOneMayAskForIt) {
  be(kA);
  rest();
  const std::size_t before = count(Kind::token);
  hear(kC, wire::HoldCancel{{view_.number + 1, view_.representative}});
  EXPECT_EQ(count(Kind::token), before) << "of another view";
  hear(kC, wire::HoldCancel{view_});
  ASSERT_EQ(count(Kind::token), before + 1);
  hear(kC, wire::HoldCancel{view_});
  EXPECT_EQ(count(Kind::token), before + 1);
  wire::Token back;
  for (const Sent& each : sent_) {
    if (each.kind != Kind::token) continue;
    ASSERT_EQ(wire::decode_token(each.bytes, back), Drop::none);
  }
  back.hop += 2;
  EXPECT_TRUE(pass(back)) << "it goes round a few times before it rests again";
}

TEST_F(Rests, ItDoesNotRestWhileAnythingMoves) {
  be(kA);
  for (int i = 0; i < 20; ++i) {
    wire::Token token = next();
    token.fcc += 1;
    EXPECT_TRUE(pass(token));
  }
  for (int i = 0; i < 7; ++i) {
    wire::Token token = next();
    token.seq = 3;
    token.aru = 0;
    token.aru_index = 2;
    token.fcc = 0;
    EXPECT_TRUE(pass(token));
  }
}

TEST_F(Rests, WhoeverWaitsForAnApplicationLetsItRest) {
  be(kA);
  submit(5);
  int rested = 0;
  for (int i = 0; i < 8; ++i) {
    wire::Token token = next();
    token.fcc = 0;
    token.credit = 0;
    token.credit_index = 1;
    rested += pass(token) ? 0 : 1;
    if (rested > 0) break;
  }
  EXPECT_EQ(rested, 1);
}

TEST_F(Rests, AMemberThatHasSomethingAsksForItAgainAndAgain) {
  be(kB);
  settle();
  sent_.clear();
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U) << "it has nothing to order";
  submit(1);
  work();
  ASSERT_EQ(count(Kind::hold_cancel), 1U);
  EXPECT_EQ(sent_.back().to, kA.node);
  EXPECT_EQ(sent_.back().lane, Lane::token);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 1U) << "not at each unit";
  run(milliseconds(11));
  EXPECT_EQ(count(Kind::hold_cancel), 2U);
  visit(next());
  run(milliseconds(15));
  EXPECT_EQ(count(Kind::hold_cancel), 2U) << "it came";
}

TEST_F(Rests, ATokenThatMovesIsNotAskedFor) {
  be(kB);
  wire::Token token = next();
  token.fcc = 5;
  visit(token);
  submit(1);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U);
}

TEST_F(Rests, NorIsOneThatSomebodyLacksUnitsOf) {
  be(kB);
  hear(kA, unit(kA, 1));
  wire::Token token = next();
  token.seq = 1;
  token.aru = 0;
  token.aru_index = 2;
  token.fcc = 0;
  visit(token);
  submit(1);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U);
}

TEST_F(Rests, TheRepresentativeAsksNobody) {
  be(kA);
  wire::Token token = next();
  token.fcc = 0;
  visit(token);
  submit(1);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U);
}

TEST_F(Rests, WhileAnApplicationHoldsAllUpOnlyItsMemberAsks) {
  be(kB);
  wire::Token token = next();
  token.credit = 0;
  token.credit_index = 2;
  visit(token);
  submit(1);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U);
  queue_.clear();
  room_ = 0;
  token = next();
  token.fcc = 0;
  token.credit = 5;
  visit(token);
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U) << "there is no room yet";
  room_ = 1;
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 1U) << "now there is";
}

TEST_F(Rests, ItsTokenMayRestBeforeItShowsASignOfLife) {
  be(kB);
  for (int i = 0; i < 5; ++i) settle();
  const std::size_t before = count(Kind::token);
  run(milliseconds(60));
  EXPECT_EQ(count(Kind::token), before);
  hear(kA, [&] {
    wire::Token again = next();
    again.hop -= 2 + 1;  // the token as it last arrived here
    return again;
  }());
  EXPECT_EQ(count(Kind::token), before + 1) << "the predecessor saw none: it is lost";
}

// ---- a member that stalls the ring ----

class Stalls : public Visit {
 protected:
  /// The token makes `times` rotations, each of which takes `each`. The last member lacks position
  /// 1.
  void go_round(int times, Duration each, const MemberId& has) {
    if (times > 0 && next().seq == 0 && has == self_) hear(kA, unit(kA, 1));
    for (int i = 0; i < times; ++i) {
      wire::Token token = next();
      token.seq = 1;
      token.aru = 0;
      token.aru_index = 2;
      token.fcc = 0;
      visit(token);
      run(each);
    }
  }
};

TEST_F(Stalls, WhoMissesAUnitForLongThatThisMemberHasIsTried) {
  be(kB);
  go_round(49, milliseconds(11), kB);
  EXPECT_EQ(counter("stalls"), 0U);
  go_round(3, milliseconds(11), kB);
  EXPECT_EQ(counter("stalls"), 1U);
  EXPECT_EQ(counter("trials"), 1U);
}

TEST_F(Stalls, ManyRotationsInAShortTimeAreNone) {
  be(kB);
  go_round(100, milliseconds(4), kB);
  EXPECT_EQ(counter("stalls"), 0U);
  go_round(40, milliseconds(4), kB);
  EXPECT_EQ(counter("stalls"), 1U);
}

TEST_F(Stalls, AMoveBeginsTheCountAnew) {
  be(kB);
  go_round(45, milliseconds(11), kB);
  hear(kA, unit(kA, 2));
  wire::Token token = next();
  token.seq = 2;
  token.aru = 1;
  token.aru_index = 2;
  visit(token);
  for (int i = 0; i < 45; ++i) {
    token = next();
    token.fcc = 0;
    visit(token);
    run(milliseconds(11));
  }
  EXPECT_EQ(counter("stalls"), 0U);
}

TEST_F(Stalls, ItDoesNotBlameAnybodyForWhatItMissesItself) {
  be(kB);
  for (int i = 0; i < 70; ++i) {
    wire::Token token = next();
    token.seq = 1;
    token.aru = 0;
    token.aru_index = 1;
    token.fcc = 0;
    visit(token);
    run(milliseconds(11));
  }
  EXPECT_EQ(counter("stalls"), 0U);
  EXPECT_EQ(counter("trials"), 0U);
}

TEST_F(Stalls, AMemberThatIsNotThereIsNotTried) {
  be(kB);
  hear(kA, unit(kA, 1));
  for (int i = 0; i < 70; ++i) {
    wire::Token token = next();
    token.seq = 1;
    token.aru = 0;
    token.aru_index = 3;
    token.fcc = 0;
    pass(token);
    run(milliseconds(11));
  }
  EXPECT_EQ(counter("stalls"), 0U);
  EXPECT_EQ(counter("trials"), 0U);
}

TEST_F(Stalls, TheTimeBeforeItDoesNotCount) {
  be(kB);
  for (int i = 0; i < 100; ++i) {
    wire::Token token = next();
    token.fcc = 0;
    visit(token);
    run(milliseconds(11));
  }
  go_round(80, milliseconds(1), kB);
  EXPECT_EQ(counter("stalls"), 0U);
}

TEST_F(Stalls, NorAreTwoWhoMissItInTurn) {
  be(kB);
  hear(kA, unit(kA, 1));
  for (std::uint16_t i = 0; i < 120; ++i) {
    wire::Token token = next();
    token.seq = 1;
    token.aru = 0;
    token.aru_index = i % 2 == 0 ? 2 : 0;
    token.fcc = 0;
    visit(token);
    run(milliseconds(11));
  }
  EXPECT_EQ(counter("stalls"), 0U);
}

TEST_F(Stalls, WhoMissesItTooLooksForWhoCannotSend) {
  be(kB);
  go_round(60, milliseconds(11), kC);
  EXPECT_EQ(counter("stalls"), 0U);
  EXPECT_GE(counter("trials"), 1U);
  for (const Sent& each : sent_) {
    if (each.kind != Kind::trial) continue;
    EXPECT_EQ(each.to, kA.node) << "who has the unit";
  }
}

// ---- a list of nodes on the token ----

class ListOnToken : public Visit {
 protected:
  void want(std::uint64_t hash) { engine_->set_nodes(now_, {hash, {{1}, {2}, {3}, {4}}}, *this); }
  wire::Token with(std::uint64_t list, std::uint16_t run) const {
    wire::Token token = next();
    token.list = list;
    token.list_run = run;
    token.fcc = 0;
    return token;
  }
};

TEST_F(ListOnToken, WhoWantsItWritesItAndCountsItself) {
  be(kB);
  want(9);
  const wire::Token token = visit(next());
  EXPECT_EQ(token.list, 9U);
  EXPECT_EQ(token.list_run, 1U);
  EXPECT_EQ(token.list_block, wire::kNoIndex);
}

TEST_F(ListOnToken, ItCountsOnWhatOthersWroteAndAdoptsItWhenAllKnow) {
  be(kB);
  want(9);
  EXPECT_EQ(visit(with(9, 1)).list_run, 2U);
  EXPECT_EQ(visit(with(9, 4)).list_run, 5U);
  EXPECT_EQ(counter("lists_adopted"), 0U);
  EXPECT_EQ(visit(with(9, 5)).list_run, 6U);
  EXPECT_EQ(counter("lists_adopted"), 1U);
  EXPECT_EQ(visit(with(9, 6)).list_run, 6U) << "it stays for those behind it";
  EXPECT_EQ(visit(with(9, 5)).list_run, 6U);
  EXPECT_EQ(visit(with(9, 0)).list_run, 0U) << "it is not the one to begin with it";
}

TEST_F(ListOnToken, WhoLacksItSaysSo) {
  be(kB);
  const wire::Token token = visit(with(9, 2));
  EXPECT_EQ(token.list, 9U);
  EXPECT_EQ(token.list_run, 0U);
  EXPECT_EQ(token.list_block, 1U);
  wire::Token none = with(0, 0);
  none.list_block = wire::kNoIndex;
  EXPECT_EQ(visit(none).list, 0U);
  EXPECT_EQ(next().list_block, wire::kNoIndex);
}

TEST_F(ListOnToken, AnotherOneWaitsUntilTheCountOfTheFirstIsBroken) {
  be(kB);
  want(9);
  wire::Token token = visit(with(8, 2));
  EXPECT_EQ(token.list, 8U);
  EXPECT_EQ(token.list_run, 0U);
  EXPECT_EQ(token.list_block, 1U);
  token = visit(with(8, 0));
  EXPECT_EQ(token.list, 9U) << "nobody counts on it any more";
  EXPECT_EQ(token.list_run, 1U);
}

TEST_F(ListOnToken, TheOneThatCountsGivesWayToTheNext) {
  be(kB);
  want(8);
  visit(with(8, 5));
  ASSERT_EQ(counter("lists_adopted"), 1U);
  want(9);
  wire::Token token = visit(with(8, 5));
  EXPECT_EQ(token.list, 8U) << "others may have to adopt it yet";
  EXPECT_EQ(token.list_run, 6U);
  token = visit(with(8, 6));
  EXPECT_EQ(token.list, 9U);
  EXPECT_EQ(token.list_run, 1U);
}

TEST_F(ListOnToken, ItIsAskedForIfItRests) {
  be(kB);
  settle();
  sent_.clear();
  want(9);
  EXPECT_EQ(count(Kind::hold_cancel), 1U);
  visit(next());
  settle();
  sent_.clear();
  work();
  EXPECT_EQ(count(Kind::hold_cancel), 0U) << "it has been here since";
  want(1);
  EXPECT_EQ(count(Kind::hold_cancel), 0U) << "a wish that is taken back needs no token";
}

}  // namespace
}  // namespace peal::order::test
