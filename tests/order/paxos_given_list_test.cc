// SPDX-License-Identifier: Apache-2.0
// When a coordinator may propose the pending list of nodes, and how acceptors bootstrap an order.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "paxos_parts_bench.h"

namespace peal::order::paxos::test {
namespace {

using Kind = NodesWait::Kind;

constexpr MemberId kFour{{4}, 100}, kFive{{5}, 100};
constexpr std::uint64_t kPending = 9;
constexpr std::uint64_t kNewLife = wire::kLogBit | 0x99;

std::vector<NodeId> node_ids(std::initializer_list<std::uint32_t> nodes) {
  std::vector<NodeId> out;
  for (const std::uint32_t node : nodes) out.push_back({node});
  return out;
}

/// Nodes 1 to 3 are in a view, and all three have the same pending list.
struct Pending : PartsBench {
  Pending(std::initializer_list<std::uint32_t> nodes,
          std::initializer_list<std::uint32_t> acceptors) {
    wire::Checkpoint at;
    at.next = 10'000;
    at.nodes = first_nodes();
    at.view = {5, kOne};
    at.members = {{kOne, 0}, {kTwo, 0}, {kThree, 0}};
    at.numbers = {0, 0, 0};
    state = OrderState(at);
    EXPECT_FALSE(reconfiguration.give({kPending, node_ids(nodes), node_ids(acceptors)}, false));
    reconfiguration.know_nodes();
    for (const MemberId& each : {kTwo, kThree}) says(each);
  }
  /// STATE, after `change`, of a node that knows the order and has the same pending list.
  Peer& says(const MemberId& who, const std::function<void(wire::State&)>& change = {}) {
    wire::State said;
    said.next_list = kPending;
    if (change) change(said);
    return hear(who, said);
  }
  NodesWait waits() const { return given.waits(state, peers); }
};

TEST(PaxosGivenList, IsWaitedForByNobodyIfItCounts) {
  PartsBench one;
  one.be_in_view();
  EXPECT_EQ(one.given.next(one.state), nullptr);
  EXPECT_EQ(one.given.waits(one.state, one.peers).kind, Kind::nothing);
}

TEST(PaxosGivenList, WaitsForAView) {
  PartsBench one;
  one.given.give({kPending, node_ids({1, 2, 3}), node_ids({1})});
  EXPECT_EQ(one.given.waits(one.state, one.peers).kind, Kind::view) << "it knows no order";
  one.know_order();
  EXPECT_EQ(one.given.waits(one.state, one.peers).kind, Kind::view) << "there is no view yet";
}

TEST(PaxosGivenList, CountsNextOnceAllMembersHaveItAndMostAreThere) {
  Pending one({1, 2, 3, 4}, {1, 2, 3});
  ASSERT_NE(one.given.next(one.state), nullptr);
  EXPECT_EQ(one.waits().kind, Kind::nothing);
}

TEST(PaxosGivenList, MostOfItsAcceptorsMustKnowThisClustersOrder) {
  EXPECT_EQ(Pending({1, 2, 3, 4, 5}, {3, 4, 5}).waits().kind, Kind::strangers);
  EXPECT_NE(Pending({1, 2, 3, 4, 5}, {2, 3, 4}).waits().kind, Kind::strangers);
  EXPECT_EQ(Pending({1, 2, 3, 4, 5}, {2, 3, 4, 5}).waits().kind, Kind::acceptor)
      << "two of four are no majority of strangers";
}

TEST(PaxosGivenList, WhoIsRemovedMustHaveStopped) {
  Pending one({1, 2}, {1, 2});
  EXPECT_EQ(one.waits().kind, Kind::running);
  EXPECT_EQ(one.waits().who, kThree);
  one.says(kTwo, [](wire::State& said) { said.next_list = 0; });
  EXPECT_EQ(one.waits().kind, Kind::outdated) << "nobody else has such a list";
}

TEST(PaxosGivenList, WaitsForAMemberThatWasNotGivenIt) {
  Pending one({1, 2, 3, 4}, {1, 2, 3});
  one.says(kThree, [](wire::State& said) { said.next_list = kPending + 1; });
  EXPECT_EQ(one.waits().kind, Kind::member);
  EXPECT_EQ(one.waits().who, kThree);
  one.says(kThree);
  EXPECT_EQ(one.waits().kind, Kind::nothing);
  one.says({kTwo.node, kTwo.epoch + 1});
  EXPECT_EQ(one.waits().kind, Kind::member) << "the member is another incarnation";
  EXPECT_EQ(one.waits().who, kTwo);
}

TEST(PaxosGivenList, AnAcceptorThatComesInMustBeThereAndUpToDate) {
  const auto waits = [](const std::function<void(Pending&)>& change) {
    Pending one({1, 2, 3, 4}, {1, 2, 4});
    change(one);
    if (one.waits().kind == Kind::acceptor) {
      EXPECT_EQ(one.waits().who.node, kFour.node);
    }
    return one.waits().kind;
  };
  EXPECT_EQ(waits([](Pending&) {}), Kind::acceptor) << "it was never heard";
  EXPECT_EQ(waits([](Pending& one) { one.says(kFour); }), Kind::nothing);
  EXPECT_EQ(waits([](Pending& one) { one.says(kFour).suspected = true; }), Kind::acceptor);
  EXPECT_EQ(
      waits([](Pending& one) { one.says(kFour, [](wire::State& said) { said.leaving = true; }); }),
      Kind::acceptor);
  EXPECT_EQ(
      waits([](Pending& one) { one.says(kFour, [](wire::State& said) { said.next_list = 0; }); }),
      Kind::acceptor);
  EXPECT_EQ(waits([](Pending& one) { one.says(kFour).has_life = 0; }), Kind::acceptor)
      << "it has no life to vote in";
  EXPECT_EQ(waits([](Pending& one) { one.says(kFour, [](wire::State& said) { said.list = 7; }); }),
            Kind::acceptor)
      << "it may speak of an incarnation before";
  const Instance lag = join_lag(Options{});
  EXPECT_EQ(waits([&](Pending& one) {
              one.says(kFour, [&](wire::State& said) { said.next = 10'000 - lag; });
            }),
            Kind::nothing);
  EXPECT_EQ(waits([&](Pending& one) {
              one.says(kFour, [&](wire::State& said) { said.next = 10'000 - lag - 1; });
            }),
            Kind::acceptor)
      << "it is behind";
}

TEST(PaxosGivenList, MembersAreUpToDateHoweverFarBehindTheySay) {
  Pending one({1, 2, 3}, {1, 2, 3});
  one.hear({kTwo.node, kTwo.epoch});
  Peer& two = *one.peers.find(kTwo.node);
  two.state.next = 1;
  two.state.next_list = kPending;
  one.peers.find(kThree.node)->suspected = true;
  EXPECT_EQ(one.waits().kind, Kind::nothing);
}

TEST(PaxosGivenList, MostOfItsAcceptorsMustBeThere) {
  Pending one({1, 2, 3}, {1, 2, 3});
  one.peers.find(kThree.node)->suspected = true;
  EXPECT_EQ(one.waits().kind, Kind::nothing) << "two of three";
  one.peers.find(kTwo.node)->suspected = true;
  EXPECT_EQ(one.waits().kind, Kind::acceptor);
  EXPECT_EQ(one.waits().who, kTwo) << "the first that is silent";
  Pending other({1, 2, 3}, {1, 2, 3});
  other.peers.self().silent = true;
  other.peers.find(kTwo.node)->suspected = true;
  EXPECT_EQ(other.waits().kind, Kind::acceptor) << "this node itself must not vote";
}

TEST(PaxosGivenList, OfSilentAcceptorsOneWithoutALifeIsNamed) {
  Pending one({1, 2, 3, 4}, {1, 2, 4});
  one.peers.find(kTwo.node)->suspected = true;
  EXPECT_EQ(one.waits().who.node, kFour.node) << "without it the list has no life for it";
}

TEST(PaxosGivenList, MostOfItsNodesMustBeThere) {
  Pending one({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  EXPECT_EQ(one.waits().kind, Kind::majority) << "three of six";
  one.says(kFour);
  EXPECT_EQ(one.waits().kind, Kind::nothing);
  one.peers.find(kFour.node)->suspected = true;
  EXPECT_EQ(one.waits().kind, Kind::majority);
}

TEST(PaxosGivenList, NamesTheLivesThatItsAcceptorsHave) {
  Pending one({1, 2, 3, 4}, {1, 2, 3, 4});
  one.says(kFour).has_life = kNewLife;
  one.peers.find(kTwo.node)->has_life = kNewLife + 2;
  one.peers.find(kThree.node)->has_life = kNewLife + 3;
  one.peers.find(kThree.node)->suspected = true;
  const wire::Nodes value = one.given.value(one.state, one.peers);
  EXPECT_EQ(value.hash, kPending);
  EXPECT_EQ(value.all, node_ids({1, 2, 3, 4}));
  EXPECT_EQ(value.lives, (std::vector<std::uint64_t>{kLog, kNewLife + 2, kLog, kNewLife}))
      << "one that is not heard stays as it was, since it may come back with all its votes";
}

TEST(PaxosGivenList, AnAcceptorThatForgotIsTakenInAnewOnceItIsUpToDate) {
  const auto wants = [](const std::function<void(PartsBench&, Peer&)>& change) {
    PartsBench one;
    wire::Checkpoint at;
    at.next = 10'000;
    at.nodes = first_nodes();
    one.state = OrderState(at);
    Peer& two = one.hear(kTwo);
    two.has_life = kNewLife;
    change(one, two);
    const wire::Nodes renewed = one.given.renewed(one.state, one.peers);
    const bool is_renewed = renewed.lives == std::vector<std::uint64_t>{kLog, kNewLife, kLog} &&
                            renewed.hash == one.state.nodes().hash;
    EXPECT_EQ(one.given.wants_lives(one.state, one.peers), is_renewed);
    EXPECT_EQ(renewed == one.state.nodes(), !is_renewed);
    return is_renewed;
  };
  EXPECT_TRUE(wants([](PartsBench&, Peer&) {}));
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.has_life = kLog; })) << "it forgot nothing";
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.has_life = 0; }));
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.suspected = true; }));
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.has_state = false; }));
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.state.leaving = true; }));
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.state.next = 0; })) << "it knows no order";
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.state.next = 10; })) << "it is behind";
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.state.list = 1; }))
      << "the list may name the life after the one of which it speaks";
  EXPECT_FALSE(wants([](PartsBench&, Peer& two) { two.state.first_list = 5; }));
}

