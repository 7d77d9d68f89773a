// SPDX-License-Identifier: Apache-2.0
// One case per rule of the frames of ramcast.h: a frame at its limit is accepted, one beyond it is
// dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "ramcast_samples.h"

namespace peal::wire::test {
namespace {

std::string with_hello(const std::function<void(MemoryHello&)>& change) {
  MemoryHello hello = plain_hello();
  change(hello);
  return outcome(hello, frame_kind(RamcastKind::hello), encode_memory_hello, decode_memory_hello);
}

std::string with_takeover(const std::function<void(Takeover&)>& change) {
  Takeover takeover = plain_takeover();
  change(takeover);
  return outcome(takeover, frame_kind(RamcastKind::takeover), encode_takeover, decode_takeover);
}

std::string with_state(const std::function<void(MemberState&)>& change) {
  MemberState state = plain_member_state();
  change(state);
  return outcome(state, frame_kind(RamcastKind::state), encode_member_state, decode_member_state);
}

std::string with_relay(const std::function<void(MessageRelay&)>& change,
                       std::size_t unit_bytes = 1) {
  MessageRelay relay{kSender, plain_head()};
  change(relay);
  const std::vector<std::byte> packet = packet_of(relay, std::vector<std::byte>(unit_bytes));
  MessageRelay decoded;
  return std::string(drop_name(decode_message_relay(packet, decoded)));
}

std::string with_about(RamcastKind kind, const AboutMessage& about) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_about_message(header_of(kind), kind, about, packet));
  AboutMessage decoded;
  return std::string(drop_name(decode_about_message(packet, decoded)));
}

TEST(WireRamcastHello, OnlyAnAnswerNeedsSomebodyHeard) {
  EXPECT_EQ(with_hello([](MemoryHello&) {}), "none");
  EXPECT_EQ(with_hello([](MemoryHello& h) { h.heard = {}; }), "bad_value");
  EXPECT_EQ(with_hello([](MemoryHello& h) { h = {}; }), "none");
  EXPECT_EQ(with_hello([](MemoryHello& h) { h.heard = kNobody; }), "bad_value");
  EXPECT_EQ(with_hello([](MemoryHello& h) { h.heard = kNodeTooLarge; }), "bad_value");
  EXPECT_EQ(with_hello([](MemoryHello& h) { h.heard = kLastNode; }), "none");
  expect_counter(
      [](std::uint64_t m) { return with_hello([&](MemoryHello& h) { h.message = m; }); });
}

TEST(WireRamcastTakeover, NamesARoundAGrantAndARoster) {
  expect_begun_round(
      [](const Round& round) { return with_takeover([&](Takeover& t) { t.round = round; }); });
  expect_from_one(
      [](std::uint64_t grant) { return with_takeover([&](Takeover& t) { t.grant = grant; }); });
  EXPECT_EQ(with_takeover([](Takeover& t) { t.view = {}; }), "bad_value");
}

TEST(WireRamcastView, HasOneIncarnationOfEachNodeAndMembersAmongThem) {
  const auto with = [](const std::function<void(DomainView&)>& change) {
    DomainView view = plain_domain_view();
    change(view);
    std::vector<std::byte> bytes(kDomainViewBytesMax);
    bytes.resize(encode_domain_view(view, bytes));
    DomainView decoded;
    return std::string(drop_name(decode_domain_view(bytes, decoded)));
  };
  EXPECT_EQ(with([](DomainView&) {}), "none");
  EXPECT_EQ(with([](DomainView& v) { v.roster[1] = {v.roster[0].node, 99}; }), "not_sorted");
  EXPECT_EQ(with([](DomainView& v) { v.members = 0b1000; }), "bad_value");
  EXPECT_EQ(with([](DomainView& v) { v.members = 0; }), "bad_value");
  EXPECT_EQ(with([](DomainView& v) { v.id.number = 0; }), "bad_value");
  EXPECT_EQ(with([](DomainView& v) { v.id = {}; }), "bad_value");
  EXPECT_EQ(with([](DomainView& v) { v.follows = v.id.number; }), "bad_value");
  EXPECT_EQ(with([](DomainView& v) { v.last_in[1] = v.follows + 1; }), "bad_value");
  const auto forget_views = [](DomainView& v) {
    v.follows = 0;
    for (Seq& last : v.last_in) last = 0;
  };
  EXPECT_EQ(with(forget_views), "none");
  EXPECT_EQ(with([](DomainView& v) {
              v.id = {};
              v.members = 0;
            }),
            "bad_value");
  EXPECT_EQ(with([&](DomainView& v) {
              forget_views(v);
              v.id = {};
              v.members = 0;
            }),
            "none");
  EXPECT_EQ(with([](DomainView& v) { v = {}; }), "none");
  EXPECT_EQ(with([](DomainView& v) {
              v.roster.clear();
              v.last_in.clear();
              for (std::uint32_t i = 1; i <= kDomainNodesMax; ++i) {
                v.roster.push_back({{i}, 0});
                v.last_in.push_back(0);
              }
              v.members = 0x7fff;
            }),
            "none");
}

