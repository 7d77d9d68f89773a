// SPDX-License-Identifier: Apache-2.0
// The rules of commit tokens, tested as in rules_test.cc: the rules of all protocols with views,
// the rules of the ring's part, and the rules of a part that another protocol defines.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "outcome.h"
#include "samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

std::string with_commit(const std::function<void(Commit&)>& change) {
  Commit commit = plain_commit();
  change(commit);
  return outcome(commit, FrameKind::commit, encode_commit, decode_commit);
}

std::string with_options(const std::function<void(ViewOptions&)>& change) {
  return with_commit([&](Commit& commit) {
    ViewOptions options = order::ring::decode_options(commit.options);
    change(options);
    commit.options = encode(options);
  });
}

/// The result for a commit token in which the record of the first old view is changed.
std::string with_record(const std::function<void(OldViewRecord&)>& change) {
  return with_commit([&](Commit& commit) {
    OldViewRecord record = decode_record(commit.old_views[0].record);
    change(record);
    commit.old_views[0].record = encode(record);
  });
}

TEST(WireCommit, ViewAndMembers) {
  EXPECT_EQ(with_commit([](Commit&) {}), "none");
  EXPECT_EQ(with_commit([](Commit& c) { c.view.number = 0; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.view.representative = kNobody; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) {
              c.members.clear();
              c.old_views.clear();
              c.hops = 0;
            }),
            "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.members = first_members(kMembersMax); }), "none");
  EXPECT_EQ(with_commit([](Commit& c) { std::swap(c.members[2], c.members[3]); }), "not_sorted");
  EXPECT_EQ(with_commit([](Commit& c) { c.members[3] = c.members[2]; }), "not_sorted");
  EXPECT_EQ(with_commit([](Commit& c) { c.members.back() = kNodeTooLarge; }), "bad_value");
}

TEST(WireCommit, HopsAreAtMostTwoRotations) {
  EXPECT_EQ(with_commit([](Commit& c) { c.hops = 0; }), "none");
  EXPECT_EQ(with_commit([](Commit& c) { c.hops = 8; }), "none");
  EXPECT_EQ(with_commit([](Commit& c) { c.hops = 9; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.hops = 0xffff'ffff; }), "bad_value");
}

TEST(WireCommit, OldViewsAreDistinctAndNamed) {
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].view = c.old_views[0].view; }),
            "not_sorted");
  EXPECT_EQ(with_commit([](Commit& c) { std::swap(c.old_views[0], c.old_views[1]); }), "none");
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].view = {}; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].view.number = kTop + 1; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views.clear(); }), "none");
}

TEST(WireCommit, EachMemberComesFromOneOldView) {
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].survivors = {}; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].survivors = {c.members[1]}; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) {
              c.old_views[1].survivors = {c.members[2], c.members[3]};
            }),
            "none");
  EXPECT_EQ(with_commit([](Commit& c) { c.old_views[1].survivors = {{{9}, 90}}; }), "bad_value");
  EXPECT_EQ(with_commit([](Commit& c) {
              c.old_views[1].survivors = {c.members[3], c.members[2]};
            }),
            "not_sorted");
}

