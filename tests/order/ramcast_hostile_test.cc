// SPDX-License-Identifier: Apache-2.0
// What members say to a candidate may be anything. It harms that member alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "order/ramcast/keys.h"
#include "ramcast_world.h"
#include "wire/ramcast.h"

namespace peal::order::ramcast::test {
namespace {

using Change = std::function<void(wire::MemberState&)>;

/// Before its own answer, server 2 of five sends the changed one to each candidate.
void answer_with(const Change& change) {
  const auto world = settled({.domains = {5, 1}, .outsiders = 1});
  world->cut(6, 1);  // one message is under way
  world->submit(6, 0, 60);
  world->run(microseconds(20));
  world->observe([&](std::uint32_t from, ByteView packet) {
    wire::Header header;
    wire::MemberState state;
    if (from != 2 || wire::decode_header(packet, header) != wire::Drop::none) return;
    if (header.kind != frame_kind(wire::RamcastKind::state)) return;
    ASSERT_EQ(wire::decode_member_state(packet, state), wire::Drop::none);
    change(state);
    std::vector<std::byte> bytes(4'000);
    bytes.resize(wire::encode_member_state(header, state, bytes));
    ASSERT_FALSE(bytes.empty());
    world->inject(1, bytes);
  });
  world->crash(0);
  EXPECT_TRUE(world->run_until([&] { return world->leader(1) == 1; }, seconds(1)));
  world->observe({});
  world->heal_all();
  EXPECT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(2)));
  EXPECT_EQ(world->broken(), "");
}

wire::StateRecord record_of(std::uint64_t number, Seq stamp) {
  wire::StateRecord record;
  record.sender = {{7}, 101};
  record.head.number = number;
  record.head.to = 0b110;
  record.head.indexes.push_back(number);
  record.head.indexes.push_back(number);
  record.stamp = stamp;
  record.body = true;
  return record;
}

TEST(RamcastHostile, AStateWithARecordOfOtherDomains) {
  answer_with([](wire::MemberState& state) {
    state.records.push_back(record_of(9, 0));
    state.records.back().head.to = 0b100;
    state.records.back().head.indexes = {};
    state.records.back().head.indexes.push_back(9);
  });
}

TEST(RamcastHostile, AStateWithARecordOfDomainsThatThereAreNot) {
  answer_with([](wire::MemberState& state) {
    state.records.push_back(record_of(9, 0));
    state.records.back().head.to = 0b1000000000000010;
  });
}

TEST(RamcastHostile, AStateOfASenderThatIsNoNode) {
  answer_with([](wire::MemberState& state) {
    state.records.push_back(record_of(9, 0));
    state.records.back().sender = {{99}, 1};
  });
}

TEST(RamcastHostile, AStateWithATimestampOfAnotherDomain) {
  answer_with([](wire::MemberState& state) {
    state.records.push_back(record_of(9, key_of(clock_of(state.clock << 4) + 1, 2)));
  });
}

TEST(RamcastHostile, AStateWithAKeyFarAhead) {
  answer_with([](wire::MemberState& state) {
    state.records.push_back(record_of(9, 0));
    state.records.back().key = wire::kCounterMax;
  });
}

TEST(RamcastHostile, AStateWithAClockFarAhead) {
  answer_with([](wire::MemberState& state) { state.clock = wire::kCounterMax; });
}

TEST(RamcastHostile, AStateWithAViewOfOtherNodes) {
  answer_with([](wire::MemberState& state) {
    state.view.id.number += 16;
    state.view.roster = {};
    state.view.last_in = {};
    state.view.roster.push_back({{2}, 101});
    state.view.last_in.push_back(0);
    state.view.members = 1;
  });
}

TEST(RamcastHostile, AStateWithAProposedViewOfOtherNodes) {
  answer_with([](wire::MemberState& state) {
    state.proposed = state.view;
    state.proposed.id.number += 16;
    state.proposed.roster[0].node = {40};
  });
}

TEST(RamcastHostile, AStateWithAProposedViewFarAhead) {
  answer_with([](wire::MemberState& state) {
    state.proposed = state.view;
    state.proposed.id.number += Seq{16} << 40;
  });
}

/// A node passes a message of its own on to one server.
void relay(World& world, std::uint32_t sender, std::uint32_t to, std::uint64_t number,
           std::uint64_t index) {
  wire::MessageRelay frame;
  frame.sender = {{sender + 1}, 101};
  frame.head.number = number;
  frame.head.to = 0b10;
  frame.head.indexes.push_back(index);
  wire::Header header;
  header.cluster = World::kCluster;
  header.sender = frame.sender;
  const std::size_t front = wire::relay_header_bytes(1);
  std::vector<std::byte> bytes(front + 40, static_cast<std::byte>(number));
  wire::encode_message_relay_in_place(header, frame, bytes);
  world.inject(to, bytes);
}

/// The servers get different messages with one index. The leader orders the one that it has.
TEST(RamcastHostile, ASenderThatTellsEachServerAnotherMessage) {
  const auto world = settled({.domains = {3}, .outsiders = 2});
  world->submit(3, 1, 60);
  ASSERT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(1)));
  relay(*world, 3, 0, 2, 2);
  for (const std::uint32_t server : {1U, 2U}) relay(*world, 3, server, 3, 2);
  world->run(milliseconds(1));
  for (int i = 0; i < 5; ++i) world->submit(4, 1, 60);
  const auto delivered = [&] {
    return world->keys(0).size() >= 6 && world->keys(1).size() >= 6 && world->keys(2).size() >= 6;
  };
  EXPECT_TRUE(world->run_until(delivered, seconds(2)));
}

