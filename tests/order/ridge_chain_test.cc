// SPDX-License-Identifier: Apache-2.0
// The routes of values and votes along a chain, at one node; the other nodes are silent.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "order/ridge/chain.h"
#include "ridge_routes_bench.h"

namespace peal::order::ridge::test {
namespace {

class RidgeChain : public RoutesBench {
 protected:
  RidgeChain() : RoutesBench(&make_chain) {}

  /// Calls tell_decided() as the engine does when more instances are decided.
  void tell_decided(const wire::State& state) {
    if (routes_->tell_decided(now_, state, *this)) {
      routes_->tell_votes(state, peers_->find({1}), *this);
    }
  }

  /// True if the first sent packet omits the bytes of the value: its receiver is the sender of the
  /// value, and has these bytes.
  bool first_is_own() const {
    wire::Relay frame;
    EXPECT_EQ(wire::decode_relay(sent_.at(0).packet.view(), frame), Drop::none);
    EXPECT_EQ(sent_[0].packet.size() == wire::kRelayHeaderBytes, frame.own);
    return frame.own;
  }
  /// At node 3, the last of the chain 1, 2, 3: a unit of the member `from` arrives and is decided.
  void decided_of(Instance instance, const MemberId& from) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree, from.node.value));
    decide(instance, 1'000, from);
    sent_.clear();
    tell_decided(said());
  }

  static constexpr std::uint16_t kOneTwoThree = 0b00111;
};

TEST_F(RidgeChain, AProposalGoesToTheNextAcceptorAndNobodyElse) {
  be(1);
  EXPECT_TRUE(routes_->choose(now_, true));
  const BufferRef packet = routes_->pack(unit(1), bytes(), true);
  ASSERT_TRUE(packet);
  wire::Relay frame;
  ASSERT_EQ(wire::decode_relay(packet.view(), frame), Drop::none);
  EXPECT_EQ(frame.chain, kOneTwoThree) << "a majority of five";
  EXPECT_EQ(frame.round, round_);
  routes_->propose(packet, *this);
  EXPECT_EQ(told(), line(PaxosKind::relay, {2}));
}

TEST_F(RidgeChain, AnAcceptorPassesItOnAndTheLastDoesNot) {
  be(2);
  EXPECT_EQ(take(PaxosKind::relay, 1, relay(1, kOneTwoThree)), Drop::none);
  EXPECT_TRUE(asked_);
  EXPECT_EQ(told(), line(PaxosKind::relay, {3}));
  wire::Header header;
  ASSERT_EQ(wire::decode_header(sent_[0].packet.view(), header), Drop::none);
  EXPECT_EQ(header.sender, member(2));
  sent_.clear();
  be(3);
  EXPECT_EQ(take(PaxosKind::relay, 2, relay(1, kOneTwoThree)), Drop::none);
  EXPECT_TRUE(asked_);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, WhatHasNoBytesIsPassedOnToo) {
  be(2);
  wire::Relay nothing = relay(1, kOneTwoThree);
  nothing.head = {wire::ValueKind::nothing, Service::agreed, 0, member(1), 0};
  EXPECT_EQ(take(PaxosKind::relay, 1, nothing, 0), Drop::none);
  EXPECT_EQ(told(), line(PaxosKind::relay, {3}));
}

TEST_F(RidgeChain, TheOrderGoesRoundFromTheCoordinator) {
  round_.coordinator = member(4);
  constexpr std::uint16_t kFourFiveTwo = 0b11010;
  be(5);
  take(PaxosKind::relay, 4, relay(1, kFourFiveTwo));
  EXPECT_EQ(told(), line(PaxosKind::relay, {2}));
  sent_.clear();
  be(2);
  take(PaxosKind::relay, 5, relay(1, kFourFiveTwo));
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, WhoIsNotInTheChainIsNotAskedForAVote) {
  be(4);
  EXPECT_EQ(take(PaxosKind::relay, 1, relay(1, kOneTwoThree)), Drop::none);
  EXPECT_FALSE(asked_);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, AVoteIsToldToTheLastAndToTheCoordinator) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, kOneTwoThree));
  sent_.clear();
  routes_->tell_votes(said(), peers_->find({1}), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {3, 1}));
  sent_.clear();
  be(1);
  routes_->choose(now_, true);
  ASSERT_TRUE(routes_->pack(unit(1), bytes(), true));
  routes_->tell_votes(said(), &peers_->self(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {3})) << "not to itself";
}

