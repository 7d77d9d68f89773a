// SPDX-License-Identifier: Apache-2.0
// The golden packets of ramcast.h, and the golden records of ramcast_memory.h. As in
// golden_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "golden_frames.h"
#include "ramcast_samples.h"

namespace peal::wire::test {
namespace {

constexpr std::uint32_t kGoldenSeed = 0x5eed'5eed;
const Round kRound9{9, kB};

MessageHead head_of(std::uint64_t number, Seq after, DomainBits to, Service service,
                    std::initializer_list<std::uint64_t> indexes) {
  MessageHead head{number, to, {}, service, after};
  for (const std::uint64_t index : indexes) head.indexes.push_back(index);
  return head;
}

MessageHead golden_head(Service service = Service::agreed) {
  return head_of(7, 1'616, 0b110, service, {5, 6});
}

DomainView view_of(const ViewId& id, std::uint16_t members, std::initializer_list<MemberId> nodes) {
  DomainView view;
  view.id = id;
  view.members = members;
  view.follows = id.number < 16 ? 0 : id.number - 16;
  Seq last = view.follows;
  for (const MemberId& node : nodes) {
    view.roster.push_back(node);
    view.last_in.push_back(last);
    last = last < 16 ? 0 : last - 16;
  }
  return view;
}

template <class Frame, class Decode, class Encode>
void expect_golden_frame(const std::string& name, RamcastKind kind, const MemberId& sender,
                         const Frame& frame, Decode decode, Encode encode) {
  expect_golden(name, frame_kind(kind), sender, frame, decode, encode);
}

TEST(WireRamcastGolden, Connections) {
  expect_golden_frame("v1-hello", RamcastKind::hello, kA, MemoryHello{}, decode_memory_hello,
                      encode_memory_hello);
  expect_golden_frame("v1-hello-answer", RamcastKind::hello, kD, MemoryHello{kB, kCounterMax, true},
                      decode_memory_hello, encode_memory_hello);
}

TEST(WireRamcastGolden, ChangesOfTheLeader) {
  const DomainView first = view_of({1'601, kB}, 0b101, {kA, kB, kD});
  const Takeover begin{{1, kB}, kGoldenSeed, true, 1, view_of({}, 0, {kA, kB, kD})};
  expect_golden_frame("v1-takeover-first", RamcastKind::takeover, kB, begin, decode_takeover,
                      encode_takeover);
  const Takeover later{{kCounterMax, kC}, 0, false, 3, first};
  expect_golden_frame("v1-takeover", RamcastKind::takeover, kC, later, decode_takeover,
                      encode_takeover);
  MemberState empty;
  empty.round = {1, kB};
  empty.grant = 1;
  expect_golden_frame("v1-member-state-empty", RamcastKind::state, kA, empty, decode_member_state,
                      encode_member_state);
  MemberState state;
  state.round = {9, kC};
  state.grant = 2;
  state.synchronized = {8, kB};
  state.clock = 103;
  state.delivered = 1'633;
  state.view = first;
  state.proposed = view_of({1'649, kB}, 0b11, {kA, kB});
  state.part = 1;
  state.parts = 1'024;
  state.records.push_back({kA, golden_head(), 1'634, 1'650, true});
  state.records.push_back({kC, head_of(1, 0, 0x8000, Service::safe, {kCounterMax}), 0, 0, false});
  expect_golden_frame("v1-member-state", RamcastKind::state, kD, state, decode_member_state,
                      encode_member_state);
  expect_golden_frame("v1-nack", RamcastKind::nack, kA, Nack{{8, kB}, {9, kC}}, decode_nack,
                      encode_nack);
  expect_golden_frame("v1-nack-roster", RamcastKind::nack, kA, Nack{{8, kB}, {}}, decode_nack,
                      encode_nack);
}

TEST(WireRamcastGolden, Repair) {
  const std::vector<std::byte> unit = counting(9);
  const MessageRelay relay{kA, golden_head(Service::safe)};
  expect_golden_frame("v1-message-relay", RamcastKind::relay, kB, relay, decode_message_relay,
                      [&](const Header& header, const MessageRelay& frame, ByteSpan out) {
                        const std::size_t front = relay_header_bytes(2);
                        std::copy(unit.begin(), unit.end(), out.subspan(front).begin());
                        encode_message_relay_in_place(header, frame, out);
                        return front + unit.size();
                      });
  const auto about = [](const std::string& name, RamcastKind kind, const MemberId& sender, Seq key,
                        const Round& round) {
    expect_golden_frame(name, kind, sender, AboutMessage{{kD, 7}, key, round}, decode_about_message,
                        [kind](const Header& header, const AboutMessage& frame, ByteSpan out) {
                          return encode_about_message(header, kind, frame, out);
                        });
  };
  about("v1-pull", RamcastKind::pull, kA, 0, {});
  about("v1-query", RamcastKind::query, kB, 0, {});
  about("v1-answer", RamcastKind::answer, kC, 1'650, kRound9);
  about("v1-answer-hearsay", RamcastKind::answer, kC, 1'650, {});
}

TEST(WireRamcastGolden, Backlogs) {
  expect_golden_frame("v1-backlog-request", RamcastKind::backlog_request, kB, BacklogRequest{1'633},
                      decode_backlog_request, encode_backlog_request);
  const std::vector<std::byte> unit = counting(9);
  const Backlog backlog{1'633, 1'650, {kD, golden_head(Service::safe)}};
  expect_golden_frame("v1-backlog", RamcastKind::backlog, kA, backlog, decode_backlog,
                      [&](const Header& header, const Backlog& frame, ByteSpan out) {
                        const std::size_t front = backlog_header_bytes(2);
                        std::copy(unit.begin(), unit.end(), out.subspan(front).begin());
                        encode_backlog_in_place(header, frame, out);
                        return front + unit.size();
                      });
  const BacklogView view{1'650, view_of({1'665, kB}, 0b11, {kA, kB, kD})};
  expect_golden_frame("v1-backlog-view", RamcastKind::backlog_view, kA, view, decode_backlog_view,
                      encode_backlog_view);
}

/// The golden record must decode to `expected`, and `expected` must encode to the golden record.
template <class Record>
void expect_golden_record(const std::string& name, const Record& expected,
                          const std::function<Drop(ByteView, Record&)>& decode,
                          const std::function<std::size_t(const Record&, ByteSpan)>& encode) {
  const Golden golden = load_golden("memory/" + name);
  Record record;
  ASSERT_EQ(drop_name(decode(golden.bytes, record)), "none") << name;
  EXPECT_TRUE(record == expected) << name;
  std::vector<std::byte> out(golden.bytes.size());
  ASSERT_EQ(encode(expected, out), out.size()) << name;
  EXPECT_EQ(out, golden.bytes) << name;
}

void expect_golden_slot(const std::string& name, const Slot& expected, unsigned domain,
                        const std::vector<std::byte>& unit) {
  const std::uint64_t index = index_in(expected.head, domain);
  expect_golden_record<Slot>(
      name, expected,
      [&](ByteView bytes, Slot& out) {
        EXPECT_EQ(peek_slot(bytes, index), bytes.size());
        return decode_slot(bytes, index, domain, out);
      },
      [&](const Slot& slot, ByteSpan out) { return encode_slot(slot, domain, unit, out); });
}

TEST(WireRamcastGolden, Slots) {
  expect_golden_slot("v1-slot", {golden_head(), 3}, 2, counting(9));
  MessageHead largest{kCounterMax, 0xfffe, {}, Service::safe, kCounterMax};
  while (!largest.indexes.full()) largest.indexes.push_back(kCounterMax);
  expect_golden_slot("v1-slot-largest", {largest, kCounterMax}, 15, {std::byte{0xff}});
}

void expect_golden_entry(const std::string& name, const LogEntry& expected,
                         const std::vector<std::byte>& unit) {
  expect_golden_record<LogEntry>(
      name, expected,
      [&](ByteView bytes, LogEntry& out) {
        EXPECT_EQ(peek_log_entry(bytes, expected.number), bytes.size());
        ByteView found;
        const Drop drop =
            decode_log_entry(bytes, expected.number, expected.round, kGoldenSeed, out, found);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), unit.begin(), unit.end()));
        return drop;
      },
      [&](const LogEntry& entry, ByteSpan out) -> std::size_t {
        if (entry.kind != LogKind::pad) return encode_log_entry(entry, unit, kGoldenSeed, out);
        encode_log_pad(entry.number, entry.round, kGoldenSeed, out);
        return out.size();
      });
}

TEST(WireRamcastGolden, LogEntries) {
  const std::vector<std::byte> view{std::byte{1}};
  expect_golden_entry("v1-log-proposal",
                      {LogKind::proposal, 12, kRound9, kA, golden_head(), 1'634, 0}, {});
  expect_golden_entry(
      "v1-log-proposal-unit",
      {LogKind::proposal, 13, kRound9, kD, head_of(1, 0, 0b10, Service::safe, {1}), 1'649, 0},
      counting(9));
  expect_golden_entry("v1-log-base", {LogKind::base, 1, kRound9, kA, golden_head(), 1'634, 1'650},
                      {});
  expect_golden_entry("v1-log-base-view", {LogKind::base_view, 2, kRound9, {}, {}, 1'665, 1'665},
                      view);
  expect_golden_entry("v1-log-base-sender", {LogKind::base_sender, 3, kRound9, kD, {}, 0, 41}, {});
  expect_golden_entry("v1-log-base-end", {LogKind::base_end, 3, kRound9, {}, {}, 110, 4}, view);
  expect_golden_entry("v1-log-active", {LogKind::active, 4, kRound9, {}, {}, 0, 0}, {});
  expect_golden_entry("v1-log-view", {LogKind::view, 5, kRound9, {}, {}, 1'665, 0}, view);
  expect_golden_entry("v1-log-commit", {LogKind::commit, 6, kRound9, {}, {}, 0, 5}, {});
  expect_golden_entry("v1-log-pad", {LogKind::pad, 7, kRound9, {}, {}, 0, 0}, {});
}

TEST(WireRamcastGolden, Cells) {
  const auto expect_cell = [](const std::string& name, const Cell& cell) {
    expect_golden_record<Cell>(
        name, cell,
        [](ByteView bytes, Cell& out) {
          return decode_cell(bytes, 5, {kA, 7}, out);
        },
        [](const Cell& in, ByteSpan out) {
          encode_cell(in, out);
          return out.size();
        });
  };
  expect_cell("v1-cell-proposal", {5, 1'000, 7, kRound9, 1'634, false, false, 0, 0, 0, 0});
  expect_cell("v1-cell-ack", {5, 1'000, 7, kRound9, 1'634, true, false, ~0ULL, 1'650, 12, 103});
  expect_cell("v1-cell-committed", {5, 1'000, 7, {}, 0, false, true, 0, 1'650, 0, 0});
}

TEST(WireRamcastGolden, ControlCells) {
  const auto expect_control = [](const std::string& name, const Control& control) {
    expect_golden_record<Control>(name, control, decode_control,
                                  [](const Control& in, ByteSpan out) {
                                    encode_control(in, out);
                                    return out.size();
                                  });
  };
  expect_control("v1-control", {77, kRound9, 12, 4'096, 2, 1'633, 1'601, 65, 0, 0, 0b100, true,
                                false, false, false});
  expect_control("v1-control-leader", {kCounterMax, kRound9, 12, 0, 1, 0, 0, 0, 12, 103, 0x7fff,
                                       true, true, true, false});
  expect_control("v1-control-waits",
                 {78, kRound9, 12, 4'096, 2, 1'633, 1'601, 65, 0, 0, 0, true, false, false, true});
}

TEST(WireRamcastGolden, Replies) {
  expect_golden_record<SenderRelease>("v1-release", {4, 1'633}, decode_release,
                                      [](const SenderRelease& in, ByteSpan out) {
                                        encode_release(in, out);
                                        return out.size();
                                      });
  expect_golden_record<SenderReply>(
      "v1-reply", {7, 1'650},
      [](ByteView bytes, SenderReply& out) { return decode_reply(bytes, 7, out); },
      [](const SenderReply& in, ByteSpan out) {
        encode_reply(in, out);
        return out.size();
      });
}

}  // namespace
}  // namespace peal::wire::test
