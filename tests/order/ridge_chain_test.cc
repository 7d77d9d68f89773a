// SPDX-License-Identifier: Apache-2.0
// The ways of values and votes along a chain, seen from one node; the others are silent.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order/ridge/chain.h"
#include "wire/packet.h"

namespace peal::order::ridge::test {
namespace {

using paxos::Slot;
using wire::Drop;
using wire::PaxosKind;

MemberId member(std::uint32_t node) { return {{node}, 100}; }

/// Seven nodes, of which 1 to 5 are acceptors, all of them alive and in the view.
class RidgeChain : public ::testing::Test, public Effects {
 protected:
  struct Sent {
    std::uint32_t to{};
    PaxosKind kind{};
    BufferRef packet;
  };

  void be(std::uint32_t node) {
    config_.self = member(node);
    config_.universe.clear();
    for (std::uint32_t n = 1; n <= 7; ++n) config_.universe.push_back({n});
    config_.acceptors = {{1}, {2}, {3}, {4}, {5}};
    if (node <= 5) config_.log = &log_;
    chain_.reset();
    peers_.emplace(config_);
    peers_->start(now_);
    wire::Checkpoint at;
    at.next = 1;
    at.view = {1, member(1)};
    for (std::uint32_t n = 1; n <= 7; ++n) {
      if (n != node) peers_->note(now_, *peers_->find({n}), member(n));
      at.members.push_back({member(n), 0});
      at.numbers.push_back(0);
    }
    state_ = paxos::OrderState(at);
    outbox_.emplace(config_, pool_);
    chain_.emplace(Links{config_, *peers_, store_, state_, *outbox_});
  }

  Arrival unit(Instance instance) const {
    Arrival arrival;
    arrival.round = round_;
    arrival.instance = instance;
    arrival.head = {wire::ValueKind::unit, Service::agreed, 1, member(1), instance};
    return arrival;
  }
  BufferRef bytes(std::size_t size = 1'000) {
    return pool_.take(wire::kUnitHeadroomBytes, static_cast<std::uint32_t>(size));
  }
  /// A packet of this kind as another node would send it.
  BufferRef packet(PaxosKind kind, const MemberId& from, const wire::Relay& frame,
                   std::size_t size = 1'000) {
    BufferRef packet = pool_.take(0, static_cast<std::uint32_t>(wire::kRelayHeaderBytes + size));
    wire::Header header;
    header.sender = from;
    wire::encode_relay_in_place(header, kind, frame, {packet.data(), packet.size()});
    return packet;
  }
  wire::Relay relay(Instance instance, std::uint16_t chain) const {
    return {round_, instance, 0, chain, unit(instance).head};
  }
  /// Takes a packet in, as the engine does.
  Drop take(PaxosKind kind, std::uint32_t from, const wire::Relay& frame,
            std::size_t size = 1'000) {
    const BufferRef in = packet(kind, member(from), frame, size);
    Arrival arrival;
    const Drop reason = chain_->read(*peers_->find({from}), kind, in.view(), arrival);
    if (reason != Drop::none) return reason;
    asked_ = arrival.vote;
    chain_->pass_on(arrival, in, *this);
    return reason;
  }
  void decide(Instance instance, std::size_t size = 1'000) {
    Slot* slot = store_.make(instance);
    slot->decided = true;
    slot->heard = {unit(instance).head, bytes(size)};
  }
  std::string told() const {
    std::string text;
    for (const Sent& each : sent_) {
      text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(each.kind)) + ">" +
              std::to_string(each.to);
    }
    return text;
  }
  static std::string line(PaxosKind kind, const std::vector<std::uint32_t>& nodes) {
    std::string text;
    for (const std::uint32_t node : nodes) {
      text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(kind)) + ">" +
              std::to_string(node);
    }
    return text;
  }
  wire::State said() const {
    wire::State state;
    state.round = round_;
    state.nodes = 1;
    return state;
  }
  void suspect(std::uint32_t node) { peers_->find({node})->suspected = true; }

