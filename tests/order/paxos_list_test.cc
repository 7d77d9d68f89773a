// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "order/paxos/given_list.h"
#include "paxos_bench.h"
#include "with_mutant.h"

// Changes of the list of nodes.

namespace peal::order::paxos::test {
namespace {

using sim_hooks::Mutant;
using wire::PaxosKind;

NodeList with_four() { return {2, {{1}, {2}, {3}, {4}}, {{1}, {2}, {3}}}; }

wire::ValueHead list_head(const MemberId& origin, std::uint64_t number) {
  return {wire::ValueKind::nodes, Service::agreed, number, origin, 0};
}

Bytes list_bytes(const NodeList& list) {
  Bytes bytes(1'000);
  wire::Nodes nodes{1, 1, list.hash, list.nodes, list.acceptors};
  nodes.lives.assign(list.acceptors.size(), kLog);
  bytes.resize(wire::encode_nodes(nodes, bytes));
  return bytes;
}

/// The STATE of an acceptor that has consumed all instances below `next` and has the pending list
/// `next_list`.
wire::State state_of(const Round& round, Instance voted, Instance next, std::uint64_t list,
                     std::uint64_t next_list) {
  wire::State said;
  said.round = said.voted_round = round;
  said.voted_upto = voted;
  said.next = next;
  said.oldest = said.view = 1;
  said.joined = true;
  said.list = list;
  said.next_list = next_list;
  return said;
}

TEST(PaxosLists, ARoundSaysToWhichListItBelongs) {
  EXPECT_EQ(wire::list_of({5, kOne}), 0U);
  const Round first{wire::first_count(3), kOne};
  EXPECT_EQ(wire::list_of(first), 3U);
  EXPECT_GT(first, (Round{wire::first_count(3) - 1, kThree})) << "any of a list before";
}

/// Node 1 gets a new list, and proposes it once all members have it as their pending list.
void go_over(Bench& one, const Round& round) {
  one.list(with_four());
  EXPECT_EQ(one.engine->nodes_wait().kind, NodesWait::Kind::member);
  EXPECT_EQ(one.engine->nodes_wait().who, kTwo);
  one.state(kTwo, state_of(round, 1, 2, 0, 2));
  EXPECT_EQ(one.engine->nodes_wait().who, kThree);
  EXPECT_EQ(one.proposed(wire::ValueKind::nodes), 0U);
  one.state(kThree, state_of(round, 1, 2, 0, 2));
  EXPECT_EQ(one.proposed(wire::ValueKind::nodes), 1U);
}

TEST(PaxosLists, NothingIsProposedBehindAList) {
  Bench one(kOne);
  const Round round = one.lead();
  ASSERT_EQ(one.told(), "view 1 123");
  go_over(one, round);
  one.submit("a");
  one.run(milliseconds(1));
  EXPECT_EQ(one.proposed(wire::ValueKind::unit), 0U);
  one.sync();
  one.sent.clear();
  one.state(kTwo, state_of(round, 2, 2, 0, 2));
  one.run(milliseconds(1));
  EXPECT_EQ(one.counter("quorum_list"), 1U) << "it is decided";
  EXPECT_EQ(one.engine->nodes_wait().kind, NodesWait::Kind::nothing);
  one.sync();
  wire::Prepare asked;
  ASSERT_EQ(one.count(PaxosKind::prepare), 1U) << "who coordinated begins the next round at once";
  ASSERT_EQ(wire::decode_prepare(one.last(PaxosKind::prepare)->bytes, asked), wire::Drop::none);
  EXPECT_EQ(asked.count, wire::first_count(1));
  const Round next{asked.count, kOne};
  one.promise(kTwo, {next, 3, {}});
  one.run(milliseconds(1));
  EXPECT_EQ(one.proposed(wire::ValueKind::unit), 1U) << "and then what waited";

  const WithMutant active(Mutant::px_beyond_list);
  Bench other(kOne);
  go_over(other, other.lead());
  other.state(kTwo, state_of({}, 0, 2, 0, 0));  // node 2 withdraws its pending list
  other.submit("a");
  other.run(milliseconds(1));
  EXPECT_EQ(other.proposed(wire::ValueKind::unit), 1U) << "the mutant is noticed";
}

/// What node 3 delivers if a unit has votes of a majority in a round of the next list, and node 3
/// has not consumed that list.
std::string delivered_behind() {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  const Round next{wire::first_count(1), kOne};
  three.propose(kOne, next.count, 2, unit_head(kOne, 1), "a", 1);
  for (const MemberId& each : {kOne, kTwo}) three.state(each, state_of(next, 2, 2, 1, 0));
  three.run(milliseconds(1));
  return three.told();
}

TEST(PaxosLists, VotesForRoundsOfAnotherListAreNotCounted) {
  EXPECT_EQ(delivered_behind(), "view 1 123");
  const WithMutant active(Mutant::px_lists_mixed);
  EXPECT_EQ(delivered_behind(), "view 1 123, 1:a") << "the mutant is noticed";
}

/// How many promises node 3 sends in a round of a new list that is active, but for which its log
/// has no space.
std::uint64_t promises_unlogged() {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  const Bytes bytes = list_bytes(with_four());
  three.propose(kOne, round.count, 2, list_head(kOne, 1), as_text(bytes), 1);
  three.sync();
  three.disk.set_full(true);
  three.disk.set_checkpoints_full(true);
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, round, 2, 2);
  EXPECT_EQ(three.counter("quorum_list"), 1U);
  three.sent.clear();
  three.disk.set_full(false);
  three.prepare(kOne, wire::first_count(1), 3);
  three.sync();
  const std::uint64_t promises = three.count(PaxosKind::promise);
  three.disk.set_checkpoints_full(false);
  three.run(milliseconds(20));
  three.prepare(kOne, wire::first_count(1), 3);
  three.sync();
  EXPECT_GT(three.count(PaxosKind::promise), promises) << "once it has noted it";
  return promises;
}

TEST(PaxosLists, NothingIsSaidByAListThatTheLogDoesNotKnow) {
  EXPECT_EQ(promises_unlogged(), 0U);
  const WithMutant active(Mutant::px_list_not_logged);
  EXPECT_EQ(promises_unlogged(), 1U) << "the mutant is noticed";
}

// Usually a leaving member causes a new view. But no view may follow a list in the same round.
TEST(PaxosLists, NoViewIsProposedBehindAList) {
  Bench one(kOne);
  const Round round = one.lead();
  go_over(one, round);
  const std::uint64_t views = one.proposed(wire::ValueKind::view);
  wire::State leaves = state_of(round, 1, 2, 0, 2);
  leaves.leaving = true;
  one.state(kTwo, leaves);
  one.run(milliseconds(50));
  EXPECT_EQ(one.proposed(wire::ValueKind::view), views);
}

// An earlier coordinator's proposals after a list are not proposed again: no majority voted for
// them.
TEST(PaxosLists, NothingIsProposedAgainBehindAList) {
  Bench one(kOne);
  const std::uint64_t count = one.begin_phase_one();
  constexpr Round kBefore{1, {kOne.node, kOne.epoch - 1}};
  one.promise(kTwo, {{count, kOne}, 1, {{1, 2, kBefore}}});
  const Bytes list = list_bytes(with_four());
  one.fetched(kTwo, kBefore, 1, list_head(kOne, 1), as_text(list));
  one.fetched(kTwo, kBefore, 2, unit_head(kTwo, 1), "a");
  one.run(milliseconds(20));
  EXPECT_EQ(one.proposed(wire::ValueKind::nodes), 1U);
  EXPECT_EQ(one.proposed(wire::ValueKind::unit), 0U);
}

// The former coordinator does not begin the first round of the new list if another node has begun
// it.
TEST(PaxosLists, WhoCoordinatedLeavesTheNextRoundToOneThatWasFaster) {
  for (const bool faster : {false, true}) {
    Bench one(kOne);
    const Round round = one.lead();
    go_over(one, round);
    one.sync();
    one.sent.clear();
    one.disk.set_checkpoints_full(true);
    one.state(kTwo, state_of(round, 2, 2, 0, 2));  // decided, but not in the log yet
    one.run(milliseconds(1));
    ASSERT_EQ(one.counter("quorum_list"), 1U);
    const Round next{wire::first_count(1), kTwo};
    wire::State said = state_of(round, 2, 3, 1, 0);
    if (faster) said.round = next;
    one.state(kTwo, said);
    EXPECT_EQ(one.count(PaxosKind::prepare), 0U);
    one.disk.set_checkpoints_full(false);
    one.run(milliseconds(10));
    EXPECT_EQ(one.count(PaxosKind::prepare), faster ? 0U : 1U);
  }
}

// A node with another active list may have changed to it without having all values that were
// decided under this node's list.
TEST(PaxosLists, VotesOfWhoGoesByAnotherListAreNotCounted) {
  for (const std::uint64_t list : {1U, 0U}) {
    Bench three(kThree);
    three.start();
    const Round round = three.join(kOne);
    three.propose(kOne, round.count, 2, unit_head(kOne, 1), "a", 1);
    three.sync();
    three.state(kOne, state_of(round, 2, 2, list, 0));
    EXPECT_EQ(three.told(), list == 0 ? "view 1 123, 1:a" : "view 1 123");
  }
}

TEST(PaxosLists, ThatItWasGivenOneIsSaidAtOnce) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  const std::uint64_t said = three.count(PaxosKind::state);
  three.list(with_four());
  EXPECT_GT(three.count(PaxosKind::state), said) << "the coordinator waits for it";
  EXPECT_EQ(three.last_state().next_list, 2U);
}

TEST(PaxosLists, AMemberOfWhichNothingIsKnownIsWaitedFor) {
  GivenList given({1, first_nodes().all, first_nodes().acceptors}, 512);
  given.give({2, first_nodes().all, first_nodes().acceptors});
  wire::Checkpoint at;
  at.next = 2;
  at.nodes = first_nodes();
  at.view = {1, kOne};
  at.members = {{kOne, 0}, {kTwo, 0}};
  at.numbers = {0, 0};
  const OrderState state(at);
  Peers alone(kOne, kLog, Options{});
  alone.know({0, 1, 1, {kOne.node}, {kOne.node}, {kLog}}, {});
  EXPECT_EQ(given.waits(state, alone).kind, NodesWait::Kind::member);
  EXPECT_EQ(given.waits(state, alone).who, kTwo);
}

// The acceptor promised a round of the new list. So its log must also have this list, and all that
// the acceptor needs to continue with it.
TEST(PaxosLists, AnAcceptorThatRestartsGoesByTheListOfItsLog) {
  Bench three(kThree);
  three.start();
  const Round round = three.join(kOne);
  const Bytes bytes = list_bytes(with_four());
  three.propose(kOne, round.count, 2, list_head(kOne, 1), as_text(bytes), 1);
  three.sync();
  for (const MemberId& each : {kOne, kTwo}) three.vote(each, round, 2, 2);
  three.sync();
  three.prepare(kOne, wire::first_count(1), 3);
  three.sync();
  three.restart();
  EXPECT_EQ(three.counter("quorum_list"), 1U);
  EXPECT_EQ(three.last_state().round.count, wire::first_count(1));
  EXPECT_EQ(three.last_state().next_list, 1U) << "its file has the list of before";
}

// A node that knows no order yet may have a list that never becomes active.
TEST(PaxosLists, ANodeThatKnowsNothingDoesNotVoteInAnotherOrder) {
  Bench three(kThree);
  three.start();
  wire::State other;
  other.first_list = 77;
  other.next = other.oldest = 1;
  three.state(kOne, other);
  three.propose(kOne, 1, 1, unit_head(kOne, 1), "a");
  three.sync();
  EXPECT_EQ(three.last_state().voted_upto, 0U);
  EXPECT_EQ(three.counter("quorum_instances_ahead"), 0U);
}

// Two nodes that know different orders ignore each other.
TEST(PaxosLists, WhoKnowsAnotherOrderIsNotListenedTo) {
  Bench three(kThree);
  three.start();
  three.join(kOne);
  wire::State other = state_of({9, kTwo}, 5, 900, 0, 0);
  other.first_list = 77;
  three.state(kTwo, other);
  EXPECT_EQ(three.counter("other_list"), 1U);
}

// A new node requests checkpoints until the other nodes have changed to a list that includes it.
TEST(PaxosLists, WhoAskedForLongIsNotCutOff) {
  Bench three(kThree);
  three.start();
  wire::State known;
  known.next = 2;
  known.oldest = 1;
  for (int i = 0; i < 150; ++i) {
    three.state(kOne, known);
    three.run(milliseconds(10));
  }
  wire::Checkpoint said;
  said.next = 2;
  said.nodes = first_nodes();
  three.checkpoint(kOne, said);
  said.next = 3;
  said.view = {1, kOne};
  said.members = {{kOne, 0}, {kThree, 0}};
  said.numbers = {0, 0};
  three.checkpoint(kOne, said);
  EXPECT_EQ(three.told(), "") << "the second comes late, and it can come there by itself";
}

// Node 3 was restarted with a list that node 1 does not have. Node 3 may not know all members.
TEST(PaxosLists, WhoHasAnotherListWaitsOutsideTheView) {
  Bench one(kOne);
  const Round round = one.lead();
  constexpr MemberId kAgain{kThree.node, kThree.epoch + 1};
  wire::State back;
  back.next = back.oldest = 2;
  back.next_list = 2;
  one.state(kTwo, state_of(round, 1, 2, 0, 0));
  one.state(kAgain, back);
  one.sync();
  one.state(kTwo, state_of(round, 2, 2, 0, 0));
  one.run(milliseconds(1));
  EXPECT_EQ(one.told(), "view 1 123, trans 2 12, view 2 12");
  back.next = 3;
  one.state(kAgain, back);
  EXPECT_EQ(one.proposed(wire::ValueKind::view), 2U);
  one.list(with_four());
  one.run(milliseconds(20));
  EXPECT_EQ(one.proposed(wire::ValueKind::view), 3U) << "it has all that are in the view";
}

TEST(PaxosLists, WaitsSayWhoIsMissing) {
  using Waits = NodesWait::Kind;
  Bench one(kOne);
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::nothing);
  const Round round = one.lead();
  one.list({3, {{1}, {2}}, {{1}, {2}}});
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::outdated) << "nobody else wants it";
  EXPECT_EQ(one.engine->nodes_wait().who, kThree);
  one.state(kTwo, state_of(round, 1, 2, 0, 3));
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::running);
  EXPECT_EQ(one.engine->nodes_wait().who, kThree);
  one.list({4, {{1}, {2}, {3}, {4}, {5}}, {{1}, {4}, {5}}});
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::strangers);
  one.list({5, {{1}, {2}, {3}, {4}}, {{1}, {3}, {4}}});
  for (const MemberId& each : {kTwo, kThree}) one.state(each, state_of(round, 1, 2, 0, 5));
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::acceptor) << "its log is to be named";
  EXPECT_EQ(one.engine->nodes_wait().who.node, NodeId{4});
  wire::State comes = state_of({}, 0, 2, 0, 5);
  comes.joined = false;
  one.state({NodeId{4}, 100}, comes);
  EXPECT_EQ(one.engine->nodes_wait().kind, Waits::nothing);
  EXPECT_EQ(one.proposed(wire::ValueKind::nodes), 1U);
  Bench far(kOne);
  const Round there = far.lead();
  far.list({6, {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}}, {{1}, {2}, {3}}});
  for (const MemberId& each : {kTwo, kThree}) far.state(each, state_of(there, 1, 2, 0, 6));
  EXPECT_EQ(far.engine->nodes_wait().kind, Waits::majority) << "of eight nodes three are there";
  far.list({7, {{1}, {2}, {3}, {4}, {5}, {6}}, {{1}, {2}, {3}}});
  for (const MemberId& each : {kTwo, kThree}) far.state(each, state_of(there, 1, 2, 0, 7));
  EXPECT_EQ(far.engine->nodes_wait().kind, Waits::majority) << "the half is none";
  EXPECT_EQ(far.proposed(wire::ValueKind::nodes), 0U);
  far.list({8, {{1}, {2}, {3}, {4}, {5}}, {{1}, {2}, {3}}});
  for (const MemberId& each : {kTwo, kThree}) far.state(each, state_of(there, 1, 2, 0, 8));
  EXPECT_EQ(far.proposed(wire::ValueKind::nodes), 1U);
}

}  // namespace
}  // namespace peal::order::paxos::test