TEST(WireCommit, CountsAreLimitedBeforeTheyAreUsed) {
  const auto count = [](std::size_t offset, std::uint16_t value) {
    return with_count(plain_commit(), FrameKind::commit, encode_commit, decode_commit, offset,
                      value);
  };
  constexpr std::size_t kMembers = 44;
  EXPECT_EQ(count(kMembers, kMembersMax), "truncated");
  EXPECT_EQ(count(kMembers, kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(kMembers, 0xffff), "count_too_large");
  // There may not be more old views than members.
  constexpr std::size_t kOldViews = kMembers + 2 + 4 * kMemberBytes;
  EXPECT_EQ(count(kOldViews, 0), "trailing_bytes");
  EXPECT_EQ(count(kOldViews, 4), "truncated");
  EXPECT_EQ(count(kOldViews, 5), "count_too_large");
  EXPECT_EQ(count(kOldViews, 0xffff), "count_too_large");
  constexpr std::size_t kSurvivors = kOldViews + 2 + kViewBytes + 24;
  EXPECT_EQ(count(kSurvivors, kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(kSurvivors + 2, kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(kSurvivors, 100), "truncated");
  EXPECT_EQ(count(kSurvivors + 2, 100), "truncated");
}

// ---- the ring's part ----

TEST(WireRingCommit, ParametersThatAnEngineCanWorkWith) {
  EXPECT_EQ(with_options([](ViewOptions& o) { o.packet_bytes_max = kDataHeaderBytes; }),
            "bad_value");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.packet_bytes_max = kDataHeaderBytes + 1; }),
            "none");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.packet_bytes_max = kPacketBytesMax; }), "none");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.packet_bytes_max = kPacketBytesMax + 1; }),
            "bad_value");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.max_gap = 0; }), "bad_value");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.max_gap = 1; }), "none");
  EXPECT_EQ(with_options([](ViewOptions& o) { o.max_gap = o.request_lag = 0xffff'ffff; }), "none");
}

TEST(WireRingCommit, ObligationIsASetOfAnybody) {
  EXPECT_EQ(with_record([](OldViewRecord& r) { r.obligation = {}; }), "none");
  EXPECT_EQ(with_record([](OldViewRecord& r) { r.obligation = {{{99}, 1}, {{99}, 2}}; }), "none");
  EXPECT_EQ(with_record([](OldViewRecord& r) {
              r.obligation = {{{99}, 2}, {{99}, 1}};
            }),
            "not_sorted");
  EXPECT_EQ(with_record([](OldViewRecord& r) { r.obligation = first_members(kMembersMax); }),
            "none");
}

TEST(WireRingCommit, PositionsOfAnOldViewAreInOrder) {
  EXPECT_EQ(with_record([](OldViewRecord& r) { r.safe = r.base; }), "none");
  EXPECT_EQ(with_record([](OldViewRecord& r) { r.safe = r.base + 1; }), "bad_value");
  EXPECT_EQ(with_record([](OldViewRecord& r) {
              r.high = r.base;
              r.have.clear();
            }),
            "none");
  EXPECT_EQ(with_record([](OldViewRecord& r) {
              r.high = kTop;
              r.base = kTop - 70;
            }),
            "none");
  EXPECT_EQ(with_record([](OldViewRecord& r) {
              r.high = kTop + 1;
              r.base = kTop - 69;
            }),
            "bad_value");
}

TEST(WireRingCommit, HighBelowBaseIsDropped) {
  // The encoder refuses such positions, so the test writes them into the packet.
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_commit(header_of(FrameKind::commit), plain_commit(), packet));
  const std::size_t base = kHeaderBytes + 44 + 2 + 4 * kMemberBytes + 2 + kViewBytes;
  Writer out(ByteSpan(packet).subspan(base, 16));
  out.u(std::uint64_t{80});
  out.u(std::uint64_t{79});
  Commit decoded;
  EXPECT_EQ(drop_name(decode_commit(packet, decoded)), "bad_value");
  Writer wide(ByteSpan(packet).subspan(base, 16));
  wide.u(std::uint64_t{10});
  wide.u(std::uint64_t{10 + kSpanMax + 1});
  EXPECT_EQ(drop_name(decode_commit(packet, decoded)), "count_too_large");
}

TEST(WireRingCommit, HaveCoversTheSpanAndNoMore) {
  const auto with_span = [](std::uint64_t span, std::vector<std::uint64_t> have) {
    return with_record([&](OldViewRecord& r) {
      r.high = r.base + span;
      r.have = std::move(have);
    });
  };
  EXPECT_EQ(with_span(0, {}), "none");
  EXPECT_EQ(with_span(1, {1}), "none");
  EXPECT_EQ(with_span(1, {2}), "bad_value");
  EXPECT_EQ(with_span(63, {~0ULL >> 1}), "none");
  EXPECT_EQ(with_span(63, {1ULL << 63}), "bad_value");
  EXPECT_EQ(with_span(64, {~0ULL}), "none");
  EXPECT_EQ(with_span(65, {~0ULL, 1}), "none");
  EXPECT_EQ(with_span(65, {0, 2}), "bad_value");
  EXPECT_EQ(with_span(kSpanMax, std::vector<std::uint64_t>(kSpanMax / 64, ~0ULL)), "none");
}

// ---- the part of any other protocol ----

Drop refuse_zero(ByteView bytes) {
  const bool zero =
      std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
  return zero ? Drop::bad_value : Drop::none;
}

/// The options have two bytes. A record has a head of one byte, a count, and `count` bytes, at most
/// 9. No byte may be 0.
CommitFormat format_with_everything() {
  CommitFormat format;
  format.options_bytes = 2;
  format.head_bytes = 2;
  format.counts_bytes = 1;
  format.check_options = refuse_zero;
  format.check_head = refuse_zero;
  format.tail_bytes = [](ByteView head) -> std::optional<std::size_t> {
    const auto count = std::to_integer<std::size_t>(head[1]);
    if (count > 9) return std::nullopt;
    return count;
  };
  format.check_tail = [](ByteView, ByteView tail) { return refuse_zero(tail); };
  return format;
}

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Commit commit_with(const std::vector<std::byte>& options, const std::vector<std::byte>& record) {
  Commit commit;
  commit.view = kSomeView;
  commit.members = first_members(1);
  for (const std::byte each : options) commit.options.push_back(each);
  commit.old_views = {{{8, commit.members[0]}, commit.members, record}};
  return commit;
}

std::vector<std::byte> commit_packet(const Commit& commit, const CommitFormat& format) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(wire::encode_commit(header_of(FrameKind::commit), commit, format, packet));
  return packet;
}

