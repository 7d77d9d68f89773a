// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "allocations.h"
#include "fake_engine.h"
#include "node/unit.h"

namespace peal::node::test {
namespace {

/// Accepts messages without keeping anything.
struct CountingSink final : Sink {
  void on_message(const Message& message) override { bytes += message.payload.size(); }
  void on_view(const order::View&) override {}
  void on_originate(const Origination&) override {}
  void on_event(const order::Event&) override {}
  void on_fatal(std::string_view) override {}
  std::uint32_t receive_room_units() const override { return 100; }
  std::uint64_t bytes = 0;
};

TEST(NodeAllocation, SmallMessagesAllocateNothingAfterStart) {
  BufferPool pool(2'048, 32);
  FakeTransport transport;
  CountingSink sink;
  FakeEngine* engine = nullptr;
  Node node(
      Limits{}, pool,
      [&engine](order::Host& host) {
        auto made = std::make_unique<FakeEngine>(MemberId{NodeId{1}, 1});
        made->host = &host;
        engine = made.get();
        return made;
      },
      transport, sink);
  node.start({});
  const std::string text = pattern(1'300, 1);

  std::array<order::Unit, 20> units;
  Seq seq = 0;
  const auto place = [&](order::Unit& unit) {
    engine->effects->originate({}, ++seq);
    engine->effects->deliver({{}, false, seq, {NodeId{1}, 1}, unit.service, {}, unit.bytes});
    unit.bytes.reset();
  };

  const std::uint64_t before = allocations();
  std::uint64_t expected = 0;
  for (std::size_t round = 0; round < 20'000; ++round) {
    for (std::size_t i = 0; i < round % 30; ++i) {
      const std::size_t size = (round * 7 + i * 13) % text.size();
      const auto service = static_cast<Service>(i % 4);
      if (node.submit({}, as_bytes_view(text).first(size), service)) expected += size;
    }
    // The ring places a unit as soon as it takes the unit. Other engines take some units before
    // they place one.
    const std::size_t ahead = round % 5;
    std::size_t pulled = 0, placed = 0;
    while (pulled < 20 && engine->host->next_unit(1'390, units[pulled])) {
      ++pulled;
      if (pulled > ahead) place(units[placed++]);
    }
    while (placed < pulled) place(units[placed++]);
    static_cast<void>(node.counters());
  }
  const std::uint64_t after = allocations();
  EXPECT_EQ(after - before, 0U);
  EXPECT_EQ(sink.bytes + node.queued_bytes(), expected);
  EXPECT_GT(sink.bytes, 50'000'000U);
}

TEST(NodeAllocation, TheCounterCounts) {
  const std::uint64_t before = allocations();
  auto one = std::make_unique<int>(1);
  EXPECT_EQ(allocations() - before, 1U);
}

}  // namespace
}  // namespace peal::node::test