TEST(WireRamcastState, HasPartsAndRecords) {
  expect_begun_round(
      [](const Round& round) { return with_state([&](MemberState& s) { s.round = round; }); });
  EXPECT_EQ(with_state([](MemberState& s) { s.synchronized = {}; }), "none");
  EXPECT_EQ(with_state([](MemberState& s) { s.synchronized = {0, kSender}; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.parts = 0; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.part = s.parts; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.parts = kStatePartsMax; }), "none");
  EXPECT_EQ(with_state([](MemberState& s) { s.parts = kStatePartsMax + 1; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.records[1].sender = kNobody; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.records[0].head.to = 0b11; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.records[0].head.indexes[1] = 0; }), "bad_value");
  EXPECT_EQ(with_state([](MemberState& s) { s.records.resize(2, s.records[0]); }), "none");
  expect_counter([](std::uint64_t v) { return with_state([&](MemberState& s) { s.clock = v; }); });
  expect_counter(
      [](std::uint64_t v) { return with_state([&](MemberState& s) { s.records[0].key = v; }); });
}

TEST(WireRamcastState, HasAtMostKStateRecordsMaxRecords) {
  EXPECT_EQ(with_state([](MemberState& s) { s.records.resize(kStateRecordsMax, s.records[0]); }),
            "none");
  EXPECT_EQ(
      with_state([](MemberState& s) { s.records.resize(kStateRecordsMax + 1, s.records[0]); }),
      "not encodable");
}

TEST(WireRamcastRelay, HasAHeadAndAUnit) {
  EXPECT_EQ(with_relay([](MessageRelay&) {}), "none");
  EXPECT_EQ(with_relay([](MessageRelay& r) { r.sender = kNobody; }), "bad_value");
  EXPECT_EQ(with_relay([](MessageRelay& r) { r.head.service = Service::causal; }), "bad_value");
  EXPECT_EQ(with_relay([](MessageRelay& r) { r.head.to = 1; }), "bad_value");
  EXPECT_EQ(with_relay([](MessageRelay& r) { r.head.indexes[0] = kTop + 1; }), "bad_value");
  expect_from_one(
      [](std::uint64_t n) { return with_relay([&](MessageRelay& r) { r.head.number = n; }); });
  expect_counter(
      [](std::uint64_t n) { return with_relay([&](MessageRelay& r) { r.head.after = n; }); });
  EXPECT_DEATH(static_cast<void>(packet_of(MessageRelay{kSender, plain_head()}, {})),
               "assertion failed");
}

TEST(WireRamcastAbout, OnlyAnAnswerHasAKeyAndARound) {
  const Round round{3, kSender};
  for (const RamcastKind kind : {RamcastKind::pull, RamcastKind::query}) {
    EXPECT_EQ(with_about(kind, {{kSender, 1}, 0, {}}), "none");
    EXPECT_EQ(with_about(kind, {{kSender, 1}, 1, {}}), "bad_value");
    EXPECT_EQ(with_about(kind, {{kSender, 1}, 0, round}), "bad_value");
  }
  EXPECT_EQ(with_about(RamcastKind::answer, {{kSender, 1}, 0, round}), "bad_value");
  EXPECT_EQ(with_about(RamcastKind::answer, {{kSender, 1}, 5, {}}), "none");
  EXPECT_EQ(with_about(RamcastKind::answer, {{kSender, 1}, 5, {0, kSender}}), "bad_value");
  EXPECT_EQ(with_about(RamcastKind::answer, {{kSender, 1}, 5, {3, kNobody}}), "bad_value");
  expect_from_one([&](Seq key) {
    return with_about(RamcastKind::answer, {{kSender, 1}, key, round});
  });
  expect_from_one([](std::uint64_t n) {
    return with_about(RamcastKind::query, {{kSender, n}, 0, {}});
  });
}

std::string with_backlog(const std::function<void(Backlog&)>& change, std::size_t unit = 1) {
  Backlog backlog{4, 5, {kSender, plain_head()}};
  change(backlog);
  std::vector<std::byte> packet(backlog_header_bytes(backlog.message.head.indexes.size()) + unit);
  encode_backlog_in_place(header_of(RamcastKind::backlog), backlog, packet);
  Backlog decoded;
  return std::string(drop_name(decode_backlog(packet, decoded)));
}

TEST(WireRamcastBacklog, AMessageComesBehindTheOneBefore) {
  EXPECT_EQ(with_backlog([](Backlog&) {}), "none");
  EXPECT_EQ(with_backlog([](Backlog&) {}, 0), "none");  // its sender lacks the unit
  EXPECT_EQ(with_backlog([](Backlog& b) { b.before = b.key; }), "bad_value");
  EXPECT_EQ(with_backlog([](Backlog& b) { b.message.sender = kNobody; }), "bad_value");
  EXPECT_EQ(with_backlog([](Backlog& b) { b.message.head.to = 1; }), "bad_value");
  const auto view_behind = [](Seq before) {
    return outcome(BacklogView{before, plain_domain_view()}, frame_kind(RamcastKind::backlog_view),
                   encode_backlog_view, decode_backlog_view);
  };
  const Seq number = plain_domain_view().id.number;
  EXPECT_EQ(view_behind(number - 1), "none");
  EXPECT_EQ(view_behind(number), "bad_value");
  const auto request = [](Seq delivered) {
    return outcome(BacklogRequest{delivered}, frame_kind(RamcastKind::backlog_request),
                   encode_backlog_request, decode_backlog_request);
  };
  EXPECT_EQ(request(0), "none");
  EXPECT_EQ(request(kTop + 1), "bad_value");
}

TEST(WireRamcastState, DecodingLeavesNothingOfTheStateBefore) {
  MemberState decoded = plain_member_state();
  MemberState empty;
  empty.round = {1, kSender};
  empty.grant = 1;
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_member_state(header_of(RamcastKind::state), empty, packet));
  ASSERT_EQ(drop_name(decode_member_state(packet, decoded)), "none");
  EXPECT_EQ(decoded, empty);
}

}  // namespace
}  // namespace peal::wire::test