TEST_F(RidgeChain, TheLastTellsTheChainAndHasValuesDistributedInTurns) {
  be(3);
  for (const Instance instance : {1U, 2U, 3U, 4U, 5U}) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
    sent_.clear();
    tell_decided(said());
    const std::uint32_t turn = 4 + (instance - 1) % 4;
    EXPECT_EQ(told(), line(PaxosKind::distribute, {turn}) + " " + line(PaxosKind::state, {1, 2}));
  }
  sent_.clear();
  tell_decided(said());
  EXPECT_EQ(told(), line(PaxosKind::state, {1, 2})) << "each value once";
}

TEST_F(RidgeChain, WhoIsNotTheLastDistributesNothing) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, kOneTwoThree));
  decide(1);
  sent_.clear();
  tell_decided(said());
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, TheLastOfARoundThatIsOverDistributesNothing) {
  be(3);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree));
  decide(1);
  wire::State later = said();
  ++later.round.count;
  tell_decided(later);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, TheLastOfANewChainSeesToWhatCameAlongIt) {
  be(3);
  constexpr std::uint16_t kOneThreeFive = 0b10101;
  take(PaxosKind::relay, 1, relay(1, kOneThreeFive));  // node 5 distributes it
  decide(1);
  tell_decided(said());
  sent_.clear();
  take(PaxosKind::relay, 2, relay(2, kOneTwoThree));
  decide(2);
  tell_decided(said());
  EXPECT_EQ(told(), line(PaxosKind::distribute, {4}) + " " + line(PaxosKind::state, {1, 2}));
}

TEST_F(RidgeChain, WhoIsDeadOrQuietIsNoDistributor) {
  be(3);
  suspect(4);
  peers_->find({5})->heard = now_ - milliseconds(500);
  for (const Instance instance : {1U, 2U, 3U}) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
    sent_.clear();
    tell_decided(said());
    const std::uint32_t turn = instance % 2 == 1 ? 6 : 7;
    EXPECT_EQ(told(), line(PaxosKind::distribute, {turn}) + " " + line(PaxosKind::state, {1, 2}));
  }
}

TEST_F(RidgeChain, WhomThisNodeDoesNotHearIsNoDistributor) {
  be(3);
  peers_->find({4})->works = false;
  suspect(5);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree));
  decide(1);
  sent_.clear();
  tell_decided(said());
  EXPECT_EQ(told(), line(PaxosKind::distribute, {6}) + " " + line(PaxosKind::state, {1, 2}));
}

TEST_F(RidgeChain, WhoIsNoAcceptorDistributesNothingOfItself) {
  be(6);
  decide(1);
  EXPECT_FALSE(routes_->tell_decided(now_, wire::State{}, *this));
  routes_->tell_votes(wire::State{}, nullptr, *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, TheLastSendsSmallValuesItself) {
  be(3);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree), 100);
  decide(1, 100);
  tell_decided(said());
  EXPECT_EQ(told(), line(PaxosKind::decided, {4, 5, 6, 7}) + " " + line(PaxosKind::state, {1, 2}));
  sent_.clear();
  take(PaxosKind::relay, 2, relay(2, kOneTwoThree), 300);
  decide(2, 300);
  sent_.clear();
  tell_decided(said());
  EXPECT_EQ(told(), line(PaxosKind::distribute, {4}) + " " + line(PaxosKind::state, {1, 2}))
      << "four copies of it are not small";
}

TEST_F(RidgeChain, ADistributorSendsToAllOutsideTheChainInOneOrder) {
  be(5);
  EXPECT_EQ(take(PaxosKind::distribute, 3, relay(9, kOneTwoThree)), Drop::none);
  EXPECT_EQ(told(), line(PaxosKind::decided, {4, 6, 7}));
  wire::ValueFrame frame;
  ASSERT_EQ(wire::decode_value(sent_[0].packet.view(), frame), Drop::none);
  EXPECT_EQ(frame.instance, 9U);
  sent_.clear();
  suspect(6);
  take(PaxosKind::distribute, 3, relay(10, kOneTwoThree));
  EXPECT_EQ(told(), line(PaxosKind::decided, {4, 7}));
}

