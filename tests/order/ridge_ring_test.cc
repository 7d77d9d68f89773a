// SPDX-License-Identifier: Apache-2.0
// The routes of values and votes in a ring, at one node; the other nodes are silent.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "order/ridge/ring_routes.h"
#include "ridge_routes_bench.h"

namespace peal::order::ridge::test {
namespace {

class RidgeRing : public RoutesBench {
 protected:
  RidgeRing() : RoutesBench(&make_ring) {}

  /// This node coordinates, and proposes a value for one instance. Returns the frame that it sends.
  wire::Relay propose(Instance instance) {
    wire::Relay frame;
    const BufferRef packet = routes_->pack(unit(instance), bytes(), true);
    EXPECT_EQ(wire::decode_relay(packet.view(), frame), Drop::none);
    routes_->propose(packet, *this);
    return frame;
  }
  /// The STATE of the coordinator after a majority has voted for all instances up to `upto`.
  wire::State decided(Instance upto) const {
    wire::State state = said();
    state.leading = true;
    state.voted_round = round_;
    state.voted_upto = state.decided_upto = upto;
    return state;
  }
  static std::string sent_relay(std::uint32_t to) { return line(PaxosKind::relay, {to}); }
};

TEST_F(RidgeRing, AProposalGoesToTheNodeBehindTheCoordinatorAndNobodyElse) {
  be(1);
  EXPECT_FALSE(routes_->choose(now_, true));
  const wire::Relay frame = propose(1);
  EXPECT_EQ(frame.round, round_);
  EXPECT_EQ(frame.chain, 1U) << "the round's first ring";
  EXPECT_EQ(frame.behind, 0U);
  EXPECT_EQ(told(), sent_relay(2));
}

TEST_F(RidgeRing, EachNodeSendsItToTheNextAndTheLastToNobody) {
  for (std::uint32_t node = 2; node <= 7; ++node) {
    be(node);
    sent_.clear();
    EXPECT_EQ(take(PaxosKind::relay, node - 1, relay(1, 1)), Drop::none);
    EXPECT_EQ(asked_, node <= 5) << "all acceptors vote";
    EXPECT_EQ(told(), node == 7 ? "" : sent_relay(node + 1));
    if (node == 7) continue;
    wire::Header header;
    ASSERT_EQ(wire::decode_header(sent_[0].packet.view(), header), Drop::none);
    EXPECT_EQ(header.sender, member(node));
    wire::Relay onward;
    ASSERT_EQ(wire::decode_relay(sent_[0].packet.view(), onward), Drop::none);
    EXPECT_EQ(onward, relay(1, 1));
  }
}

TEST_F(RidgeRing, AcceptorsComeFirstFromTheCoordinatorOn) {
  round_.coordinator = member(4);
  const std::uint32_t order[] = {4, 5, 1, 2, 3, 6, 7};
  for (std::size_t i = 1; i < std::size(order); ++i) {
    be(order[i]);
    sent_.clear();
    EXPECT_EQ(take(PaxosKind::relay, order[i - 1], relay(1, 1)), Drop::none);
    EXPECT_EQ(told(), i + 1 == std::size(order) ? "" : sent_relay(order[i + 1]));
  }
}

TEST_F(RidgeRing, WhatHasNoBytesIsPassedOnToo) {
  be(2);
  wire::Relay nothing = relay(1, 1);
  nothing.head = {wire::ValueKind::nothing, Service::agreed, 0, member(1), 0};
  EXPECT_EQ(take(PaxosKind::relay, 1, nothing, 0), Drop::none);
  EXPECT_EQ(told(), sent_relay(3));
}

TEST_F(RidgeRing, WhoSeemsDeadIsPassedOver) {
  be(2);
  suspect(3);
  suspect(4);
  take(PaxosKind::relay, 1, relay(1, 1));
  EXPECT_EQ(told(), sent_relay(5));
  sent_.clear();
  for (const std::uint32_t node : {5U, 6U, 7U}) suspect(node);
  take(PaxosKind::relay, 1, relay(2, 1));
  EXPECT_EQ(told(), "") << "it is the last one now";
}

TEST_F(RidgeRing, WhoseLinkFailsOrWhoIsNotToGoOnIsPassedOver) {
  be(2);
  peers_->find({3})->works = false;
  take(PaxosKind::relay, 1, relay(1, 1));
  EXPECT_EQ(told(), sent_relay(4));
  sent_.clear();
  peers_->find({4})->serve = false;
  take(PaxosKind::relay, 1, relay(2, 1));
  EXPECT_EQ(told(), sent_relay(5));
}

TEST_F(RidgeRing, AValueThatComesTwiceIsPassedOnOnce) {
  be(2);
  for (const Instance instance : {1U, 2U, 1U, 3U, 2U}) {
    take(PaxosKind::relay, 1, relay(instance, 1));
  }
  EXPECT_EQ(told(), line(PaxosKind::relay, {3, 3, 3}));
}

TEST_F(RidgeRing, OneThatIsFarBehindIsNotPassedOn) {
  be(2);
  constexpr Instance kUnderWayMax = 8'192;  // more than any window
  take(PaxosKind::relay, 1, relay(kUnderWayMax + 50, 1));
  sent_.clear();
  take(PaxosKind::relay, 1, relay(50, 1));
  EXPECT_EQ(told(), "") << "nobody can say whether it was before";
}

TEST_F(RidgeRing, AlongAnotherRingAValueGoesOnceMore) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, 1));
  take(PaxosKind::relay, 1, relay(1, 2));
  EXPECT_EQ(told(), line(PaxosKind::relay, {3, 3}));
  sent_.clear();
  take(PaxosKind::relay, 1, relay(1, 1));
  EXPECT_EQ(told(), "") << "what comes late from the ring before";
  take(PaxosKind::relay, 1, relay(2, 1));
  ASSERT_EQ(told(), sent_relay(3)) << "but what did not come before goes along the new one";
  wire::Relay onward;
  ASSERT_EQ(wire::decode_relay(sent_[0].packet.view(), onward), Drop::none);
  EXPECT_EQ(onward.chain, 2U);
  sent_.clear();
  take(PaxosKind::relay, 1, relay(2, 2));
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeRing, ALaterRoundBeginsAnew) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, 5));
  ++round_.count;
  take(PaxosKind::relay, 1, relay(1, 1));
  EXPECT_EQ(told(), line(PaxosKind::relay, {3, 3}));
  sent_.clear();
  --round_.count;
  take(PaxosKind::relay, 1, relay(2, 6));
  EXPECT_EQ(told(), "") << "an earlier round is over";
}