  void send(NodeId to, Lane /*lane*/, const BufferRef& packet) override {
    sent_.push_back({to.value, static_cast<PaxosKind>(packet.data()[3]), packet});
  }
  void multicast(Lane /*lane*/, const BufferRef& packet) override { send({}, Lane::data, packet); }
  void originate(const ViewId& /*view*/, Seq /*seq*/) override {}
  void deliver(const Delivery& /*delivery*/) override {}
  void install(const View& /*view*/) override {}
  void report(const Event& /*event*/) override {}
  void fatal(std::string_view /*reason*/) override {}

  /// The chain does not look at the log: only whether there is one.
  class NoLog final : public port::Log {
   public:
    Result<void, port::LogFailure> replay(port::LogReader& /*reader*/) override { return {}; }
    Result<LogPosition> append(ByteView /*record*/) override { return unexpected(Errc::closed); }
    Result<LogPosition> checkpoint(ByteView /*record*/, LogPosition /*from*/) override {
      return unexpected(Errc::closed);
    }
    LogPosition last() const override { return {}; }
    LogPosition durable() const override { return {}; }
    const std::optional<port::LogFailure>& failure() const override { return failure_; }

   private:
    std::optional<port::LogFailure> failure_;
  };

  static constexpr std::uint16_t kOneTwoThree = 0b00111;
  Instant now_{1'000'000'000};
  Round round_{4, member(1)};
  BufferPool pool_{2'048, 256};
  NoLog log_;
  paxos::Config config_;
  std::optional<paxos::Peers> peers_;
  paxos::Store store_{64, 100'000};
  paxos::OrderState state_;
  std::optional<paxos::Outbox> outbox_;
  std::optional<Chain> chain_;
  std::vector<Sent> sent_;
  bool asked_ = false;
};

TEST_F(RidgeChain, AProposalGoesToTheNextAcceptorAndNobodyElse) {
  be(1);
  EXPECT_TRUE(chain_->choose(now_, true));
  const BufferRef packet = chain_->pack(unit(1), bytes(), true);
  ASSERT_TRUE(packet);
  wire::Relay frame;
  ASSERT_EQ(wire::decode_relay(packet.view(), frame), Drop::none);
  EXPECT_EQ(frame.chain, kOneTwoThree) << "a majority of five";
  EXPECT_EQ(frame.round, round_);
  chain_->propose(packet, *this);
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
  chain_->tell_votes(said(), peers_->find({1}), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {3, 1}));
  sent_.clear();
  be(1);
  chain_->choose(now_, true);
  ASSERT_TRUE(chain_->pack(unit(1), bytes(), true));
  chain_->tell_votes(said(), &peers_->self(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {3})) << "not to itself";
}

TEST_F(RidgeChain, TheLastTellsTheChainAndHasValuesDistributedInTurns) {
  be(3);
  for (const Instance instance : {1U, 2U, 3U, 4U, 5U}) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
    sent_.clear();
    chain_->tell_decided(now_, said(), *this);
    const std::uint32_t turn = 4 + (instance - 1) % 4;
    EXPECT_EQ(told(), line(PaxosKind::state, {1, 2}) + " " + line(PaxosKind::distribute, {turn}));
  }
  sent_.clear();
  chain_->tell_decided(now_, said(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {1, 2})) << "each value once";
}

TEST_F(RidgeChain, ValuesThatWereDecidedTogetherGoTheSameWayUpToABatch) {
  be(3);
  constexpr Instance kBatch = 16;
  for (Instance instance = 1; instance <= kBatch + 2; ++instance) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
  }
  chain_->tell_decided(now_, said(), *this);
  std::string expected = line(PaxosKind::state, {1, 2});
  for (Instance i = 0; i < kBatch; ++i) expected += " " + line(PaxosKind::distribute, {4});
  EXPECT_EQ(told(), expected + " " + line(PaxosKind::distribute, {5, 5}));
  sent_.clear();
  for (const Instance instance : {kBatch + 3, kBatch + 4, kBatch + 5}) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
  }
  sent_.clear();
  chain_->tell_decided(now_, said(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {1, 2}) + " " + line(PaxosKind::distribute, {6, 6, 6}))
      << "who has sent fewest bytes is next";
}

