// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "order/paxos/given_list.h"
#include "order/paxos/peers.h"
#include "paxos_bench.h"
#include "with_mutant.h"

// Acceptors with votes in memory: how they bootstrap an order, and that an amnesiac acceptor is
// silent until a list names its new incarnation.

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

constexpr std::uint64_t kLife = 100;  // the incarnation of kOne, kTwo and kThree

/// For `span`, node 1 hears both other nodes, which know no order.
void hear_others(Bench& one, Duration span, const MemberId& three = kThree) {
  for (const Instant end = one.now + span; one.now < end;) {
    one.state(kTwo, {});
    one.state(three, {});
    one.run(milliseconds(10));
  }
}

TEST(PaxosBootstrap, NobodyIsToldWhomAnAcceptorTakesBeforeItsLogSaysSo) {
  Bench one(kOne);
  one.fresh();
  one.start();
  hear_others(one, milliseconds(300));
  EXPECT_EQ(one.last(PaxosKind::lives), nullptr);
  one.sync();
  hear_others(one, milliseconds(100));
  EXPECT_NE(one.last(PaxosKind::lives), nullptr);
}

// This node may have named acceptors before, and its log may be an older copy that does not record
// them. So the node first waits for the answers of a majority.
TEST(PaxosBootstrap, NobodyTakesAnyoneBeforeMostHaveSaidWhatTheyHeardOfItsLog) {
  Bench one(kOne);
  one.fresh();
  one.do_not_answer();
  one.start();
  const auto goes_on = [&one] {
    hear_others(one, milliseconds(300));
    one.sync();
    hear_others(one, milliseconds(50));
  };
  goes_on();
  EXPECT_EQ(one.count(PaxosKind::lives), 0U);
  one.log_heard(kTwo, {});
  goes_on();
  EXPECT_GT(one.count(PaxosKind::lives), 0U);
}

TEST(PaxosBootstrap, WhomItTakesIsInTheLogOnce) {
  Bench one(kOne);
  one.fresh();
  one.start();
  const auto goes_on = [&one] {
    hear_others(one, milliseconds(400));
    one.sync();
    hear_others(one, milliseconds(50));
    return one.disk.last().value;
  };
  const std::uint64_t first = goes_on();
  EXPECT_EQ(goes_on(), first);
  one.restart();
  EXPECT_EQ(one.disk.last().value, first + 1) << "that it has begun again";
  EXPECT_EQ(goes_on(), first + 1);
  EXPECT_GT(one.count(PaxosKind::lives), 0U);
}

// A log that has a promise but names no order is refused at each later start.
TEST(PaxosBootstrap, NothingIsPromisedBeforeTheLogNamesTheOrder) {
  Bench one(kOne);
  one.fresh();
  one.start();
  hear_others(one, milliseconds(300));
  one.sync();
  hear_others(one, milliseconds(100));
  wire::Lives all;
  ASSERT_NE(one.last(PaxosKind::lives), nullptr);
  ASSERT_EQ(wire::decode_lives(one.last(PaxosKind::lives)->bytes, all), wire::Drop::none);
  one.disk.set_checkpoints_full(true);
  one.lives(kTwo, all);
  one.lives(kThree, all);
  ASSERT_NE(one.counter("quorum_order"), 0U);
  one.run(milliseconds(20));
  one.state(kTwo, one.last_state());  // it has begun the same order
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 0U);
  one.disk.set_checkpoints_full(false);
  one.run(milliseconds(20));
  one.prepare(kTwo, 5);
  one.sync();
  EXPECT_EQ(one.count(PaxosKind::promise), 1U) << "once it names it";
  one.restart();
  EXPECT_EQ(one.told().find("fatal"), std::string::npos) << one.told();
}

