// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "order/ramcast/links.h"
#include "sim/baselines/registry.h"
#include "sim/judge/genuineness_feed.h"
#include "sim/world/packet.h"
#include "wire/ramcast.h"
#include "wire/ramcast_memory.h"

// Whether the simulator notices a message that RamCast names to a node that it does not concern.
// Nodes 1 to 3 are domain 1, nodes 4 to 6 domain 2, and node 7 only sends: its messages 1 and 4 to
// domain 1, 2 to domain 2, and 3 to both. Message 1 of node 1 is to domain 1.

namespace peal::sim {
namespace {

using order::ramcast::Area;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kSeed = 5;
constexpr const char* kUnknown = "which is unknown";
constexpr const char* kStrangers = "neither sent nor is to learn";

MemberId incarnation(std::uint32_t node) { return {NodeId{node}, 1}; }

wire::MessageHead head_of(std::uint64_t number) {
  wire::MessageHead head;
  head.number = number;
  head.to = 0b10;
  head.indexes.push_back(1);
  return head;
}

wire::Round round_of(std::uint32_t leader) { return {1, incarnation(leader)}; }

class RamcastGenuineness : public testing::Test {
 protected:
  RamcastGenuineness() : options_(make_options()), recorder_(of(options_)) {
    feed_.took({incarnation(7), 1}, DomainSet::of(1));
    feed_.took({incarnation(7), 2}, DomainSet::of(2));
    feed_.took({incarnation(7), 3}, DomainSet::up_to(2));
    feed_.took({incarnation(7), 4}, DomainSet::of(1));
    feed_.took({incarnation(1), 1}, DomainSet::of(1));
  }

  static WorldOptions make_options() {
    WorldOptions options;
    options.engine = EngineOptions(*find_engine("ramcast"));
    options.nodes = 7;
    for (const std::uint32_t first : {1U, 4U}) {
      options.domains.push_back({{NodeId{first}, NodeId{first + 1}, NodeId{first + 2}}, {}});
    }
    return options;
  }
  static HistoryRecorder::Options of(const WorldOptions& options) {
    HistoryRecorder::Options out;
    out.nodes = options.nodes;
    out.engine = &options.engine.engine();
    return out;
  }

  /// The violation since the last call; empty if there is none.
  std::string found() {
    const std::vector<Violation>& all = recorder_.violations();
    if (all.size() == seen_) return "";
    seen_ = all.size();
    EXPECT_EQ(all.back().property, "genuine");
    return all.back().text;
  }

  std::string wrote(std::uint32_t from, std::uint32_t to, Area area, std::uint64_t offset,
                    ByteView bytes) {
    feed_.wrote(Instant{}, {incarnation(from), incarnation(to), static_cast<std::uint8_t>(area),
                            offset, bytes});
    return found();
  }

  std::string sent(std::uint32_t from, std::uint32_t to, Bytes bytes) {
    Packet packet;
    packet.kind = packet_kind_of(bytes);
    packet.bytes = std::move(bytes);
    packet.from = NodeId{from};
    packet.to = NodeId{to};
    feed_.sent(Instant{}, packet);
    return found();
  }

  static wire::Header header(std::uint32_t from, wire::RamcastKind kind) {
    return {wire::frame_kind(kind), 1, incarnation(from)};
  }

