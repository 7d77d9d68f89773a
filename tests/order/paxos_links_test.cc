// SPDX-License-Identifier: Apache-2.0
// Which links work, which nodes form a view, and which node coordinates.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "order/paxos/company.h"
#include "order/paxos/reception.h"
#include "paxos_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::Fitness;

// ---- links ----

TEST(PaxosArrivals, CountsWhatDidNotArrive) {
  Arrivals arrivals(8);
  EXPECT_EQ(arrivals.lost(64), 0U);
  for (std::uint32_t number = 1; number <= 100; ++number) {
    if (number % 4 != 0) arrivals.note(number);
  }
  EXPECT_EQ(arrivals.lost(20), 5U);
  EXPECT_EQ(arrivals.lost(64), 16U);
  arrivals.note(96);  // packet 96 arrives late
  EXPECT_EQ(arrivals.lost(20), 4U);
}

TEST(PaxosArrivals, ALongSilenceCountsAsFewLost) {
  Arrivals arrivals(8);
  for (std::uint32_t number = 1; number <= 64; ++number) arrivals.note(number);
  arrivals.note(1'000'000);
  EXPECT_EQ(arrivals.lost(64), 8U);
  arrivals.note(~0U);
  EXPECT_EQ(arrivals.lost(64), 16U);
}

/// One link, simulated in steps of ten milliseconds.
struct Link {
  Reception reception;
  Options options;
  Instant now{seconds(1).ns};
  std::uint32_t beats = 0;

  Link() { reception.begin(now); }
  /// Runs for `span`. Of each hundred packets `lost` are lost. `small`: no large packet arrives.
  void run(Duration span, int lost = 0, bool control = true, bool data = true, bool small = false) {
    for (const Instant end = now + span; now < end;) {
      now = now + milliseconds(10);
      ++beats;
      heard = (beats * 37) % 100 >= static_cast<unsigned>(lost);
      if (control && heard) {
        reception.beat(now, beats);
        last = now;
      }
      const bool check = beats % 4 == 0;
      const bool arrives = ((beats / 4) * 37) % 100 >= static_cast<unsigned>(lost);
      const std::uint32_t number = beats / 4;
      const bool large = number % 4 == 0;
      if (check && data && arrives && !(large && small)) {
        if (any_counts) last = now;
        reception.data(now);
        reception.check(number, number / 4, large);
      }
      reception.look(now, now - last >= options.suspect, options);
    }
  }
  bool heard = false;
  bool any_counts = false;  ///< packets on the data lane also count as heartbeats
  Instant last{seconds(1).ns};
};

TEST(PaxosReception, ALinkThatLosesLittleWorks) {
  Link link;
  link.run(seconds(20), 4);
  EXPECT_TRUE(link.reception.works());
}

TEST(PaxosReception, ALinkThatLosesMuchDoesNotWork) {
  for (const int lost : {30, 50, 90}) {
    Link link;
    link.run(seconds(2), lost);
    EXPECT_FALSE(link.reception.works()) << lost;
    link.run(seconds(5), lost);
    EXPECT_FALSE(link.reception.works()) << lost;
    link.run(seconds(5));
    EXPECT_TRUE(link.reception.works()) << lost;
  }
}

TEST(PaxosReception, ALaneIsNotSilentForTheLossOfOneLinkCheck) {
  Options options;
  options.suspect = milliseconds(30);
  const Duration gap = options.heartbeat * std::int64_t{kRhythmOfSeveral.every};
  Reception reception;
  Instant now{seconds(1).ns};
  reception.begin(now);
  std::uint32_t beats = 0;
  const auto run = [&](Duration span) {
    for (const Instant end = now + span; now < end;) {
      now = now + options.heartbeat;
      reception.beat(now, ++beats);
      reception.look(now, false, options, kRhythmOfSeveral);
    }
  };
  run(gap * 3);
  EXPECT_TRUE(reception.works());
  run(gap * 3);
  EXPECT_FALSE(reception.works()) << "so many are no accident";
}