TEST(PaxosBootstrap, ABeginningIsLearntFromItsAcceptors) {
  for (const MemberId& from : {kTwo, kOne}) {
    Bench three(kThree);
    three.fresh();
    three.start();
    wire::State there;
    there.next = there.oldest = 1;
    three.state(from, there);
    wire::Checkpoint said;
    said.next = 1;
    said.nodes = first_nodes();
    said.nodes.acceptors = {kOne.node, kThree.node};
    said.nodes.lives = {kLog, kLog};
    three.checkpoint(from, said);
    EXPECT_EQ(three.ensemble().known(), from == kOne) << "node 2 is none of them";
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
  EXPECT_EQ(one.counter("quorum_order"), 0U) << "nobody has agreed";
  EXPECT_EQ(one.engine->why().kind, &wait::bootstrap);
  one.lives(kTwo, all);
  one.lives(kTwo, all);
  EXPECT_EQ(one.counter("quorum_order"), 0U) << "a majority is not enough";
  one.lives(kThree, {1, {kLife, kLife, kLife - 1}});
  one.lives(kThree, {2, all.lives});
  one.lives(kThree, {1, {kLife, kLife}});
  EXPECT_EQ(one.counter("quorum_order"), 0U) << "it took others";
  one.lives(kThree, all);
  EXPECT_NE(one.counter("quorum_order"), 0U);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 0U);

  const WithMutant active(Mutant::px_founded_alone);
  Bench other(kOne, {}, Storage::memory);
  other.start();
  hear_others(other, milliseconds(300));
  EXPECT_NE(other.counter("quorum_order"), 0U) << "the mutant is noticed";
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
  EXPECT_EQ(one.counter("quorum_order"), 0U) << "the word of a life that is over";
  one.lives(later, {1, {kLife, kLife, kLife + 1}});
  EXPECT_EQ(one.counter("quorum_order"), 0U) << "node 2 took another one";
  one.lives(kTwo, {1, {kLife, kLife, kLife + 1}});
  EXPECT_NE(one.counter("quorum_order"), 0U);
}

/// Node 1 hears node 2. Then node 2 gets another list, and node 3 starts. True if node 1 names
/// acceptors for the list that node 2 no longer has.
bool binds_itself(Bench& one) {
  one.start();
  one.state(kTwo, {});
  wire::State other;
  other.first_list = 2;
  for (int i = 0; i < 30; ++i) {
    one.state(kTwo, other);
    one.state(kThree, {});
    one.run(milliseconds(10));
  }
  return one.count(PaxosKind::lives) != 0;
}

TEST(PaxosMemory, WhoseStateIsRefusedIsNotHeard) {
  Bench one(kOne, {}, Storage::memory);
  EXPECT_FALSE(binds_itself(one));
  EXPECT_EQ(one.engine->why().kind, &wait::other_list);
  EXPECT_EQ(one.engine->why().who, kTwo);
  // With equal lists, the acceptors begin an order.
  one.list({2, first_nodes().all, first_nodes().acceptors});
  wire::State same;
  same.first_list = 2;
  for (int i = 0; i < 30; ++i) {
    one.state(kTwo, same);
    one.state(kThree, same);
    one.run(milliseconds(10));
  }
  const wire::Lives all{2, {kLife, kLife, kLife}};
  one.lives(kTwo, all);
  one.lives(kThree, all);
  EXPECT_NE(one.counter("quorum_order"), 0U);

  const WithMutant active(Mutant::px_refused_state_kept);
  Bench other(kOne, {}, Storage::memory);
  EXPECT_TRUE(binds_itself(other)) << "the mutant is noticed";
}

