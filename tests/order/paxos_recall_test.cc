// SPDX-License-Identifier: Apache-2.0
// Decided values that a node derives from acceptors' votes, and the votes that acceptors keep for
// this purpose.
#include <gtest/gtest.h>

#include <vector>

#include "order/paxos/kept_words.h"
#include "order/paxos/recall.h"
#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;

constexpr Round kLow{1, kOne};
constexpr Round kHigh{2, kTwo};
constexpr std::size_t kMajority = 2;

Value value(std::uint64_t number) { return {unit_head(kOne, number), {}}; }

class PaxosRecall : public testing::Test {
 protected:
  std::uint64_t decided_number(Instance instance) const {
    const auto found = recall_.decided(instance, kMajority);
    return found ? found->head.number : 0;
  }

  Recall recall_;
};

TEST_F(PaxosRecall, TakesTheVoteOfTheHighestRound) {
  recall_.note(kTwo.node, 5, kHigh, value(2));
  EXPECT_EQ(decided_number(5), 0U) << "one acceptor is no majority";
  recall_.note(kThree.node, 5, kLow, value(1));
  EXPECT_EQ(decided_number(5), 2U);
  EXPECT_EQ(decided_number(6), 0U);
}

TEST_F(PaxosRecall, CountsEachAcceptorOnce) {
  recall_.note(kTwo.node, 5, kHigh, value(2));
  recall_.note(kTwo.node, 5, kHigh, value(2));
  EXPECT_EQ(decided_number(5), 0U);
  const WithMutant active(Mutant::px_few_words_count);
  EXPECT_EQ(decided_number(5), 2U) << "the mutant would be noticed";
}

TEST_F(PaxosRecall, CountsWhoDidNotVote) {
  recall_.note(kTwo.node, 5, {}, {});
  EXPECT_EQ(decided_number(5), 0U);
  recall_.note(kThree.node, 5, kLow, value(1));
  EXPECT_EQ(decided_number(5), 1U);
}

TEST_F(PaxosRecall, TwoThatDidNotVoteSayNothing) {
  recall_.note(kTwo.node, 5, {}, {});
  recall_.note(kThree.node, 5, {}, {});
  EXPECT_FALSE(recall_.decided(5, kMajority)) << "the one that voted has not answered";
}

TEST_F(PaxosRecall, ForgetsWhatIsConsumedAndWhatOthersVoteFor) {
  for (Instance k = 5; k <= 6; ++k) {
    recall_.note(kTwo.node, k, kHigh, value(k));
    recall_.note(kThree.node, k, kHigh, value(k));
  }
  recall_.forget_below(6);
  EXPECT_EQ(decided_number(5), 0U);
  EXPECT_EQ(decided_number(6), 6U);
  recall_.clear();
  EXPECT_EQ(decided_number(6), 0U) << "others vote now, so they are to be asked";
}

// ---- votes that are kept ----

constexpr std::uint32_t kValueBytes = 100;

class PaxosKeptWords : public testing::Test {
 protected:
  PaxosKeptWords() { store_.begin(1); }

  /// Instances 1 to 3 are consumed. Of instances 4 to 6, only instance 5 has a vote.
  void fill() {
    while (store_.next() <= 3) {
      put(store_, pool_, store_.next(), kValueBytes);
      store_.consume();
    }
    for (Instance k = 4; k <= 6; ++k) put(store_, pool_, k, kValueBytes);
    for (Instance k = 4; k <= 6; ++k) store_.find(k)->decided = false;
    Slot* slot = store_.find(5);
    slot->vote_round = kHigh;
    slot->vote = slot->heard;
  }

