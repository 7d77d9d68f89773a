// SPDX-License-Identifier: Apache-2.0
// One node with several ensembles that merge in rotation; the test plays the ensembles. Tests when
// an ensemble skips turns, and how many turns it skips.
#include "ridge_ensembles_bench.h"

namespace peal::order::ridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Turns : public EnsemblesBench {
 protected:
  void rotate(std::uint32_t count = 2, std::uint32_t self = 1) {
    make({count, {}, Merging::rotation}, self);
    begin();
  }
  /// The place of the line, according to this node's clock.
  std::uint64_t line() const { return static_cast<std::uint64_t>(now_.ns / 20'000); }
  void pass_time(Duration span) {
    now_ = now_ + span;
    timer();
  }
  /// This node coordinates the ensemble, and has proposed nothing above the ensemble's key.
  void coordinate(std::size_t ensemble) { fakes_[ensemble]->tip = fakes_[ensemble]->at; }
};

TEST_F(Turns, AnEnsembleThatIsBehindSkipsToTheLineAtATick) {
  rotate();
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  EXPECT_THAT(fakes_[1]->passed, IsEmpty()) << "not before the tick";
  ASSERT_EQ(engine_->next_deadline(), now_ + milliseconds(1));
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line()));
  nothing(1, line());
  EXPECT_THAT(told(), ElementsAre("1:a"));
}

TEST_F(Turns, TicksAreAtWholeMillisecondsWheneverSomethingIsOrdered) {
  rotate();
  coordinate(1);
  now_ = now_ + microseconds(300);
  unit(0, 11, 2, 1, "a");
  EXPECT_EQ(engine_->next_deadline(), now_ + microseconds(700));
  now_ = now_ + microseconds(200);
  unit(0, 12, 2, 2, "b");
  EXPECT_EQ(engine_->next_deadline(), now_ + microseconds(500));
}

TEST_F(Turns, AsLongAsOneIsBehindThereAreTicksThoughAnotherHasComeThere) {
  rotate(3);
  coordinate(1);
  coordinate(2);
  unit(0, 11, 2, 1, "a");
  now_ = now_ + milliseconds(60);  // ensembles need not keep up with the line any more
  fakes_[2]->tip = fakes_[2]->at = 5'000'000;
  fakes_[1]->can_pass = false;
  timer();
  EXPECT_NE(engine_->next_deadline(), std::nullopt);
}

TEST_F(Turns, OneThatIsNotBehindSkipsNothingOnceAllRest) {
  rotate();
  coordinate(0);
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  fakes_[0]->tip = 11;
  pass_time(milliseconds(60));
  EXPECT_THAT(fakes_[0]->passed, IsEmpty()) << "it is ahead of the other one";
  EXPECT_EQ(fakes_[1]->passed.size(), 1U);
}

TEST_F(Turns, WhoDoesNotCoordinateSkipsNothing) {
  rotate();
  unit(0, 11, 2, 1, "a");
  EXPECT_EQ(engine_->next_deadline(), std::nullopt);
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
}

TEST_F(Turns, EnsemblesKeepUpWithTheLineForAWhileAndThenRest) {
  rotate();
  coordinate(0);
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  fakes_[0]->tip = 11;
  std::size_t ticks = 0;
  const Instant begun = now_;
  while (engine_->next_deadline() && ticks < 200) {
    now_ = std::max(now_, *engine_->next_deadline());
    timer();
    ++ticks;
    for (FakeEnsemble* fake : fakes_) fake->at = *fake->tip;
    in(0, [](Effects&) {});
  }
  EXPECT_GE(now_, begun + milliseconds(49));
  EXPECT_LE(now_, begun + milliseconds(52));
  EXPECT_GE(fakes_[0]->passed.size(), 45U);
  EXPECT_GE(fakes_[1]->passed.size(), 45U);
  EXPECT_THAT(told(), ElementsAre("1:a"));
}

TEST_F(Turns, TheNextSkipWaitsUntilTheLastIsDecided) {
  rotate();
  coordinate(0);
  fakes_[0]->tip = 11;
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  pass_time(milliseconds(1));
  ASSERT_EQ(fakes_[0]->passed.size(), 1U);
  pass_time(milliseconds(1));
  EXPECT_EQ(fakes_[0]->passed.size(), 1U) << "nothing of what it skipped to is decided";
  fakes_[0]->at = fakes_[0]->passed.back();
  pass_time(milliseconds(1));
  EXPECT_EQ(fakes_[0]->passed.size(), 2U);
}