/// An incarnation that has named acceptors for a list cannot withdraw them. The node must restart
/// before it can name acceptors for another list.
TEST(PaxosMemory, WhoIsBoundToAnotherListIsNamed) {
  const wire::Lives old{1, {kLife, kLife, kLife}};
  const NodeList next{2, first_nodes().all, first_nodes().acceptors};
  wire::State other;
  other.first_list = 2;

  Bench bound(kOne, {}, Storage::memory);
  bound.start();
  hear_others(bound, milliseconds(300));
  ASSERT_GT(bound.count(PaxosKind::lives), 0U);
  bound.list(next);
  bound.state(kTwo, other);
  EXPECT_EQ(bound.engine->why().kind, &wait::bound);
  EXPECT_EQ(bound.engine->why().who, kOne) << "itself";

  Bench one(kOne, {}, Storage::memory);
  one.start();
  one.list(next);
  const auto hear = [&](const MemberId& two) {
    one.state(two, two == kTwo ? wire::State{} : other);
    one.state(kThree, other);
    one.run(milliseconds(10));
  };
  hear(kTwo);
  EXPECT_EQ(one.engine->why().kind, &wait::other_list) << "it may still go over";
  one.lives(kTwo, old);
  hear(kTwo);
  EXPECT_EQ(one.engine->why().kind, &wait::bound);
  EXPECT_EQ(one.engine->why().who, kTwo);
  hear({kTwo.node, kLife + 1});
  EXPECT_EQ(one.engine->why().kind, &wait::bootstrap) << "it was restarted";
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

/// The other nodes' order before instance `next`. Its list has the number `number`, and names the
/// incarnation `life` of node 1.
wire::Checkpoint order_of_others(std::uint64_t number, std::uint64_t life, Instance next) {
  wire::Checkpoint at;
  at.next = next;
  at.nodes = first_nodes();
  at.nodes.number = number;
  at.nodes.first = 77;
  at.nodes.lives = {life, kLife, kLife};
  return at;
}

/// The number of promises that node 1 sends in a round of node 2, after node 1 took the list in the
/// checkpoint `at`.
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

/// How often node 1 reported that it may vote again.
auto times_renewed(const Bench& one) {
  return std::count_if(one.events.begin(), one.events.end(), [](const Event& event) {
    return event.kind == &event::acceptor_renewed && event.who.node == kOne.node;
  });
}

TEST(PaxosMemory, WhoHasForgottenIsSilentUntilAListNamesItsNewLife) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  one.restart();
  ASSERT_EQ(one.self.epoch, kLife + 1);
  EXPECT_EQ(promises(one, order_of_others(0, kLife, 5)), 0U);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 1U);
  EXPECT_EQ(times_renewed(one), 0);
  EXPECT_EQ(promises(one, order_of_others(1, kLife + 9, 6)), 0U);
  EXPECT_EQ(times_renewed(one), 0) << "another life of it was taken in";
  EXPECT_EQ(promises(one, order_of_others(2, kLife + 1, 7)), 1U);
  EXPECT_EQ(times_renewed(one), 1);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 0U);

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
  // Node 3 reports an order that names an earlier incarnation of node 3. The present incarnation of
  // node 3 may have bootstrapped another order.
  wire::State knows;
  knows.next = 5;
  knows.first_list = 77;
  one.state(later, knows);
  one.checkpoint(later, order_of_others(0, kLife, 5));
  EXPECT_NE(one.counter("quorum_order"), 0U) << "it follows";
  EXPECT_EQ(one.counter("quorum_amnesiac"), 1U) << "and does not vote";

  Bench other(kOne, {}, Storage::memory);
  other.start();
  hear_others(other, milliseconds(300), later);
  EXPECT_EQ(promises(other, order_of_others(0, kLife, 5)), 1U)
      << "node 2 says so, in the life that the order names";
}

/// Node 1 knows an order only from an incarnation of node 3 that is no acceptor in that order. Node
/// 1 has named this incarnation for the bootstrap of another order.
void hear_say(Bench& one) {
  one.start();
  const MemberId later{kThree.node, kLife + 1};
  hear_others(one, milliseconds(300), later);
  wire::State knows;
  knows.next = 5;
  knows.first_list = 77;
  one.state(later, knows);
  one.checkpoint(later, order_of_others(0, kLife, 5));
  ASSERT_EQ(one.counter("quorum_amnesiac"), 1U);
}

TEST(PaxosMemory, WhoKnowsByHearsayVotesOnceAnAcceptorBeginsARound) {
  Bench one(kOne, {}, Storage::memory);
  hear_say(one);
  one.prepare({kThree.node, kLife + 1}, wire::first_count(0), 5);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 1U) << "no list names that life";
  EXPECT_EQ(promises(one, order_of_others(0, kLife, 5)), 1U);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 0U);
}

TEST(PaxosMemory, WhoKnowsByHearsayVotesOnceAnAcceptorSaysThatItVoted) {
  Bench one(kOne, {}, Storage::memory);
  hear_say(one);
  wire::State said;
  said.next = 5;
  said.first_list = 77;
  one.state(kTwo, said);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 1U) << "it may know by hearsay, too";
  said.round = said.voted_round = {wire::first_count(0), kTwo};
  said.voted_upto = 4;
  one.state(kTwo, said);
  EXPECT_EQ(one.counter("quorum_amnesiac"), 0U);
}