TEST(PaxosReception, EachLaneIsNeeded) {
  Link all;
  all.run(milliseconds(350), 0, false, false);
  EXPECT_TRUE(all.reception.works()) << "silent for a moment";
  all.run(milliseconds(100), 0, false, false);
  EXPECT_FALSE(all.reception.works());
  Link control;
  control.any_counts = true;
  control.run(milliseconds(700), 0, false);
  EXPECT_TRUE(control.reception.works());
  control.run(milliseconds(200), 0, false);
  EXPECT_FALSE(control.reception.works()) << "although data come";
  Link data;
  data.run(milliseconds(700), 0, true, false);
  EXPECT_TRUE(data.reception.works());
  data.run(milliseconds(200), 0, true, false);
  EXPECT_FALSE(data.reception.works());
  Link small;
  small.run(seconds(1), 0, true, true, true);
  EXPECT_FALSE(small.reception.works());
}

TEST(PaxosReception, WhatFailsAgainAndAgainIsWaitedForLonger) {
  Link link;
  const auto until_it_works = [&] {
    link.run(milliseconds(600), 0, false, false);
    EXPECT_FALSE(link.reception.works());
    const Instant from = link.now;
    while (!link.reception.works()) link.run(milliseconds(10));
    const Duration waited = link.now - from;
    link.run(seconds(3));
    return waited;
  };
  Duration last{};
  for (int i = 0; i < 6; ++i) {
    const Duration waited = until_it_works();
    EXPECT_LT(last, waited);
    last = waited;
  }
  EXPECT_LE(last, seconds(4));
  link.run(seconds(20));
  EXPECT_LT(until_it_works(), milliseconds(300));
}

// A link that is good again does not fail any more, but it does not work yet. So a member stays in
// the view, but a node outside is not admitted yet.
TEST(PaxosReception, WhatIsGoodAgainDoesNotFailThoughItDoesNotWorkYet) {
  Link link;
  EXPECT_FALSE(link.reception.failing());
  link.run(seconds(2), 0, false, false);
  EXPECT_FALSE(link.reception.works());
  EXPECT_TRUE(link.reception.failing());
  for (int i = 0; i < 200 && link.reception.failing(); ++i) link.run(milliseconds(10));
  EXPECT_FALSE(link.reception.failing());
  EXPECT_FALSE(link.reception.works()) << "it was good for a moment only";
  link.run(seconds(5));
  EXPECT_TRUE(link.reception.works());
}

TEST(PaxosReception, APauseOfThisProcessSaysNothingOfLinks) {
  Link link;
  link.run(seconds(1));
  link.now = link.last = link.now + seconds(30);
  link.reception.forgive(link.now);
  link.run(milliseconds(500));
  EXPECT_TRUE(link.reception.works());
  // The other node did not pause: it has counted 3,000 more heartbeats.
  for (int pause = 0; pause < 4; ++pause) {
    link.now = link.last = link.now + seconds(30);
    link.beats += 3'000;
    link.reception.forgive(link.now);
    link.run(milliseconds(200));
    EXPECT_TRUE(link.reception.works()) << pause;
  }
}

TEST(PaxosReception, WhoBeginsAnewHasNoBadName) {
  Link link;
  link.run(seconds(2), 50);
  EXPECT_FALSE(link.reception.works());
  link.reception.begin(link.now);
  EXPECT_TRUE(link.reception.works());
  EXPECT_FALSE(link.reception.failing());
  link.beats = 0;  // the next incarnation counts from 1 again
  link.run(seconds(2));
  EXPECT_TRUE(link.reception.works());
}

// ---- the nodes that continue ----

/// Node 1 of `nodes` nodes, of which the first `acceptors` vote. Node 1 hears all other nodes.
struct Group {
  Group(std::uint32_t nodes, std::uint32_t acceptors)
      : peers({{1}, 100}, kLog, {}), state(list(nodes, acceptors)) {
    state.begin();
    peers.know(state.nodes(), {});
    peers.start(Instant{seconds(1).ns});
    for (std::uint32_t n = 1; n <= nodes; ++n) {
      Peer& peer = *peers.find({n});
      peer.member = {{n}, 100};
      peer.suspected = false;
      peer.has_state = true;
      peer.state.next = 1;
      peer.state.first_list = state.nodes().first;
      peer.state.list = state.nodes().number;
    }
  }
  static wire::Nodes list(std::uint32_t nodes, std::uint32_t acceptors) {
    wire::Nodes out;
    out.first = out.hash = 7;
    for (std::uint32_t n = 1; n <= nodes; ++n) out.all.push_back({n});
    for (std::uint32_t n = 1; n <= acceptors; ++n) out.acceptors.push_back({n});
    return out;
  }
  /// Packets from the node `from` do not arrive at the node `to`, which is not node 1.
  void lose(std::uint32_t from, std::uint32_t to) { peers.find({to})->state.unheard.add(from - 1); }
  /// Installs a view of these nodes.
  void in_view(const std::vector<std::uint32_t>& nodes) {
    std::vector<wire::ViewMember> members;
    for (const std::uint32_t n : nodes) members.push_back({{{n}, 100}, 0});
    EXPECT_EQ(state.apply(view_head(kOne, 1), view_bytes(members)), OrderState::Outcome::view);
  }
  std::string look() {
    for (int turn = 0; turn < 2; ++turn) {
      now = now + seconds(2);
      company.look(now, config, peers, state);
    }
    std::string text;
    for (const Peer& peer : peers.all()) {
      if (peer.serve) text += names[peer.node.value];
    }
    return text;
  }

