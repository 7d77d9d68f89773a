// SPDX-License-Identifier: Apache-2.0
// A process that has not heard of its domain's order may ask the others to begin one.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "order/ramcast/keys.h"
#include "ramcast_world.h"
#include "wire/ramcast.h"

namespace peal::order::ramcast::test {
namespace {

std::uint64_t counter(World& world, std::uint32_t node, std::string_view name) {
  for (const Counter& each : world.engine(node).counters()) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

std::uint64_t order_at(World& world, std::uint32_t node) {
  return counter(world, node, "domain_order");
}

using Epochs = std::array<std::uint64_t, 3>;

/// Node `from` asks `to` for a promise of this round. All three are in these incarnations.
void ask(World& world, std::uint32_t from, std::uint32_t to, std::uint64_t round, bool bootstrap,
         const Epochs& epochs) {
  wire::Takeover takeover;
  for (std::uint32_t node = 0; node < 3; ++node) {
    takeover.view.roster.push_back({{node + 1}, epochs[node]});
    takeover.view.last_in.push_back(0);
  }
  if (!bootstrap) {
    takeover.view.id = {key_of(1, 1), takeover.view.roster[0]};
    takeover.view.members = 0b111;
  }
  takeover.bootstrap = bootstrap;
  takeover.grant = 1'000;
  takeover.round = {round, takeover.view.roster[from]};
  wire::Header header;
  header.cluster = World::kCluster;
  header.sender = takeover.view.roster[from];
  std::array<std::byte, 1'000> bytes;
  const std::size_t size = wire::encode_takeover(header, takeover, bytes);
  world.inject(to, ByteView(bytes).first(size));
}

/// Node `from` asks `to` to begin an order with this number.
void ask_to_begin(World& world, std::uint32_t from, std::uint32_t to, std::uint64_t order,
                  const Epochs& epochs) {
  ask(world, from, to, (order << kRoundsOfAnOrderShift) + 1, true, epochs);
}

void expect_one_order(World& world, std::uint64_t order) {
  EXPECT_TRUE(world.run_until([&] { return world.is_settled() && world.is_quiet(); }, seconds(5)));
  for (std::uint32_t node = 0; node < 3; ++node) {
    if (!world.is_up(node)) continue;
    EXPECT_EQ(order_at(world, node), order) << node;
  }
  EXPECT_EQ(world.broken(), "");
}

TEST(RamcastOrders, MembersGoOnInTheirOwnOrder) {
  const auto world = settled({.domains = {3}});
  const std::uint64_t order = order_at(*world, 1);
  for (const std::uint32_t member : {0U, 1U}) {
    ask_to_begin(*world, 2, member, order + 1, {101, 101, 101});
  }
  world->run(milliseconds(5));
  world->crash(0);
  ASSERT_TRUE(world->run_until([&] { return world->leader(1) == 1; }, seconds(1)));
  expect_one_order(*world, order);
}

/// It has promised to begin one, which would have a higher number. Later it leads.
TEST(RamcastOrders, AProcessJoinsTheOrderThatThereIs) {
  const auto world = settled({.domains = {3}});
  const std::uint64_t order = order_at(*world, 1);
  world->crash(1);
  world->start(1);
  ASSERT_TRUE(world->run_until([&] { return counter(*world, 1, "writes") > 0; }, milliseconds(50)));
  ask_to_begin(*world, 2, 1, order + 1, {101, 102, 101});
  ASSERT_TRUE(world->run_until([&] { return order_at(*world, 1) == order + 1; }, milliseconds(5)));
  expect_one_order(*world, order);
  world->crash(0);
  ASSERT_TRUE(world->run_until([&] { return world->leader(1) == 1; }, seconds(1)));
  expect_one_order(*world, order);
}

/// It has promised a round of the order that there is, and then to begin another one. A candidate
/// with a lower round of that order comes too late.
TEST(RamcastOrders, APromiseWithinAnOrderCountsForEver) {
  const auto world = settled({.domains = {3}});
  const std::uint64_t order = order_at(*world, 1);
  const std::uint64_t rounds = order << kRoundsOfAnOrderShift;
  const Epochs epochs{101, 102, 101};
  world->crash(1);
  world->start(1);
  ASSERT_TRUE(world->run_until([&] { return counter(*world, 1, "writes") > 0; }, milliseconds(50)));
  for (const std::uint32_t other : {0U, 2U}) {
    world->cut(other, 1);
    world->cut(1, other);
  }
  const auto promised = [&](std::uint64_t of_order, std::uint64_t round) {
    world->run(milliseconds(1));
    return order_at(*world, 1) == of_order && counter(*world, 1, "domain_round") == round;
  };
  ask(*world, 2, 1, rounds + 5, false, epochs);
  ASSERT_TRUE(promised(order, 5));
  ask_to_begin(*world, 2, 1, order + 1, epochs);
  ASSERT_TRUE(promised(order + 1, 1));
  ask(*world, 0, 1, rounds + 3, false, epochs);
  EXPECT_TRUE(promised(order + 1, 1));
  ask(*world, 0, 1, rounds + 6, false, epochs);
  EXPECT_TRUE(promised(order, 6));
  world->heal_all();
  expect_one_order(*world, order);
}

/// The base of an order is in the server's memory, and it has not read it yet. True if it was so.
bool asks_before_the_base_is_read(std::uint64_t seed) {
  World world({.domains = {3}, .reaction_most = milliseconds(1)}, seed);
  world.start_all();
  EXPECT_TRUE(world.run_until([&] { return order_at(world, 1) != 0; }, seconds(1)));
  const std::uint64_t order = order_at(world, 1);
  EXPECT_TRUE(world.run_until([&] { return world.leader(1) == 0; }, seconds(1)));
  const bool unread = !world.engine(1).leadership();
  if (unread) ask_to_begin(world, 0, 1, order + 1, {101, 101, 101});
  expect_one_order(world, order);
  return unread;
}

TEST(RamcastOrders, AServerReadsItsOrderBeforeItBeginsAnother) {
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) cases += asks_before_the_base_is_read(seed);
  EXPECT_GT(cases, 0);
}

/// Server 2 has promised to begin the order, and has not heard that it began. It and new
/// incarnations of the others begin the next one. Server 2's epoch is the latest one in both.
TEST(RamcastOrders, EachOrderHasANumberOfItsOwn) {
  World world({.domains = {3}}, 7);
  for (int restart = 0; restart < 9; ++restart) {
    world.start(2);
    world.crash(2);
  }
  world.start_all();
  ASSERT_TRUE(world.run_until([&] { return order_at(world, 2) != 0; }, seconds(1)));
  const std::uint64_t order = order_at(world, 2);
  EXPECT_EQ(order, 110U);
  world.pause(2);
  for (const std::uint32_t node : {0U, 1U}) world.cut(node, 2, Area::log);
  ASSERT_TRUE(world.run_until([&] { return world.leader(1).has_value(); }, seconds(1)));
  for (const std::uint32_t node : {0U, 1U}) world.crash(node);
  world.resume(2);
  world.heal_all();
  for (const std::uint32_t node : {0U, 1U}) world.start(node);
  expect_one_order(world, order + 1);
}

}  // namespace
}  // namespace peal::order::ramcast::test