TEST(PaxosGivenList, HoldsAllMembersThatSeemAlive) {
  Pending one({1, 2}, {1, 2});
  const std::vector<wire::ViewMember> members{{kOne, 0}, {kTwo, 0}, {kThree, 0}};
  EXPECT_FALSE(one.given.holds_all(members, one.peers));
  EXPECT_TRUE(one.given.holds_all({{kOne, 0}, {kTwo, 0}}, one.peers));
  one.peers.find(kThree.node)->state.leaving = true;
  EXPECT_TRUE(one.given.holds_all(members, one.peers)) << "it is on its way out";
  one.peers.find(kThree.node)->state.leaving = false;
  one.peers.find(kThree.node)->suspected = true;
  EXPECT_TRUE(one.given.holds_all(members, one.peers));
  one.hear({kThree.node, kThree.epoch + 1});
  EXPECT_TRUE(one.given.holds_all(members, one.peers)) << "the member is gone";
}

// ---- reconfiguration ----

TEST(PaxosReconfiguration, AListCountsAtOnceWhereNoOrderIsKnownAndNothingWasSaid) {
  const NodeList list{kPending, node_ids({1, 2, 4}), node_ids({1, 2})};
  PartsBench one;
  EXPECT_FALSE(one.reconfiguration.give(list, false)) << "it has spoken for the list before";
  EXPECT_EQ(one.state.nodes().hash, 1U);
  EXPECT_TRUE(one.reconfiguration.give(list, true));
  EXPECT_EQ(one.state.nodes().hash, kPending);
  EXPECT_FALSE(one.reconfiguration.give(list, true)) << "it counts already";
  PartsBench other;
  other.know_order();
  EXPECT_FALSE(other.reconfiguration.give(list, true));
  EXPECT_EQ(other.state.nodes().hash, 1U);
  ASSERT_NE(other.given.next(other.state), nullptr) << "it is decided like everything else";
  other.reconfiguration.know_nodes();
  EXPECT_NE(other.peers.find(kFour.node), nullptr) << "nodes of the list to come are known";
  EXPECT_NE(other.peers.find(kThree.node), nullptr);
}