  static constexpr std::string_view names = " 123456789abcd";
  Peers peers;
  OrderState state;
  Config config;
  Company company;
  Instant now{seconds(1).ns};
};

TEST(PaxosCompany, WithoutFaultsItIsAll) {
  Group group(5, 3);
  EXPECT_EQ(group.look(), "12345");
  EXPECT_EQ(group.company.fitness(), Fitness::chosen);
  EXPECT_TRUE(group.company.unheard().empty());
}

TEST(PaxosCompany, OfAPairThatFailsTheHigherIsLeftOut) {
  Group group(3, 3);
  group.lose(2, 3);
  EXPECT_EQ(group.look(), "12");
  EXPECT_EQ(group.company.fitness(), Fitness::chosen);
  EXPECT_TRUE(group.peers.find({3})->works) << "its links to node 1 do";
}

TEST(PaxosCompany, ADeafNodeIsLeftOutByItsManyPairs) {
  Group group(5, 3);
  for (const std::uint32_t from : {1U, 3U, 4U, 5U}) group.lose(from, 2);
  EXPECT_EQ(group.look(), "1345");
  EXPECT_FALSE(group.peers.find({2})->works);
}

TEST(PaxosCompany, WhatANodeSaysOfItselfCountsForNothing) {
  Group group(3, 3);
  group.lose(2, 2);
  EXPECT_EQ(group.look(), "123");
  EXPECT_EQ(group.company.fitness(), Fitness::chosen);
}

TEST(PaxosCompany, TheFirstThatAreEnoughAgainWaitForTheOthers) {
  Group group(3, 3);
  const auto look_for = [&](Duration span) {
    for (const Instant end = group.now + span; group.now < end;) {
      group.now = group.now + milliseconds(10);
      group.company.look(group.now, group.config, group.peers, group.state);
    }
    return group.company.fitness();
  };
  EXPECT_EQ(look_for(seconds(1)), Fitness::chosen);
  // For a second no two nodes hear each other.
  group.lose(1, 2);
  group.lose(1, 3);
  group.lose(2, 3);
  EXPECT_EQ(look_for(seconds(1)), Fitness::hears);
  group.peers.find({2})->state.unheard = {};
  EXPECT_EQ(look_for(milliseconds(400)), Fitness::hears) << "1 and 2 could go on without 3";
  EXPECT_EQ(look_for(seconds(5)), Fitness::chosen) << "but not for ever";
  // Once all nodes hear each other again, there is no node to wait for.
  group.lose(1, 2);
  group.lose(2, 3);
  EXPECT_EQ(look_for(seconds(1)), Fitness::hears);
  group.peers.find({2})->state.unheard = group.peers.find({3})->state.unheard = {};
  EXPECT_EQ(look_for(milliseconds(10)), Fitness::chosen);
}

TEST(PaxosCompany, WithoutMostAcceptorsNobodyIsLeftOut) {
  Group group(5, 3);
  // No two of the three acceptors hear each other, so no majority of them could continue.
  group.lose(2, 3);
  group.lose(3, 1 + 1);
  group.lose(1, 2);
  group.lose(1, 3);
  EXPECT_EQ(group.look(), "12345");
  EXPECT_EQ(group.company.fitness(), Fitness::hears);
}

TEST(PaxosCompany, ANodeThatIsNotOfThoseToGoOnSaysSo) {
  Group group(3, 3);
  group.lose(1, 2);
  group.lose(1, 3);
  EXPECT_EQ(group.look(), "123") << "it goes on with whom it hears, until another one coordinates";
  EXPECT_EQ(group.company.fitness(), Fitness::hears);
}

