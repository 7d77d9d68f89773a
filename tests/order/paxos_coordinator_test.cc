// SPDX-License-Identifier: Apache-2.0
// Phase 1 of one coordinator; the others are played.
#include <gtest/gtest.h>

#include "paxos_bench.h"
#include "with_mutant.h"

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

/// Node 1 after its first Phase 1 has begun, in a cluster that knows nothing yet.
std::uint64_t begin_phase_one(Bench& one) {
  one.start();
  for (int i = 0; i < 20 && one.count(PaxosKind::prepare) == 0; ++i) {
    one.state(kTwo, {});
    one.run(milliseconds(20));
  }
  one.sync();
  wire::Prepare asked;
  if (one.count(PaxosKind::prepare) == 0) {
    ADD_FAILURE() << "nobody began";
    return 0;
  }
  EXPECT_EQ(wire::decode_prepare(one.last(PaxosKind::prepare)->bytes, asked), wire::Drop::none);
  return asked.count;
}

// a promise of an earlier round is none of this one's.
TEST(PaxosCoordinator, PromisesOfOtherRoundsAreNotCounted) {
  Bench one(kOne);
  const std::uint64_t count = begin_phase_one(one);
  one.promise(kTwo, {{count + 1, kOne}, 0, {}});
  one.promise(kTwo, {{count, {kOne.node, kOne.epoch - 1}}, 0, {}});
  if (count > 1) one.promise(kTwo, {{count - 1, kOne}, 0, {}});
  one.run(milliseconds(5));
  EXPECT_FALSE(one.last_state().leading);
  one.promise(kTwo, {{count, kOne}, 0, {}});
  one.run(milliseconds(20));
  EXPECT_TRUE(one.last_state().leading);
}

// Another one has coordinated in the meantime, with a higher round that this one has not heard of.
TEST(PaxosCoordinator, WhatItKnowsToBeDecidedIsNotOverwrittenByItsOwnProposal) {
  Bench one(kOne);
  const std::uint64_t count = begin_phase_one(one);
  const std::vector<wire::ViewMember> members{{kOne, 0}, {kTwo, 0}, {kThree, 0}};
  one.decided_view(kTwo, 2, 1, members);
  // So it fills what is below with nothing.
  constexpr Round kOlder{1, {kOne.node, kOne.epoch - 1}};
  one.promise(kTwo, {{count, kOne}, 0, {{3, 1, kOlder}}});
  one.fetched(kTwo, kOlder, 3, unit_head(kTwo, 1), "three");
  one.run(milliseconds(20));
  one.decided(kTwo, 1, {wire::ValueKind::nothing, Service::agreed, 0, kTwo, 0});
  one.run(milliseconds(5));
  EXPECT_EQ(one.told(), "view 1 123");
}

TEST(PaxosCoordinator, OnePromiseIsNoMajority) {
  Bench one(kOne);
  begin_phase_one(one);
  one.run(milliseconds(50));
  EXPECT_FALSE(one.last_state().leading) << "its own alone";
  const WithMutant active(Mutant::px_promises_one_short);
  Bench other(kOne);
  begin_phase_one(other);
  other.run(milliseconds(50));
  EXPECT_TRUE(other.last_state().leading) << "the mutant is noticed";
}

/// What node 1 proposes for instance 1 if it voted in a round itself, and node 3 in a higher one.
std::string recovered_value() {
  constexpr Round kHigher{1, kThree};
  Bench one(kOne);
  wire::Checkpoint beginning;
  beginning.next = 1;
  beginning.nodes = first_nodes();
  one.start();
  one.checkpoint(kTwo, beginning);
  one.propose(kTwo, 1, 1, unit_head(kTwo, 1), "lower");
  one.sync();
  wire::State alive;
  alive.next = alive.oldest = 1;
  for (int i = 0; i < 40 && one.count(PaxosKind::prepare) == 0; ++i) {  // node 2 is silent
    one.state(kThree, alive);
    one.run(milliseconds(20));
  }
  one.sync();
  const Bench::Sent* prepare = one.last(PaxosKind::prepare);
  if (prepare == nullptr) return "(nobody began)";
  wire::Prepare asked;
  EXPECT_EQ(wire::decode_prepare(prepare->bytes, asked), wire::Drop::none);
  one.promise(kThree, {{asked.count, kOne}, 1, {{1, 1, kHigher}}});
  one.fetched(kThree, kHigher, 1, unit_head(kThree, 1), "higher");
  const Bench::Sent* proposed = one.last(PaxosKind::propose);
  if (proposed == nullptr) return "(nothing proposed)";
  wire::ValueFrame frame;
  EXPECT_EQ(wire::decode_value(proposed->bytes, frame), wire::Drop::none);
  EXPECT_EQ(frame.instance, 1U);
  if (frame.head.kind == wire::ValueKind::nothing) return "(filled)";
  return std::string(as_text(ByteView(proposed->bytes).subspan(wire::kDataHeaderBytes)));
}

// what may have been decided is proposed again, unchanged.
TEST(PaxosCoordinator, TheVoteOfTheHighestRoundIsProposedAgain) {
  EXPECT_EQ(recovered_value(), "higher");
  {
    const WithMutant active(Mutant::px_lowest_vote_wins);
    EXPECT_EQ(recovered_value(), "lower");
  }
  const WithMutant active(Mutant::px_recovered_dropped);
  EXPECT_EQ(recovered_value(), "(filled)");
}

}  // namespace
}  // namespace peal::order::paxos::test
