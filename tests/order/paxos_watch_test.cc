// SPDX-License-Identifier: Apache-2.0
// One node's knowledge of other nodes, and its report of itself: which instances are decided, which
// values the node lacks, how it catches up, and why it waits.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_parts_bench.h"

namespace peal::order::paxos::test {
namespace {

using wire::Drop;
using wire::PaxosKind;
using Nodes = std::vector<std::uint32_t>;

constexpr Round kLeads{4, kTwo};

/// Node 1 is in view 1 with both other nodes, and hears them. Node 2 coordinates.
struct Watch : PartsBench {
  explicit Watch(const Options& options = {}, Merger* merger = nullptr)
      : PartsBench(options, merger) {
    be_in_view();
    hear_all();
    election.see(now, kLeads);
    election.follow(kLeads);
    look();
  }
  Arrival proposal(Instance instance, std::uint32_t behind = 0) const {
    Arrival out;
    out.round = kLeads;
    out.instance = instance;
    out.behind = behind;
    out.head = unit_head(kTwo, instance);
    return out;
  }
  /// An acceptor has voted in the round for all instances up to `upto`.
  void votes(const MemberId& who, Instance upto, const Round& round = kLeads) {
    wire::State said;
    said.round = said.voted_round = round;
    said.voted_upto = upto;
    hear(who, said);
  }
  bool is_decided(Instance instance) {
    const Slot* slot = store.find(instance);
    return slot != nullptr && slot->decided;
  }
};

// ---- Learner ----

TEST(PaxosLearner, AMajorityInOneRoundDecidesWhatWasProposedInIt) {
  Watch one;
  for (Instance k = 2; k <= 4; ++k) {
    EXPECT_EQ(one.learner.take_proposal(one.proposal(k), one.bytes("x")), Drop::none);
  }
  one.votes(kTwo, 4);
  one.learner.count_votes();
  EXPECT_FALSE(one.is_decided(2)) << "one of three";
  EXPECT_FALSE(one.learner.has_news());
  one.votes(kThree, 3);
  one.learner.count_votes();
  EXPECT_TRUE(one.is_decided(2));
  EXPECT_TRUE(one.is_decided(3));
  EXPECT_FALSE(one.is_decided(4));
  EXPECT_EQ(one.learner.decided_upto(), 3U);
  EXPECT_EQ(one.learner.highest(), 3U);
  EXPECT_EQ(one.learner.round(), kLeads);
  EXPECT_TRUE(one.learner.has_news());
  EXPECT_FALSE(one.learner.has_news()) << "it was told";
}

TEST(PaxosLearner, VotesForAValueThatComesLaterDecideIt) {
  Watch one;
  for (const MemberId& each : {kTwo, kThree}) one.votes(each, 3);
  one.learner.count_votes();
  EXPECT_EQ(one.learner.take_proposal(one.proposal(3), one.bytes("x")), Drop::none);
  EXPECT_TRUE(one.is_decided(3));
  EXPECT_EQ(one.learner.take_proposal(one.proposal(4), one.bytes("x")), Drop::none);
  EXPECT_FALSE(one.is_decided(4)) << "it is behind what they voted for";
  Arrival of_another = one.proposal(2);
  of_another.round = {3, kThree};
  EXPECT_EQ(one.learner.take_proposal(of_another, one.bytes("x")), Drop::none);
  EXPECT_FALSE(one.is_decided(2)) << "they voted in another round";
}

TEST(PaxosLearner, VotesOfAnotherListOrOfNoAcceptorAreNotCounted) {
  const auto decides = [](const std::function<void(Peer&)>& change) {
    Watch one;
    EXPECT_EQ(one.learner.take_proposal(one.proposal(2), one.bytes("x")), Drop::none);
    for (const MemberId& each : {kTwo, kThree}) one.votes(each, 2);
    change(*one.peers.find(kThree.node));
    one.learner.count_votes();
    return one.is_decided(2);
  };
  EXPECT_TRUE(decides([](Peer&) {}));
  EXPECT_FALSE(decides([](Peer& three) { three.acceptor = false; }));
  EXPECT_FALSE(decides([](Peer& three) { three.state.first_list = 5; }));
  EXPECT_FALSE(decides([](Peer& three) { three.state.list = 5; }));
  EXPECT_FALSE(decides([](Peer& three) { three.state.voted_round = {3, kThree}; }));
}

TEST(PaxosLearner, WhatOneCountedIsBelievedOfItsRound) {
  Watch one;
  EXPECT_EQ(one.learner.take_proposal(one.proposal(2), one.bytes("x")), Drop::none);
  one.votes(kTwo, 2);
  one.learner.count_votes();
  EXPECT_FALSE(one.is_decided(2));
  one.peers.find(kTwo.node)->state.decided_upto = 2;
  one.learner.count_votes();
  EXPECT_TRUE(one.is_decided(2));
}

TEST(PaxosLearner, KnowsAValueOnce) {
  Watch one;
  EXPECT_EQ(one.learner.take_proposal(one.proposal(2), one.bytes("x")), Drop::none);
  EXPECT_EQ(one.learner.take_proposal(one.proposal(2), one.bytes("x")), Drop::duplicate);
  EXPECT_EQ(one.learner.take_proposal(one.proposal(1), one.bytes("x")), Drop::duplicate)
      << "it is consumed";
  const Instance end = one.store.next() + one.store.ahead_max();
  EXPECT_EQ(one.learner.take_proposal(one.proposal(end), one.bytes("x")), Drop::out_of_window);
  EXPECT_EQ(one.learner.take_decided(2, unit_head(kTwo, 1), one.bytes("y")), Drop::none);
  EXPECT_EQ(one.learner.take_decided(2, unit_head(kTwo, 1), one.bytes("y")), Drop::duplicate);
  EXPECT_EQ(one.learner.take_decided(1, unit_head(kTwo, 1), one.bytes("y")), Drop::duplicate);
  EXPECT_EQ(one.learner.take_decided(end, unit_head(kTwo, 1), one.bytes("y")), Drop::out_of_window);
  EXPECT_EQ(as_text(one.store.find(2)->heard.bytes.view()), "y");
  EXPECT_EQ(one.store.find(2)->heard_round, Round{}) << "nobody may vote for it in a round";
  EXPECT_EQ(one.learner.highest(), end);
}

TEST(PaxosLearner, AProposalSaysWhatIsDecidedBelowIt) {
  Watch one;
  EXPECT_EQ(one.learner.take_proposal(one.proposal(9, 2), one.bytes("x")), Drop::none);
  EXPECT_EQ(one.learner.highest(), 6U);
  Arrival later = one.proposal(20, 3);
  later.round = {wire::first_count(1), kTwo};
  EXPECT_FALSE(one.learner.is_ours(later));
  EXPECT_EQ(one.learner.highest(), 16U) << "of a later list it tells how far others are";
  later.round = {4, {{99}, 1}};
  EXPECT_FALSE(one.learner.is_ours(later)) << "nobody knows its coordinator";
  EXPECT_TRUE(one.learner.is_ours(one.proposal(20)));
  one.learner.forget();
  EXPECT_EQ(one.learner.highest(), 0U);
}

// ---- SelfReport ----

TEST(PaxosSelfReport, SaysWhatOthersGoBy) {
  Watch one;
  const wire::State plain = one.report_of_self.state();
  EXPECT_EQ(plain.round, kLeads);
  EXPECT_FALSE(plain.leading);
  EXPECT_EQ(plain.first_list, one.state.nodes().first);
  EXPECT_EQ(plain.list, 0U);
  EXPECT_EQ(plain.next_list, 0U);
  EXPECT_EQ(plain.next, 2U);
  EXPECT_EQ(plain.oldest, one.store.oldest());
  EXPECT_EQ(plain.view, 1U);
  EXPECT_TRUE(plain.joined);
  EXPECT_FALSE(plain.visiting);
  EXPECT_FALSE(plain.asks);
  EXPECT_FALSE(plain.misses);
  EXPECT_FALSE(plain.disk_hangs);
  EXPECT_FALSE(plain.app_full);
  EXPECT_EQ(plain.fitness, wire::Fitness::chosen);
  EXPECT_EQ(plain.life, kLog);
  EXPECT_EQ(plain.log, one.disk.durable().value);
  EXPECT_EQ(plain.log_word, wire::LogWord::sure);
  EXPECT_TRUE(plain.unheard.empty());
  EXPECT_EQ(plain.voted_round, Round{});
  EXPECT_EQ(plain.voted_upto, 0U);

  one.given.give({9, {kOne.node}, {kOne.node}});
  EXPECT_EQ(one.report_of_self.state().next_list, 9U);
  one.room = 0;
  EXPECT_TRUE(one.report_of_self.state().app_full);
}

TEST(PaxosSelfReport, WithoutAnOrderItSaysNothingOfOne) {
  PartsBench one;
  const wire::State said = one.report_of_self.state();
  EXPECT_EQ(said.next, 0U);
  EXPECT_EQ(said.list, 0U);
  EXPECT_EQ(said.oldest, 0U);
  EXPECT_TRUE(said.unheard.empty()) << "that would be of a list that others may not have";
}

TEST(PaxosSelfReport, AVoteIsSaidOnceItIsOnDisk) {
  Watch one;
  ASSERT_EQ(one.learner.take_proposal(one.proposal(2), one.bytes("x")), Drop::none);
  ASSERT_TRUE(one.voter.accept(kLeads, 2, one));
  one.voter.vote();
  EXPECT_EQ(one.report_of_self.state().voted_round, kLeads);
  EXPECT_EQ(one.report_of_self.state().voted_upto, 1U);
  one.disk.sync();
  one.acceptor.on_durable();
  EXPECT_EQ(one.report_of_self.state().voted_upto, 2U);
  EXPECT_EQ(one.report_of_self.state().decided_upto, 0U) << "votes are told to all";
}

TEST(PaxosSelfReport, NewsThatComeSoonGoTogether) {
  Watch one;
  EXPECT_FALSE(one.report_of_self.next_at());
  one.report_of_self.announce();
  one.report_of_self.work(one.now, one);
  EXPECT_EQ(one.sent_to(PaxosKind::state).size(), 1U);
  one.report_of_self.work(one.now, one);
  EXPECT_EQ(one.sent_to(PaxosKind::state).size(), 1U) << "there is nothing new";
  one.report_of_self.announce();
  const Instant next = one.now + one.config.options.votes_apart;
  ASSERT_TRUE(one.report_of_self.next_at());
  EXPECT_EQ(*one.report_of_self.next_at(), next);
  one.report_of_self.work(next + nanoseconds(-1), one);
  EXPECT_EQ(one.sent_to(PaxosKind::state).size(), 1U);
  one.report_of_self.work(next, one);
  EXPECT_EQ(one.sent_to(PaxosKind::state).size(), 2U);
}

// A multicast of votes does not reach a coordinator outside the view. So the votes are also sent to
// this coordinator alone.
TEST(PaxosBroadcast, VotesReachACoordinatorThatIsNotInTheView) {
  PartsBench one;
  one.be_in_view({kOne, kThree});
  one.hear_all();
  const wire::State said = one.report_of_self.state();
  const auto told = [&](const Peer* coordinator) {
    one.sent.clear();
    one.routes->tell_votes(said, coordinator, one);
    return one.sent_to(PaxosKind::state);
  };
  EXPECT_EQ(told(one.peers.find(kTwo.node)), (Nodes{0, kTwo.node.value}));
  EXPECT_EQ(told(one.peers.find(kThree.node)), Nodes{0}) << "it is in the view";
  EXPECT_EQ(told(&one.peers.self()), Nodes{0});
  EXPECT_EQ(told(nullptr), Nodes{0});
  EXPECT_EQ(one.sent[0].lane, Lane::data);
  wire::State outside = said;
  outside.joined = false;
  one.sent.clear();
  one.routes->tell_votes(outside, one.peers.find(kTwo.node), one);
  EXPECT_EQ(one.sent_to(PaxosKind::state), Nodes{0});
  EXPECT_EQ(one.sent[0].lane, Lane::control) << "which reaches all";
}

TEST(PaxosBroadcast, ProposalsReachAcceptorsThatAreNotInTheView) {
  PartsBench one;
  one.be_in_view({kOne, kThree});
  one.hear_all();
  Arrival proposal;
  proposal.round = {1, kOne};
  proposal.instance = 2;
  proposal.head = unit_head(kOne, 1);
  const auto proposed = [&](std::string_view text) {
    one.sent.clear();
    one.routes->propose(one.routes->pack(proposal, one.bytes(text), true), one);
    return one.sent_to(PaxosKind::propose);
  };
  EXPECT_EQ(proposed("x"), (Nodes{0, kTwo.node.value}));
  EXPECT_EQ(proposed(std::string(1'600, 'x')), Nodes{0}) << "by the other lane it reaches all";
  Peer& two = *one.peers.find(kTwo.node);
  two.suspected = true;
  EXPECT_EQ(proposed("x"), Nodes{0});
  two.suspected = false;
  two.acceptor = false;
  EXPECT_EQ(proposed("x"), Nodes{0});
}

// ---- LinkWatch ----

TEST(PaxosLinkWatch, ChecksLinksInEveryFourthHeartbeatAndLargeOnesInEveryFourthOfThese) {
  Watch one;
  std::string checks;
  for (int beat = 1; beat <= 32; ++beat) {
    EXPECT_EQ(one.links.next_beat(), static_cast<std::uint32_t>(beat));
    one.sent.clear();
    one.links.check(one);
    if (one.sent.empty()) continue;
    EXPECT_EQ(one.sent_to(PaxosKind::link_check), (Nodes{2, 3})) << "not to itself";
    EXPECT_EQ(one.sent[0].lane, Lane::data);
    wire::LinkCheck check;
    ASSERT_EQ(wire::decode_link_check(one.sent[0].packet.view(), check), Drop::none);
    checks += std::to_string(beat) + "=" + std::to_string(check.number) +
              (check.bytes == one.config.options.packet_bytes_max ? "L " : " ");
  }
  EXPECT_EQ(checks, "4=1 8=2 12=3 16=4L 20=5 24=6 28=7 32=8L ");
}

TEST(PaxosLinkWatch, ALogThatMakesNothingDurableHangs) {
  Watch one;
  const Duration limit = one.config.options.suspect * 5;
  one.links.start(one.now);
  one.now = one.now + seconds(10);
  one.links.look_at_disk(one.now);
  EXPECT_FALSE(one.links.disk_hangs()) << "it has nothing to write";
  ASSERT_TRUE(one.acceptor.prepare({9, kThree}));
  const Instant begin = one.now;
  one.links.look_at_disk(begin + limit + nanoseconds(-1));
  EXPECT_FALSE(one.links.disk_hangs());
  one.links.look_at_disk(begin + limit);
  EXPECT_TRUE(one.links.disk_hangs());
  EXPECT_TRUE(one.links.says_that_disk_hangs());
  one.links.forgive(begin + limit);
  one.links.look_at_disk(begin + limit);
  EXPECT_FALSE(one.links.disk_hangs()) << "this process did not run";
  one.links.look_at_disk(begin + limit * 2);
  EXPECT_TRUE(one.links.disk_hangs());
  one.disk.sync();
  one.links.look_at_disk(begin + limit * 2);
  EXPECT_FALSE(one.links.disk_hangs());
}

TEST(PaxosLinkWatch, SaysThatTheDiskHangsWhichItSharesWithOtherEnsembles) {
  OneMerger merger;
  Watch one({}, &merger);
  EXPECT_FALSE(one.links.says_that_disk_hangs());
  merger.hangs = true;
  EXPECT_TRUE(one.links.says_that_disk_hangs());
  EXPECT_FALSE(one.links.disk_hangs());
  one.links.look(one.now);
  EXPECT_TRUE(one.peers.self().state.disk_hangs);
}

TEST(PaxosLinkWatch, CountsLinksThatFailWhileTheNodeIsHeard) {
  Watch one;
  const auto fail = [&](const MemberId& who) {
    Reception& reception = one.peers.find(who.node)->reception;
    reception.look(one.now, true, one.config.options);
    reception.look(one.now + seconds(1), true, one.config.options);
  };
  EXPECT_EQ(one.links.failing(), 0U);
  fail(kTwo);
  EXPECT_EQ(one.links.failing(), 1U);
  fail(kThree);
  EXPECT_EQ(one.links.failing(), 2U);
  one.peers.find(kTwo.node)->suspected = true;
  EXPECT_EQ(one.links.failing(), 1U) << "it is gone";
  one.peers.find(kThree.node)->listed = false;
  EXPECT_EQ(one.links.failing(), 0U);
}

// ---- CatchUp ----

/// The requests for values: "2+3>1" asks node 1 for three instances from 2 on. "!" at the end says
/// that an earlier answer was lost.
std::string asked(PartsBench& bench) {
  std::string text;
  for (const PartsBench::Sent& each : bench.sent) {
    if (each.kind != PaxosKind::repeat) continue;
    wire::Repeat repeat;
    EXPECT_EQ(wire::decode_repeat(each.packet.view(), repeat), Drop::none);
    text += (text.empty() ? "" : " ") + std::to_string(repeat.first) + "+" +
            std::to_string(repeat.count) + ">" + std::to_string(each.to.value) +
            (repeat.again ? "!" : "");
  }
  bench.sent.clear();
  return text;
}

/// The other nodes have consumed all instances up to `upto`.
struct Behind : Watch {
  explicit Behind(Instance upto = 5) {
    wire::State said;
    said.next = upto + 1;
    said.oldest = 1;
    for (const MemberId& each : {kTwo, kThree}) hear(each, said);
    learner.note_decided(upto);
  }
  std::string work(Duration after) {
    now = now + after;
    catch_up.work(now, *this);
    return asked(*this);
  }
  const Duration gap = Options{}.gap;
};

TEST(PaxosCatchUp, WhatIsMissingMayOnlyBeLate) {
  Behind one;
  EXPECT_FALSE(one.catch_up.next_at());
  EXPECT_EQ(one.work({}), "");
  EXPECT_TRUE(one.catch_up.is_missing());
  ASSERT_TRUE(one.catch_up.next_at());
  EXPECT_EQ(*one.catch_up.next_at(), one.now + one.gap);
  EXPECT_EQ(one.work(one.gap + nanoseconds(-1)), "");
  EXPECT_FALSE(one.catch_up.asked());
  EXPECT_EQ(one.work(nanoseconds(1)), "2+4>3") << "all of it, and not of the coordinator";
  EXPECT_TRUE(one.catch_up.asked());
  one.catch_up.forget_asked();
  EXPECT_FALSE(one.catch_up.asked());
  EXPECT_EQ(one.catch_up.requests(), 1U);
}

TEST(PaxosCatchUp, AsksAnotherOneAndWaitsLongerEachTime) {
  Behind one;
  EXPECT_EQ(one.work({}), "");
  EXPECT_EQ(one.work(one.gap), "2+4>3");
  EXPECT_EQ(one.work(one.gap * 2 + nanoseconds(-1)), "");
  EXPECT_EQ(one.work(nanoseconds(1)), "2+4>2") << "the coordinator has it for sure";
  EXPECT_EQ(one.work(one.gap * 4), "2+4>3");
  EXPECT_EQ(one.work(one.gap * 8), "2+4>2!") << "the data lane may not get there";
}

TEST(PaxosCatchUp, AsksForRunsOfWhatIsMissing) {
  Behind one(9);
  for (const Instance k : {3U, 4U, 7U}) {
    ASSERT_EQ(one.learner.take_decided(k, unit_head(kTwo, k), one.bytes("x")), Drop::none);
  }
  EXPECT_EQ(one.work({}), "");
  EXPECT_EQ(one.work(one.gap), "2+1>3 5+2>3 8+2>3");
}

TEST(PaxosCatchUp, NothingIsMissingOnceItCame) {
  Behind one(2);
  EXPECT_EQ(one.work({}), "");
  ASSERT_EQ(one.learner.take_decided(2, unit_head(kTwo, 1), one.bytes("x")), Drop::none);
  EXPECT_EQ(one.work(one.gap * 9), "");
  EXPECT_FALSE(one.catch_up.is_missing());
  EXPECT_FALSE(one.catch_up.next_at());
}

TEST(PaxosCatchUp, WaitsForAsLongAsThingsTookToComeByThemselves) {
  Behind one(3);
  EXPECT_EQ(one.work({}), "");
  // The value arrives just before the node would request it.
  one.now = one.now + one.gap + nanoseconds(-1);
  ASSERT_EQ(one.learner.take_decided(2, unit_head(kTwo, 1), one.bytes("x")), Drop::none);
  ASSERT_EQ(one.decide_unit(kTwo, 1), OrderState::Outcome::unit);
  EXPECT_EQ(one.work({}), "");
  ASSERT_TRUE(one.catch_up.next_at());
  EXPECT_EQ(*one.catch_up.next_at(), one.now + (one.gap + nanoseconds(-1)) * 2);
}

TEST(PaxosCatchUp, AsksWhoeverCanHelp) {
  const auto asks = [](const std::function<void(Behind&, Peer & two, Peer & three)>& change) {
    Behind one;
    change(one, *one.peers.find(kTwo.node), *one.peers.find(kThree.node));
    EXPECT_EQ(one.work({}), "");
    return one.work(one.gap);
  };
  EXPECT_EQ(asks([](Behind&, Peer&, Peer& three) { three.suspected = true; }), "2+4>2");
  EXPECT_EQ(asks([](Behind&, Peer&, Peer& three) { three.state.next = 2; }), "2+4>2")
      << "it has not come past it";
  EXPECT_EQ(asks([](Behind&, Peer&, Peer& three) { three.works = false; }), "2+4>2");
  EXPECT_EQ(asks([](Behind&, Peer&, Peer& three) { three.state.oldest = 3; }), "2+4>2")
      << "its history begins later";
  EXPECT_EQ(
      asks([](Behind&, Peer& two, Peer& three) { two.state.oldest = three.state.oldest = 3; }),
      "2+4>3")
      << "it may have retained it";
  EXPECT_EQ(asks([](Behind&, Peer& two, Peer& three) {
              two.state.oldest = three.state.oldest = 3;
              three.works = false;
            }),
            "2+4>3")
      << "if no link works, one is tried all the same";
  EXPECT_EQ(asks([](Behind&, Peer& two, Peer& three) { two.suspected = three.suspected = true; }),
            "");
}

TEST(PaxosCatchUp, LacksWhatIsDecidedAndNotHere) {
  Behind one(4);
  EXPECT_FALSE(one.catch_up.lacks(1)) << "it is consumed";
  EXPECT_TRUE(one.catch_up.lacks(2));
  EXPECT_TRUE(one.catch_up.lacks(4));
  EXPECT_FALSE(one.catch_up.lacks(5)) << "nobody says that it is decided";
  ASSERT_EQ(one.learner.take_decided(3, unit_head(kTwo, 1), one.bytes("x")), Drop::none);
  EXPECT_FALSE(one.catch_up.lacks(3));
}

// ---- StateTransfer ----

TEST(PaxosStateTransfer, ANodeInNoViewAsksWhoeverIsFurthestForACheckpoint) {
  PartsBench one;
  const auto asks = [&] {
    one.sent.clear();
    one.transfer.look(one);
    return one.sent_to(PaxosKind::checkpoint_get);
  };
  EXPECT_EQ(asks(), Nodes{}) << "nobody knows an order";
  wire::State said;
  said.first_list = 5;
  said.next = 7;
  one.hear(kTwo, said);
  EXPECT_EQ(asks(), Nodes{2});
  said.next = 9;
  one.hear(kThree, said);
  EXPECT_EQ(asks(), Nodes{3});
  one.peers.find(kThree.node)->suspected = true;
  EXPECT_EQ(asks(), Nodes{2});
}

TEST(PaxosStateTransfer, AMemberSkipsNothing) {
  PartsBench one;
  one.be_in_view();
  wire::State said;
  said.next = said.oldest = 100'000;
  one.hear(kTwo, said);
  one.transfer.look(one);
  EXPECT_EQ(one.sent_to(PaxosKind::checkpoint_get), Nodes{});
  PartsBench other;
  other.be_in_view({kTwo, kThree});
  other.hear(kTwo, said);
  other.transfer.look(other);
  EXPECT_EQ(other.sent_to(PaxosKind::checkpoint_get), Nodes{2});
}

TEST(PaxosStateTransfer, OneThatCanCatchUpSkipsOnlyIfItIsFarBehind) {
  const auto asks = [](Instance next, std::uint32_t far_behind) {
    PartsBench one;
    one.be_in_view({kTwo, kThree});
    one.config.far_behind = far_behind;
    wire::State said;
    said.next = next;
    said.oldest = 1;
    one.hear(kTwo, said);
    one.transfer.look(one);
    return !one.sent_to(PaxosKind::checkpoint_get).empty();
  };
  const Instance most = Options{}.max_gap;
  EXPECT_FALSE(asks(2 + most, 0));
  EXPECT_TRUE(asks(2 + most + 1, 0));
  EXPECT_FALSE(asks(2 + 50, 50));
  EXPECT_TRUE(asks(2 + 51, 50));
}

TEST(PaxosStateTransfer, AMemberOfSeveralEnsemblesMayNeedAll) {
  OneMerger merger;
  PartsBench one({}, &merger);
  one.be_in_view({kTwo, kThree});
  wire::State said;
  said.next = said.oldest = 100'000;
  one.hear(kTwo, said);
  merger.needs = true;
  one.transfer.look(one);
  EXPECT_EQ(one.sent_to(PaxosKind::checkpoint_get), Nodes{});
  merger.needs = false;
  one.transfer.look(one);
  EXPECT_EQ(one.sent_to(PaxosKind::checkpoint_get), Nodes{2});
}

TEST(PaxosStateTransfer, ACheckpointIsJudged) {
  const auto judged = [](const std::function<void(PartsBench&, Peer&, wire::Checkpoint&)>& change) {
    PartsBench one;
    one.be_in_view({kTwo, kThree});
    Peer& two = one.hear(kTwo);
    wire::Checkpoint said = one.state.checkpoint();
    said.next = 50;
    change(one, two, said);
    return one.transfer.judge(two, said);
  };
  using Said = wire::Checkpoint;
  EXPECT_EQ(judged([](PartsBench&, Peer&, Said&) {}), Drop::none);
  EXPECT_EQ(judged([](PartsBench&, Peer&, Said& said) { said.nodes.first = 5; }), Drop::other_list);
  EXPECT_EQ(judged([](PartsBench&, Peer& two, Said&) { two.has_state = false; }),
            Drop::wrong_state);
  EXPECT_EQ(judged([](PartsBench&, Peer& two, Said&) { two.state.first_list = 5; }),
            Drop::wrong_state)
      << "its sender goes by another order now";
  EXPECT_EQ(judged([](PartsBench&, Peer&, Said& said) { said.next = 2; }), Drop::duplicate);
  EXPECT_EQ(judged([](PartsBench&, Peer&, Said& said) { said.next = 3; }), Drop::none);
  EXPECT_EQ(judged([](PartsBench&, Peer&, Said& said) { said.members[0].member = kOne; }),
            Drop::wrong_state)
      << "it must come to its own view by itself";
}

TEST(PaxosStateTransfer, IsNearMostNodes) {
  const auto near = [](const std::function<void(PartsBench&, Peer & two, Peer & three)>& change) {
    Watch one;
    change(one, *one.peers.find(kTwo.node), *one.peers.find(kThree.node));
    return one.transfer.is_near();
  };
  const Instance lag = join_lag(Options{});
  EXPECT_FALSE(PartsBench().transfer.is_near()) << "it knows no order";
  EXPECT_TRUE(near([](PartsBench&, Peer&, Peer&) {}));
  EXPECT_TRUE(near([](PartsBench&, Peer& two, Peer&) { two.suspected = true; }));
  EXPECT_FALSE(
      near([](PartsBench&, Peer& two, Peer& three) { two.suspected = three.suspected = true; }));
  EXPECT_FALSE(near([](PartsBench&, Peer& two, Peer& three) {
    two.suspected = true;
    three.has_state = false;
  }));
  EXPECT_FALSE(near([](PartsBench&, Peer& two, Peer& three) {
    two.suspected = true;
    three.listed = false;
  }));
  EXPECT_TRUE(near([&](PartsBench&, Peer& two, Peer&) { two.state.next = 2 + lag; }));
  EXPECT_FALSE(near([&](PartsBench&, Peer& two, Peer&) { two.state.next = 2 + lag + 1; }));
  EXPECT_TRUE(near([](PartsBench&, Peer& two, Peer&) { two.state.view = 1; }));
  EXPECT_FALSE(near([](PartsBench&, Peer& two, Peer&) { two.state.view = 2; }));
}

// ---- Diagnosis ----

std::string text_of(const WaitReason& reason) {
  std::string text(reason.kind->name);
  if (reason.who != MemberId{}) text += " " + std::to_string(reason.who.node.value);
  if (reason.all.size() > 1) text += " of " + std::to_string(reason.all.size());
  return text;
}

std::string why(const std::function<void(Watch&, Peer& two, Peer& three)>& change,
                const Diagnosis::Question& question = {false, false, true}) {
  Watch one;
  change(one, *one.peers.find(kTwo.node), *one.peers.find(kThree.node));
  return text_of(one.diagnosis.why(question));
}

void break_link(Watch& one, Peer& peer) {
  peer.reception.look(one.now, true, one.config.options);
  peer.reception.look(one.now + seconds(1), true, one.config.options);
}

void hang_disk(Watch& one) {
  ASSERT_TRUE(one.acceptor.prepare({9, kThree}));
  one.links.look_at_disk(one.now);
  one.links.look_at_disk(one.now + seconds(60));
}

TEST(PaxosDiagnosis, NamesWhatIsWaitedForAndWhom) {
  EXPECT_EQ(why([](Watch&, Peer&, Peer&) {}, {false, false, false}), "nothing");
  EXPECT_EQ(why([](Watch&, Peer&, Peer&) {}), "quorum");
  EXPECT_EQ(why([](Watch&, Peer&, Peer&) {}, {false, true, false}), "packet");
  EXPECT_EQ(why([](Watch& one, Peer&, Peer&) { one.room = 0; }), "slow_application 1");
  EXPECT_EQ(why([](Watch&, Peer& two, Peer& three) {
              two.acceptor = three.acceptor = false;
              two.has_life = three.has_life = 5;
            }),
            "amnesiac 2 of 2");
  EXPECT_EQ(why([](Watch&, Peer& two, Peer& three) { two.suspected = three.suspected = true; }),
            "majority 2 of 2");
  EXPECT_EQ(why([](Watch&, Peer&, Peer& three) { three.suspected = true; }), "quorum 3");
  EXPECT_EQ(why([](Watch&, Peer& two, Peer&) { two.suspected = true; }), "coordinator 1")
      << "node 2 is gone, which coordinated";
}

TEST(PaxosDiagnosis, AHungDiskIsNamed) {
  EXPECT_EQ(why([](Watch& one, Peer&, Peer&) { hang_disk(one); }), "disk 1");
  EXPECT_EQ(why([](Watch& one, Peer&, Peer&) { hang_disk(one); }, {true, false, false}), "disk 1");
  EXPECT_EQ(why([](Watch& one, Peer&, Peer&) { hang_disk(one); }, {false, false, false}), "nothing")
      << "nothing waits for it";
  EXPECT_EQ(why([](Watch&, Peer& two, Peer&) { two.state.disk_hangs = true; }), "quorum")
      << "two others vote";
  EXPECT_EQ(why([](Watch&, Peer& two, Peer& three) {
              two.state.disk_hangs = three.state.disk_hangs = true;
            }),
            "disk 2 of 2");
  EXPECT_EQ(why([](Watch&, Peer& two, Peer& three) {
              two.suspected = false;
              two.state.disk_hangs = three.state.disk_hangs = true;
              three.acceptor = false;
              three.has_life = 0;
            }),
            "quorum 3");
}

TEST(PaxosDiagnosis, AMemberWhoseApplicationTakesNothingIsNamedIfItHoldsUpOthers) {
  const auto full = [](Instance its, const MemberId& who) {
    return why([&](Watch& one, Peer&, Peer&) {
      for (std::uint64_t k = 1; k <= 3; ++k) one.decide_unit(kTwo, k);
      Peer& peer = *one.peers.find(who.node);
      peer.state.app_full = true;
      peer.state.next = its;
    });
  };
  EXPECT_EQ(full(4, kThree), "slow_application 3");
  EXPECT_EQ(full(5, kThree), "quorum") << "it has come as far as this node";
  EXPECT_EQ(full(5, kTwo), "slow_application 2") << "others wait for the coordinator";
  EXPECT_EQ(why([](Watch& one, Peer&, Peer& three) {
              one.decide_unit(kTwo, 1);
              three.state.app_full = three.suspected = true;
            }),
            "quorum 3");
}

TEST(PaxosDiagnosis, ALinkThatFailsIsNamed) {
  EXPECT_EQ(why([](Watch& one, Peer&, Peer& three) { break_link(one, three); }), "unheard 3");
  EXPECT_EQ(why([](Watch& one, Peer& two, Peer&) {
              break_link(one, two);
              two.suspected = true;
            }),
            "unheard 2")
      << "others may go on with a coordinator that this node alone does not hear";
}

TEST(PaxosDiagnosis, ANodeOutsideTheViewSaysWhatKeepsItOut) {
  const auto outside =
      [](const std::function<void(PartsBench&, Peer & two, Peer & three)>& change) {
        PartsBench one;
        one.be_in_view({kTwo, kThree});
        one.hear_all();
        one.election.see(one.now, kLeads);
        one.election.follow(kLeads);
        change(one, *one.peers.find(kTwo.node), *one.peers.find(kThree.node));
        return text_of(one.diagnosis.why({false, false, true}));
      };
  EXPECT_EQ(outside([](PartsBench&, Peer&, Peer&) {}), "quorum");
  EXPECT_EQ(outside([](PartsBench&, Peer& two, Peer&) { two.works = false; }), "not_heard 2");
  EXPECT_EQ(outside([](PartsBench&, Peer&, Peer& three) { three.suspected = true; }), "unheard 3");
  EXPECT_EQ(outside([](PartsBench&, Peer& two, Peer& three) {
              three.suspected = true;
              two.works = false;
            }),
            "unheard 3");
}

}  // namespace
}  // namespace peal::order::paxos::test
