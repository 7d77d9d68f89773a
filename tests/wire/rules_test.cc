// SPDX-License-Identifier: Apache-2.0
// Tests each rule that a frame must obey. A frame at a limit is accepted. A frame beyond the limit
// is dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "outcome.h"
#include "samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

std::string with_token(const std::function<void(Token&)>& change) {
  Token token = plain_token();
  change(token);
  return outcome(token, FrameKind::token, encode_token, decode_token);
}

std::string with_ranges(const std::vector<RequestRange>& ranges) {
  return with_token([&](Token& token) {
    token.sections[0].ranges.clear();
    for (const RequestRange& range : ranges) token.sections[0].ranges.push_back(range);
  });
}

std::string with_data(const std::function<void(Data&)>& change) {
  Data data = plain_data();
  change(data);
  std::vector<std::byte> packet(kDataHeaderBytes + 3);
  encode_data_in_place(header_of(FrameKind::data), data, packet);
  Data decoded;
  return std::string(drop_name(decode_data(packet, decoded)));
}

/// The result for a frame in which one byte has the value `value`. `offset` is the distance from
/// this byte to the unit.
std::string with_data_byte(std::size_t offset, unsigned value) {
  std::vector<std::byte> packet(kDataHeaderBytes);
  encode_data_in_place(header_of(FrameKind::data), plain_data(), packet);
  packet[kDataHeaderBytes - offset] = static_cast<std::byte>(value);
  Data decoded;
  return std::string(drop_name(decode_data(packet, decoded)));
}

std::string with_join(const std::function<void(Join&)>& change) {
  Join join = plain_join();
  change(join);
  return outcome(join, FrameKind::join, encode_join, decode_join);
}

std::string with_probe(const ProbeFrame& probe) {
  return outcome(probe, FrameKind::probe, encode_probe, decode_probe);
}

TEST(WireToken, PlainOneIsAccepted) {
  EXPECT_EQ(with_token([](Token&) {}), "none");
}

TEST(WireToken, NamesAFormedView) {
  EXPECT_EQ(with_token([](Token& t) { t.view.number = 0; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.view.number = kTop; }), "none");
  EXPECT_EQ(with_token([](Token& t) { t.view.number = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.view.representative = kNobody; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.view.representative = kLastNode; }), "none");
  EXPECT_EQ(with_token([](Token& t) { t.view.representative = kNodeTooLarge; }), "bad_value");
}

TEST(WireToken, AListHasARunOfAtMostTwoRotations) {
  const auto with = [](std::uint64_t list, std::uint16_t run, std::uint16_t block) {
    return with_token([&](Token& t) {
      t.list = list;
      t.list_run = run;
      t.list_block = block;
    });
  };
  EXPECT_EQ(with(1, 0, kNoIndex), "none");
  EXPECT_EQ(with(~0ULL, kListRunMax, 127), "none");
  EXPECT_EQ(with(1, kListRunMax + 1, 0), "bad_value");
  EXPECT_EQ(with(1, 1, 128), "bad_value");
  EXPECT_EQ(with(0, 1, kNoIndex), "bad_value");
  EXPECT_EQ(with(0, 0, 0), "bad_value");
}

TEST(WireToken, CountersStayInRange) {
  EXPECT_EQ(with_token([](Token& t) { t.hop = t.seq = t.aru = kTop; }), "none");
  EXPECT_EQ(with_token([](Token& t) { t.hop = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.seq = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.seq = t.aru = ~0ULL; }), "bad_value");
}

TEST(WireToken, AruIsAtMostSeq) {
  EXPECT_EQ(with_token([](Token& t) { t.aru = t.seq; }), "none");
  EXPECT_EQ(with_token([](Token& t) { t.aru = t.seq + 1; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.aru = t.seq = 0; }), "none");
}

TEST(WireToken, IndexesAreOfMembersOrNone) {
  for (const auto field : {&Token::aru_index, &Token::recovery_block, &Token::credit_index}) {
    EXPECT_EQ(with_token([&](Token& t) { t.*field = 0; }), "none");
    EXPECT_EQ(with_token([&](Token& t) { t.*field = kMembersMax - 1; }), "none");
    EXPECT_EQ(with_token([&](Token& t) { t.*field = kMembersMax; }), "bad_value");
    EXPECT_EQ(with_token([&](Token& t) { t.*field = kNoIndex - 1; }), "bad_value");
    EXPECT_EQ(with_token([&](Token& t) { t.*field = kNoIndex; }), "none");
  }
}