TEST_F(Turns, OneThatCannotSkipNowSkipsOnceItCan) {
  rotate();
  coordinate(1);
  fakes_[1]->can_pass = false;
  unit(0, 11, 2, 1, "a");
  pass_time(milliseconds(1));
  const std::uint64_t there = line();
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
  EXPECT_NE(engine_->next_deadline(), Instant{}) << "there is nothing that it could do at once";
  fakes_[1]->can_pass = true;
  now_ = now_ + microseconds(100);
  in(1, [](Effects&) {});
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(there)) << "as far as the tick said";
}

TEST_F(Turns, OneThatIsAheadOfTheLineSkipsNothing) {
  rotate();
  coordinate(1);
  fakes_[1]->tip = line() + 1'000;
  fakes_[1]->at = line() + 1'000;
  unit(0, 11, 2, 1, "a");
  const std::size_t before = fakes_[1]->passed.size();
  pass_time(milliseconds(1));
  ASSERT_LE(fakes_[1]->passed.size(), before + 1);
  for (const std::uint64_t key : fakes_[1]->passed) EXPECT_GE(key, line() + 1'000 - 50);
}

// All coordinators use the same line: the highest place to which any of them has skipped.
TEST_F(Turns, TheLineIsWhereOthersSkippedTo) {
  rotate();
  coordinate(1);
  nothing(0, line() + 500);
  unit(0, line() + 501, 2, 1, "a");
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line() + 500));
}

TEST_F(Turns, WhereTheLineHasNotComeIsNoReasonToMoveIt) {
  rotate();
  coordinate(1);
  nothing(0, line());
  unit(0, line() + 40, 2, 1, "a");
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line()));
}

TEST_F(Turns, PlacesBeyondAllStampsDoNotMoveTheLine) {
  rotate();
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  nothing(0, wire::kStampMax + 1);
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line()));
}

TEST_F(Turns, NoPlaceIsBeyondAllStamps) {
  rotate();
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  nothing(0, wire::kStampMax);
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(wire::kStampMax));
}

// This node does not repeat skips from before its start.
TEST_F(Turns, TheLineHasBeenWhereThisNodeBegins) {
  rotate();
  coordinate(1);
  fakes_[0]->at = line() + 700;  // the key of a checkpoint
  in(0, [](Effects&) {});
  unit(0, line() + 702, 2, 1, "a");
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line() + 700));
}

TEST_F(Turns, WhoTakesOverSkipsByWhatIsOrderedFromThenOn) {
  rotate();
  coordinate(1);
  unit(0, 11, 2, 1, "a");
  fakes_[1]->can_pass = false;
  pass_time(milliseconds(1));
  fakes_[1]->tip.reset();  // another node coordinates for a while
  in(1, [](Effects&) {});
  fakes_[1]->can_pass = true;
  fakes_[1]->tip = 10;
  in(1, [](Effects&) {});
  EXPECT_THAT(fakes_[1]->passed, IsEmpty()) << "not before the next tick";
  pass_time(milliseconds(1));
  EXPECT_THAT(fakes_[1]->passed, ElementsAre(line()));
}

TEST_F(Turns, NobodyIsAskedToPass) {
  rotate();
  in(1, [this](Effects&) { fakes_[1]->merger.on_pass_wanted(line() + 5'000); });
  EXPECT_THAT(fakes_[1]->passed, IsEmpty());
  fakes_[1]->is_idle = true;
  unit(0, 11, 2, 1, "a");
  EXPECT_THAT(fakes_[1]->passed, IsEmpty()) << "an ensemble that rests keeps its turns";
}

TEST_F(Turns, EachSenderHasAnEnsemble) {
  rotate(2, 1);
  queue_ = {{0, "a"}, {0, "b"}};
  work();
  EXPECT_THAT(taken(0), ElementsAre("1:a", "2:b"));
  EXPECT_THAT(taken(1), IsEmpty());
  EXPECT_EQ(placing(fakes_[0]->taken[0]).stamp, 0U)
      << "it takes the next place, whatever time it is";
  rotate(2, 2);
  queue_ = {{0, "a"}};
  work();
  EXPECT_THAT(taken(0), IsEmpty());
  EXPECT_THAT(taken(1), ElementsAre("1:a"));
  rotate(2, 3);
  queue_ = {{0, "a"}};
  work();
  EXPECT_THAT(taken(0), ElementsAre("1:a")) << "they are shared out in turn";
}

TEST_F(Turns, ASenderWhoseEnsembleHasNoViewUsesTheNext) {
  rotate(3, 2);
  fakes_[1]->is_joined = false;
  queue_ = {{0, "a"}};
  work();
  EXPECT_THAT(taken(2), ElementsAre("1:a"));
  fakes_[2]->is_joined = false;
  queue_ = {{0, "b"}};
  work();
  EXPECT_THAT(taken(0), ElementsAre("2:b"));
}

}  // namespace
}  // namespace peal::order::ridge::test