TEST(PaxosCompany, SmallSetsAreFoundThatTheQuickSearchMisses) {
  Group group(4, 2);
  // Node 4 has the most failing links. Nodes 1 and 2 must stay, because both are acceptors.
  group.lose(1, 4);
  group.lose(3, 4);
  EXPECT_EQ(group.look(), "123");
}

// Acceptors 2 and 3 each have failing links with one half of the nodes from 4 on. A majority of the
// three acceptors needs one of these two.
void split(Group& group, std::uint32_t last_of_first, std::uint32_t last) {
  for (std::uint32_t n = 4; n <= last; ++n) group.lose(n <= last_of_first ? 3 : 2, n);
}

TEST(PaxosCompany, TheLargestSetIsSearchedForAndOfTheLargestTheLowest) {
  Group group(11, 3);
  split(group, 7, 11);
  EXPECT_EQ(group.look(), "124567");
  Group larger(12, 3);
  split(larger, 7, 12);
  EXPECT_EQ(larger.look(), "1389abc") << "the other one is no majority";
}

// With more than 12 nodes, it would take too long to try all sets.
TEST(PaxosCompany, OfManyNodesNotAllSetsAreTried) {
  Group group(13, 3);
  split(group, 8, 13);
  EXPECT_EQ(group.look(), "123456789abcd");
  EXPECT_EQ(group.company.fitness(), Fitness::hears);
}

TEST(PaxosCompany, WhoHasTheMostFailingPairsGoesFirst) {
  Group group(13, 3);
  for (std::uint32_t n = 3; n <= 13; ++n) group.lose(n, 2);
  EXPECT_EQ(group.look(), "13456789abcd");
}

TEST(PaxosCompany, MembersStayAndOthersComeInIfTheirLinksToAllOfThemWork) {
  Group group(4, 3);
  group.lose(3, 4);
  EXPECT_EQ(group.look(), "123") << "with no view the lower ones go on";
  group.in_view({1, 2, 4});
  EXPECT_EQ(group.look(), "124");
  group.peers.find({4})->state.visiting = true;
  EXPECT_EQ(group.look(), "123") << "it does not want to stay";
}

TEST(PaxosCompany, WhoIsNotInTheListIsServedWhileItLives) {
  Group group(3, 3);
  group.peers.know(group.state.nodes(), {{9}});
  Peer& nine = *group.peers.find({9});
  EXPECT_EQ(group.look(), "123") << "it was never heard";
  nine.suspected = false;
  EXPECT_EQ(group.look(), "1239");
  EXPECT_TRUE(nine.works);
  EXPECT_TRUE(nine.chosen);
  nine.suspected = true;
  EXPECT_EQ(group.look(), "123");
  EXPECT_FALSE(nine.works);
}

TEST(PaxosCompany, ACoordinatorWhoseDiskHangsIsUnfitIfOthersMove) {
  Group group(3, 3);
  group.peers.self().state.disk_hangs = true;
  EXPECT_EQ(group.look(), "123");
  EXPECT_EQ(group.company.fitness(), Fitness::hears);
  group.peers.find({2})->state.disk_hangs = true;
  group.look();
  EXPECT_EQ(group.company.fitness(), Fitness::chosen) << "one disk alone is no majority";
}

TEST(PaxosCompany, WhatANodeSaysOfAnotherListCountsForNothing) {
  Group group(3, 3);
  group.lose(2, 3);
  group.peers.find({3})->state.list = 9;
  EXPECT_EQ(group.look(), "123");
}

TEST(PaxosCompany, WhatANodeSaysThatKnowsNoOrderOrAnotherCountsForNothing) {
  Group group(3, 3);
  group.lose(2, 3);
  Peer& three = *group.peers.find({3});
  three.state.next = 0;
  EXPECT_EQ(group.look(), "123");
  three.state.next = 1;
  EXPECT_EQ(group.look(), "12");
  three.state.first_list = 9;
  EXPECT_EQ(group.look(), "123");
}