TEST(WireToken, OtherFieldsTakeAnyValue) {
  EXPECT_EQ(with_token([](Token& t) {
              t.recovery_run = 0xffff;
              t.fcc = t.window = t.losses = t.limited = t.backlog = t.credit = 0xffff'ffff;
            }),
            "none");
}

TEST(WireToken, RangesStartAtOneAndHaveTheirFirstBit) {
  EXPECT_EQ(with_ranges({}), "none");
  EXPECT_EQ(with_ranges({{1, 1}}), "none");
  EXPECT_EQ(with_ranges({{0, 1}}), "bad_value");
  EXPECT_EQ(with_ranges({{1, 0}}), "bad_value");
  EXPECT_EQ(with_ranges({{1, 2}}), "bad_value");
}

TEST(WireToken, RangesDoNotReachPastTheLastPosition) {
  EXPECT_EQ(with_ranges({{kTop, 1}}), "none");
  EXPECT_EQ(with_ranges({{kTop, 3}}), "bad_value");
  EXPECT_EQ(with_ranges({{kTop - 63, ~0ULL}}), "none");
  EXPECT_EQ(with_ranges({{kTop - 62, ~0ULL}}), "bad_value");
  EXPECT_EQ(with_ranges({{kTop + 1, 1}}), "bad_value");
}