/// The kinds of the reported events, in order.
std::vector<const EventKind*> kinds(const PartsBench& bench) {
  std::vector<const EventKind*> out;
  for (const Event& each : bench.events) out.push_back(each.kind);
  return out;
}

TEST(PaxosReconfiguration, PeopleAreToldOnceOfAListAndOfItsNewLives) {
  PartsBench one;
  one.be_in_view();
  one.hear_all();
  wire::Checkpoint later = one.state.checkpoint();
  later.nodes.number = 1;
  later.nodes.hash = kPending;
  later.nodes.lives = {kLog, kNewLife, kLog};
  one.given.give({kPending, later.nodes.all, later.nodes.acceptors});
  one.state = OrderState(later);
  one.reconfiguration.take_list(one.consumer.view(), one);
  EXPECT_EQ(kinds(one), std::vector<const EventKind*>{&event::acceptor_renewed});
  EXPECT_EQ(one.events[0].who, kTwo);
  one.events.clear();
  one.reconfiguration.report_list(one.consumer.view(), one);
  EXPECT_EQ(kinds(one), std::vector<const EventKind*>{&event::nodes_adopted});
  one.reconfiguration.report_list(one.consumer.view(), one);
  EXPECT_EQ(one.events.size(), 1U);
}

TEST(PaxosReconfiguration, AMemberThatWasNotGivenTheListThatCountsIsToldSo) {
  const auto told = [](bool member, bool listed) {
    PartsBench one;
    if (member) one.be_in_view();
    if (!member) one.know_order();
    wire::Checkpoint later = one.state.checkpoint();
    later.nodes.hash = kPending;
    one.state = OrderState(later);
    one.peers.self().listed = listed;
    one.events.clear();
    one.reconfiguration.report_list(one.consumer.view(), one);
    return kinds(one) == std::vector<const EventKind*>{&event::nodes_not_given};
  };
  EXPECT_TRUE(told(true, true));
  EXPECT_FALSE(told(false, true)) << "one that starts may have been given the one to come";
  EXPECT_FALSE(told(true, false));
}

