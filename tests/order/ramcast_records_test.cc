// SPDX-License-Identifier: Apache-2.0
// Records in a server's memory that break a rule: they harm their writer alone, count once, and are
// reported once.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "order/ramcast/keys.h"
#include "ramcast_world.h"
#include "wire/ramcast.h"

namespace peal::order::ramcast::test {
namespace {

using wire::Drop;

constexpr std::uint32_t kFewSlots = 4;
/// Two domains of three servers, and nodes that only send.
constexpr std::uint32_t kLeader = 0, kServer = 1, kThird = 2, kFar = 3, kSender = 6, kGood = 7;

Shape shape() {
  Shape shape{.domains = {3, 3}, .outsiders = 2};
  shape.options.slots = kFewSlots;
  shape.options.suspect = milliseconds(20);
  return shape;
}

bool deliver(World& world, std::uint32_t sender, Domain domain, std::size_t count) {
  const std::size_t before = world.places(sender).size();
  for (std::size_t i = 0; i < count; ++i) world.submit(sender, domain, 60);
  const auto placed = [&] { return world.places(sender).size() == before + count; };
  return world.run_until(placed, seconds(1));
}

/// A settled world in which both senders have met all servers.
std::unique_ptr<World> all_met(const Shape& of = shape()) {
  auto world = settled(of);
  EXPECT_TRUE(deliver(*world, kSender, 0, 1) && deliver(*world, kGood, 0, 1));
  EXPECT_TRUE(world->run_until([&] { return world->is_quiet(); }, seconds(1)));
  return world;
}

/// The writer lives: packets of it arrive.
void keep_alive(World& world, std::uint32_t from, std::uint32_t to) {
  wire::Header header;
  header.cluster = World::kCluster;
  header.sender = {{from + 1}, 101};
  wire::MemoryHello hello;
  hello.heard = {{to + 1}, 101};
  hello.answer = true;
  std::vector<std::byte> bytes(200);
  bytes.resize(wire::encode_memory_hello(header, hello, bytes));
  for (int i = 0; i < 10; ++i) {
    world.run(milliseconds(10));
    world.inject(to, bytes);
  }
}

/// The record is counted once and reported once, however often it is read; and the others go on.
void expect_refused(World& world, std::uint32_t by, std::uint32_t writer, const char* region,
                    Drop reason) {
  world.run(milliseconds(200));
  const auto& drops = world.engine(by).counts().drops;
  EXPECT_EQ(drops[static_cast<std::size_t>(reason)], 1U) << wire::drop_name(reason);
  std::size_t reports = 0;
  for (const World::BadRecord& each : world.bad_records()) {
    if (each.by != by) continue;
    ++reports;
    EXPECT_EQ(each.who.node.value, writer + 1);
    EXPECT_EQ(each.reason, reason) << wire::drop_name(each.reason);
    EXPECT_EQ(each.region, region);
  }
  EXPECT_EQ(reports, 1U);
  world.heal_all();
  EXPECT_TRUE(deliver(world, kGood, 1, 3 * kFewSlots));
  EXPECT_EQ(world.broken(), "");
}

// ---- messages ----

struct ForgedSlot {
  wire::Slot slot;
  std::uint64_t in = 2;     ///< in the slot of the message with this index
  std::size_t damaged = 0;  ///< this byte is changed behind the checksum; 0: none
};

/// The second message of the sender to domain 1.
ForgedSlot second_message() {
  ForgedSlot forged;
  forged.slot.head.number = 2;
  forged.slot.head.to = 0b10;
  forged.slot.head.indexes.push_back(2);
  return forged;
}

void forge(World& world, const ForgedSlot& forged, unsigned domain = 1) {
  const Shape of = shape();
  const std::vector<std::byte> unit(40, std::byte{2});
  std::vector<std::byte> bytes(slot_stride(of.options));
  bytes.resize(wire::encode_slot(forged.slot, domain, unit, bytes));
  if (forged.damaged != 0) bytes[forged.damaged] ^= std::byte{0x40};
  world.forge(kSender, kServer, Area::messages, forged.in % kFewSlots * slot_stride(of.options),
              bytes);
}

TEST(RamcastRecords, AMessageForDomainsThatThereAreNot) {
  const auto world = all_met();
  ForgedSlot forged = second_message();
  forged.slot.head.to = 0b1000000000000010;
  forged.slot.head.indexes.push_back(1);
  forge(*world, forged);
  expect_refused(*world, kServer, kSender, "messages", Drop::bad_value);
}

TEST(RamcastRecords, AMessageBehindAKeyFarAhead) {
  const auto world = all_met();
  ForgedSlot forged = second_message();
  forged.slot.head.after = wire::kCounterMax;
  forge(*world, forged);
  expect_refused(*world, kServer, kSender, "messages", Drop::bad_value);
}

TEST(RamcastRecords, AMessageInASlotThatIsNotFree) {
  const auto world = all_met();
  ASSERT_TRUE(deliver(*world, kSender, 1, kFewSlots - 1));
  ForgedSlot forged;
  forged.in = kFewSlots + 1;
  forged.slot.head.number = kFewSlots + 1;
  forged.slot.head.to = 0b10;
  forged.slot.head.indexes.push_back(kFewSlots + 1);
  forged.slot.stable = 1;
  forge(*world, forged);
  expect_refused(*world, kServer, kSender, "messages", Drop::bad_value);
}

TEST(RamcastRecords, AMessageWithAWrongLength) {
  const auto world = all_met();
  ForgedSlot forged = second_message();
  forged.damaged = 6;
  forge(*world, forged);
  world->run(milliseconds(10));  // as if it were under way
  EXPECT_EQ(world->engine(kServer).counts().refused, 0U);
  keep_alive(*world, kSender, kServer);
  expect_refused(*world, kServer, kSender, "messages", Drop::bad_length);
}

TEST(RamcastRecords, AMessageWhoseChecksumNeverMatches) {
  const auto world = all_met();
  ForgedSlot forged = second_message();
  forged.damaged = 70;
  forge(*world, forged);
  world->run(milliseconds(200));  // as if its sender had crashed
  EXPECT_EQ(world->engine(kServer).counts().refused, 0U);
  keep_alive(*world, kSender, kServer);
  expect_refused(*world, kServer, kSender, "messages", Drop::bad_checksum);
}

TEST(RamcastRecords, AMessageOfAnotherSlot) {
  const auto world = all_met();
  ForgedSlot forged = second_message();
  forged.slot.head.number = 3;
  forged.slot.head.indexes = {};
  forged.slot.head.indexes.push_back(3);
  forge(*world, forged);
  expect_refused(*world, kServer, kSender, "messages", Drop::out_of_window);
}

TEST(RamcastRecords, AnEarlierMessageThanTheOneThatWasThere) {
  const auto world = all_met();
  ASSERT_TRUE(deliver(*world, kSender, 1, 2 * kFewSlots));
  ForgedSlot forged = second_message();  // message 6 is read, and 10 is awaited here
  forged.slot.head.number = 2;
  forge(*world, forged);
  expect_refused(*world, kServer, kSender, "messages", Drop::out_of_window);
}

// ---- timestamps and acknowledgements ----

/// Two servers stand still: a message of the sender waits at the third one.
std::unique_ptr<World> with_a_pending_message() {
  auto world = all_met();
  world->pause(kLeader);
  world->pause(kThird);
  world->submit(kSender, 1, 60);
  world->run(microseconds(100));
  return world;
}

wire::Cell cell_of_second_message(const World& world) {
  wire::Cell cell;
  cell.index = 2;
  cell.sender_epoch = 101;
  cell.number = 2;
  cell.round = {1, {{kLeader + 1}, 101}};
  cell.stamp = key_of(clock_of(world.keys(kServer).back()) + 100, 1);
  return cell;
}

void forge(World& world, const wire::Cell& cell, bool damaged = false) {
  std::vector<std::byte> bytes(wire::kCellBytes);
  wire::encode_cell(cell, bytes);
  if (damaged) bytes[60] ^= std::byte{1};
  const std::uint64_t place = (kSender * kFewSlots + 2 % kFewSlots) * wire::kCellBytes;
  world.forge(kThird, kServer, Area::cells, place, bytes);
}

void expect_cell_refused(World& world, Drop reason) {
  world.run(milliseconds(60));
  world.resume(kLeader);
  world.resume(kThird);
  expect_refused(world, kServer, kThird, "cells", reason);
}

TEST(RamcastRecords, ATimestampOfAnotherDomain) {
  const auto world = with_a_pending_message();
  wire::Cell cell = cell_of_second_message(*world);
  cell.stamp = key_of(clock_of(cell.stamp), 2);
  forge(*world, cell);
  expect_cell_refused(*world, Drop::bad_value);
}

TEST(RamcastRecords, ATimestampFarAhead) {
  const auto world = with_a_pending_message();
  wire::Cell cell = cell_of_second_message(*world);
  cell.stamp = key_of(clock_of(cell.stamp) + (1ULL << 53), 1);
  forge(*world, cell);
  expect_cell_refused(*world, Drop::bad_value);
}

TEST(RamcastRecords, ACellWhoseChecksumNeverMatches) {
  const auto world = with_a_pending_message();
  forge(*world, cell_of_second_message(*world), true);
  expect_cell_refused(*world, Drop::bad_checksum);
}

TEST(RamcastRecords, ACellOfAnotherSlot) {
  const auto world = with_a_pending_message();
  wire::Cell cell = cell_of_second_message(*world);
  cell.index = 7;
  forge(*world, cell);
  expect_cell_refused(*world, Drop::out_of_window);
}

// ---- signs of life ----

wire::Control control_of(const World& world, std::uint32_t from, std::uint32_t to) {
  wire::Control control;
  const auto bytes = world.written(from, to, Area::control, 0, wire::kControlBytes);
  EXPECT_EQ(wire::decode_control(bytes, control), Drop::none);
  return control;
}

void forge(World& world, std::uint32_t to, const wire::Control& control, bool damaged = false) {
  std::vector<std::byte> bytes(wire::kControlBytes);
  wire::encode_control(control, bytes);
  if (damaged) bytes[40] ^= std::byte{1};
  world.forge(kThird, to, Area::control, 0, bytes);
  world.run(microseconds(10));
}

TEST(RamcastRecords, AStateFarAhead) {
  const auto world = all_met();
  world->pause(kThird);
  world->run(milliseconds(1));
  wire::Control control = control_of(*world, kThird, kServer);
  ++control.beat;
  control.delivered = wire::kCounterMax;
  forge(*world, kServer, control);
  expect_refused(*world, kServer, kThird, "control", Drop::bad_value);
}

TEST(RamcastRecords, AStateThatGoesBackwards) {
  const auto world = all_met();
  world->pause(kThird);
  world->run(milliseconds(1));
  wire::Control control = control_of(*world, kThird, kServer);
  control.beat = 1;
  forge(*world, kServer, control);
  expect_refused(*world, kServer, kThird, "control", Drop::stale);
}

TEST(RamcastRecords, AStateWhoseChecksumNeverMatches) {
  const auto world = all_met();
  world->pause(kThird);
  world->run(milliseconds(1));
  wire::Control control = control_of(*world, kThird, kServer);
  ++control.beat;
  forge(*world, kServer, control, true);
  keep_alive(*world, kThird, kServer);
  expect_refused(*world, kServer, kThird, "control", Drop::bad_checksum);
}

TEST(RamcastRecords, AStateThatHasReadMoreThanWasWritten) {
  const auto world = all_met();
  world->pause(kThird);
  world->run(milliseconds(1));
  wire::Control control = control_of(*world, kThird, kLeader);
  ++control.beat;
  control.bytes += 1'000'000;
  forge(*world, kLeader, control);
  expect_refused(*world, kLeader, kThird, "control", Drop::bad_value);
}

// ---- replies ----

/// Nobody gives the sender's message a place.
std::unique_ptr<World> with_a_message_without_a_place() {
  auto world = all_met();
  for (const std::uint32_t server : {kLeader, kServer, kThird}) world->pause(server);
  world->submit(kSender, 1, 60);
  world->run(microseconds(100));
  return world;
}

void forge_reply(World& world, const wire::SenderReply& reply, bool damaged = false) {
  std::vector<std::byte> bytes(wire::kReplyBytes);
  wire::encode_reply(reply, bytes);
  if (damaged) bytes[20] ^= std::byte{1};
  world.forge(kServer, kSender, Area::replies,
              wire::kReleaseBytes + 2 % kFewSlots * wire::kReplyBytes, bytes);
  keep_alive(world, kServer, kSender);
  for (const std::uint32_t server : {kLeader, kServer, kThird}) world.resume(server);
}

TEST(RamcastRecords, AReplyForAnotherMessage) {
  for (const std::uint64_t number : {3U, 6U}) {
    const auto world = with_a_message_without_a_place();
    forge_reply(*world, {number, world->places(kSender).back() + 160});
    expect_refused(*world, kSender, kServer, "replies", Drop::out_of_window);
  }
}

TEST(RamcastRecords, AReplyThatIsNotBehindItsCauses) {
  const auto world = with_a_message_without_a_place();
  forge_reply(*world, {2, key_of(1, 1)});
  expect_refused(*world, kSender, kServer, "replies", Drop::bad_value);
}

TEST(RamcastRecords, AReplyWithAKeyOfAnotherDomain) {
  const auto world = with_a_message_without_a_place();
  forge_reply(*world, {2, key_of(clock_of(world->places(kSender).back()) + 100, 2)});
  expect_refused(*world, kSender, kServer, "replies", Drop::bad_value);
}

TEST(RamcastRecords, AReplyWhoseChecksumNeverMatches) {
  const auto world = with_a_message_without_a_place();
  forge_reply(*world, {2, world->places(kSender).back() + 160}, true);
  expect_refused(*world, kSender, kServer, "replies", Drop::bad_checksum);
}

TEST(RamcastRecords, AReleaseOfMessagesThatWereNotSent) {
  const auto world = with_a_message_without_a_place();
  std::vector<std::byte> bytes(wire::kReleaseBytes);
  wire::encode_release({99, 1}, bytes);
  world->forge(kServer, kSender, Area::replies, 0, bytes);
  world->run(milliseconds(100));
  for (const std::uint32_t server : {kLeader, kServer, kThird}) world->resume(server);
  expect_refused(*world, kSender, kServer, "replies", Drop::bad_value);
}

// ---- the log ----

/// What the leader writes into the log of a server does not arrive; a forged entry is there.
class RamcastLog : public testing::Test {
 protected:
  RamcastLog() : world_(shape(), 1) {
    world_.observe([this](std::uint32_t /*from*/, ByteView packet) {
      wire::Header header;
      if (wire::decode_header(packet, header) != Drop::none) return;
      if (header.kind != frame_kind(wire::RamcastKind::takeover)) return;
      wire::Takeover asked;
      if (wire::decode_takeover(packet, asked) != Drop::none) return;
      if (asked.round.coordinator.node.value == kLeader + 1) asked_ = asked;
    });
    world_.start_all();
    EXPECT_TRUE(world_.run_until([&] { return world_.is_settled(); }, seconds(1)));
    EXPECT_TRUE(deliver(world_, kSender, 0, 1) && deliver(world_, kGood, 0, 1));
    world_.run(milliseconds(5));
    world_.cut(kLeader, kServer, Area::log);
    EXPECT_TRUE(deliver(world_, kSender, 1, 1));
    const wire::Control told = control_of(world_, kServer, kLeader);
    next_ = told.entry + 1;
    offset_ = told.bytes;
  }
  wire::LogEntry entry() const {
    wire::LogEntry entry;
    entry.kind = wire::LogKind::proposal;
    entry.number = next_;
    entry.round = asked_->round;
    entry.sender = {{kSender + 1}, 101};
    entry.head.number = 2;
    entry.head.to = 0b10;
    entry.head.indexes.push_back(2);
    entry.stamp = key_of(clock_of(world_.keys(kServer).back()) + 100, 1);
    return entry;
  }
  void forge(const wire::LogEntry& entry, std::size_t damaged = 0) {
    std::vector<std::byte> bytes(1'000);
    bytes.resize(wire::encode_log_entry(entry, {}, asked_->seed, bytes));
    if (damaged != 0) bytes[damaged] ^= std::byte{0x40};
    world_.forge(kLeader, kServer, Area::log, offset_, bytes);
  }

  World world_;
  std::optional<wire::Takeover> asked_;
  std::uint64_t next_ = 0, offset_ = 0;
};

TEST_F(RamcastLog, AnEntryWhoseChecksumNeverMatches) {
  forge(entry(), 50);
  expect_refused(world_, kServer, kLeader, "log", Drop::bad_checksum);
}

TEST_F(RamcastLog, AnEntryWithAWrongLength) {
  forge(entry(), 6);
  expect_refused(world_, kServer, kLeader, "log", Drop::bad_length);
}

TEST_F(RamcastLog, AnEntryOfAnotherRound) {
  wire::LogEntry other = entry();
  ++other.round.count;
  forge(other);
  expect_refused(world_, kServer, kLeader, "log", Drop::foreign);
}

TEST_F(RamcastLog, ATimestampThatIsNotAboveTheOneBefore) {
  wire::LogEntry other = entry();
  other.stamp = key_of(1, 1);
  forge(other);
  expect_refused(world_, kServer, kLeader, "log", Drop::bad_value);
}

TEST_F(RamcastLog, ATimestampOfAnotherDomain) {
  wire::LogEntry other = entry();
  other.stamp = key_of(clock_of(other.stamp), 2);
  forge(other);
  expect_refused(world_, kServer, kLeader, "log", Drop::bad_value);
}

/// Payloads of earlier entries may look like anything.
TEST_F(RamcastLog, BytesThatLookLikeTheNextEntryAreNoneAsLongAsTheLeaderHasNotWrittenIt) {
  World& world = world_;
  world.heal_all();
  EXPECT_TRUE(world.run_until([&] { return world.is_quiet(); }, seconds(1)));
  world.run(milliseconds(5));
  const wire::Control told = control_of(world, kServer, kLeader);
  next_ = told.entry + 1;
  offset_ = told.bytes;
  forge(entry(), 50);
  world.run(milliseconds(200));
  EXPECT_EQ(world.engine(kServer).counts().refused, 0U);
}

}  // namespace
}  // namespace peal::order::ramcast::test
