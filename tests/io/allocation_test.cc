// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <new>

#include "allocations.h"
#include "io/loop.h"
#include "stations.h"

// After the start, neither packets nor turns of the loop allocate memory.

namespace peal::io {
namespace {

/// A node that counts packets and drops them.
class Quiet : public LoopHost, public PacketSink {
 public:
  Quiet(std::uint32_t self, bool sealed)
      : self_(self),
        packets_(65'536, 64),
        pool_(UdpTransport::kSlabBytes, 8),
        loop_(std::move(*Loop::open({}))) {
    UdpConfig config = test_config(self, 3);
    config.multicast = MulticastMode::automatic;
    if (sealed) config = sealed_config(config);
    transport_ = std::move(*UdpTransport::open(config, pool_));
    EXPECT_TRUE(transport_->attach(*loop_).has_value());
  }
  void turn() { loop_->turn(*this, {}); }
  void send_some() {
    for (int i = 0; i < 8; ++i) {
      const BufferRef packet = packets_.take(0, i == 7 ? 100 : 1'000);
      if (packet) transport_->multicast(Lane::data, packet);
    }
    const BufferRef small = packets_.take(0, 80);
    transport_->send(NodeId{self_ == 1 ? 2U : 1U}, Lane::token, small);
    transport_->multicast(Lane::control, small);
    loop_->wake();
  }
  std::size_t reached() const {
    std::size_t count = 0;
    for (const PeerReach& peer : transport_->reach()) count += peer.by_multicast ? 1 : 0;
    return count;
  }

  void on_packet(Instant, NodeId, Lane, const BufferRef&) override { ++received; }
  Lane preferred_lane() const override { return received % 2 == 0 ? Lane::token : Lane::data; }
  void on_pause(Instant, Duration) override {}
  Progress on_sockets(const Turn& turn) override { return transport_->receive(turn, *this); }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant now) override { transport_->on_timer(now); }
  void on_turn_end(Instant) override { transport_->flush(); }
  std::optional<Instant> next_deadline() const override { return transport_->next_deadline(); }
  const UdpCounters& counters() const { return transport_->counters(); }

  std::uint64_t received = 0;

 private:
  std::uint32_t self_;
  BufferPool packets_;
  BufferPool pool_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<UdpTransport> transport_;
};

class Allocation : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Sealed, Allocation, testing::Bool());

TEST_P(Allocation, NoneAfterTheStart) {
  Quiet one(1, GetParam());
  Quiet two(2, GetParam());
  Quiet three(3, GetParam());
  const Instant end = Clock::now() + seconds(20);
  while (one.reached() < 2 || two.reached() < 2 || three.reached() < 2) {
    ASSERT_LT(Clock::now(), end);
    for (Quiet* node : {&one, &two, &three}) node->turn();
    ::sched_yield();
  }
  const std::uint64_t before = allocations();
  for (int i = 0; i < 2'000; ++i) {
    for (Quiet* node : {&one, &two, &three}) {
      node->send_some();
      node->turn();
    }
  }
  while (two.received < 20'000) {
    ASSERT_LT(Clock::now(), end);
    two.turn();
  }
  EXPECT_EQ(allocations(), before);
  EXPECT_GT(one.counters().data_multicast_out, 0U);
  EXPECT_GT(two.counters().coalesced_messages, 0U);
  EXPECT_EQ(two.counters().pool_exhausted, 0U);
}

TEST(Allocations, AreCountedAtAll) {
  const std::uint64_t before = allocations();
  ::operator delete(::operator new(3));  // a new-expression may be optimised away
  EXPECT_EQ(allocations(), before + 1);
}

}  // namespace
}  // namespace peal::io