TEST(PaxosReconfiguration, TwoThatKnowOrdersKnowTheSame) {
  PartsBench one;
  wire::State said;
  said.first_list = 1;
  EXPECT_TRUE(one.reconfiguration.same_order(said)) << "both know none, and have one list";
  said.first_list = 2;
  EXPECT_FALSE(one.reconfiguration.same_order(said));
  said.next = 1;
  EXPECT_TRUE(one.reconfiguration.same_order(said)) << "it knows one, and this node does not";
  one.know_order();
  EXPECT_FALSE(one.reconfiguration.same_order(said));
  said.first_list = one.state.nodes().first;
  EXPECT_TRUE(one.reconfiguration.same_order(said));
  said.next = 0;
  said.first_list = 2;
  EXPECT_TRUE(one.reconfiguration.same_order(said));
}

// ---- the bootstrap of an order ----

/// Node 1 hears all acceptors of its list. No acceptor knows an order.
struct Beginning : PartsBench {
  Beginning() {
    for (const MemberId& each : {kTwo, kThree}) hear(each);
    list = state.nodes();
  }
  bool takes() { return bootstrap.take(list, peers); }
  wire::Lives lives(std::uint64_t two = kLog) const { return {list.hash, {kLog, two, kLog}}; }
  void all_agree() {
    bootstrap.note_own(kOne.node);
    for (const MemberId& each : {kTwo, kThree}) {
      bootstrap.note(bootstrap.taken(), *peers.find(each.node));
    }
  }
  wire::Nodes list;
  Bootstrap bootstrap;
};