  BufferPool pool_{1'024, 16};
  Store store_{8, 10 * kValueBytes};
};

TEST_F(PaxosKeptWords, SaysWhatTheStoreKnew) {
  fill();
  KeptWords kept(1U << 16);
  kept.keep(1, 8, store_);
  store_.skip_to(8);
  for (Instance k = 1; k < 8; ++k) {
    const auto word = kept.find(k);
    ASSERT_TRUE(word) << k;
    EXPECT_EQ(word->decided, k <= 3) << k;
    EXPECT_EQ(word->round, k == 5 ? kHigh : Round{}) << k;
    if (k <= 3 || k == 5) {
      EXPECT_EQ(word->head.number, k);
      EXPECT_EQ(word->bytes.size(), kValueBytes);
    }
  }
  EXPECT_FALSE(kept.find(8));
}

TEST_F(PaxosKeptWords, AForgottenVoteWouldBeTakenForNone) {
  fill();
  KeptWords kept(1U << 16);
  {
    const WithMutant active(Mutant::px_skip_forgets);
    kept.keep(1, 8, store_);
  }
  ASSERT_TRUE(kept.find(5));
  EXPECT_EQ(kept.find(5)->round, Round{}) << "the mutant would be noticed";
}

TEST_F(PaxosKeptWords, WhatIsTooMuchIsNotKeptAndSaysNothing) {
  fill();
  KeptWords kept(2 * (kValueBytes + sizeof(KeptWords::Kept)));
  kept.keep(1, 8, store_);
  for (Instance k = 1; k < 8; ++k) EXPECT_EQ(kept.find(k).has_value(), k <= 2) << k;
}

TEST_F(PaxosKeptWords, TheOldestMakesRoom) {
  KeptWords kept(1U << 16);
  for (Instance first = 1; first <= KeptWords::kRangesMax + 1; ++first) {
    kept.keep(first, first + 1, store_);
    store_.skip_to(first + 1);
  }
  EXPECT_FALSE(kept.find(1));
  EXPECT_TRUE(kept.find(2));
  EXPECT_EQ(kept.ranges().size(), KeptWords::kRangesMax);
}

TEST_F(PaxosKeptWords, IsKeptUntilAllNodesArePastIt) {
  fill();
  KeptWords kept(1U << 16);
  kept.keep(1, 8, store_);
  Peers peers = three_peers();
  peers.start(Instant{});
  const auto says = [&peers](const MemberId& member, Instance next) {
    peers.note(Instant{}, *peers.find(member.node), member);
    wire::State state;
    state.next = next;
    peers.note_state(*peers.find(member.node), state);
    return &peers;
  };
  kept.look(*says(kTwo, 8));
  EXPECT_TRUE(kept.find(5)) << "the third one was not heard yet";
  kept.look(*says(kThree, 7));
  EXPECT_TRUE(kept.find(5));
  kept.look(*says(kThree, 8));
  EXPECT_FALSE(kept.find(5));
}

// ---- the engine ----

constexpr Instance kLacked = 2;  ///< the instance after the view of all three nodes

/// Node 1 is a member, and voted for instance 2 in the first round. Node 2 reports that instance 2
/// and some later instances are decided, but its history begins after them.
class PaxosEngineRecalls : public testing::Test {
 protected:
  PaxosEngineRecalls() {
    one_.start();
    first_ = one_.join(kThree);
    one_.propose(kThree, first_.count, kLacked, unit_head(kThree, 1), "first");
    one_.sync();
    hear(milliseconds(80));
  }

  void hear(Duration span) {
    wire::State there;
    there.first_list = first_nodes().first;
    there.voted_round = there.round = first_;
    there.voted_upto = 1;
    there.next = there.oldest = kLacked + 4;
    for (Duration past{}; past < span; past = past + milliseconds(10)) {
      one_.state(kTwo, there);
      one_.run(milliseconds(10));
    }
  }