std::string dropped(const std::vector<std::byte>& packet, const CommitFormat& format) {
  Commit decoded;
  return std::string(drop_name(wire::decode_commit(packet, format, decoded)));
}

// The offsets of the parts in a packet with one member and one old view.
constexpr std::size_t kAtOptions = kHeaderBytes + kViewBytes + 4;
constexpr std::size_t kAtField = kAtOptions + 2 + 8 + 2 + kMemberBytes + 2 + kViewBytes;
constexpr std::size_t kAtCount = kAtField + 1 + 2;
constexpr std::size_t kAtTail = kAtCount + 1 + kMemberBytes;

TEST(WireCommitFormat, NoBytesAreLegal) {
  const CommitFormat nothing;
  const Commit commit = commit_with({}, {});
  const std::vector<std::byte> packet = commit_packet(commit, nothing);
  EXPECT_EQ(packet.size(), kAtTail - 2 - 1 - 1);
  Commit decoded;
  EXPECT_EQ(drop_name(wire::decode_commit(packet, nothing, decoded)), "none");
  EXPECT_TRUE(decoded == commit);
}

TEST(WireCommitFormat, EachPartStandsInItsPlace) {
  const CommitFormat format = format_with_everything();
  const Commit commit = commit_with(bytes_of({11, 12}), bytes_of({13, 3, 14, 15, 16}));
  const std::vector<std::byte> packet = commit_packet(commit, format);
  ASSERT_EQ(packet.size(), kAtTail + 3);
  EXPECT_EQ(packet[kAtOptions], std::byte{11});
  EXPECT_EQ(packet[kAtField], std::byte{13});
  EXPECT_EQ(packet[kAtField + 1], std::byte{1}) << "count of survivors";
  EXPECT_EQ(packet[kAtCount], std::byte{3});
  EXPECT_EQ(packet[kAtTail], std::byte{14});
  Commit decoded;
  EXPECT_EQ(drop_name(wire::decode_commit(packet, format, decoded)), "none");
  EXPECT_TRUE(decoded == commit);
}

TEST(WireCommitFormat, ItsProtocolSaysWhatIsDropped) {
  const CommitFormat format = format_with_everything();
  const std::vector<std::byte> good =
      commit_packet(commit_with(bytes_of({11, 12}), bytes_of({13, 3, 14, 15, 16})), format);
  const auto with_byte = [&](std::size_t at, unsigned value) {
    std::vector<std::byte> packet = good;
    packet[at] = static_cast<std::byte>(value);
    return dropped(packet, format);
  };
  EXPECT_EQ(dropped(good, format), "none");
  EXPECT_EQ(with_byte(kAtOptions, 0), "bad_value");
  EXPECT_EQ(with_byte(kAtField, 0), "bad_value");
  EXPECT_EQ(with_byte(kAtTail, 0), "bad_value");
  EXPECT_EQ(with_byte(kAtCount, 2), "trailing_bytes");
  EXPECT_EQ(with_byte(kAtCount, 9), "truncated");
  EXPECT_EQ(with_byte(kAtCount, 10), "count_too_large");
  for (std::size_t size = kHeaderBytes; size < good.size(); ++size) {
    EXPECT_EQ(dropped({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}, format),
              "truncated");
  }
}

TEST(WireCommitFormat, PartsOfAnotherLengthHaveNoEncoding) {
  const CommitFormat format = format_with_everything();
  const auto size = [&](std::initializer_list<unsigned> options,
                        std::initializer_list<unsigned> record) {
    return commit_packet(commit_with(bytes_of(options), bytes_of(record)), format).size();
  };
  EXPECT_GT(size({11, 12}, {13, 0}), 0U);
  EXPECT_EQ(size({11}, {13, 0}), 0U);
  EXPECT_EQ(size({11, 12, 13}, {13, 0}), 0U);
  EXPECT_EQ(size({11, 12}, {}), 0U);
  EXPECT_EQ(size({11, 12}, {13}), 0U);
  EXPECT_EQ(size({11, 12}, {13, 1}), 0U);
  EXPECT_EQ(size({11, 12}, {13, 1, 14, 15}), 0U);
  EXPECT_EQ(size({11, 12}, {13, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 0U);
}

TEST(WireCommitFormat, ItsPartsHaveMaxima) {
  CommitFormat format = format_with_everything();
  EXPECT_TRUE(format.is_sound());
  format.options_bytes = kCommitOptionsMax + 1;
  EXPECT_FALSE(format.is_sound());
  format = format_with_everything();
  format.head_bytes = kRecordHeadMax + 1;
  EXPECT_FALSE(format.is_sound());
  format = format_with_everything();
  format.counts_bytes = format.head_bytes + 1;
  EXPECT_FALSE(format.is_sound());
}

}  // namespace
}  // namespace peal::wire::test