TEST(PaxosMemory, OnlyAnAcceptorOfTheListThatItSpokeForTellsItToVote) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  one.list({2, first_nodes().all, {kOne.node, kThree.node}});
  wire::State unknowing;
  unknowing.first_list = 2;
  for (int i = 0; i < 30; ++i) {
    one.state(kTwo, unknowing);
    one.state({kThree.node, kLife + 1}, unknowing);
    one.run(milliseconds(10));
  }
  ASSERT_GT(one.count(PaxosKind::lives), 0U);
  EXPECT_EQ(promises(one, order_of_others(0, kLife, 5)), 0U)
      << "an order may have begun without node 2";
  EXPECT_EQ(one.counter("quorum_amnesiac"), 1U);
}

TEST(PaxosMemory, WhoIsSilentIsNotCountedIfNobodyIsLeftToTellIt) {
  Bench one(kOne, {}, Storage::memory);
  hear_say(one);
  EXPECT_EQ(one.counter("quorum_acceptors_living"), 2U) << "node 2 may say that it votes";
  EXPECT_EQ(one.counter("quorum_acceptors_heard"), 1U);
  EXPECT_EQ(one.engine->why().kind, &wait::majority);
  EXPECT_EQ(one.engine->why().who, kOne);
  one.state({kTwo.node, kLife + 1}, {});
  EXPECT_EQ(one.counter("quorum_acceptors_living"), 0U);
  EXPECT_EQ(one.engine->why().kind, &wait::amnesiac);
}

/// True if node 1 takes the order of this checkpoint when `from` reports it.
bool follows(Bench& one, const MemberId& from, const wire::Checkpoint& at) {
  wire::State knows;
  knows.next = at.next;
  knows.first_list = at.nodes.first;
  one.state(from, knows);
  one.checkpoint(from, at);
  return one.counter("quorum_order") != 0;
}

TEST(PaxosMemory, NobodyFollowsAnOrderByHearsayBeforeAnythingIsDecided) {
  const MemberId later{kThree.node, kLife + 1};
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300), later);
  EXPECT_FALSE(follows(one, later, order_of_others(0, kLife, 1)));
  EXPECT_TRUE(follows(one, kTwo, order_of_others(0, kLife, 1))) << "an acceptor of it says so";
  EXPECT_EQ(one.counter("quorum_amnesiac"), 0U);

  Bench restarted(kOne, {}, Storage::memory);
  restarted.start();
  restarted.restart();
  EXPECT_FALSE(follows(restarted, kTwo, order_of_others(0, kLife, 1))) << "it is not named";
  EXPECT_TRUE(follows(restarted, kTwo, order_of_others(0, kLife, 2)));

  Bench agreed(kOne, {}, Storage::memory);
  agreed.start();
  hear_others(agreed, milliseconds(300));
  wire::Checkpoint own = order_of_others(0, kLife, 1);
  own.nodes.first = wire::first_of(own.nodes);
  EXPECT_TRUE(follows(agreed, later, own)) << "with those whom it took last";
  EXPECT_EQ(agreed.counter("quorum_amnesiac"), 0U);
}

TEST(PaxosMemory, WhoIsNoAcceptorAndKnowsOfABeginningKeepsNobodyFromAnother) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  one.list({2, first_nodes().all, {kOne.node, kThree.node}});
  wire::State unknowing;
  unknowing.first_list = 2;
  wire::State knows;
  knows.next = 1;
  knows.first_list = 77;
  const auto hear_both = [&](const MemberId& knowing, const MemberId& other) {
    for (int i = 0; i < 30; ++i) {
      one.state(knowing, knows);
      one.state(other, unknowing);
      one.run(milliseconds(10));
    }
  };
  hear_both(kTwo, kThree);
  EXPECT_EQ(one.count(PaxosKind::checkpoint_get), 0U) << "it would not be believed";
  EXPECT_GT(one.count(PaxosKind::lives), 0U);
  hear_both(kThree, kTwo);
  EXPECT_GT(one.count(PaxosKind::checkpoint_get), 0U) << "an acceptor is asked";
}