  Bench one_{kOne};
  Round first_{};
  const Round second_{2, kTwo};
};

TEST_F(PaxosEngineRecalls, AsksAcceptorsForWhatNobodyHas) {
  ASSERT_NE(one_.last(wire::PaxosKind::recall), nullptr);
  wire::Recall asked;
  ASSERT_EQ(wire::decode_recall(one_.last(wire::PaxosKind::recall)->bytes, asked),
            wire::Drop::none);
  EXPECT_EQ(asked.first, kLacked);
  EXPECT_EQ(asked.count, 4U) << "all that is known to be decided";
}

TEST_F(PaxosEngineRecalls, GoesByTheVoteOfTheHighestRound) {
  EXPECT_EQ(one_.told(), "view 1 123") << "its own vote is not enough";
  one_.word(kTwo, second_, kLacked, unit_head(kTwo, 1), "second");
  EXPECT_EQ(one_.told(), "view 1 123, 1:second");
}

TEST_F(PaxosEngineRecalls, GoesByItsOwnVoteIfAnotherDidNotVote) {
  one_.word(kTwo, {}, kLacked, {}, "");
  EXPECT_EQ(one_.told(), "view 1 123, 1:first");
}

TEST_F(PaxosEngineRecalls, StopsOnceAllAcceptorsHaveLetGoOfTheirWords) {
  hear(milliseconds(500));
  EXPECT_EQ(one_.told(), "view 1 123");
  hear(milliseconds(1'000));
  EXPECT_EQ(one_.told(), "view 1 123") << "the third acceptor is away, and its log may hold it";
  hear(seconds(10));
  EXPECT_EQ(one_.told(), "view 1 123, fatal");
}

TEST_F(PaxosEngineRecalls, WaitsForTheWordOfAnAcceptorThatComesBack) {
  hear(seconds(5));
  one_.vote(kThree, first_, 1);
  hear(milliseconds(20));
  EXPECT_EQ(one_.told(), "view 1 123") << "it was asked just now";
  one_.word(kThree, second_, kLacked, unit_head(kThree, 1), "second");
  EXPECT_EQ(one_.told(), "view 1 123, 1:second");
}

TEST_F(PaxosEngineRecalls, WordsOfAnotherOrderAreNone) {
  wire::State other;
  other.first_list = first_nodes().first + 1;
  other.next = other.oldest = kLacked + 4;
  one_.state(kThree, other);
  one_.word(kThree, second_, kLacked, unit_head(kThree, 1), "second");
  EXPECT_EQ(one_.told(), "view 1 123");
  EXPECT_EQ(words_of(one_, kThree, 1, 3), "") << "nor is it told any";
}

TEST_F(PaxosEngineRecalls, AnswersWithItsVote) {
  EXPECT_EQ(words_of(one_, kTwo, 1, 3), "1 decided, 2:first, 3 no vote");
}

TEST_F(PaxosEngineRecalls, WordsOnWhatIsConsumedTakeNoBuffers) {
  const std::size_t before = one_.free_buffers();
  one_.word(kTwo, second_, kLacked, unit_head(kTwo, 1), "second");
  one_.run(milliseconds(1));
  EXPECT_EQ(one_.told(), "view 1 123, 1:second");
  EXPECT_EQ(one_.free_buffers(), before + 1) << "its own vote for it is not needed either";
}

// A node that skips instances keeps the values that it had consumed, because nodes that are further
// behind may request them.
TEST(PaxosEngineSkips, WhatItHadConsumedIsKeptForWhoIsFurtherBehind) {
  Bench three(kThree);
  three.start();
  wire::State far;
  far.next = far.oldest = 10'000;
  wire::State behind;
  behind.next = 2;
  behind.oldest = 1;
  three.state(kTwo, behind);
  for (Instance k = 1; k <= 4; ++k) {
    three.decided(kTwo, k, {wire::ValueKind::nothing, Service::agreed, 0, kTwo, 0});
  }
  three.state(kOne, far);
  ASSERT_EQ(three.counter("quorum_next"), 5U);
  wire::Checkpoint said;
  said.next = 10'000;
  said.nodes = first_nodes();
  three.checkpoint(kOne, said);
  ASSERT_EQ(three.counter("quorum_next"), 10'000U);
  EXPECT_EQ(words_of(three, kTwo, 1, 5), "2 decided, 3 decided, 4 decided, 5 no vote");
}

// With streams, a buffer is only as large as the largest packet, so each answer with the largest
// unit must fit a packet.
TEST(PaxosUnits, EachAnswerWithALargestOneFitsAPacket) {
  Bench one(kOne);
  one.lead();
  one.submit("a");
  ASSERT_NE(one.unit_bytes, 0U);
  for (const std::size_t header :
       {wire::kDataHeaderBytes, wire::kFetchedHeaderBytes, wire::kWordHeaderBytes}) {
    EXPECT_LE(header + one.unit_bytes, Options{}.packet_bytes_max);
  }
}

}  // namespace
}  // namespace peal::order::paxos::test
