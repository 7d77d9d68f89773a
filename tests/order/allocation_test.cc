// SPDX-License-Identifier: Apache-2.0
// After the start, the engine's hot path allocates no memory. The test counts all calls of operator
// new while two members order units under load, with lost packets and units of all services.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "allocations.h"
#include "order/ring/options.h"
#include "order/toto/options.h"
#include "wire/headroom.h"

namespace peal::order::test {
namespace {

/// Two members with the same engine, connected by two queues of fixed size, so that the test itself
/// allocates no memory.
class Pair {
 public:
  static constexpr std::size_t kQueue = 4'096;

  /// `Protocol`: the engine's configuration, and its services in turn.
  template <class Protocol>
  explicit Pair(Protocol protocol) : services_(protocol.services) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      sides_[i].pair = this;
      sides_[i].index = i;
      auto config = protocol.config;
      config.self = {{i + 1}, 10};
      config.universe = {{1}, {2}};
      config.cluster = 7;
      config.seed = i;
      sides_[i].engine = make_engine(config, pool_, sides_[i]);
    }
    for (Side& side : sides_) side.engine->start(now_, side);
  }

  ~Pair() {
    // Releases packets in flight first: their buffers may belong to the engine that sent them.
    for (Side& side : sides_) {
      for (BufferRef& packet : side.inbox) packet.reset();
    }
  }

  /// Runs `steps` steps. In a step, each engine gets at most one packet, and its timer if it is
  /// due.
  void run(std::uint64_t steps) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      bool moved = false;
      for (Side& side : sides_) {
        if (side.first == side.last) continue;
        BufferRef packet = std::move(side.inbox[side.first++ % kQueue]);
        side.engine->on_packet(now_, Lane::data, packet, side);
        moved = true;
      }
      now_ = now_ + microseconds(5);
      for (Side& side : sides_) {
        const auto at = side.engine->next_deadline();
        if (!at.has_value()) continue;
        if (!moved) now_ = std::max(now_, *at);
        if (*at <= now_) side.engine->on_timer(now_, side);
      }
    }
  }
  bool together() const { return sides_[0].members == 2 && sides_[1].members == 2; }
  std::uint64_t delivered() const { return sides_[0].delivered; }
  void load(std::uint32_t units) {
    for (Side& side : sides_) {
      side.backlog = units;
      side.engine->on_work(now_, side);
    }
  }

 private:
  struct Side final : Host, Effects {
    std::uint32_t backlog_units() const override { return backlog; }
    bool next_unit(std::uint32_t, Unit& out) override {
      if (backlog == 0) return false;
      --backlog;
      out.bytes = pair->pool_.take(static_cast<std::uint32_t>(wire::kUnitHeadroomBytes), 500);
      out.service = pair->services_[backlog % pair->services_.size()];
      return true;
    }
    std::uint32_t receive_room_units() const override { return 1'000; }
    void send(NodeId, Lane, const BufferRef& packet) override { pass(packet); }
    void multicast(Lane lane, const BufferRef& packet) override {
      if (lane == Lane::data && ++pair->data_sent_ % 97 == 0) return;  // lost
      pass(packet);
    }
    void pass(const BufferRef& packet) {
      Side& other = pair->sides_[1 - index];
      if (other.last - other.first < kQueue) other.inbox[other.last++ % kQueue] = packet;
    }
    void originate(const ViewId&, Seq) override {}
    void deliver(const Delivery&) override { ++delivered; }
    void install(const View& view) override { members = view.members.size(); }
    void report(const Event&) override {}
    void fatal(std::string_view) override { FAIL(); }

    Pair* pair = nullptr;
    std::uint32_t index = 0;
    std::uint32_t backlog = 0;
    std::uint64_t delivered = 0;
    std::size_t members = 0;
    std::array<BufferRef, kQueue> inbox;
    std::uint64_t first = 0, last = 0;
    std::unique_ptr<Engine> engine;
  };

  const std::array<Service, 4> services_;
  BufferPool pool_{2'048, 60'000};
  std::array<Side, 2> sides_;
  Instant now_{1};
  std::uint64_t data_sent_ = 0;
};

struct OfRing {
  ring::Config config;
  std::array<Service, 4> services{Service::safe, Service::agreed, Service::agreed, Service::agreed};
};
struct OfToto {
  toto::Config config;
  std::array<Service, 4> services{Service::safe, Service::causal, Service::agreed, Service::causal};
};

template <class Protocol>
class Allocation : public testing::Test {};
using Protocols = testing::Types<OfRing, OfToto>;
TYPED_TEST_SUITE(Allocation, Protocols);

TYPED_TEST(Allocation, NoneOnTheHotPath) {
  auto pair = std::make_unique<Pair>(TypeParam());
  pair->run(20'000);
  ASSERT_TRUE(pair->together());
  pair->load(1'000);
  pair->run(20'000);
  ASSERT_GT(pair->delivered(), 1'900U);
  const std::uint64_t before = allocations();
  for (int i = 0; i < 20; ++i) {
    pair->load(1'000);
    pair->run(20'000);
  }
  EXPECT_EQ(allocations() - before, 0U);
  EXPECT_GT(pair->delivered(), 35'000U);
  std::printf("units delivered: %llu, allocations: %llu\n",
              static_cast<unsigned long long>(pair->delivered()),
              static_cast<unsigned long long>(allocations() - before));
}

}  // namespace
}  // namespace peal::order::test