  const WorldOptions options_;
  HistoryRecorder recorder_;
  GenuinenessFeed feed_{options_, recorder_};
  std::size_t seen_ = 0;
};

// ---- O ----

/// Appends an entry of the log of node 1.
void append(Bytes& log, wire::LogEntry entry, ByteView unit = {}) {
  entry.number = 1;
  entry.round = round_of(1);
  Bytes bytes(wire::log_entry_bytes(entry.head.indexes.size(), unit.size()));
  ASSERT_EQ(wire::encode_log_entry(entry, unit, kSeed, bytes), bytes.size());
  log.insert(log.end(), bytes.begin(), bytes.end());
}

void append_pad(Bytes& log, std::size_t size) {
  Bytes pad(size);
  wire::encode_log_pad(1, round_of(1), kSeed, pad);
  log.insert(log.end(), pad.begin(), pad.end());
}

wire::LogEntry entry_of(wire::LogKind kind, std::uint32_t sender, std::uint64_t number) {
  wire::LogEntry entry;
  entry.kind = kind;
  entry.sender = incarnation(sender);
  entry.head = head_of(number);
  entry.stamp = 17;
  return entry;
}

wire::LogEntry base_sender(std::uint32_t sender, std::uint64_t index) {
  wire::LogEntry entry;
  entry.kind = wire::LogKind::base_sender;
  entry.sender = incarnation(sender);
  entry.key = index;
  return entry;
}

using wire::LogKind;

TEST_F(RamcastGenuineness, AnEntryNamesItsMessage) {
  for (const LogKind kind : {LogKind::proposal, LogKind::base}) {
    Bytes own, others, unknown;
    append(own, entry_of(kind, 7, 1));
    append(others, entry_of(kind, 7, 2));
    append(unknown, entry_of(kind, 7, 9));
    EXPECT_EQ(wrote(1, 2, Area::log, 0, own), "");
    EXPECT_NE(wrote(1, 2, Area::log, 0, others).find(kStrangers), std::string::npos);
    EXPECT_NE(wrote(1, 2, Area::log, 0, unknown).find(kUnknown), std::string::npos);
  }
}

TEST_F(RamcastGenuineness, EachEntryOfAWriteIsLookedAt) {
  const Bytes unit(21, std::byte{9});
  Bytes log;
  append(log, entry_of(LogKind::proposal, 7, 1), unit);
  append_pad(log, 160);
  append(log, entry_of(LogKind::proposal, 7, 3));
  EXPECT_EQ(wrote(1, 2, Area::log, 8, log), "");
  // What is left of the region behind the last entry.
  Bytes whole_lap = log;
  whole_lap.insert(whole_lap.end(), wire::kLogFixedBytes - wire::kLogAlign, std::byte{0x55});
  EXPECT_EQ(wrote(1, 2, Area::log, 8, whole_lap), "");
  append(log, entry_of(LogKind::proposal, 7, 2), unit);
  EXPECT_NE(wrote(1, 2, Area::log, 8, log).find("n7.1:2"), std::string::npos);
}

TEST_F(RamcastGenuineness, ABaseNamesTheLastPastMessageOfASender) {
  Bytes none, two, third, never;
  append(none, base_sender(4, 1));
  append(two, base_sender(7, 4));  // messages 1, 3 and 4 to domain 1 are past
  append(third, base_sender(7, 5));
  append(never, base_sender(4, 2));
  EXPECT_EQ(wrote(1, 2, Area::log, 0, none), "");
  EXPECT_EQ(wrote(1, 2, Area::log, 0, two), "");
  EXPECT_NE(wrote(1, 2, Area::log, 0, third).find(kUnknown), std::string::npos);
  EXPECT_NE(wrote(1, 2, Area::log, 0, never).find(kUnknown), std::string::npos);
}

TEST_F(RamcastGenuineness, ALogHasNothingButEntries) {
  Bytes log;
  append(log, entry_of(LogKind::proposal, 7, 1));
  log.insert(log.end(), wire::kLogFixedBytes, std::byte{0});
  EXPECT_NE(wrote(1, 2, Area::log, 0, log).find(kUnknown), std::string::npos);
}

// ---- H ----

Bytes reply(std::uint64_t number) {
  Bytes bytes(wire::kReplyBytes);
  wire::encode_reply({number, 33}, bytes);
  return bytes;
}

Bytes release(std::uint64_t index) {
  Bytes bytes(wire::kReleaseBytes);
  wire::encode_release({index, 33}, bytes);
  return bytes;
}

// Node 7 has sent to both domains, so that any exchange of replies once passed.
TEST_F(RamcastGenuineness, AReplyNamesAMessageOfItsReader) {
  const std::uint64_t at = wire::kReleaseBytes + 3 * wire::kReplyBytes;
  EXPECT_EQ(wrote(1, 7, Area::replies, at, reply(1)), "");
  EXPECT_EQ(wrote(4, 7, Area::replies, at, reply(2)), "");
  EXPECT_NE(wrote(1, 7, Area::replies, at, reply(2)).find(kStrangers), std::string::npos);
  EXPECT_NE(wrote(1, 7, Area::replies, at, reply(5)).find(kUnknown), std::string::npos);
  Bytes both = reply(1);
  const Bytes second = reply(2);
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_NE(wrote(1, 7, Area::replies, at, both).find("n7.1:2"), std::string::npos);
  EXPECT_NE(wrote(1, 4, Area::replies, at, reply(1)).find(kUnknown), std::string::npos);
}

TEST_F(RamcastGenuineness, AReleaseNamesAMessageToTheWritersDomain) {
  EXPECT_EQ(wrote(1, 7, Area::replies, 0, release(3)), "");
  EXPECT_EQ(wrote(4, 7, Area::replies, 0, release(2)), "");
  EXPECT_NE(wrote(4, 7, Area::replies, 0, release(3)).find(kUnknown), std::string::npos);
  EXPECT_NE(wrote(1, 4, Area::replies, 0, release(1)).find(kUnknown), std::string::npos);
  Bytes damaged = release(3);
  damaged.back() = std::byte{1};
  EXPECT_NE(wrote(1, 7, Area::replies, 0, damaged).find(kUnknown), std::string::npos);
}

// ---- packets ----

Bytes packet_of(std::size_t size, Bytes bytes) {
  EXPECT_GT(size, 0U);
  bytes.resize(size);
  return bytes;
}

TEST_F(RamcastGenuineness, AHelloNamesAMessageOfBothNodes) {
  const auto hello = [&](std::uint32_t from, std::uint64_t message) {
    wire::MemoryHello content;
    content.message = message;
    Bytes bytes(128);
    const std::size_t size =
        wire::encode_memory_hello(header(from, wire::RamcastKind::hello), content, bytes);
    return packet_of(size, bytes);
  };
  EXPECT_EQ(sent(7, 1, hello(7, 1)), "");
  EXPECT_EQ(sent(1, 7, hello(1, 4)), "");
  EXPECT_EQ(sent(1, 4, hello(1, 3)), "");  // the message of a third node
  EXPECT_EQ(sent(1, 2, hello(1, 0)), "");
  EXPECT_NE(sent(1, 4, hello(1, 1)), "");  // of nodes that share another message
  EXPECT_NE(sent(7, 1, hello(7, 2)), "");
  EXPECT_NE(sent(7, 1, hello(7, 0)), "");
}

TEST_F(RamcastGenuineness, AStateNamesTheMessagesOfItsRecords) {
  const auto state = [&](std::uint64_t last) {
    wire::MemberState content;
    content.round = round_of(1);
    content.grant = 1;
    for (const std::uint64_t number : {std::uint64_t{1}, last}) {
      content.records.push_back({incarnation(7), head_of(number), 17, 0, true});
    }
    Bytes bytes(1'024);
    const std::size_t size =
        wire::encode_member_state(header(2, wire::RamcastKind::state), content, bytes);
    return packet_of(size, bytes);
  };
  EXPECT_EQ(sent(2, 1, state(3)), "");
  EXPECT_NE(sent(2, 1, state(2)).find(kStrangers), std::string::npos);
  EXPECT_NE(sent(2, 1, state(9)).find(kUnknown), std::string::npos);
}

TEST_F(RamcastGenuineness, ABacklogNamesItsMessage) {
  const auto backlog = [&](std::uint64_t number) {
    wire::Backlog content;
    content.before = 17;
    content.key = 33;
    content.message = {incarnation(7), head_of(number)};
    Bytes bytes(wire::backlog_header_bytes(1) + 3);
    wire::encode_backlog_in_place(header(2, wire::RamcastKind::backlog), content, bytes);
    return bytes;
  };
  EXPECT_EQ(sent(2, 1, backlog(4)), "");
  EXPECT_NE(sent(2, 1, backlog(2)).find(kStrangers), std::string::npos);
}

}  // namespace
}  // namespace peal::sim