TEST_F(RidgeRing, WithoutSomebodyThereIsAnotherRing) {
  be(1);
  routes_->choose(now_, true);
  EXPECT_EQ(propose(1).chain, 1U);
  EXPECT_FALSE(routes_->choose(now_, false)) << "it stays while all live";
  suspect(7);
  EXPECT_TRUE(routes_->choose(now_, false)) << "what is under way is proposed again";
  EXPECT_EQ(propose(1).chain, 2U);
  EXPECT_FALSE(routes_->choose(now_, false));
  peers_->note(now_, *peers_->find({7}), member(7));
  EXPECT_FALSE(routes_->choose(now_, false)) << "who comes asks for what it lacks";
  peers_->note(now_, *peers_->find({3}), {{3}, 101});
  EXPECT_TRUE(routes_->choose(now_, false)) << "who came back has lost what it was sent";
  EXPECT_EQ(propose(1).chain, 3U);
  suspect(2);
  ++round_.count;
  EXPECT_FALSE(routes_->choose(now_, true));
  EXPECT_EQ(propose(2).chain, 1U) << "of the next round";
}

// Before its first proposal, a node knows only the ring of the previous coordinator, and must not
// change that ring.
TEST_F(RidgeRing, WhoHasProposedNothingYetChoosesNoOtherRing) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, 1));
  sent_.clear();
  EXPECT_FALSE(routes_->choose(now_, true));
  suspect(7);
  EXPECT_FALSE(routes_->choose(now_, false)) << "nothing is under way";
  EXPECT_EQ(take(PaxosKind::relay, 1, relay(2, 1)), Drop::none);
  EXPECT_EQ(told(), sent_relay(3)) << "and it goes on along that ring";
}

TEST_F(RidgeRing, AllAcceptorsAreAskedAndTellTheCoordinatorAlone) {
  be(2);
  for (const Peer& peer : peers_->all()) EXPECT_TRUE(!peer.acceptor || routes_->asks(peer));
  take(PaxosKind::relay, 1, relay(1, 1));
  sent_.clear();
  routes_->tell_votes(said(), peers_->find({1}), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {1}));
  sent_.clear();
  routes_->tell_votes(said(), nullptr, *this);
  routes_->tell_votes(said(), &peers_->self(), *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeRing, WhatIsDecidedIsToldToAllIfNoValueIsProposedInTheSameTurn) {
  be(1);
  suspect(6);
  propose(1);
  sent_.clear();
  routes_->end_turn(said(), *this);
  EXPECT_EQ(told(), "") << "nothing is decided";
  routes_->tell_decided(now_, decided(1), *this);
  EXPECT_EQ(told(), "");
  routes_->end_turn(decided(1), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {2, 3, 4, 5, 7}));
  sent_.clear();
  routes_->end_turn(decided(1), *this);
  EXPECT_EQ(told(), "") << "once";
}

TEST_F(RidgeRing, ElseItGoesWithTheValue) {
  be(1);
  for (const Instance instance : {5U, 6U, 7U}) EXPECT_EQ(propose(instance).behind, instance - 5U);
  routes_->tell_decided(now_, decided(6), *this);
  routes_->tell_decided(now_, decided(5), *this);
  EXPECT_EQ(propose(8).behind, 1U) << "all below 7 is decided, and 7 is not";
  sent_.clear();
  routes_->end_turn(decided(6), *this);
  EXPECT_EQ(told(), "");
  EXPECT_EQ(propose(6).behind, 0U) << "one that is proposed again";
}

