// SPDX-License-Identifier: Apache-2.0
// The commit tokens of ToTo: the rules of its options and records. As in commit_test.cc, which has
// the rules of all protocols with views.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "examine.h"
#include "order/toto/commit_record.h"
#include "outcome.h"
#include "toto_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

namespace toto = order::toto;
using Bytes = std::vector<std::byte>;

// The offsets of the parts of plain_toto_commit(), counted from the end of the header.
constexpr std::size_t kOptionsAt = kViewBytes + 4;
constexpr std::size_t kSurvivorsAt = kOptionsAt + 4 + 8 + 2 + 4 * kMemberBytes + 2 + kViewBytes;
constexpr std::size_t kRecordCountAt = kSurvivorsAt + 2;
constexpr std::size_t kNumbersAt = kRecordCountAt + 2 + 2 * kMemberBytes;

std::string with_toto_commit(const std::function<void(Commit&)>& change) {
  Commit commit = plain_toto_commit();
  change(commit);
  return outcome(commit, FrameKind::commit, toto::encode_commit, toto::decode_commit);
}

std::string with_packet_bytes_max(std::uint32_t bytes) {
  return with_toto_commit(
      [&](Commit& commit) { commit.options = encode(toto::ViewOptions{bytes}); });
}

std::string with_toto_record(const toto::OldViewRecord& record) {
  return with_toto_commit(
      [&](Commit& commit) { commit.old_views[0].record = toto::encode(record); });
}

/// The result for a record of these bytes, also for bytes that no encoder writes.
std::string with_record_bytes(const Bytes& record) {
  return with_toto_commit([&](Commit& commit) { commit.old_views[0].record = record; });
}

Bytes toto_commit_packet() {
  Bytes packet(kPacketBytesMax);
  packet.resize(
      toto::encode_commit(header_of(FrameKind::commit), plain_toto_commit(), ByteSpan(packet)));
  return packet;
}

toto::OldViewRecord record_of(std::size_t members, Seq each) {
  toto::OldViewRecord record;
  while (record.size() < members) record.push_back(each);
  return record;
}

TEST(WireTotoCommit, FormatIsSound) { EXPECT_TRUE(toto::kCommitFormat.is_sound()); }