TEST(WireToken, RangesAscendByAtLeast64) {
  EXPECT_EQ(with_ranges({{10, ~0ULL}, {74, 1}}), "none");
  EXPECT_EQ(with_ranges({{10, 1}, {73, 1}}), "not_sorted");
  EXPECT_EQ(with_ranges({{10, 1}, {10, 1}}), "not_sorted");
  EXPECT_EQ(with_ranges({{1'000, 1}, {10, 1}}), "not_sorted");
}

TEST(WireToken, SectionsAreOfDistinctFormedViews) {
  EXPECT_EQ(with_token([](Token& t) { t.sections.push_back(t.sections[0]); }), "not_sorted");
  EXPECT_EQ(with_token([](Token& t) {
              t.sections.push_back(t.sections[0]);
              ++t.sections[1].view.representative.epoch;
            }),
            "none");
  EXPECT_EQ(with_token([](Token& t) { t.sections[0].view.number = 0; }), "bad_value");
  EXPECT_EQ(with_token([](Token& t) { t.sections[0].view.representative = kNobody; }), "bad_value");
}

TEST(WireToken, CountsAreLimitedBeforeTheyAreUsed) {
  const auto sections = [](std::uint16_t count) {
    return with_count(plain_token(), FrameKind::token, encode_token, decode_token, 88, count);
  };
  EXPECT_EQ(sections(0), "trailing_bytes");
  EXPECT_EQ(sections(2), "truncated");
  EXPECT_EQ(sections(kSectionsMax), "truncated");
  EXPECT_EQ(sections(kSectionsMax + 1), "count_too_large");
  EXPECT_EQ(sections(0xffff), "count_too_large");
  const auto ranges = [](std::uint16_t count) {
    return with_count(plain_token(), FrameKind::token, encode_token, decode_token, 110, count);
  };
  EXPECT_EQ(ranges(1), "trailing_bytes");
  EXPECT_EQ(ranges(3), "truncated");
  EXPECT_EQ(ranges(kRangesMax), "truncated");
  EXPECT_EQ(ranges(kRangesMax + 1), "count_too_large");
  EXPECT_EQ(ranges(0xffff), "count_too_large");
}

TEST(WireData, FieldsStayInRange) {
  EXPECT_EQ(with_data([](Data&) {}), "none");
  EXPECT_EQ(with_data([](Data& d) { d.view.number = 0; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.view.representative = kNobody; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.seq = 0; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.seq = d.hop = kTop; }), "none");
  EXPECT_EQ(with_data([](Data& d) { d.seq = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.hop = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.hop = 0; }), "none");
  EXPECT_EQ(with_data([](Data& d) { d.origin = kNobody; }), "bad_value");
  EXPECT_EQ(with_data([](Data& d) { d.origin = kNodeTooLarge; }), "bad_value");
}

TEST(WireData, UnusedFlagsAreZero) {
  for (unsigned flags = 0; flags < 256; ++flags) {
    EXPECT_EQ(with_data_byte(2, flags), flags < 4 ? "none" : "bad_value") << flags;
  }
}

TEST(WireData, ServiceIsAgreedOrSafe) {
  for (unsigned service = 0; service < 256; ++service) {
    const bool known = service == 2 || service == 3;
    EXPECT_EQ(with_data_byte(1, service), known ? "none" : "bad_value") << service;
  }
}

TEST(WireJoin, CommittedMayBeABirthViewOrNone) {
  EXPECT_EQ(with_join([](Join&) {}), "none");
  EXPECT_EQ(with_join([](Join& j) { j.committed = {}; }), "none");
  EXPECT_EQ(with_join([](Join& j) { j.committed = {0, kSender}; }), "none");
  EXPECT_EQ(with_join([](Join& j) { j.committed = {0, {{0}, 1}}; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.committed = {1, {}}; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.committed = {1, kNodeTooLarge}; }), "bad_value");
}

TEST(WireJoin, CountersStayInRange) {
  EXPECT_EQ(with_join([](Join& j) { j.number = j.view_number_max = kTop; }), "none");
  EXPECT_EQ(with_join([](Join& j) { j.number = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.view_number_max = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.committed.number = kTop + 1; }), "bad_value");
}

TEST(WireJoin, LeavingIsZeroOrOne) {
  for (unsigned value = 0; value < 256; ++value) {
    std::vector<std::byte> packet(kPacketBytesMax);
    packet.resize(encode_join(header_of(FrameKind::join), plain_join(), packet));
    packet[kHeaderBytes + 44] = static_cast<std::byte>(value);
    Join decoded;
    EXPECT_EQ(drop_name(decode_join(packet, decoded)), value <= 1 ? "none" : "bad_value") << value;
  }
}

TEST(WireJoin, SetsAreSortedAndDistinct) {
  EXPECT_EQ(with_join([](Join& j) { j.failed.clear(); }), "none");
  EXPECT_EQ(with_join([](Join& j) { j.processes = j.failed = j.heard = {}; }), "none");
  for (const auto set : {&Join::processes, &Join::failed, &Join::heard}) {
    const auto with = [&](std::vector<MemberId> members) {
      return with_join([&](Join& j) {
        j.processes = first_members(4);
        j.*set = std::move(members);
      });
    };
    EXPECT_EQ(with({{{1}, 10}, {{2}, 20}}), "none");
    EXPECT_EQ(with({{{2}, 20}, {{1}, 10}}), "not_sorted");
    EXPECT_EQ(with({{{2}, 20}, {{2}, 20}}), "not_sorted");
    EXPECT_EQ(with({{{2}, 20}, {{2}, 19}}), "not_sorted");
    EXPECT_EQ(with({kNobody}), "bad_value");
    EXPECT_EQ(with({kNodeTooLarge}), "bad_value");
  }
}

TEST(WireJoin, FailedIsAPartOfProcessesWithoutTheSender) {
  EXPECT_EQ(with_join([](Join& j) { j.failed = {{{3}, 30}}; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.failed = {{{2}, 21}}; }), "bad_value");
  EXPECT_EQ(with_join([](Join& j) { j.failed = {{{1}, 10}, {{2}, 20}}; }), "none");
  EXPECT_EQ(with_join([](Join& j) { j.failed = {kSender}; }), "bad_value");
  // The sender may accuse an older incarnation of its own node.
  EXPECT_EQ(with_join([](Join& j) {
              j.processes = {{kSender.node, 49}, kSender};
              j.failed = {{kSender.node, 49}};
            }),
            "none");
}

TEST(WireJoin, SetsHoldUpTo256) {
  EXPECT_EQ(with_join([](Join& j) {
              j.processes = j.heard = first_members(kProcessesMax);
              j.failed = first_members(kProcessesMax);
              std::erase(j.failed, kSender);
            }),
            "none");
  for (const std::size_t offset : {45U, 47U, 49U}) {
    const auto count = [&](std::uint16_t value) {
      return with_count(plain_join(), FrameKind::join, encode_join, decode_join, offset, value);
    };
    EXPECT_EQ(count(kProcessesMax), "truncated") << offset;
    EXPECT_EQ(count(kProcessesMax + 1), "count_too_large") << offset;
    EXPECT_EQ(count(0xffff), "count_too_large") << offset;
  }
}

TEST(WireProbe, ViewMayBeABirthViewOrNone) {
  EXPECT_EQ(with_probe({kSomeView, {}}), "none");
  EXPECT_EQ(with_probe({{0, kSender}, {}}), "none");
  EXPECT_EQ(with_probe({{}, {}}), "none");
  EXPECT_EQ(with_probe({{3, {}}, {}}), "bad_value");
  EXPECT_EQ(with_probe({{kTop + 1, kSender}, {}}), "bad_value");
}

TEST(WireProbe, HeardIsASet) {
  EXPECT_EQ(with_probe({kSomeView, first_members(kProcessesMax)}), "none");
  EXPECT_EQ(with_probe({kSomeView, {{{2}, 1}, {{1}, 1}}}), "not_sorted");
  EXPECT_EQ(with_probe({kSomeView, {kNobody}}), "bad_value");
  const auto count = [](std::uint16_t value) {
    return with_count(ProbeFrame{kSomeView, {}}, FrameKind::probe, encode_probe, decode_probe, 28,
                      value);
  };
  EXPECT_EQ(count(1), "truncated");
  EXPECT_EQ(count(kProcessesMax + 1), "count_too_large");
}

TEST(WireHoldCancel, NamesAFormedView) {
  const auto with = [](const ViewId& view) {
    return outcome(HoldCancel{view}, FrameKind::hold_cancel, encode_hold_cancel,
                   decode_hold_cancel);
  };
  EXPECT_EQ(with(kSomeView), "none");
  EXPECT_EQ(with({0, kSender}), "bad_value");
  EXPECT_EQ(with({1, kNobody}), "bad_value");
}

TEST(WireTrial, FieldsAreInTheirRanges) {
  const auto with = [](Trial::Step step, std::uint8_t part, std::uint8_t index,
                       std::uint64_t number) {
    return outcome(Trial{step, part, index, number, kSender, 2}, FrameKind::trial, encode_trial,
                   decode_trial);
  };
  EXPECT_EQ(with(Trial::Step::ask, 0, 0, 1), "none");
  EXPECT_EQ(with(Trial::Step::passed, 3, 31, kCounterMax), "none");
  EXPECT_EQ(with(Trial::Step{}, 0, 0, 1), "bad_value");
  EXPECT_EQ(with(Trial::Step{4}, 0, 0, 1), "bad_value");
  EXPECT_EQ(with(Trial::Step::ask, 4, 0, 1), "bad_value");
  EXPECT_EQ(with(Trial::Step::ask, 0, 32, 1), "bad_value");
  EXPECT_EQ(with(Trial::Step::ask, 0, 0, 0), "bad_value");
  EXPECT_EQ(with(Trial::Step::ask, 0, 0, kCounterMax + 1), "bad_value");
}

// Sealed packets of the data lane omit the header. The receiver writes the header of a DATA frame
// in front of them, so a trial on this lane must begin with the same header.
TEST(WireTrial, OnTheLaneOfDataItBeginsAsAFrameOfDataDoes) {
  const Header header{FrameKind::trial, 77, kSender, Checksum::absent};
  for (const std::uint8_t part : {std::uint8_t{2}, std::uint8_t{3}}) {
    std::vector<std::byte> packet(2'000);
    packet.resize(encode_trial(header, Trial{Trial::Step::ask, part, 1, 2, kSender, 900}, packet));
    std::vector<std::byte> front(kHeaderBytes);
    write_data_header({FrameKind::data, 77, kSender, Checksum::absent},
                      static_cast<std::uint32_t>(packet.size()), front);
    EXPECT_TRUE(std::equal(front.begin(), front.end(), packet.begin()));
    EXPECT_TRUE(is_trial_of_data(packet));
  }
}

/// The result for a SETTINGS frame with this body.
std::string settings_outcome(std::string_view body) {
  std::vector<std::byte> packet(kHeaderBytes + body.size());
  Writer out(packet);
  write_header(out, FrameKind::settings, header_of(FrameKind::settings));
  out.bytes(as_bytes_view(body));
  complete(packet);
  Header header;
  EXPECT_EQ(drop_name(decode_header(packet, header)), "none");
  EXPECT_EQ(frame_kind_of(packet), FrameKind::settings);
  SettingsFrame decoded;
  return std::string(drop_name(decode_settings(packet, decoded)));
}

TEST(WireSettings, BodiesAreCheckedFieldByField) {
  using std::string_literals::operator""s;
  EXPECT_EQ(settings_outcome("\0\0"s), "none");
  EXPECT_EQ(settings_outcome("\1\0"s), "none");
  EXPECT_EQ(settings_outcome("\2\0"s), "bad_value");
  EXPECT_EQ(settings_outcome("\0\0\0"s), "trailing_bytes");
  EXPECT_EQ(settings_outcome("\0\1\1a\0"s), "none");
  EXPECT_EQ(settings_outcome("\0\1\1a\1"s), "truncated");
  EXPECT_EQ(settings_outcome("\0\1\0\0"s), "bad_value") << "a key of no bytes";
  EXPECT_EQ(settings_outcome("\0\2\1a\0\1b\0"s), "none");
  EXPECT_EQ(settings_outcome("\0\2\1a\0\1a\0"s), "not_sorted") << "a key twice";
  EXPECT_EQ(settings_outcome("\0\2\1b\0\1a\0"s), "not_sorted");
  EXPECT_EQ(settings_outcome("\0\2\1\x7f\0\1\x80\0"s), "none") << "bytes have no sign";
  EXPECT_EQ(settings_outcome("\0\2\1a\0\2ab\0"s), "none");
}

TEST(WireSettings, CountsAndLengthsAreLimitedBeforeTheyAreUsed) {
  using std::string_literals::operator""s;
  const auto with_key = [](std::size_t bytes) {
    return "\0\1"s + static_cast<char>(bytes) + std::string(bytes, 'k') + "\0"s;
  };
  EXPECT_EQ(settings_outcome(with_key(kSettingKeyMax)), "none");
  EXPECT_EQ(settings_outcome(with_key(kSettingKeyMax + 1)), "bad_value");
  std::string many = "\0\x40"s;
  for (std::size_t i = 0; i < kSettingsMax; ++i) many += "\1"s + static_cast<char>(i) + "\0"s;
  EXPECT_EQ(settings_outcome(many), "none");
  many[1] = static_cast<char>(kSettingsMax + 1);
  EXPECT_EQ(settings_outcome(many + "\1\x40\0"s), "count_too_large");
  // Five values of nearly the largest size are too large for one packet.
  const auto with_last = [](std::size_t bytes) {
    std::string body = "\0\5"s;
    for (const char key : {'a', 'b', 'c', 'd'}) {
      body += "\1"s + key + "\xff"s + std::string(kSettingValueMax, 'v');
    }
    return body + "\1e"s + static_cast<char>(bytes) + std::string(bytes, 'v');
  };
  constexpr std::size_t kFits = kSettingsBytesMax - kHeaderBytes - 2 - 4 * 258 - 3;
  EXPECT_EQ(settings_outcome(with_last(kFits)), "none");
  EXPECT_EQ(settings_outcome(with_last(kFits + 1)), "count_too_large");
}

TEST(WireSettings, TheKindIsToldWithoutALookAtTheRest) {
  std::vector<std::byte> packet(4, std::byte{9});
  EXPECT_EQ(frame_kind_of(packet), FrameKind::settings);
  EXPECT_EQ(frame_kind_of(ByteView(packet).first(3)), std::nullopt);
  packet[3] = std::byte{8};
  EXPECT_EQ(frame_kind_of(packet), FrameKind::trial);
}

TEST(WireEpochNotice, NamesANode) {
  const auto with = [](const MemberId& newest) {
    return outcome(EpochNotice{newest}, FrameKind::epoch_notice, encode_epoch_notice,
                   decode_epoch_notice);
  };
  EXPECT_EQ(with({{1}, 0}), "none");
  EXPECT_EQ(with(kLastNode), "none");
  EXPECT_EQ(with(kNobody), "bad_value");
  EXPECT_EQ(with(kNodeTooLarge), "bad_value");
}

}  // namespace
}  // namespace peal::wire::test