/// The merger of one ensemble in a cluster with one domain. The ensemble is that of all nodes, or
/// that of the domain.
class OneDomain final : public Merger {
 public:
  void on_key(std::uint64_t /*key*/, bool /*nothing*/) override {}
  void on_left_out() override {}
  void on_excluded(std::span<const MemberId> /*members*/) override {}
  bool exclusions_ahead() const override { return false; }
  bool needs_all() const override { return false; }
  std::uint64_t merged() const override { return 0; }
  bool has_room() const override { return true; }
  void on_pass_wanted(std::uint64_t /*key*/) override {}
  std::vector<NodeList> parts(const NodeList& /*list*/) const override { return domains; }
  bool in_company_of_all(NodeId node) const override { return node != outside; }
  bool fit_for_all() const override { return fit; }
  bool disk_hangs() const override { return false; }

  std::vector<NodeList> domains;
  NodeId outside{};
  bool fit = true;
};

TEST(PaxosCompany, NodesThatAreEnoughInEachDomainArePreferred) {
  Group group(5, 5);
  // The link of nodes 2 and 4 fails. Without domains, node 4, which has the higher number, is
  // excluded.
  group.lose(2, 4);
  EXPECT_EQ(group.look(), "1235");
  OneDomain merger;
  merger.domains.push_back({1, {{3}, {4}}, {{3}, {4}}});
  group.config.merger = &merger;
  EXPECT_EQ(group.look(), "1345");
  // If no set of connected nodes has a majority of the domain, a set without this majority is
  // chosen.
  group.lose(3, 4);
  EXPECT_EQ(group.look(), "1235");
  EXPECT_EQ(group.company.fitness(), Fitness::connected) << "others may find better ones";
}

TEST(PaxosCompany, ADomainNeedsMostOfItsNodesAndMostOfItsAcceptors) {
  Group group(5, 5);
  group.lose(2, 4);
  OneDomain merger;
  group.config.merger = &merger;
  merger.domains = {{1, {{3}, {4}}, {{3}}}};
  EXPECT_EQ(group.look(), "1345") << "of two nodes one is no majority, whoever votes";
  merger.domains = {{1, {{3}, {4}, {5}}, {{3}}}};
  EXPECT_EQ(group.look(), "1235");
  merger.domains = {{1, {{3}, {4}, {5}}, {{3}, {4}}}};
  EXPECT_EQ(group.look(), "1345") << "of two acceptors one is none";
}

TEST(PaxosCompany, ADiskThatHangsDoesNotCountInADomain) {
  Group group(5, 3);
  group.lose(2, 5);
  OneDomain merger;
  merger.domains.push_back({1, {{2}, {4}, {5}}, {{2}, {4}, {5}}});
  group.config.merger = &merger;
  EXPECT_EQ(group.look(), "1234");
  group.peers.find({2})->state.disk_hangs = true;
  EXPECT_EQ(group.look(), "1345");
}

TEST(PaxosCompany, ADomainGoesOnWithThoseThatAllNodesHaveChosen) {
  Group group(3, 3);
  OneDomain merger;
  merger.outside = NodeId{2};
  group.config.merger = &merger;
  EXPECT_EQ(group.look(), "13");
  EXPECT_EQ(group.company.fitness(), Fitness::chosen);
  merger.fit = false;
  EXPECT_EQ(group.look(), "13");
  EXPECT_EQ(group.company.fitness(), Fitness::connected) << "another node is fitter for all nodes";
  merger.fit = true;
  group.lose(1, 3);
  EXPECT_EQ(group.look(), "12") << "the others are too few";
  EXPECT_EQ(group.company.fitness(), Fitness::connected) << "2 does not go on with all nodes";
}

// ---- members without progress ----

TEST(PaxosPeers, AMemberThatComesNoFurtherIsStuckUnlessItsApplicationIsFull) {
  Group group(3, 3);
  Peer& three = *group.peers.find({3});
  Instant now{seconds(2).ns};
  const auto run = [&](Duration span, Instance next) {
    for (const Instant end = now + span; now < end; now = now + milliseconds(10)) {
      group.peers.watch(now, next);
    }
    return group.peers.is_stuck(now, three);
  };
  EXPECT_FALSE(run(seconds(5), 1)) << "it has all";
  EXPECT_FALSE(run(milliseconds(600), 2));
  EXPECT_TRUE(run(milliseconds(200), 2));
  three.state.next = 2;
  EXPECT_FALSE(run(milliseconds(10), 3));
  three.state.app_full = true;
  EXPECT_FALSE(run(seconds(5), 3));
}

}  // namespace
}  // namespace peal::order::paxos::test