TEST(WireTotoCommit, PacketsHaveSpaceForTheHeaderOfAUnit) {
  constexpr auto kHeader = static_cast<std::uint32_t>(node_header_bytes(kUnitAdvancesMax));
  EXPECT_EQ(kHeader, 118U);
  EXPECT_EQ(with_packet_bytes_max(0), "bad_value");
  EXPECT_EQ(with_packet_bytes_max(kHeader), "bad_value");
  EXPECT_EQ(with_packet_bytes_max(kHeader + 1), "none");
  EXPECT_EQ(with_packet_bytes_max(kPacketBytesMax), "none");
  EXPECT_EQ(with_packet_bytes_max(kPacketBytesMax + 1), "bad_value");
  EXPECT_EQ(with_packet_bytes_max(0xffff'ffff), "bad_value");
}

TEST(WireTotoCommit, ARecordHasUpToKMembersMaxCounters) {
  EXPECT_EQ(with_toto_record({}), "none");
  EXPECT_EQ(with_toto_record(record_of(1, 0)), "none");
  EXPECT_EQ(with_toto_record(record_of(kMembersMax, kTop)), "none");
  EXPECT_EQ(with_toto_record(record_of(1, kTop + 1)), "bad_value");
  EXPECT_EQ(with_toto_record(record_of(1, ~0ULL)), "bad_value");
  for (const std::size_t member : {std::size_t{0}, std::size_t{70}, kMembersMax - 1}) {
    toto::OldViewRecord record = record_of(kMembersMax, 5);
    record[member] = kTop + 1;
    EXPECT_EQ(with_toto_record(record), "bad_value") << member;
  }
}

TEST(WireTotoCommit, ARecordOfAnotherLengthHasNoEncoding) {
  const Bytes good = toto::encode(record_of(3, 5));
  EXPECT_EQ(with_record_bytes(good), "none");
  EXPECT_EQ(with_record_bytes({}), "not encodable");
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto end = good.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(with_record_bytes(Bytes(good.begin(), end)), "not encodable") << size;
  }
  Bytes longer = good;
  longer.push_back({});
  EXPECT_EQ(with_record_bytes(longer), "not encodable");
  longer.resize(2 + 8 * 4);
  EXPECT_EQ(with_record_bytes(longer), "not encodable") << "a count of three, and four numbers";
  longer[0] = std::byte{4};
  EXPECT_EQ(with_record_bytes(longer), "none");
}

TEST(WireTotoCommit, ARecordBeyondItsMaximumHasNoEncoding) {
  Bytes record = toto::encode(record_of(kMembersMax, 5));
  EXPECT_EQ(with_record_bytes(record), "none");
  record.resize(record.size() + 8);
  record[0] = std::byte{kMembersMax + 1};
  EXPECT_EQ(with_record_bytes(record), "not encodable");
}

TEST(WireTotoCommit, CountsAreLimitedBeforeTheyAreUsed) {
  const auto count = [](std::size_t offset, std::uint16_t value) {
    return with_count(plain_toto_commit(), FrameKind::commit, toto::encode_commit,
                      toto::decode_commit, offset, value);
  };
  EXPECT_EQ(count(kRecordCountAt, 4), "none");
  EXPECT_EQ(count(kRecordCountAt, 100), "truncated");
  EXPECT_EQ(count(kRecordCountAt, kMembersMax), "truncated");
  EXPECT_EQ(count(kRecordCountAt, kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(kRecordCountAt, 0xffff), "count_too_large");
  EXPECT_EQ(count(kSurvivorsAt, 100), "truncated");
  EXPECT_EQ(count(kSurvivorsAt, kMembersMax + 1), "count_too_large");
}

TEST(WireTotoCommit, EachPartStandsInItsPlace) {
  const Bytes packet = toto_commit_packet();
  const auto number = [&]<class T>(T, std::size_t offset) {
    return load<T>(ByteView(packet).subspan(kHeaderBytes + offset, sizeof(T)));
  };
  EXPECT_EQ(number(std::uint32_t{}, kOptionsAt), 1'472U);
  EXPECT_EQ(number(std::uint16_t{}, kSurvivorsAt), 2U);
  EXPECT_EQ(number(std::uint16_t{}, kRecordCountAt), 4U);
  const std::vector<Seq> joined{10, 0, 9, 300};
  for (std::size_t i = 0; i < joined.size(); ++i) {
    EXPECT_EQ(number(std::uint64_t{}, kNumbersAt + 8 * i), joined[i]) << i;
  }
  const std::size_t second = kNumbersAt + 8 * joined.size();
  EXPECT_EQ(number(std::uint16_t{}, second + kViewBytes), 1U) << "count of survivors";
  EXPECT_EQ(number(std::uint16_t{}, second + kViewBytes + 2), 1U) << "count of numbers";
  EXPECT_EQ(packet.size(), kHeaderBytes + second + kViewBytes + 4 + kMemberBytes + 8);
}

TEST(WireTotoCommit, ItsOptionsAndRecordsDecodeToWhatWasEncoded) {
  for (const std::uint32_t bytes : {119U, 1'472U, 65'507U}) {
    const toto::ViewOptions options{bytes};
    EXPECT_EQ(toto::decode_options(encode(options)), options);
  }
  for (const std::size_t members : {std::size_t{0}, std::size_t{1}, kMembersMax}) {
    toto::OldViewRecord record;
    while (record.size() < members) record.push_back(kTop - record.size());
    const Bytes bytes = toto::encode(record);
    EXPECT_EQ(bytes.size(), 2 + 8 * members);
    EXPECT_TRUE(toto::decode_record(bytes) == record) << members;
  }
}

TEST(WireTotoCommit, RandomOnesSurviveEncodingAndDecoding) {
  Random random(20'269);
  Bytes packet(kPacketBytesMax);
  Commit decoded;  // reused, as an engine does
  std::size_t old_views = 0;
  std::size_t largest = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Commit commit = random_toto_commit(random);
    const std::size_t size =
        toto::encode_commit(header_of(FrameKind::commit), commit, ByteSpan(packet));
    ASSERT_GT(size, kHeaderBytes);
    const ByteView whole = ByteView(packet).first(size);
    ASSERT_EQ(drop_name(toto::decode_commit(whole, decoded)), "none") << "round " << round;
    ASSERT_TRUE(decoded == commit) << "round " << round;
    const Verdict verdict = examine(whole, Checksum::present, Records::toto);
    ASSERT_TRUE(verdict.accepted()) << "round " << round;
    ASSERT_STREQ(verdict.wrong, nullptr) << "round " << round;
    old_views += commit.old_views.size();
    for (const OldView& old : commit.old_views) {
      largest = std::max(largest, toto::decode_record(old.record).size());
    }
  }
  EXPECT_GT(old_views, 2'000U);
  EXPECT_EQ(largest, kMembersMax);
}

TEST(WireTotoCommit, EveryChangedBitIsDroppedOrCanonical) {
  Bytes packet = toto_commit_packet();
  int accepted = 0;
  for (std::size_t bit = 8 * kHeaderBytes; bit < 8 * packet.size(); ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    packet[bit / 8] ^= mask;
    complete(packet);
    const Verdict verdict = examine(packet, Checksum::present, Records::toto);
    EXPECT_STREQ(verdict.wrong, nullptr) << bit;
    accepted += verdict.accepted() ? 1 : 0;
    packet[bit / 8] ^= mask;
  }
  EXPECT_GT(accepted, 100);
}

TEST(WireTotoCommit, GivesZeroForACommitThatNoDatagramHolds) {
  // Each of 128 old views with the largest record is legal. Together they have 132 KiB.
  Commit commit = plain_toto_commit();
  commit.members = first_members(kMembersMax);
  commit.old_views.clear();
  for (const MemberId& member : commit.members) {
    commit.old_views.push_back({{8, member}, {member}, toto::encode(record_of(kMembersMax, kTop))});
  }
  Bytes large(300'000);
  EXPECT_EQ(toto::encode_commit(header_of(FrameKind::commit), commit, large), 0U);
  commit.old_views.resize(60);
  const std::size_t size = toto::encode_commit(header_of(FrameKind::commit), commit, large);
  EXPECT_EQ(size, kHeaderBytes + 38 + 2 + 12 * kMembersMax +
                      60 * (kViewBytes + 4 + kMemberBytes + 8 * kMembersMax));
  EXPECT_TRUE(examine(ByteView(large).first(size), Checksum::present, Records::toto).accepted());
}

}  // namespace
}  // namespace peal::wire::test
