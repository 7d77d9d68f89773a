// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paxos_bench.h"
#include "with_mutant.h"

// Acceptors with their votes in memory: how they begin an order, and that who has forgotten what it
// said is silent until a list names its new life.

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

constexpr std::uint64_t kLife = 100;  // of kOne, kTwo and kThree

/// Node 1 hears for so long that the others are there, and know of no order.
void hear_others(Bench& one, Duration span, const MemberId& three = kThree) {
  for (const Instant end = one.now + span; one.now < end;) {
    one.state(kTwo, {});
    one.state(three, {});
    one.run(milliseconds(10));
  }
}

TEST(PaxosMemory, AnOrderBeginsWhenAllAcceptorsHaveTakenTheSame) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300));
  ASSERT_NE(one.last(PaxosKind::lives), nullptr);
  wire::Lives said;
  ASSERT_EQ(wire::decode_lives(one.last(PaxosKind::lives)->bytes, said), wire::Drop::none);
  const wire::Lives all{1, {kLife, kLife, kLife}};
  EXPECT_EQ(said, all);
  EXPECT_EQ(one.counter("paxos_order"), 0U) << "nobody has agreed";
  EXPECT_EQ(one.engine->why().kind, WaitReason::Kind::founding);
  one.lives(kTwo, all);
  one.lives(kTwo, all);
  EXPECT_EQ(one.counter("paxos_order"), 0U) << "a majority is not enough";
  one.lives(kThree, {1, {kLife, kLife, kLife - 1}});
  one.lives(kThree, {2, all.epochs});
  one.lives(kThree, {1, {kLife, kLife}});
  EXPECT_EQ(one.counter("paxos_order"), 0U) << "it took others";
  one.lives(kThree, all);
  EXPECT_NE(one.counter("paxos_order"), 0U);
  EXPECT_EQ(one.counter("paxos_forgotten"), 0U);

  const WithMutant active(Mutant::px_founded_alone);
  Bench other(kOne, {}, Storage::memory);
  other.start();
  hear_others(other, milliseconds(300));
  EXPECT_NE(other.counter("paxos_order"), 0U) << "the mutant is noticed";
}

TEST(PaxosMemory, ALaterLifeIsTakenInThePlaceOfTheOneBefore) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300));
  const wire::Lives first{1, {kLife, kLife, kLife}};
  one.lives(kTwo, first);
  const MemberId later{kThree.node, kLife + 1};
  hear_others(one, milliseconds(50), later);
  one.lives(kThree, first);
  EXPECT_EQ(one.counter("paxos_order"), 0U) << "the word of a life that is over";
  one.lives(later, {1, {kLife, kLife, kLife + 1}});
  EXPECT_EQ(one.counter("paxos_order"), 0U) << "node 2 took another one";
  one.lives(kTwo, {1, {kLife, kLife, kLife + 1}});
  EXPECT_NE(one.counter("paxos_order"), 0U);
}

TEST(PaxosMemory, NobodyBeginsBesideWhoKnowsAnOrder) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  wire::State knows;
  knows.next = 5;
  knows.first_list = 77;
  for (int i = 0; i < 30; ++i) {
    one.state(kTwo, {});
    one.state(kThree, knows);
    one.run(milliseconds(10));
  }
  EXPECT_EQ(one.count(PaxosKind::lives), 0U);
  EXPECT_GT(one.count(PaxosKind::checkpoint_get), 0U);
}

/// The order of the others: before instance 5, by list `number`, with this life of node 1.
wire::Checkpoint order_of_others(std::uint64_t number, std::uint64_t life, Instance next) {
  wire::Checkpoint at;
  at.next = next;
  at.nodes = first_nodes();
  at.nodes.number = number;
  at.nodes.first = 77;
  at.nodes.lives = {life, kLife, kLife};
  return at;
}

/// Promises that node 1 gives in a round of node 2, for a list of which it was told.
std::uint64_t promises(Bench& one, const wire::Checkpoint& at) {
  wire::State knows;
  knows.next = at.next;
  knows.first_list = 77;
  knows.list = at.nodes.number;
  one.state(kTwo, knows);
  one.checkpoint(kTwo, at);
  one.run(milliseconds(1));
  one.sent.clear();
  one.prepare(kTwo, wire::first_count(at.nodes.number), at.next);
  one.run(milliseconds(1));
  return one.count(PaxosKind::promise);
}

TEST(PaxosMemory, WhoHasForgottenIsSilentUntilAListNamesItsNewLife) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  one.restart();
  ASSERT_EQ(one.self.epoch, kLife + 1);
  EXPECT_EQ(promises(one, order_of_others(0, kLife, 5)), 0U);
  EXPECT_EQ(one.counter("paxos_forgotten"), 1U);
  EXPECT_EQ(promises(one, order_of_others(1, kLife + 1, 6)), 1U);
  EXPECT_EQ(one.counter("paxos_forgotten"), 0U);

  const WithMutant active(Mutant::px_amnesiac_votes);
  Bench other(kOne, {}, Storage::memory);
  other.start();
  other.restart();
  EXPECT_EQ(promises(other, order_of_others(0, kLife, 5)), 1U) << "the mutant is noticed";
}

TEST(PaxosMemory, WhoTookOthersMeanwhileDoesNotVoteByHearsay) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  const MemberId later{kThree.node, kLife + 1};
  hear_others(one, milliseconds(300), later);
  ASSERT_EQ(one.count(PaxosKind::lives) > 0, true);
  // Node 3 tells of an order that names another life of it: this one may have begun another.
  wire::State knows;
  knows.next = 5;
  knows.first_list = 77;
  one.state(later, knows);
  one.checkpoint(later, order_of_others(0, kLife, 5));
  EXPECT_NE(one.counter("paxos_order"), 0U) << "it follows";
  EXPECT_EQ(one.counter("paxos_forgotten"), 1U) << "and does not vote";

  Bench other(kOne, {}, Storage::memory);
  other.start();
  hear_others(other, milliseconds(300), later);
  EXPECT_EQ(promises(other, order_of_others(0, kLife, 5)), 1U)
      << "node 2 says so, in the life that the order names";
}

TEST(PaxosMemory, MostLostIsSaid) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300));
  const wire::Lives all{1, {kLife, kLife, kLife}};
  one.lives(kTwo, all);
  one.lives(kThree, all);
  ASSERT_NE(one.counter("paxos_order"), 0U);
  EXPECT_NE(one.engine->why().kind, WaitReason::Kind::forgotten);
  one.state({kTwo.node, kLife + 1}, {});
  one.state({kThree.node, kLife + 1}, {});
  EXPECT_EQ(one.engine->why().kind, WaitReason::Kind::forgotten);
  EXPECT_EQ(one.counter("paxos_acceptors_living"), 1U);
}

}  // namespace
}  // namespace peal::order::paxos::test
