// SPDX-License-Identifier: Apache-2.0
// Tests the decisions of one node: which node coordinates, and which members the next view has.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "order/paxos/next_view.h"
#include "paxos_parts_bench.h"

namespace peal::order::paxos::test {
namespace {

using Phase = Coordinator::Phase;

constexpr Round kOfTwo{4, kTwo};
const Duration kSuspect = Options{}.suspect;

/// Node 1 is in a view with both other nodes, and hears them. No node coordinates.
struct InView : PartsBench {
  InView() {
    be_in_view();
    hear_both({}, true);
  }
  void hear_both(wire::Fitness fitness, bool misses) {
    wire::State said;
    said.fitness = fitness;
    said.misses = misses;
    for (const MemberId& each : {kTwo, kThree}) hear(each, said);
    look();
  }
};

/// Like InView, but node 2 coordinates.
struct Led : InView {
  Led() {
    election.see(now, kOfTwo);
    election.follow(kOfTwo);
    hear_both({}, false);
  }
  bool misses() {
    look();
    return election.misses();
  }
};

// ---- rounds ----

TEST(PaxosElection, FollowsHigherRoundsOfItsList) {
  InView one;
  one.election.see(one.now, kOfTwo);
  EXPECT_EQ(one.election.round(), kOfTwo);
  one.election.see(one.now, {3, kThree});
  EXPECT_EQ(one.election.round(), kOfTwo) << "a lower one";
  one.election.see(one.now, {wire::first_count(1), kThree});
  EXPECT_EQ(one.election.round(), kOfTwo) << "of a list that does not count here";
  one.election.see(one.now, {4, kThree});
  EXPECT_EQ(one.election.round(), Round({4, kThree})) << "of equal counts the higher coordinator's";
}

TEST(PaxosElection, KnowsACoordinatorThatLivesAndLeads) {
  InView one;
  one.election.see(one.now, kOfTwo);
  EXPECT_EQ(one.election.coordinator(), nullptr) << "it is not past Phase 1";
  one.election.follow(kOfTwo);
  ASSERT_NE(one.election.coordinator(), nullptr);
  EXPECT_EQ(one.election.coordinator()->member, kTwo);
  one.peers.find(kTwo.node)->suspected = true;
  EXPECT_EQ(one.election.coordinator(), nullptr);
  one.hear({kTwo.node, kTwo.epoch + 1});
  EXPECT_EQ(one.election.coordinator(), nullptr) << "another incarnation leads nothing";
}

TEST(PaxosElection, ForgetsRoundsOfOtherOrders) {
  Led one;
  one.election.forget();
  EXPECT_EQ(one.election.round(), Round{});
  EXPECT_EQ(one.election.leading(), Round{});
}

// ---- taking over ----

TEST(PaxosElection, TakesOverWhereNobodyCoordinates) {
  InView one;
  one.look();
  EXPECT_TRUE(one.election.misses());
  one.election.run(one.now, false, one);
  EXPECT_EQ(one.coordinator.phase(), Phase::idle) << "it must not vote";
  one.election.run(one.now, true, one);
  EXPECT_EQ(one.coordinator.phase(), Phase::prepare);
  EXPECT_EQ(one.election.elections(), 1U);
  EXPECT_EQ(one.election.round(), one.coordinator.round());
  one.election.run(one.now + seconds(10), true, one);
  EXPECT_EQ(one.election.elections(), 1U) << "it is at it";
}

TEST(PaxosElection, ItsRoundIsAboveAllThatItHeardOfAndOfTheListThatCounts) {
  Led one;
  one.peers.find(kTwo.node)->suspected = true;
  wire::State said;
  said.misses = true;
  one.hear(kThree, said);
  one.look();
  one.election.run(one.now, true, one);
  EXPECT_EQ(one.coordinator.round(), Round({kOfTwo.count + 1, kOne}));

  PartsBench other;
  other.know_order();
  wire::Checkpoint later = other.state.checkpoint();
  later.nodes.number = 3;
  other.state = OrderState(later);
  wire::State missing;
  missing.misses = true;
  for (const MemberId& each : {kTwo, kThree}) other.hear(each, missing);
  other.look();
  other.election.run(other.now, true, other);
  EXPECT_EQ(other.coordinator.round(), Round({wire::first_count(3), kOne}));
}

TEST(PaxosElection, DoesNotTakeOver) {
  const auto begins = [](const std::function<void(InView&)>& change) {
    InView one;
    change(one);
    one.look();
    one.election.run(one.now, true, one);
    return one.coordinator.phase() != Phase::idle;
  };
  const auto suspect = [](InView& one, const MemberId& who) {
    one.peers.find(who.node)->suspected = true;
  };
  EXPECT_TRUE(begins([](InView&) {}));
  EXPECT_TRUE(begins([&](InView& one) { suspect(one, kTwo); }));
  EXPECT_FALSE(begins([&](InView& one) {
    suspect(one, kTwo);
    suspect(one, kThree);
  })) << "it is alone";
  EXPECT_FALSE(begins([](InView& one) { one.election.put_off(one.now + nanoseconds(1)); }));
  EXPECT_TRUE(begins([](InView& one) { one.election.put_off(one.now); }));
  EXPECT_FALSE(begins([](InView& one) {
    EXPECT_TRUE(one.acceptor.prepare({1, kOne}));
  })) << "a promise is on its way to the disk, and another round would make it worthless";
  EXPECT_TRUE(begins([](InView& one) {
    EXPECT_TRUE(one.acceptor.prepare({1, kOne}));
    one.disk.sync();
  }));
  EXPECT_FALSE(begins([](InView& one) {
    one.config.first_candidate = 1;
    wire::State said;
    said.fitness = wire::Fitness::chosen;
    said.misses = true;
    one.hear(kTwo, said);
  })) << "it is the turn of another one that is as fit";
}

TEST(PaxosElection, LeavesTheOtherCandidatesTheirTurnBeforeItTriesAgain) {
  // The first candidate waits for Options::suspect. Each next candidate waits a quarter of that
  // time longer.
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    SCOPED_TRACE(rank);
    InView one;
    one.config.first_candidate = (3 - rank) % 3;
    one.election.run(one.now, true, one);
    ASSERT_EQ(one.election.elections(), 1U);
    one.disk.sync();
    one.coordinator.step_down();
    const Instant turn = one.now + kSuspect + kSuspect * rank / 4;
    one.now = turn + nanoseconds(-1);
    one.look();
    one.election.run(one.now, true, one);
    EXPECT_EQ(one.election.elections(), 1U);
    one.now = turn;
    one.election.run(one.now, true, one);
    EXPECT_EQ(one.election.elections(), 2U);
  }
}

TEST(PaxosElection, StepsDownForAHigherRoundAndGivesItTime) {
  InView one;
  one.election.run(one.now, true, one);
  one.disk.sync();
  ASSERT_EQ(one.coordinator.phase(), Phase::prepare);
  one.election.see(one.now, one.coordinator.round());
  EXPECT_EQ(one.coordinator.phase(), Phase::prepare) << "its own round is not above itself";
  one.now = one.now + seconds(1);
  one.election.see(one.now, kOfTwo);
  EXPECT_EQ(one.coordinator.phase(), Phase::idle);
  for (const MemberId& each : {kTwo, kThree}) one.hear(each);
  one.peers.find(kTwo.node)->suspected = true;
  wire::State misses;
  misses.misses = true;
  one.hear(kThree, misses);
  one.look();
  one.election.run(one.now + kSuspect + nanoseconds(-1), true, one);
  EXPECT_EQ(one.coordinator.phase(), Phase::idle);
  one.election.run(one.now + kSuspect, true, one);
  EXPECT_EQ(one.coordinator.phase(), Phase::prepare);
}

// ---- missed coordinators ----

TEST(PaxosElection, MissesACoordinatorThatDoesNotServeIt) {
  EXPECT_FALSE(Led().misses());
  const auto misses = [](const std::function<void(Led&, Peer&)>& change) {
    Led one;
    change(one, *one.peers.find(kTwo.node));
    return one.misses();
  };
  EXPECT_TRUE(misses([](Led&, Peer& two) { two.suspected = true; }));
  EXPECT_TRUE(misses([](Led&, Peer& two) { two.acceptor = false; }));
  EXPECT_TRUE(misses([](Led&, Peer& two) { two.state.leaving = true; }));
  EXPECT_TRUE(misses([](Led& one, Peer&) { one.hear({kTwo.node, kTwo.epoch + 1}); }));
  EXPECT_TRUE(misses([](Led& one, Peer&) {
    one.election.see(one.now, {5, {{99}, 1}});
  })) << "nobody knows the node";
  EXPECT_TRUE(misses([](Led& one, Peer& two) {
    two.reception.look(one.now, true, one.config.options);
    two.reception.look(one.now + seconds(1), true, one.config.options);
  })) << "its states do not arrive";
  EXPECT_FALSE(misses([](Led& one, Peer&) { one.peers.find(kThree.node)->suspected = true; }));
}

TEST(PaxosElection, ACoordinatorHasItsTimeToBegin) {
  const auto misses_after = [](Duration span, bool leads) {
    InView one;
    one.election.see(one.now, kOfTwo);
    if (leads) one.election.follow(kOfTwo);
    const Instant begin = one.now;
    for (; one.now < begin + span; one.now = one.now + milliseconds(10)) {
      one.hear_both(wire::Fitness::chosen, false);
    }
    one.now = begin + span;
    one.look();
    return one.election.misses();
  };
  EXPECT_FALSE(misses_after(kSuspect * 4 + nanoseconds(-1), false));
  EXPECT_TRUE(misses_after(kSuspect * 4, false));
  EXPECT_FALSE(misses_after(seconds(5), true)) << "it leads";
}

TEST(PaxosElection, MissesACoordinatorThatIsLessFitForLong) {
  const auto missed_at = [](wire::Fitness its, Duration after) {
    Led one;
    wire::State said;
    said.fitness = wire::Fitness::chosen;
    one.hear(kTwo, said);
    one.look();
    const Instant begin = one.now;
    for (; one.now < begin + after; one.now = one.now + milliseconds(10)) {
      one.hear_both(its, false);
    }
    one.now = begin + after;
    one.look();
    return one.election.misses();
  };
  EXPECT_FALSE(missed_at(wire::Fitness::connected, kSuspect));
  EXPECT_TRUE(missed_at(wire::Fitness::connected, kSuspect * 3));
  EXPECT_FALSE(missed_at(wire::Fitness::chosen, kSuspect * 3)) << "it is as fit as this node";
}

TEST(PaxosElection, APauseOfThisProcessSaysNothingOfTheCoordinatorsFitness) {
  Led one;
  wire::State said;
  said.fitness = wire::Fitness::connected;
  one.hear(kTwo, said);
  one.look();
  one.now = one.now + kSuspect * 3;
  one.election.forgive(one.now);
  one.hear(kTwo, said);
  EXPECT_FALSE(one.misses());
}

TEST(PaxosElection, APausePutsOffAnElectionIfSomebodyCoordinates) {
  const auto begins_after_a_pause = [](bool led, Duration span) {
    Led one;
    if (!led) one.peers.find(kTwo.node)->suspected = true;
    one.election.forgive(one.now);
    one.peers.find(kTwo.node)->suspected = true;
    wire::State misses;
    misses.misses = true;
    one.hear(kThree, misses);
    one.look();
    one.election.run(one.now + span, true, one);
    return one.coordinator.phase() != Phase::idle;
  };
  EXPECT_FALSE(begins_after_a_pause(true, kSuspect + nanoseconds(-1)));
  EXPECT_TRUE(begins_after_a_pause(true, kSuspect));
  EXPECT_TRUE(begins_after_a_pause(false, Duration{}))
      << "a process that gets a processor now and then would never begin";
}

/// True if node 1 takes over after this STATE of node 3. The coordinator does not serve node 1.
bool takes_over(const std::function<void(Led&, wire::State&)>& word) {
  Led one;
  one.peers.find(kTwo.node)->suspected = true;
  wire::State said;
  said.round = kOfTwo;
  said.misses = true;
  word(one, said);
  one.hear(kThree, said);
  one.look();
  EXPECT_TRUE(one.election.misses());
  one.election.run(one.now, true, one);
  return one.coordinator.phase() != Phase::idle;
}

TEST(PaxosElection, ACoordinatorThatMostAreServedByStays) {
  EXPECT_TRUE(takes_over([](Led&, wire::State&) {}));
  EXPECT_FALSE(takes_over([](Led&, wire::State& said) { said.misses = false; }));
  EXPECT_TRUE(takes_over([](Led&, wire::State& said) {
    said.round = {1, kThree};
  })) << "of the present round it has not even heard";
  EXPECT_FALSE(takes_over([](Led&, wire::State& said) {
    said.round = {9, kThree};
  })) << "that is the word on a later round";
}

// ---- another list ----

TEST(PaxosElection, WhoLedHasTheFirstRoundOfTheNextList) {
  for (const bool led : {true, false}) {
    SCOPED_TRACE(led);
    InView one;
    one.election.run(one.now, true, one);
    one.disk.sync();
    wire::Checkpoint later = one.state.checkpoint();
    later.nodes.number = 1;
    one.state = OrderState(later);
    one.election.begin_list(one.now, led);
    EXPECT_EQ(one.coordinator.phase(), Phase::idle) << "rounds before are over";
    EXPECT_EQ(one.election.leads_again(), led);
    if (!led) continue;
    one.election.lead_again(one.now, one);
    EXPECT_FALSE(one.election.leads_again());
    EXPECT_EQ(one.coordinator.round(), Round({wire::first_count(1), kOne}));
    EXPECT_EQ(one.coordinator.phase(), Phase::prepare);
  }
}

TEST(PaxosElection, LeavesThatRoundToOneThatWasFasterAndToAcceptors) {
  InView one;
  wire::Checkpoint later = one.state.checkpoint();
  later.nodes.number = 1;
  one.state = OrderState(later);
  one.election.begin_list(one.now, true);
  one.election.see(one.now, {wire::first_count(1), kThree});
  one.election.lead_again(one.now, one);
  EXPECT_EQ(one.coordinator.phase(), Phase::idle);
  one.peers.self().acceptor = false;
  one.election.begin_list(one.now, true);
  EXPECT_FALSE(one.election.leads_again());
}

// ---- the next view ----

/// The members of the next view, according to node 1. Nodes 1 and 2 are in the current view; node
/// 3, whose STATE is `newcomer`, is not.
struct NextView : PartsBench {
  static constexpr Instance kNext = 10'000;
  NextView() {
    wire::Checkpoint at;
    at.next = kNext;
    at.nodes = first_nodes();
    at.view = {5, kOne};
    at.members = {{kOne, 0}, {kTwo, 0}};
    at.numbers = {0, 0};
    state = OrderState(at);
    hear(kTwo);
    newcomer.next = kNext;
    newcomer.view = 3;
    for (Peer& peer : peers.all()) peer.keeps_up = now;
  }
  std::string wanted() {
    hear(kThree, newcomer);
    std::string text;
    for (const wire::ViewMember& each : wanted_members(parts, {state, view_at, now})) {
      text +=
          std::to_string(each.member.node.value) + "from" + std::to_string(each.came_from) + " ";
    }
    return text;
  }
  wire::State newcomer;
  Instance view_at = 9'000;
};

TEST(PaxosNextView, MembersStayWhileTheyAreServed) {
  const auto wanted = [](const std::function<void(NextView&, Peer&)>& change) {
    NextView view;
    view.newcomer.visiting = true;
    change(view, *view.peers.find(kTwo.node));
    return view.wanted();
  };
  EXPECT_EQ(wanted([](NextView&, Peer&) {}), "1from5 2from5 ");
  EXPECT_EQ(wanted([](NextView&, Peer& two) { two.suspected = true; }), "1from5 ");
  EXPECT_EQ(wanted([](NextView&, Peer& two) { two.serve = false; }), "1from5 ");
  EXPECT_EQ(wanted([](NextView&, Peer& two) { two.state.leaving = true; }), "1from5 ");
  EXPECT_EQ(wanted([](NextView&, Peer& two) { two.listed = false; }), "1from5 ");
  EXPECT_EQ(wanted([](NextView& view, Peer& two) {
              two.keeps_up = two.keeps_up + seconds(-60);
              view.peers.self().keeps_up = view.now + seconds(-60);
            }),
            "1from5 ")
      << "it has come no further for a minute; of itself that says nothing";
}

TEST(PaxosNextView, OthersComeInOnceTheyAreUpToDateAndDoneWithTheViewBefore) {
  const auto comes = [](const std::function<void(NextView&)>& change) {
    NextView view;
    change(view);
    return view.wanted() == "1from5 2from5 3from3 ";
  };
  EXPECT_TRUE(comes([](NextView&) {}));
  EXPECT_FALSE(comes([](NextView& view) { view.newcomer.visiting = true; }));
  EXPECT_FALSE(comes([](NextView& view) { view.newcomer.disk_hangs = true; }));
  EXPECT_FALSE(comes([](NextView& view) { view.newcomer.joined = true; }))
      << "it has not consumed that its view ended";
  const Instance lag = join_lag(Options{});
  EXPECT_TRUE(comes([&](NextView& view) {
    view.view_at = 1;
    view.newcomer.next = NextView::kNext - lag;
  }));
  EXPECT_FALSE(comes([&](NextView& view) {
    view.view_at = 1;
    view.newcomer.next = NextView::kNext - lag - 1;
  })) << "it is too far behind";
  EXPECT_FALSE(comes([](NextView& view) { view.newcomer.next = view.view_at; }));
  EXPECT_TRUE(comes([](NextView& view) { view.newcomer.next = view.view_at + 1; }))
      << "it has consumed the view that counts";
}

// The coordinator waits some time for all nodes before it proposes the first view, so that a
// majority does not start without the other nodes.
TEST(PaxosNextView, TheFirstOneWaitsForAllNodesForALimitedTime) {
  const auto proposed = [](Duration after, bool all) {
    PartsBench one;
    one.know_order();
    one.hear(kTwo);
    if (all) one.hear(kThree);
    const Round round{4, kOne};
    one.election.see(one.now, round);
    one.coordinator.prepare(one.now, round.count, one);
    one.disk.sync();
    one.coordinator.work(one.now, one);
    const wire::Promise promise{round, 1, {}};
    one.coordinator.on_promise(one.now, *one.peers.find(kTwo.node), promise, one);
    EXPECT_TRUE(one.coordinator.leads());
    for (Peer& peer : one.peers.all()) peer.keeps_up = one.now;
    one.coordinator.work(one.now + after, one);
    return one.coordinator.under_way();
  };
  EXPECT_EQ(proposed({}, true), 1U);
  EXPECT_EQ(proposed(kSuspect * 3 + nanoseconds(-1), false), 0U);
  EXPECT_EQ(proposed(kSuspect * 3, false), 1U);
}

TEST(PaxosNextView, WhoWasGivenAnotherListComesInIfThisNodeHasItAndAllMembersAreInIt) {
  const auto comes = [](std::uint64_t its, const std::vector<NodeId>& own) {
    NextView view;
    if (!own.empty()) view.given.give({9, own, own});
    view.newcomer.next_list = its;
    return view.wanted() == "1from5 2from5 3from3 ";
  };
  const std::vector<NodeId> all{{1}, {2}, {3}};
  EXPECT_TRUE(comes(0, {}));
  EXPECT_TRUE(comes(0, all));
  EXPECT_FALSE(comes(9, {})) << "this node does not know it";
  EXPECT_TRUE(comes(9, all));
  EXPECT_FALSE(comes(8, all)) << "another one";
  EXPECT_FALSE(comes(9, {{1}, {3}})) << "it lacks a member";
}

}  // namespace
}  // namespace peal::order::paxos::test