TEST_F(RidgeRing, WhatAnEarlierRoundDecidedIsNotSaidOfALaterOne) {
  be(1);
  for (const Instance instance : {5U, 6U, 7U}) propose(instance);
  routes_->end_turn(decided(7), *this);
  ++round_.count;
  sent_.clear();
  EXPECT_EQ(propose(6).behind, 0U);
  EXPECT_EQ(propose(7).behind, 1U) << "6 is not decided in this round";
  sent_.clear();
  routes_->end_turn(decided(7), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {2, 3, 4, 5, 6, 7})) << "now it is, and told anew";
}

TEST_F(RidgeRing, OnlyWhatWasDecidedInItsRoundIsToldByTheCoordinator) {
  be(1);
  propose(5);
  wire::State other = decided(9);
  other.voted_round.count += 1;
  routes_->tell_decided(now_, other, *this);
  EXPECT_EQ(propose(10).behind, 5U);
  sent_.clear();
  routes_->end_turn(other, *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeRing, WhoDoesNotLeadTellsNobodyWhatIsDecided) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, 1));
  sent_.clear();
  routes_->tell_decided(now_, decided(1), *this);
  routes_->end_turn(decided(1), *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeRing, WhoIsNotInTheListIsNowhereInTheRing) {
  be(4);
  const auto go_by = [this](std::vector<NodeId> nodes, std::vector<NodeId> acceptors) {
    wire::Checkpoint at = state_.checkpoint();
    at.nodes.all = std::move(nodes);
    at.nodes.acceptors = std::move(acceptors);
    state_ = paxos::OrderState(at);
    routes_->nodes_changed();
  };
  go_by({{1}, {2}, {3}, {4}, {5}, {6}, {7}}, {{2}, {4}, {5}});
  EXPECT_EQ(take(PaxosKind::relay, 2, relay(1, 1)), Drop::bad_sender) << "1 is no acceptor";
  wire::Relay of_two = relay(1, 1);
  of_two.round.coordinator = member(2);
  EXPECT_EQ(take(PaxosKind::relay, 3, of_two), Drop::bad_sender) << "3 is behind all acceptors";
  EXPECT_EQ(take(PaxosKind::relay, 2, of_two), Drop::none);
  go_by({{2}, {4}, {5}, {7}}, {{2}, {5}});
  EXPECT_EQ(take(PaxosKind::relay, 1, of_two), Drop::bad_sender) << "1 is not in the list";
  EXPECT_EQ(take(PaxosKind::relay, 3, of_two), Drop::bad_sender) << "nor is 3";
  EXPECT_EQ(take(PaxosKind::relay, 6, of_two), Drop::bad_sender) << "nor is 6";
  EXPECT_EQ(take(PaxosKind::relay, 5, of_two), Drop::none);
  go_by({{1}, {2}, {5}, {7}}, {{2}, {5}});
  EXPECT_EQ(take(PaxosKind::relay, 2, of_two), Drop::bad_sender) << "this node is not";
}

TEST_F(RidgeRing, TheLastNodeHasAValueWhenAllOthersHaveSentItOn) {
  be(1);
  EXPECT_EQ(routes_->hops(), 6U);
}

TEST_F(RidgeRing, PacketsThatCannotBeAreDropped) {
  be(3);
  const wire::Relay fine = relay(1, 1);
  EXPECT_EQ(take(PaxosKind::relay, 4, fine), Drop::bad_sender) << "from behind";
  EXPECT_EQ(take(PaxosKind::relay, 7, fine), Drop::bad_sender) << "from behind, no acceptor";
  EXPECT_EQ(take(PaxosKind::relay, 3, fine), Drop::bad_sender) << "from itself";
  wire::Relay frame = fine;
  frame.round.coordinator = member(6);
  EXPECT_EQ(take(PaxosKind::relay, 2, frame), Drop::bad_sender) << "of no acceptor";
  frame.round.coordinator = member(8);
  EXPECT_EQ(take(PaxosKind::relay, 2, frame), Drop::bad_sender) << "of nobody";
  frame.round.coordinator = member(3);
  EXPECT_EQ(take(PaxosKind::relay, 2, frame), Drop::bad_sender) << "its own, come round";
  frame = fine;
  frame.chain = 0;
  EXPECT_EQ(take(PaxosKind::relay, 2, frame), Drop::bad_value) << "along no ring";
  EXPECT_EQ(take(PaxosKind::distribute, 2, fine), Drop::unknown_kind);
  Arrival arrival;
  const BufferRef cut = packet(PaxosKind::relay, member(2), fine, 0);
  EXPECT_EQ(routes_->read(*peers_->find({2}), PaxosKind::relay,
                          cut.view().first(wire::kRelayHeaderBytes - 1), arrival),
            Drop::truncated);
  EXPECT_EQ(routes_->read(*peers_->find({2}), PaxosKind::propose, {}, arrival), Drop::unknown_kind);
  EXPECT_EQ(told(), "");
  EXPECT_EQ(take(PaxosKind::relay, 1, fine), Drop::none) << "2 may seem dead to 1";
  EXPECT_EQ(told(), sent_relay(4));
}

}  // namespace
}  // namespace peal::order::ridge::test