std::uint64_t drops(World& world, wire::Drop reason) {
  return world.engine(0).counts().drops[static_cast<std::size_t>(reason)];
}

/// Another server says that two messages have one key.
TEST(RamcastHostile, TwoMessagesWithOneKey) {
  const auto world = settled({.domains = {3}, .outsiders = 2});
  for (const std::uint32_t sender : {3U, 4U}) {
    for (const std::uint32_t server : {1U, 2U}) world->cut(sender, server);
    world->submit(sender, 1, 60);
  }
  world->pause(1);
  world->pause(2);
  world->run(milliseconds(5));
  ASSERT_EQ(world->engine(0).counts().proposals, 2U);
  for (const std::uint32_t sender : {4U, 5U}) {
    wire::Header header;
    header.cluster = World::kCluster;
    header.sender = {{2}, 101};
    const Seq key = key_of(world->engine(0).counts().proposals + (102ULL << 12), 1);
    const wire::AboutMessage about{{{{sender}, 101}, 1}, key, {(101ULL << 20) + 1, {{1}, 101}}};
    std::vector<std::byte> bytes(200);
    bytes.resize(wire::encode_about_message(header, wire::RamcastKind::answer, about, bytes));
    world->inject(0, bytes);
  }
  world->run(milliseconds(5));
  EXPECT_EQ(drops(*world, wire::Drop::bad_value), 1U);
}

/// Leader 0 has given the second message of node 7 a stamp. Says to it that the message has a key
/// that is so much larger. The key was found in this round.
void answer_leader(World& world, std::int64_t larger, std::uint64_t round) {
  wire::Header header;
  header.cluster = World::kCluster;
  header.sender = {{4}, 101};
  const std::uint64_t clock = world.engine(0).counts().proposals + (101ULL << 12);
  const Seq key = key_of(clock + static_cast<std::uint64_t>(larger), 2);
  const wire::AboutMessage about{{{{7}, 101}, 2}, key, {round, {{1}, 101}}};
  std::vector<std::byte> bytes(200);
  bytes.resize(wire::encode_about_message(header, wire::RamcastKind::answer, about, bytes));
  world.inject(0, bytes);
  world.run(milliseconds(1));
}

/// Another domain may remember keys of an order that this domain has lost.
TEST(RamcastHostile, AKeyOfALostOrder) {
  const auto world = settled({.domains = {3, 3}, .outsiders = 1});
  world->submit(6, 0, 60);
  EXPECT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(2)));
  for (const std::uint32_t server : {3U, 4U, 5U}) world->pause(server);
  world->submit(6, 0, 60);
  world->run(milliseconds(1));
  ASSERT_EQ(world->engine(0).counts().proposals, 2U);
  const std::uint64_t before = world->delivered(0);
  answer_leader(*world, 1'000, (100ULL << 20) + 1);
  EXPECT_EQ(drops(*world, wire::Drop::bad_value), 1U);
  answer_leader(*world, -1'000, (101ULL << 20) + 1);
  EXPECT_EQ(drops(*world, wire::Drop::bad_value), 2U);
  EXPECT_EQ(world->delivered(0), before);
  for (const std::uint32_t server : {3U, 4U, 5U}) world->resume(server);
  EXPECT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(2)));
  EXPECT_EQ(world->broken(), "");
}

TEST(RamcastHostile, PacketsOfOtherClustersAndOtherSettings) {
  const auto world = settled({.domains = {3}});
  const auto inject = [&](std::uint64_t cluster) {
    wire::Header header;
    header.cluster = cluster;
    header.sender = {{2}, 101};
    std::vector<std::byte> bytes(200);
    bytes.resize(wire::encode_nack(header, {{1, header.sender}, {}}, bytes));
    world->inject(0, bytes);
    world->run(milliseconds(1));
  };
  inject(World::kCluster + 1);
  EXPECT_EQ(drops(*world, wire::Drop::other_settings), 1U);
  inject(World::kCluster + (1ULL << 32));
  EXPECT_EQ(drops(*world, wire::Drop::other_cluster), 1U);
}

TEST(RamcastLayout, NumbersOfNoNodesDoNotCount) {
  const Layout layout({{1}, {2}, {3}}, {{{1}, {2}, {7}}, {{3}, {9}}});
  EXPECT_EQ(layout.servers(1).size(), 2U);
  EXPECT_EQ(layout.servers(2).size(), 1U);
  EXPECT_EQ(layout.quorum(1), 2U);
  EXPECT_FALSE(layout.index_of({7}));
}

}  // namespace
}  // namespace peal::order::ramcast::test