TEST_F(RidgeChain, WhoIsNotTheLastDistributesNothing) {
  be(2);
  take(PaxosKind::relay, 1, relay(1, kOneTwoThree));
  decide(1);
  sent_.clear();
  chain_->tell_decided(now_, said(), *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, TheLastOfARoundThatIsOverDistributesNothing) {
  be(3);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree));
  decide(1);
  wire::State later = said();
  ++later.round.count;
  chain_->tell_decided(now_, later, *this);
  EXPECT_EQ(told(), "");
}

TEST_F(RidgeChain, TheLastOfANewChainSeesToWhatCameAlongIt) {
  be(3);
  constexpr std::uint16_t kOneThreeFive = 0b10101;
  take(PaxosKind::relay, 1, relay(1, kOneThreeFive));  // for 5 to see to
  decide(1);
  chain_->tell_decided(now_, said(), *this);
  sent_.clear();
  take(PaxosKind::relay, 2, relay(2, kOneTwoThree));
  decide(2);
  chain_->tell_decided(now_, said(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {1, 2}) + " " + line(PaxosKind::distribute, {4}));
}

TEST_F(RidgeChain, WhoIsDeadOrQuietIsNoDistributor) {
  be(3);
  suspect(4);
  peers_->find({5})->heard = now_ - milliseconds(500);
  for (const Instance instance : {1U, 2U, 3U}) {
    take(PaxosKind::relay, 2, relay(instance, kOneTwoThree));
    decide(instance);
    sent_.clear();
    chain_->tell_decided(now_, said(), *this);
    const std::uint32_t turn = instance % 2 == 1 ? 6 : 7;
    EXPECT_EQ(told(), line(PaxosKind::state, {1, 2}) + " " + line(PaxosKind::distribute, {turn}));
  }
}

TEST_F(RidgeChain, TheLastSendsSmallValuesItself) {
  be(3);
  take(PaxosKind::relay, 2, relay(1, kOneTwoThree), 100);
  decide(1, 100);
  chain_->tell_decided(now_, said(), *this);
  EXPECT_EQ(told(), line(PaxosKind::state, {1, 2}) + " " + line(PaxosKind::decided, {4, 5, 6, 7}));
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

TEST_F(RidgeChain, AnotherIsAskedInThePlaceOfWhoSeemsDeadOrIsSlow) {
  be(1);
  chain_->choose(now_, true);
  EXPECT_FALSE(chain_->choose(now_, false)) << "it stays while it works";
  suspect(2);
  EXPECT_TRUE(chain_->choose(now_, false));
  EXPECT_FALSE(chain_->asks(*peers_->find({2})));
  EXPECT_TRUE(chain_->asks(*peers_->find({4})));
  chain_->note_slow(now_, {4});
  EXPECT_TRUE(chain_->choose(now_, false));
  EXPECT_FALSE(chain_->asks(*peers_->find({4})));
  EXPECT_TRUE(chain_->asks(*peers_->find({5})));
  chain_->note_slow(now_, {5});
  EXPECT_TRUE(chain_->choose(now_, false));
  EXPECT_FALSE(chain_->asks(*peers_->find({2}))) << "one that is slow before one that seems dead";
}

TEST_F(RidgeChain, WithoutEnoughThatAreAliveOthersAreAskedToo) {
  be(1);
  for (const std::uint32_t node : {2U, 3U, 4U, 5U}) suspect(node);
  chain_->choose(now_, true);
  std::size_t asked = 0;
  for (const Peer& peer : peers_->all()) asked += chain_->asks(peer) ? 1U : 0U;
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
  EXPECT_EQ(chain_->read(*peers_->find({1}), PaxosKind::propose, {}, arrival), Drop::unknown_kind);
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