// Only the acceptor's memory has its vote, and others may need this vote to derive the decided
// value.
TEST(PaxosMemory, WhoIsFarBehindSkipsWhatItVotedForAndKeepsItsWord) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300));
  for (const MemberId& each : {kTwo, kThree}) one.lives(each, {1, {kLife, kLife, kLife}});
  EXPECT_NE(one.counter("quorum_order"), 0U);
  one.run(milliseconds(50));
  wire::State there;
  there.first_list = one.last_state().first_list;
  there.next = there.oldest = 1;
  one.state(kTwo, there);
  one.propose(kTwo, 9, 1, unit_head(kTwo, 1), "a");
  one.run(milliseconds(50));
  EXPECT_EQ(one.last_state().voted_upto, 1U);
  there.next = 2 * Options{}.max_gap;
  one.sent.clear();
  for (int i = 0; i < 20; ++i) {
    one.state(kTwo, there);
    one.run(milliseconds(10));
  }
  EXPECT_GT(one.count(PaxosKind::checkpoint_get), 0U);
  wire::Checkpoint later;
  later.next = there.next;
  later.nodes = first_nodes();
  later.nodes.lives = {kLife, kLife, kLife};
  later.nodes.first = there.first_list;
  one.checkpoint(kTwo, later);
  EXPECT_EQ(one.counter("quorum_next"), there.next);
  EXPECT_EQ(words_of(one, kTwo, 1, 2), "1:a, 2 no vote");
}

/// Node 1's knowledge of the other nodes, and a checkpoint whose list names these incarnations of
/// the three acceptors.
struct Lives {
  explicit Lives(std::vector<std::uint64_t> named)
      : given({5, {}, {}}, 512), peers(kOne, kLife, {}) {
    at.next = 5;
    at.nodes = first_nodes();
    at.nodes.number = 1;
    at.nodes.lives = std::move(named);
    at.view = {1, kOne};
    at.members = {{kOne, 0}};
    at.numbers = {0};
    given.give({5, at.nodes.all, at.nodes.acceptors});
    peers.know(at.nodes, {});
  }
  void hear(const MemberId& who, std::uint64_t list = 1) {
    Peer& peer = *peers.find(who.node);
    ASSERT_TRUE(peers.note(Instant{1}, peer, who));
    wire::State said;
    said.next = at.next;
    said.first_list = at.nodes.first;
    said.list = list;
    said.life = who.epoch;
    said.next_list = 5;
    peers.note_state(peer, said);
  }

  GivenList given;
  Peers peers;
  wire::Checkpoint at;
};

TEST(PaxosMemory, NoListNamesALifeBeforeTheOneThatCounts) {
  Lives lives({kLife, kLife, kLife + 2});
  const OrderState state(lives.at);
  lives.hear({kThree.node, kLife + 1}, 0);
  EXPECT_FALSE(lives.given.wants_lives(state, lives.peers));
  EXPECT_EQ(lives.given.renewed(state, lives.peers).lives, lives.at.nodes.lives);
  EXPECT_EQ(lives.given.value(state, lives.peers).lives, lives.at.nodes.lives);
  lives.hear({kThree.node, kLife + 3});
  EXPECT_TRUE(lives.given.wants_lives(state, lives.peers));
  EXPECT_EQ(lives.given.renewed(state, lives.peers).lives.back(), kLife + 3);
  EXPECT_EQ(lives.given.value(state, lives.peers).lives.back(), kLife + 3);
}

TEST(PaxosMemory, AListWaitsForAcceptorsThatVoteAndNobodyLeavesTheLeadToOthers) {
  Lives lives({kLife, kLife, kLife});
  const OrderState state(lives.at);
  lives.hear(kTwo);
  EXPECT_EQ(lives.given.waits(state, lives.peers).kind, NodesWait::Kind::nothing);
  lives.peers.self().has_state = true;
  lives.peers.self().state.next = 5;
  EXPECT_TRUE(lives.peers.candidate(0)->self);
  lives.peers.self().silent = true;
  EXPECT_EQ(lives.given.waits(state, lives.peers).kind, NodesWait::Kind::acceptor);
  EXPECT_EQ(lives.peers.candidate(0)->node, kTwo.node);
}

TEST(PaxosMemory, MostLostIsSaid) {
  Bench one(kOne, {}, Storage::memory);
  one.start();
  hear_others(one, milliseconds(300));
  const wire::Lives all{1, {kLife, kLife, kLife}};
  one.lives(kTwo, all);
  one.lives(kThree, all);
  ASSERT_NE(one.counter("quorum_order"), 0U);
  EXPECT_NE(one.engine->why().kind, &wait::amnesiac);
  one.state({kTwo.node, kLife + 1}, {});
  one.state({kThree.node, kLife + 1}, {});
  EXPECT_EQ(one.engine->why().kind, &wait::amnesiac);
  EXPECT_EQ(one.counter("quorum_acceptors_living"), 1U);
}

}  // namespace
}  // namespace peal::order::paxos::test