TEST(PaxosBootstrap, AllAcceptorsThatAreHeardAreTakenOnce) {
  Beginning one;
  EXPECT_TRUE(one.takes());
  EXPECT_EQ(one.bootstrap.taken(), one.lives());
  EXPECT_EQ(one.bootstrap.heard(), (std::vector<MemberId>{kOne, kTwo, kThree}));
  EXPECT_FALSE(one.takes()) << "nothing has changed";
}

TEST(PaxosBootstrap, NobodyIsTakenWhile) {
  const auto takes = [](const std::function<void(Beginning&, Peer&)>& change) {
    Beginning one;
    change(one, *one.peers.find(kThree.node));
    return one.takes();
  };
  EXPECT_TRUE(takes([](Beginning&, Peer&) {}));
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.suspected = true; }));
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.state.leaving = true; }));
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.has_life = 0; }));
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.has_state = false; }));
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.state.first_list = 5; }))
      << "it has another list";
  EXPECT_FALSE(takes([](Beginning& one, Peer&) { one.list.acceptors.push_back(kFive.node); }))
      << "one was never heard of";
  EXPECT_FALSE(takes([](Beginning&, Peer& three) { three.state.next = 2; })) << "it knows an order";
}

TEST(PaxosBootstrap, ALaterLifeTakesThePlaceOfTheOneBeforeAndNoEarlierOne) {
  Beginning one;
  ASSERT_TRUE(one.takes());
  one.all_agree();
  EXPECT_TRUE(one.bootstrap.complete());
  Peer& two = one.hear({kTwo.node, kTwo.epoch + 1});
  two.has_life = kNewLife;
  EXPECT_TRUE(one.takes());
  EXPECT_EQ(one.bootstrap.taken(), one.lives(kNewLife));
  EXPECT_FALSE(one.bootstrap.complete()) << "others have to take it too";
  two.member = kTwo;
  two.has_life = kLog;
  EXPECT_FALSE(one.takes()) << "a word that came late";
}

TEST(PaxosBootstrap, TheOrderBeginsWhenAllHaveTakenTheSame) {
  Beginning one;
  EXPECT_FALSE(one.bootstrap.complete()) << "nobody is taken";
  ASSERT_TRUE(one.takes());
  one.bootstrap.note_own(kOne.node);
  Peer& two = *one.peers.find(kTwo.node);
  Peer& three = *one.peers.find(kThree.node);
  one.bootstrap.note(one.lives(), two);
  EXPECT_FALSE(one.bootstrap.complete());
  one.bootstrap.note(one.lives(kNewLife), three);
  EXPECT_FALSE(one.bootstrap.complete()) << "it took others";
  three.has_life = kNewLife;
  one.bootstrap.note(one.lives(), three);
  EXPECT_FALSE(one.bootstrap.complete()) << "it has another life by now";
  three.has_life = kLog;
  one.bootstrap.note(one.lives(), three);
  EXPECT_TRUE(one.bootstrap.complete());
}

TEST(PaxosBootstrap, WhatWasTakenBeforeARestartIsAgreedOnAnew) {
  Beginning one;
  one.bootstrap.restore(one.lives(), {kOne, kTwo, kThree});
  EXPECT_FALSE(one.bootstrap.complete());
  EXPECT_FALSE(one.takes()) << "they are the same";
  one.all_agree();
  EXPECT_TRUE(one.bootstrap.complete());
}