TEST_F(RidgeChain, WhoSentAUnitIsItsDistributorAndGetsItWithoutBytes) {
  be(3);
  for (const Instance instance : {1U, 2U, 3U, 4U, 5U}) {
    decided_of(instance, member(6));
    EXPECT_EQ(told(), line(PaxosKind::distribute, {6}) + " " + line(PaxosKind::state, {1, 2}));
    EXPECT_TRUE(first_is_own());
  }
}

TEST_F(RidgeChain, OneThatSendsMoreThanOthersDoesNotDistributeItAllAlone) {
  be(3);
  std::map<std::uint32_t, int> turns;
  for (Instance instance = 1; instance <= 60; ++instance) {
    decided_of(instance, member(6));
    ASSERT_EQ(first_is_own(), sent_[0].to == 6);
    ++turns[sent_[0].to];
  }
  for (const std::uint32_t node : {4U, 5U, 7U}) EXPECT_GE(turns[node], 10) << node;
}

TEST_F(RidgeChain, AnIncarnationThatIsGoneHasNoBytesOfItsOwn) {
  be(3);
  decided_of(1, {{4}, 99});
  EXPECT_EQ(sent_.at(0).to, 4U) << "its turn";
  EXPECT_FALSE(first_is_own());
}

TEST_F(RidgeChain, AProposalGoesWithoutBytesToTheAcceptorThatSentIt) {
  be(1);
  routes_->choose(now_, true);
  Arrival proposal = unit(1);
  EXPECT_FALSE(routes_->propose_own(proposal, *this)) << "of this node";
  proposal.head.origin = member(3);
  EXPECT_FALSE(routes_->propose_own(proposal, *this)) << "2 is before it in the chain";
  proposal.head.origin = {{2}, 99};
  EXPECT_FALSE(routes_->propose_own(proposal, *this)) << "of an incarnation that is gone";
  EXPECT_EQ(told(), "");
  proposal.head.origin = member(2);
  EXPECT_TRUE(routes_->propose_own(proposal, *this));
  EXPECT_EQ(told(), line(PaxosKind::relay, {2}));
  EXPECT_TRUE(first_is_own());
  peers_->find({2})->state.next = 2;
  EXPECT_FALSE(routes_->propose_own(proposal, *this)) << "it has consumed it, and let go of it";
}

TEST_F(RidgeChain, AnAcceptorPassesOnWithoutBytesToTheOneThatSentIt) {
  be(2);
  EXPECT_EQ(take(PaxosKind::relay, 1, relay(1, kOneTwoThree, 3)), Drop::none);
  EXPECT_EQ(told(), line(PaxosKind::relay, {3}));
  EXPECT_TRUE(first_is_own());
  sent_.clear();
  EXPECT_EQ(take(PaxosKind::relay, 1, relay(2, kOneTwoThree, 4)), Drop::none);
  EXPECT_FALSE(first_is_own());
}

TEST_F(RidgeChain, WhatCameWithoutBytesIsSaidToBeOwn) {
  be(6);
  wire::Relay back = relay(9, kOneTwoThree, 6);
  back.own = true;
  EXPECT_EQ(take(PaxosKind::distribute, 3, back, 0), Drop::none);
  EXPECT_TRUE(own_);
}

TEST_F(RidgeChain, BytesThatOthersUseAreCopiedToBeSentOn) {
  be(6);
  Arrival arrival = unit(9);
  arrival.decided = true;
  arrival.chain = kOneTwoThree;
  const BufferRef unit = bytes();
  routes_->pass_on(arrival, unit, false, *this);
  EXPECT_EQ(told(), line(PaxosKind::decided, {4, 5, 7}));
  EXPECT_FALSE(sent_[0].packet.shares_slab_with(unit));
  sent_.clear();
  routes_->pass_on(arrival, unit, true, *this);
  EXPECT_TRUE(sent_.at(0).packet.shares_slab_with(unit));
}

