// SPDX-License-Identifier: Apache-2.0
// The promises and votes of an acceptor, and the records that must be durable before it sends them.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "order/paxos/acceptor.h"
#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;

class PaxosAcceptor : public testing::Test {
 protected:
  static constexpr std::uint64_t kKeptBytes = 1U << 16;

  PaxosAcceptor() {
    wire::Checkpoint beginning;
    beginning.next = 1;
    beginning.nodes = first_nodes();
    state_ = OrderState(beginning);
    store_.begin(1);
    begin();
  }

  void begin() {
    acceptor_.emplace(disk_);
    Store read(kSlots, 100'000);
    OrderState known;
    kept_ = KeptWords(kept_bytes_);
    fine_ = acceptor_->replay(pool_, read, kept_, known);
    if (known.known()) state_ = known;
    if (fine_) store_ = std::move(read);
  }
  void restart() {
    disk_.crash();
    begin();
  }
  void hear(const Round& round, Instance instance, std::string_view text) {
    Slot* slot = store_.make(instance);
    ASSERT_NE(slot, nullptr);
    const Bytes bytes = bytes_of(text);
    slot->heard_round = round;
    slot->heard.head = unit_head(kOne, instance);
    slot->heard.bytes = pool_.take(0, static_cast<std::uint32_t>(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), slot->heard.bytes.data());
  }
  /// Writes the first checkpoint of an order.
  void begin_order() {
    ASSERT_TRUE(acceptor_->checkpoint(state_, 1, kept_));
    disk_.sync();
  }
  /// Votes for instances 1 to `last`; the votes become durable.
  void vote_upto(const Round& round, Instance last) {
    ASSERT_TRUE(acceptor_->accept(round, 1));
    for (Instance k = 1; k <= last; ++k) hear(round, k, "text");
    acceptor_->vote(store_);
    disk_.sync();
    acceptor_->on_durable();
    ASSERT_EQ(acceptor_->voted_upto(), last);
  }

  BufferPool pool_{1'024, 256};
  MemoryLog disk_;
  static constexpr std::uint32_t kSlots = 32;
  Store store_{kSlots, 100'000};
  OrderState state_;
  std::uint64_t kept_bytes_ = kKeptBytes;
  KeptWords kept_{kKeptBytes};
  std::optional<Acceptor> acceptor_;
  bool fine_ = false;
  const Round first_{1, kOne};
  const Round second_{2, kTwo};
};

TEST_F(PaxosAcceptor, APromiseIsNoneBeforeItIsOnDisk) {
  EXPECT_TRUE(acceptor_->prepare(second_));
  EXPECT_FALSE(acceptor_->is_promised(second_));
  {
    const WithMutant active(Mutant::px_promise_before_disk);
    EXPECT_TRUE(acceptor_->is_promised(second_)) << "the mutant would be noticed";
  }
  disk_.sync();
  EXPECT_TRUE(acceptor_->is_promised(second_));
  EXPECT_FALSE(acceptor_->is_promised(first_));
  EXPECT_FALSE(acceptor_->prepare(first_));
}

TEST_F(PaxosAcceptor, APromiseIsKeptByThoseWhoComeAfter) {
  begin_order();
  ASSERT_TRUE(acceptor_->prepare(second_));
  disk_.sync();
  restart();
  EXPECT_EQ(acceptor_->promised(), second_);
  EXPECT_FALSE(acceptor_->prepare(first_));
  EXPECT_FALSE(acceptor_->accept(first_, 1));
  EXPECT_TRUE(acceptor_->prepare(second_)) << "and given again if it is asked for again";
  disk_.sync();
  EXPECT_TRUE(acceptor_->is_promised(second_));
}

TEST_F(PaxosAcceptor, WhatWasNotOnDiskWasNeverPromised) {
  ASSERT_TRUE(acceptor_->prepare(second_));
  restart();
  EXPECT_EQ(acceptor_->promised(), Round{});
  EXPECT_TRUE(acceptor_->prepare(first_));
}

TEST_F(PaxosAcceptor, AVoteIsNoneBeforeItIsOnDisk) {
  ASSERT_TRUE(acceptor_->accept(first_, 1));
  hear(first_, 1, "a");
  hear(first_, 2, "b");
  EXPECT_EQ(acceptor_->vote(store_), 2U);
  EXPECT_EQ(acceptor_->voted_upto(), 0U);
  {
    const WithMutant active(Mutant::px_vote_before_disk);
    EXPECT_EQ(acceptor_->voted_upto(), 2U) << "the mutant would be noticed";
  }
  disk_.sync();
  EXPECT_EQ(acceptor_->voted_upto(), 0U) << "nobody was told";
  EXPECT_TRUE(acceptor_->on_durable());
  EXPECT_EQ(acceptor_->voted_upto(), 2U);
}

TEST_F(PaxosAcceptor, VotesAreGivenInOrder) {
  ASSERT_TRUE(acceptor_->accept(first_, 1));
  hear(first_, 2, "b");
  EXPECT_EQ(acceptor_->vote(store_), 0U);
  hear(first_, 1, "a");
  EXPECT_EQ(acceptor_->vote(store_), 2U);
}

// Instances that a coordinator reports as decided need no votes.
TEST_F(PaxosAcceptor, VotesGoOnBehindWhatTheRoundHasDecided) {
  ASSERT_TRUE(acceptor_->accept(first_, 1));
  hear(first_, 5, "e");
  EXPECT_EQ(acceptor_->vote(store_), 0U);
  ASSERT_TRUE(acceptor_->accept(first_, 5));
  EXPECT_EQ(acceptor_->vote(store_), 1U);
  hear(first_, 6, "f");
  ASSERT_TRUE(acceptor_->accept(first_, 2)) << "that came late";
  EXPECT_EQ(acceptor_->vote(store_), 1U);
  disk_.sync();
  acceptor_->on_durable();
  EXPECT_EQ(acceptor_->voted_upto(), 6U);
}

// E3 (erratum of the paper): a vote in a round is also a promise for this round.
TEST_F(PaxosAcceptor, AVoteRaisesThePromise) {
  begin_order();
  ASSERT_TRUE(acceptor_->accept(second_, 1));
  hear(second_, 1, "a");
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  EXPECT_FALSE(acceptor_->prepare(first_));
  EXPECT_FALSE(acceptor_->accept(first_, 1));
  disk_.sync();
  restart();
  EXPECT_FALSE(acceptor_->prepare(first_));
  EXPECT_FALSE(acceptor_->accept(first_, 1));
}

TEST_F(PaxosAcceptor, MutantsOfPromisesAreNoticed) {
  ASSERT_TRUE(acceptor_->prepare(second_));
  {
    const WithMutant active(Mutant::px_old_round_accepted);
    EXPECT_TRUE(acceptor_->accept(first_, 1));
  }
  const WithMutant active(Mutant::px_vote_without_promise);
  ASSERT_TRUE(acceptor_->accept({3, kThree}, 1));
  EXPECT_EQ(acceptor_->promised(), second_);
}

TEST_F(PaxosAcceptor, VotesAreReadBack) {
  begin_order();
  vote_upto(first_, 3);
  restart();
  ASSERT_TRUE(fine_);
  for (Instance k = 1; k <= 3; ++k) {
    const Slot* slot = store_.find(k);
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->vote_round, first_);
    EXPECT_EQ(as_text(slot->vote.bytes.view()), "text");
    EXPECT_FALSE(slot->decided) << "a vote is no decision";
  }
}

TEST_F(PaxosAcceptor, AVoteIsReadBackIfABufferHoldsIt) {
  begin_order();
  const std::size_t most = pool_.slab_bytes() - wire::kDataHeaderBytes;
  ASSERT_TRUE(acceptor_->accept(first_, 1));
  hear(first_, 1, std::string(most, 'x'));
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  disk_.sync();
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_EQ(store_.find(1)->vote.bytes.size(), most);
  // The next record is from a release with larger packets.
  ASSERT_TRUE(acceptor_->note_decided(2, unit_head(kOne, 2), Bytes(most + 1)));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

TEST_F(PaxosAcceptor, ALogWithMoreVotesThanThereAreSlotsOrBuffersIsRefused) {
  begin_order();
  vote_upto(first_, 2);
  store_.begin(1);
  std::vector<BufferRef> taken;
  while (pool_.free_count() > 1) taken.push_back(pool_.take());
  restart();
  EXPECT_FALSE(fine_) << "there is a buffer for one of them";
  taken.clear();
  restart();
  ASSERT_TRUE(fine_);
  const std::uint64_t most = kSlots;
  ASSERT_TRUE(acceptor_->note_decided(most, unit_head(kOne, most), {}));
  disk_.sync();
  restart();
  EXPECT_TRUE(fine_);
  ASSERT_TRUE(acceptor_->note_decided(most + 1, unit_head(kOne, most + 1), {}));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

TEST_F(PaxosAcceptor, WordsBeforeTheCheckpointThatSaysInWhichOrderAreRefused) {
  vote_upto(first_, 3);
  restart();
  EXPECT_FALSE(fine_);
}

TEST_F(PaxosAcceptor, APromiseInNoOrderIsRefused) {
  ASSERT_TRUE(acceptor_->prepare(first_));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

// The checkpoint of an order comes before records of decided values. Otherwise a crash could leave
// such records without the checkpoint, and then each later start would refuse the log.
TEST_F(PaxosAcceptor, NothingIsNotedBeforeTheCheckpointThatSaysInWhichOrder) {
  EXPECT_FALSE(acceptor_->note_decided(1, unit_head(kOne, 1), bytes_of("decided")));
  disk_.sync();
  restart();
  EXPECT_TRUE(fine_);
  begin_order();
  EXPECT_TRUE(acceptor_->note_decided(1, unit_head(kOne, 1), bytes_of("decided")));
  disk_.sync();
  restart();
  EXPECT_TRUE(fine_);
  EXPECT_TRUE(acceptor_->note_decided(2, unit_head(kOne, 2), bytes_of("decided")));
}

TEST_F(PaxosAcceptor, ANoteBeforeThatCheckpointIsNoticed) {
  const WithMutant active(Mutant::px_noted_before_order);
  ASSERT_TRUE(acceptor_->note_decided(1, unit_head(kOne, 1), bytes_of("decided")));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

TEST_F(PaxosAcceptor, WhomItTakesIsReadBack) {
  const wire::Lives lives{1, {kLog, kLog + 1, kLog + 2}};
  EXPECT_FALSE(acceptor_->is_taken()) << "it takes nobody yet";
  ASSERT_TRUE(acceptor_->take({1, {1, 2, 3}}, {kOne, kTwo, kThree}));
  ASSERT_TRUE(acceptor_->take(lives, {kOne, kTwo, kThree}));
  EXPECT_FALSE(acceptor_->is_taken()) << "nobody is told before it is on disk";
  disk_.sync();
  EXPECT_TRUE(acceptor_->is_taken());
  restart();
  EXPECT_EQ(acceptor_->taken(), lives);
  EXPECT_EQ(acceptor_->taken_heard(), (std::vector<MemberId>{kOne, kTwo, kThree}));
  EXPECT_TRUE(acceptor_->is_taken());
}

TEST_F(PaxosAcceptor, OfTwoVotesTheOneInTheHigherRoundIsReadBack) {
  begin_order();
  vote_upto(first_, 1);
  ASSERT_TRUE(acceptor_->accept(second_, 1));
  hear(second_, 1, "other");
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  disk_.sync();
  restart();
  EXPECT_EQ(store_.find(1)->vote_round, second_);
  EXPECT_EQ(as_text(store_.find(1)->vote.bytes.view()), "other");
}

TEST_F(PaxosAcceptor, WhatWasDecidedCountsOverVotes) {
  begin_order();
  vote_upto(first_, 1);
  const Bytes other = bytes_of("other");
  ASSERT_TRUE(acceptor_->note_decided(1, unit_head(kTwo, 1), other));
  disk_.sync();
  restart();
  ASSERT_TRUE(store_.decided(1));
  EXPECT_EQ(as_text(store_.decided(1)->bytes), "other");
  EXPECT_EQ(store_.find(1)->vote_round, first_) << "and the vote is still known";
}

TEST_F(PaxosAcceptor, ACheckpointLetsGoOfWhatNobodyNeeds) {
  vote_upto(first_, 5);
  for (Instance k = 1; k <= 5; ++k) {
    store_.find(k)->decided = true;
    store_.consume();
    state_.apply(unit_head(kOne, k), {});
  }
  const std::size_t before = disk_.kept();
  acceptor_->checkpoint(state_, 6, kept_);  // the next checkpoint drops the records before this one
  hear(first_, 6, "text");
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  acceptor_->checkpoint(state_, 6, kept_);
  disk_.sync();
  EXPECT_LT(disk_.kept(), before);
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_EQ(state_.next(), 6U);
  EXPECT_EQ(acceptor_->promised(), first_) << "the promise is in the checkpoint";
  EXPECT_EQ(store_.next(), 6U);
  ASSERT_NE(store_.find(6), nullptr);
  EXPECT_EQ(store_.find(6)->vote_round, first_) << "what is not consumed is kept";
}

// Between two checkpoints the log has votes in several rounds, decided values that differ from the
// votes, and votes for instances that are not consumed. A restart builds the history and the slots
// from the last record of each instance.
TEST_F(PaxosAcceptor, TheHistoryIsReadBackFromCheckpointToCheckpoint) {
  const auto consume = [this](Instance upto) {
    for (; store_.next() <= upto; store_.consume()) {
      state_.apply(unit_head(kOne, store_.next()), {});
      store_.find(store_.next())->decided = true;
    }
  };
  begin_order();
  vote_upto(first_, 4);
  ASSERT_TRUE(acceptor_->note_decided(2, unit_head(kOne, 2), bytes_of("decided")));
  consume(2);
  ASSERT_TRUE(acceptor_->checkpoint(state_, 1, kept_));
  ASSERT_TRUE(acceptor_->accept(second_, 3));
  for (Instance k = 3; k <= 6; ++k) hear(second_, k, "second " + std::to_string(k));
  ASSERT_EQ(acceptor_->vote(store_), 4U);
  consume(5);
  ASSERT_TRUE(acceptor_->checkpoint(state_, 1, kept_));
  disk_.sync();
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_EQ(state_.next(), 6U);
  EXPECT_EQ(store_.oldest(), 1U);
  EXPECT_EQ(store_.end(), 7U) << "and one vote is not consumed";
  const std::vector<std::string> texts{"text", "decided", "second 3", "second 4", "second 5"};
  for (Instance k = 1; k <= 5; ++k) {
    ASSERT_TRUE(store_.decided(k)) << k;
    EXPECT_EQ(as_text(store_.decided(k)->bytes), texts[k - 1]);
    EXPECT_EQ(store_.decided(k)->head, unit_head(kOne, k));
  }
  EXPECT_FALSE(store_.decided(6));
  EXPECT_EQ(as_text(store_.find(6)->vote.bytes.view()), "second 6");
}

// A node that skipped instances may have votes in its log for values that were not decided.
TEST_F(PaxosAcceptor, WhatWasSkippedIsNoHistory) {
  vote_upto(first_, 4);
  for (Instance k = 1; k <= 2; ++k) {
    store_.find(k)->decided = true;
    store_.consume();
    state_.apply(unit_head(kOne, k), {});
  }
  ASSERT_TRUE(acceptor_->checkpoint(state_, 1, kept_));
  wire::Checkpoint later = state_.checkpoint();
  later.next = 10;
  state_ = OrderState(later);
  store_.skip_to(10);
  ASSERT_TRUE(acceptor_->checkpoint(state_, 10, kept_));
  hear(first_, 10, "ten");
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  disk_.sync();
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_EQ(store_.next(), 10U);
  EXPECT_EQ(store_.oldest(), 10U);
  ASSERT_NE(store_.find(10), nullptr);
  EXPECT_EQ(as_text(store_.find(10)->vote.bytes.view()), "ten");
  // Now no instance is skipped. The checkpoint says that the log is complete from instance 11 on.
  state_.apply(unit_head(kOne, 10), {});
  store_.find(10)->decided = true;
  store_.consume();
  ASSERT_TRUE(acceptor_->checkpoint(state_, 11, kept_));
  disk_.sync();
  restart();
  EXPECT_EQ(store_.next(), 11U);
  EXPECT_EQ(store_.oldest(), 11U);
}

/// An acceptor that voted for instances 1 to 4, consumed 1 and 2, and then skips to a later
/// instance. Its words (KeptWords) are its votes for skipped instances.
class PaxosAcceptorSkips : public PaxosAcceptor {
 protected:
  void skip_to(Instance next) {
    begin_order();
    vote_upto(first_, 4);
    ASSERT_TRUE(acceptor_->note_decided(2, unit_head(kOne, 2), bytes_of("decided")));
    for (Instance k = 1; k <= 2; ++k) {
      store_.find(k)->decided = true;
      store_.consume();
      state_.apply(unit_head(kOne, k), {});
    }
    kept_.keep(1, next, store_);
    wire::Checkpoint later = state_.checkpoint();
    later.next = next;
    state_ = OrderState(later);
    store_.skip_to(next);
    ASSERT_TRUE(acceptor_->checkpoint(state_, next, kept_));
  }
  /// Votes for `count` more instances and consumes them. Checkpoints drop the earlier records.
  void go_on(Instance count) {
    ASSERT_TRUE(acceptor_->accept(first_, store_.next()));
    for (Instance k = store_.next(); count > 0; ++k, --count) {
      hear(first_, k, "later");
      ASSERT_EQ(acceptor_->vote(store_), 1U);
      store_.find(k)->decided = true;
      store_.consume();
      state_.apply(unit_head(kOne, k), {});
      ASSERT_TRUE(acceptor_->checkpoint(state_, store_.next(), kept_));
      disk_.sync();
    }
  }
  void expect_words() const {
    for (Instance k = 1; k <= 4; ++k) {
      const auto word = kept_.find(k);
      ASSERT_TRUE(word) << k;
      EXPECT_EQ(word->decided, k <= 2) << k;
      EXPECT_EQ(word->round, k <= 2 ? Round{} : first_) << k;
      EXPECT_EQ(word->head, unit_head(kOne, k)) << k;
      EXPECT_EQ(as_text(word->bytes), "text") << k;
    }
    const auto none = kept_.find(5);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->decided);
    EXPECT_EQ(none->round, Round{}) << "it says that it did not vote";
    EXPECT_FALSE(kept_.find(10)) << "it has let go of nothing there";
  }
};

TEST_F(PaxosAcceptorSkips, ItsWordsSurviveARestart) {
  skip_to(10);
  expect_words();
  disk_.sync();
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_EQ(store_.next(), 10U);
  expect_words();
}

TEST_F(PaxosAcceptorSkips, ItsWordsAreWrittenOnceWhileTheLogHoldsThem) {
  skip_to(10);
  disk_.sync();
  go_on(1);
  // The first checkpoint below starts the log after the words, so it writes the words again.
  const auto written = [this](Instance oldest) {
    const std::uint64_t before = disk_.last().value;
    EXPECT_TRUE(acceptor_->checkpoint(state_, oldest, kept_));
    disk_.sync();
    return disk_.last().value - before;
  };
  EXPECT_EQ(written(11), 5U) << "four words, and the checkpoint";
  EXPECT_EQ(written(10), 1U) << "the log begins with the words, and keeps them";
  hear(first_, 11, "later");
  ASSERT_EQ(acceptor_->vote(store_), 1U);
  EXPECT_EQ(written(10), 1U);
  restart();
  ASSERT_TRUE(fine_);
  expect_words();
}

TEST_F(PaxosAcceptorSkips, ACheckpointThatFailsCostsNoWord) {
  skip_to(10);
  disk_.sync();
  for (int i = 0; i < 5; ++i) {
    go_on(1);
    disk_.set_checkpoints_full(true);
    ASSERT_FALSE(acceptor_->checkpoint(state_, store_.next(), kept_));
    disk_.set_checkpoints_full(false);
    ASSERT_TRUE(acceptor_->checkpoint(state_, store_.next(), kept_));
    disk_.sync();
    restart();
    ASSERT_TRUE(fine_);
    expect_words();
  }
}

// The log takes only one record between two commits, so the words are written one by one.
TEST_F(PaxosAcceptorSkips, ItsWordsAreWrittenBitByBit) {
  skip_to(10);
  disk_.sync();
  for (int i = 0; i < 5; ++i) {
    go_on(1);
    disk_.set_room(1);
    int attempts = 1;
    hear(first_, store_.next(), "uncommitted");
    while (!acceptor_->checkpoint(state_, store_.next(), kept_)) {
      ASSERT_LT(++attempts, 10);
      disk_.sync();
      disk_.set_room(1);
    }
    disk_.set_room(1'000);
    disk_.sync();
    restart();
    ASSERT_TRUE(fine_);
    expect_words();
  }
}

TEST_F(PaxosAcceptorSkips, WordsForWhichThereIsNoRoomAnyMoreAreNoWords) {
  skip_to(10);
  disk_.sync();
  go_on(1);
  kept_bytes_ = 100;
  for (int again = 0; again < 3; ++again) {
    restart();
    ASSERT_TRUE(fine_);
    for (Instance k = 1; k < 10; ++k) EXPECT_FALSE(kept_.find(k)) << k << ", it would say no vote";
    go_on(1);
  }
}

TEST_F(PaxosAcceptorSkips, ItsWordsAreWrittenAgainBeforeTheLogLetsGoOfThem) {
  skip_to(10);
  disk_.sync();
  const std::size_t before = disk_.kept();
  go_on(20);
  EXPECT_LT(disk_.kept(), before + 10) << "the log lets go of what lies before";
  expect_words();
  for (int again = 0; again < 2; ++again) {
    restart();
    ASSERT_TRUE(fine_);
    expect_words();
    go_on(3);
  }
}

TEST_F(PaxosAcceptorSkips, WhatIsNotNeededAnyMoreIsGoneFromTheLogToo) {
  skip_to(10);
  kept_ = KeptWords(kKeptBytes);
  go_on(1);
  restart();
  ASSERT_TRUE(fine_);
  EXPECT_FALSE(kept_.find(3));
}

TEST_F(PaxosAcceptorSkips, AFullLogCostsTheWordsAndNoCheckpoint) {
  skip_to(10);
  go_on(1);
  disk_.sync();
  disk_.set_full(true);
  disk_.set_checkpoints_full(false);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(acceptor_->checkpoint(state_, store_.next(), kept_));
}

TEST_F(PaxosAcceptor, ALogThatTakesBackWhatWasConsumedIsRefused) {
  vote_upto(first_, 4);
  wire::Checkpoint later = state_.checkpoint();
  later.next = 4;
  ASSERT_TRUE(acceptor_->checkpoint(OrderState(later), 1, kept_));
  later.next = 3;
  ASSERT_TRUE(acceptor_->checkpoint(OrderState(later), 1, kept_));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

TEST_F(PaxosAcceptor, AFullLogMakesItWait) {
  ASSERT_TRUE(acceptor_->accept(first_, 1));
  hear(first_, 1, "a");
  disk_.set_full(true);
  EXPECT_EQ(acceptor_->vote(store_), 0U);
  EXPECT_TRUE(acceptor_->blocked());
  EXPECT_EQ(acceptor_->voted_upto(), 0U);
  EXPECT_TRUE(acceptor_->prepare(second_)) << "and of a promise nothing is said";
  EXPECT_FALSE(acceptor_->is_promised(second_));
  disk_.sync();
  EXPECT_FALSE(acceptor_->is_promised(second_));
  EXPECT_FALSE(acceptor_->note_decided(1, unit_head(kOne, 1), {}));
  disk_.set_full(false);
  EXPECT_TRUE(acceptor_->prepare(second_));
  disk_.sync();
  EXPECT_TRUE(acceptor_->is_promised(second_));
}

// the content of a failed disk is unknown, so the acceptor sends nothing any more.
TEST_F(PaxosAcceptor, AfterItsDiskFailedItIsMute) {
  ASSERT_TRUE(acceptor_->prepare(second_));
  disk_.sync();
  ASSERT_TRUE(acceptor_->prepare({3, kTwo}));
  EXPECT_TRUE(acceptor_->promise_under_way());
  disk_.fail();
  EXPECT_FALSE(acceptor_->promise_under_way()) << "it never gets there";
  EXPECT_TRUE(acceptor_->mute());
  EXPECT_FALSE(acceptor_->is_promised(second_));
  EXPECT_FALSE(acceptor_->is_promised({3, kTwo}));
  EXPECT_FALSE(acceptor_->prepare({4, kOne}));
  EXPECT_FALSE(acceptor_->accept({4, kOne}, 1));
  EXPECT_FALSE(acceptor_->note_decided(1, unit_head(kOne, 1), {}));
  EXPECT_FALSE(acceptor_->take({1, {kLog}}, {kOne}));
  EXPECT_FALSE(acceptor_->checkpoint(state_, 1, kept_));
  EXPECT_EQ(acceptor_->vote(store_), 0U);
}

TEST_F(PaxosAcceptor, AfterItsDiskFailedItsPromisesAreNoneAnyMore) {
  ASSERT_TRUE(acceptor_->prepare(second_));
  disk_.sync();
  ASSERT_TRUE(acceptor_->is_promised(second_));
  disk_.fail();
  EXPECT_FALSE(acceptor_->is_promised(second_));
}

TEST_F(PaxosAcceptor, ALogOfAnotherReleaseIsRefused) {
  const Bytes strange = bytes_of("\x09 strange");
  ASSERT_TRUE(disk_.append(strange));
  disk_.sync();
  restart();
  EXPECT_FALSE(fine_);
}

// A packet for each vote would use a tenth of the bandwidth that the values use.
TEST(PaxosVotes, ThatFollowEachOtherCloselyAreToldTogether) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  three.run(milliseconds(1));
  const std::uint64_t before = three.count(wire::PaxosKind::state);
  for (Instance instance = 2; instance <= 6; ++instance) {
    three.propose(kOne, 1, instance, unit_head(kTwo, instance - 1), "a", 1);
    three.sync();
  }
  EXPECT_EQ(three.count(wire::PaxosKind::state), before + 1) << "the first one at once";
  three.run(microseconds(50));
  EXPECT_EQ(three.count(wire::PaxosKind::state), before + 2);
  EXPECT_EQ(three.last_state().voted_upto, 6U);
}

}  // namespace
}  // namespace peal::order::paxos::test