TEST(PaxosBootstrap, AWordIsNeededOfThoseThatWereTaken) {
  Beginning one;
  Peer& two = *one.peers.find(kTwo.node);
  EXPECT_TRUE(one.bootstrap.needs(two)) << "this node has said nothing";
  EXPECT_FALSE(one.bootstrap.took_those_of(one.list));
  ASSERT_TRUE(one.takes());
  EXPECT_TRUE(one.bootstrap.needs(two));
  two.has_life = kNewLife;
  EXPECT_FALSE(one.bootstrap.needs(two)) << "it was taken in another life";
  Peer stranger;
  stranger.node = kFive.node;
  stranger.has_life = kLog;
  EXPECT_FALSE(one.bootstrap.needs(stranger));
  // Before a restart, this node has named only nodes 1 and 3, whose logs have equal ids.
  one.bootstrap.restore({one.list.hash, {kLog, kLog}}, {kOne, kThree});
  EXPECT_TRUE(one.bootstrap.needs(*one.peers.find(kThree.node)));
  two.has_life = kLog;
  EXPECT_FALSE(one.bootstrap.needs(two));
  one.bootstrap.restore(one.lives(), {kOne, kTwo, kThree});
  OrderState begun(one.list);
  begun.begin_order(one.lives().lives);
  EXPECT_TRUE(one.bootstrap.took_those_of(begun.nodes()));
  begun = OrderState(one.list);
  begun.begin_order(one.lives(kNewLife).lives);
  EXPECT_FALSE(one.bootstrap.took_those_of(begun.nodes()));
}

TEST(PaxosIncarnations, ReportsAmnesiaOncePerConfiguration) {
  PartsBench one;
  one.be_in_view();
  one.incarnations.report_amnesia(one.consumer.view(), one);
  EXPECT_TRUE(one.events.empty()) << "it has forgotten nothing";
  EXPECT_FALSE(one.incarnations.is_amnesiac());
  one.peers.self().acceptor = false;
  EXPECT_TRUE(one.incarnations.is_amnesiac());
  for (int i = 0; i < 2; ++i) one.incarnations.report_amnesia(one.consumer.view(), one);
  EXPECT_EQ(kinds(one), std::vector<const EventKind*>{&event::votes_forgotten});
  EXPECT_EQ(one.events[0].who, kOne);
  wire::Checkpoint later = one.state.checkpoint();
  later.nodes.number = 1;
  one.state = OrderState(later);
  one.incarnations.report_amnesia(one.consumer.view(), one);
  EXPECT_EQ(one.events.size(), 2U);
  one.peers.self().named = false;
  EXPECT_FALSE(one.incarnations.is_amnesiac()) << "not an acceptor of the configuration";
}

TEST(PaxosIncarnations, VotesAsAnAcceptorThatMayVoteAndWhoseLogHasTheConfiguration) {
  const auto votes = [](const std::function<void(PartsBench&)>& change) {
    PartsBench one;
    one.be_in_view();
    change(one);
    return one.incarnations.votes();
  };
  EXPECT_TRUE(votes([](PartsBench&) {}));
  EXPECT_FALSE(votes([](PartsBench& one) { one.peers.self().acceptor = false; }));
  EXPECT_FALSE(votes([](PartsBench& one) { one.checkpointer.begin_list(); }));
  EXPECT_FALSE(votes([](PartsBench& one) {
    wire::Checkpoint nobody = one.state.checkpoint();
    nobody.nodes.lives.clear();
    one.state = OrderState(nobody);
  }));
  EXPECT_FALSE(PartsBench().incarnations.votes());
  PartsBench one;
  EXPECT_FALSE(one.incarnations.keeps_log()) << "it knows no order";
  EXPECT_FALSE(one.incarnations.may_speak_for_order());
  one.be_in_view();
  EXPECT_TRUE(one.incarnations.keeps_log());
  EXPECT_TRUE(one.incarnations.may_speak_for_order());
}

}  // namespace
}  // namespace peal::order::paxos::test