TEST_F(RidgeChain, AnotherIsAskedInThePlaceOfWhoSeemsDeadOrIsSlow) {
  be(1);
  routes_->choose(now_, true);
  EXPECT_FALSE(routes_->choose(now_, false)) << "it stays while it works";
  suspect(2);
  EXPECT_TRUE(routes_->choose(now_, false));
  EXPECT_FALSE(routes_->asks(*peers_->find({2})));
  EXPECT_TRUE(routes_->asks(*peers_->find({4})));
  routes_->note_slow(now_, {4});
  EXPECT_TRUE(routes_->choose(now_, false));
  EXPECT_FALSE(routes_->asks(*peers_->find({4})));
  EXPECT_TRUE(routes_->asks(*peers_->find({5})));
  routes_->note_slow(now_, {5});
  EXPECT_TRUE(routes_->choose(now_, false));
  EXPECT_FALSE(routes_->asks(*peers_->find({2}))) << "one that is slow before one that seems dead";
}

/// Node 1 chooses two of the other four acceptors for the chain.
TEST_F(RidgeChain, WhoseDiskHangsIsAskedAfterThoseThatAreSlow) {
  be(1);
  const auto asked = [this] {
    routes_->choose(now_, true);
    std::string text;
    for (const Peer& peer : peers_->all()) {
      if (!peer.self && routes_->asks(peer)) text += std::to_string(peer.node.value);
    }
    return text;
  };
  EXPECT_EQ(asked(), "23");
  peers_->find({2})->state.disk_hangs = true;
  EXPECT_EQ(asked(), "34");
  routes_->note_slow(now_, {3});
  EXPECT_EQ(asked(), "45");
  routes_->note_slow(now_, {4});
  EXPECT_EQ(asked(), "35") << "before one whose disk hangs";
  for (const std::uint32_t node : {3U, 4U}) peers_->find({node})->serve = false;
  EXPECT_EQ(asked(), "25") << "before those who cannot be in the view";
  suspect(2);
  EXPECT_EQ(asked(), "35") << "before one that seems dead";
  peers_->find({3})->acceptor = false;
  EXPECT_EQ(asked(), "45") << "before one that has forgotten its votes";
  now_ = now_ + config_.options.suspect_max;
  for (const std::uint32_t node : {3U, 4U}) peers_->find({node})->serve = true;
  peers_->find({3})->acceptor = true;
  EXPECT_EQ(asked(), "34") << "they were slow long ago";
}

TEST_F(RidgeChain, WithoutEnoughThatAreAliveOthersAreAskedToo) {
  be(1);
  for (const std::uint32_t node : {2U, 3U, 4U, 5U}) suspect(node);
  routes_->choose(now_, true);
  std::size_t asked = 0;
  for (const Peer& peer : peers_->all()) asked += routes_->asks(peer) ? 1U : 0U;
  EXPECT_EQ(asked, 3U);
}

TEST_F(RidgeChain, AChainThatCannotBeIsDropped) {
  be(2);
  wire::Relay frame = relay(1, kOneTwoThree);
  frame.chain = 0b00110;
  EXPECT_EQ(take(PaxosKind::relay, 1, frame), Drop::bad_sender) << "without its coordinator";
  frame.chain = 0b100111;
  EXPECT_EQ(take(PaxosKind::relay, 1, frame), Drop::bad_value) << "with an acceptor that is none";
  frame.chain = kOneTwoThree;
  frame.round.coordinator = member(6);
  EXPECT_EQ(take(PaxosKind::relay, 1, frame), Drop::bad_sender) << "of no acceptor";
  Arrival arrival;
  EXPECT_EQ(routes_->read(*peers_->find({1}), PaxosKind::propose, {}, arrival), Drop::unknown_kind);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, APacketOfAnEarlierRoundChangesNothing) {
  be(3);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree));
  wire::Relay old = relay(2, 0b01101);
  old.round = {3, member(1)};
  EXPECT_EQ(take(PaxosKind::relay, 1, old), Drop::none);
  EXPECT_EQ(told(), "") << "it is the last of the newer chain still";
}

}  // namespace
}  // namespace peal::order::ridge::test
