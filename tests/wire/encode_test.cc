// SPDX-License-Identifier: Apache-2.0
// Encoders need exactly the bytes of a frame, and refuse values that no packet can hold.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "examine.h"
#include "paxos_samples.h"
#include "samples.h"
#include "toto_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

/// An encoder gives 0 for each buffer that is too small, and writes nothing behind the buffer.
template <class Frame, class Encode>
void expect_needs_its_size(const Frame& frame, Encode encode, FrameKind kind) {
  std::vector<std::byte> packet(kPacketBytesMax);
  const std::size_t size = encode(header_of(kind), frame, ByteSpan(packet));
  ASSERT_GT(size, 0U);
  for (std::size_t room = 0; room < size; ++room) {
    std::vector<std::byte> small(room);  // its own block, so that a sanitizer detects overruns
    ASSERT_EQ(encode(header_of(kind), frame, ByteSpan(small)), 0U) << room << " of " << size;
  }
  std::vector<std::byte> exact(size);
  EXPECT_EQ(encode(header_of(kind), frame, ByteSpan(exact)), size);
}

TEST(WireEncode, GivesZeroIfTheRoomIsTooSmall) {
  expect_needs_its_size(plain_token(), encode_token, FrameKind::token);
  expect_needs_its_size(plain_join(), encode_join, FrameKind::join);
  expect_needs_its_size(plain_commit(), encode_commit, FrameKind::commit);
  expect_needs_its_size(ProbeFrame{kSomeView, first_members(5)}, encode_probe, FrameKind::probe);
  expect_needs_its_size(HoldCancel{kSomeView}, encode_hold_cancel, FrameKind::hold_cancel);
  expect_needs_its_size(EpochNotice{kSender}, encode_epoch_notice, FrameKind::epoch_notice);
  expect_needs_its_size(Trial{Trial::Step::echo, 1, 2, 3, kSender, 4}, encode_trial,
                        FrameKind::trial);
  SettingsFrame settings;
  settings.settings.push_back({"a", "1"});
  settings.settings.push_back({"b.c", ""});
  expect_needs_its_size(settings, encode_settings, FrameKind::settings);
  expect_needs_its_size(plain_state(), encode_state, frame_kind(PaxosKind::state));
  expect_needs_its_size(Prepare{1, 1}, encode_prepare, frame_kind(PaxosKind::prepare));
  expect_needs_its_size(plain_promise(), encode_promise, frame_kind(PaxosKind::promise));
  expect_needs_its_size(Fetch{kSomeRound, 1}, encode_fetch, frame_kind(PaxosKind::fetch));
  expect_needs_its_size(Repeat{1, 1}, encode_repeat, frame_kind(PaxosKind::repeat));
  expect_needs_its_size(Recall{1, 1}, encode_recall, frame_kind(PaxosKind::recall));
  expect_needs_its_size(Word{1}, encode_no_vote, frame_kind(PaxosKind::word));
  expect_needs_its_size(LinkCheck{1, 100}, encode_link_check, frame_kind(PaxosKind::link_check));
  expect_needs_its_size(Pass{1}, encode_pass, frame_kind(PaxosKind::pass));
  expect_needs_its_size(Lacks{1, 1, 1}, encode_lacks, frame_kind(PaxosKind::lacks));
  expect_needs_its_size(Lives{1, {1, 2, 3}}, encode_lives, frame_kind(PaxosKind::lives));
  expect_needs_its_size(LogAnswer{9, kLogBit, {{1, 2}}}, encode_log_answer,
                        frame_kind(PaxosKind::log_heard));
  expect_needs_its_size(plain_checkpoint(), encode_checkpoint, frame_kind(PaxosKind::checkpoint));
  expect_needs_its_size(plain_toto_lacks(), encode_toto_lacks, frame_kind(TotoKind::lacks));
  expect_needs_its_size(plain_toto_status(), encode_toto_status, frame_kind(TotoKind::status));
  expect_needs_its_size(plain_toto_pass(), encode_toto_pass, frame_kind(TotoKind::pass));
  std::vector<std::byte> small(kHeaderBytes - 1);
  EXPECT_EQ(encode_checkpoint_get(header_of(PaxosKind::checkpoint_get), small), 0U);
  small.resize(2 + 3 * kViewMemberBytes - 1);
  EXPECT_EQ(encode_view_members(first_view_members(3), small), 0U);
  Nodes list = first_nodes(4, 3);
  for (const std::size_t lives : {0U, 3U}) {
    list.lives.assign(lives, 9);
    for (std::size_t room = 0; room < 8 + 2 + 4 * 4 + 8 * lives; ++room) {
      std::vector<std::byte> less(room);
      EXPECT_EQ(encode_nodes(list, less), 0U) << room;
    }
  }
}

TEST(WireEncode, GivesZeroForListsThatNoPacketMayHold) {
  std::vector<std::byte> packet(kPacketBytesMax);
  const auto none = [&](std::size_t size) { EXPECT_EQ(size, 0U); };

  Join join = plain_join();
  join.processes = first_members(kProcessesMax + 1);
  none(encode_join(header_of(FrameKind::join), join, packet));
  join = plain_join();
  join.failed = first_members(kProcessesMax + 1);
  none(encode_join(header_of(FrameKind::join), join, packet));
  join = plain_join();
  join.heard = first_members(kProcessesMax + 1);
  none(encode_join(header_of(FrameKind::join), join, packet));

  Commit commit = plain_commit();
  commit.members = first_members(kMembersMax + 1);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));
  commit = plain_commit();
  commit.old_views[0].survivors = first_members(kMembersMax + 1);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));
  commit = plain_commit();
  OldViewRecord record = decode_record(commit.old_views[0].record);
  record.obligation = first_members(kMembersMax + 1);
  commit.old_views[0].record = encode(record);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));
  commit = plain_commit();
  commit.old_views.resize(kMembersMax + 1);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));

  none(encode_probe(header_of(FrameKind::probe), {kSomeView, first_members(kProcessesMax + 1)},
                    packet));
}

TEST(WireEncode, GivesZeroForSettingsThatNoPacketMayHold) {
  std::vector<std::byte> packet(kPacketBytesMax);
  const std::string long_text(kSettingValueMax + 1, 'x');
  const auto encoded = [&](std::string_view key, std::string_view value) {
    SettingsFrame frame;
    frame.settings.push_back({key, value});
    return encode_settings(header_of(FrameKind::settings), frame, packet);
  };
  const std::string_view key = std::string_view(long_text).substr(0, kSettingKeyMax);
  const std::string_view value = std::string_view(long_text).substr(0, kSettingValueMax);
  EXPECT_EQ(encoded(key, value), kHeaderBytes + 2 + 2 + kSettingKeyMax + kSettingValueMax);
  EXPECT_EQ(encoded("", value), 0U);
  EXPECT_EQ(encoded(std::string_view(long_text).substr(0, kSettingKeyMax + 1), value), 0U);
  EXPECT_EQ(encoded(key, long_text), 0U);

  SettingsFrame frame;
  const std::string_view keys = "abcd";
  for (std::size_t i = 0; i < keys.size(); ++i)
    frame.settings.push_back({keys.substr(i, 1), value});
  const std::size_t four = encode_settings(header_of(FrameKind::settings), frame, packet);
  EXPECT_EQ(four, kHeaderBytes + 2 + 4 * (2 + 1 + kSettingValueMax));
  const std::string_view rest = value.substr(0, kSettingsBytesMax - four - 3);
  frame.settings.push_back({"e", rest});
  EXPECT_EQ(encode_settings(header_of(FrameKind::settings), frame, packet), kSettingsBytesMax);
  frame.settings.back().value = value.substr(0, rest.size() + 1);
  EXPECT_EQ(encode_settings(header_of(FrameKind::settings), frame, packet), 0U);
}

TEST(WireEncode, GivesZeroForMoreMembersOrRunsThanAPacketMayHold) {
  std::vector<std::byte> packet(kPacketBytesMax);
  Checkpoint checkpoint = plain_checkpoint();
  checkpoint.members = first_view_members(kMembersMax);
  checkpoint.numbers.resize(kMembersMax);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet),
            96 + 4 * 4 + 28 * kMembersMax);
  EXPECT_EQ(encode_view_members(checkpoint.members, packet), 2 + 20 * kMembersMax);
  checkpoint.nodes = first_nodes(kMembersMax, 1);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet), 4'192U);
  EXPECT_EQ(encode_nodes(checkpoint.nodes, packet), 8 + 2 + 4 * kMembersMax);
  checkpoint.members = first_view_members(kMembersMax + 1);
  checkpoint.numbers.resize(kMembersMax + 1);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet), 0U);
  EXPECT_EQ(encode_view_members(checkpoint.members, packet), 0U);
  checkpoint = plain_checkpoint();
  checkpoint.nodes = first_nodes(kMembersMax + 1, 1);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet), 0U);
  EXPECT_EQ(encode_nodes(checkpoint.nodes, packet), 0U);

  Promise promise = plain_promise();
  promise.runs.resize(kVoteRunsMax);
  EXPECT_EQ(encode_promise(header_of(PaxosKind::promise), promise, packet),
            kHeaderBytes + 30 + 32 * kVoteRunsMax);
  promise.runs.resize(kVoteRunsMax + 1);
  EXPECT_EQ(encode_promise(header_of(PaxosKind::promise), promise, packet), 0U);
}

TEST(WireEncode, AValueMayFillADatagram) {
  ValueSample value = plain_propose();
  value.bytes.resize(kPacketBytesMax - kDataHeaderBytes);
  EXPECT_TRUE(examine(packet_of(value)).accepted());
  FetchedSample fetched = plain_fetched();
  fetched.bytes.resize(kPacketBytesMax - kFetchedHeaderBytes);
  EXPECT_TRUE(examine(packet_of(fetched)).accepted());
  WordSample word = plain_word();
  word.bytes.resize(kPacketBytesMax - kWordHeaderBytes);
  EXPECT_TRUE(examine(packet_of(word)).accepted());
  RelaySample relay = plain_relay(PaxosKind::distribute);
  relay.bytes.resize(kPacketBytesMax - kRelayHeaderBytes);
  EXPECT_TRUE(examine(packet_of(relay)).accepted());
}

TEST(WireEncode, ANodeMayFillADatagram) {
  NodeSample node = plain_node();
  node.frame.advances = first_advances(kUnitAdvancesMax, node.frame.origin);
  node.unit.resize(kPacketBytesMax - node_header_bytes(kUnitAdvancesMax));
  EXPECT_TRUE(examine(packet_of(node)).accepted());
}

TEST(WireEncode, FramesOfTheLargestViewAreSmall) {
  std::vector<std::byte> packet(kPacketBytesMax);
  NodeSample control = plain_control();
  control.frame.advances = first_advances(kMembersMax - 1, control.frame.origin);
  EXPECT_EQ(packet_of(control).size(), kHeaderBytes + 42 + 4 * (kMembersMax - 1));
  TotoStatus status = plain_toto_status();
  while (!status.have.full()) status.have.push_back(kCounterMax);
  EXPECT_EQ(encode_toto_status(header_of(TotoKind::status), status, packet),
            kHeaderBytes + 31 + 8 * kMembersMax);
  TotoLacks lacks{kSomeView, {}};
  while (!lacks.ranges.full()) lacks.ranges.push_back({0, 1 + 2 * lacks.ranges.size(), 1});
  EXPECT_EQ(encode_toto_lacks(header_of(TotoKind::lacks), lacks, packet),
            kHeaderBytes + 22 + 12 * kNodeRangesMax);
}

TEST(WireEncode, GivesZeroForAHaveListOfTheWrongLength) {
  std::vector<std::byte> packet(kPacketBytesMax);
  const auto encoded = [&](const OldViewRecord& record) {
    Commit commit = plain_commit();
    commit.old_views[0].record = encode(record);
    return encode_commit(header_of(FrameKind::commit), commit, packet);
  };
  OldViewRecord old = decode_record(plain_commit().old_views[0].record);
  EXPECT_GT(encoded(old), 0U);
  old.have.push_back(0);
  EXPECT_EQ(encoded(old), 0U);
  old.have.resize(1);
  EXPECT_EQ(encoded(old), 0U);
  old.have.clear();
  old.high = old.base - 1;
  EXPECT_EQ(encoded(old), 0U);
  old.high = old.base + kSpanMax + 1;
  old.have.resize(kSpanMax / 64 + 1);
  EXPECT_EQ(encoded(old), 0U);
}

TEST(WireEncode, GivesZeroForACommitThatNoDatagramHolds) {
  // Each of 64 old views with the longest list of gaps is legal. Together they have 128 KiB.
  Commit commit = plain_commit();
  commit.members = first_members(64);
  commit.old_views.clear();
  for (const MemberId& member : commit.members) {
    OldViewRecord record{0, kSpanMax, 0, {}, {}};
    record.have.resize(kSpanMax / 64);
    commit.old_views.push_back({{8, member}, {member}, encode(record)});
  }
  std::vector<std::byte> large(300'000);
  EXPECT_EQ(encode_commit(header_of(FrameKind::commit), commit, large), 0U);
  commit.old_views.resize(20);
  EXPECT_GT(encode_commit(header_of(FrameKind::commit), commit, large), 40'000U);
}

TEST(WireEncode, TheLargestTokenFitsADatagram) {
  Token token = plain_token();
  token.sections.clear();
  for (std::uint64_t number = 1; number <= kSectionsMax; ++number) {
    RequestSection section;
    section.view = {number, kSender};
    for (std::uint64_t i = 0; i < kRangesMax; ++i) section.ranges.push_back({1 + 64 * i, ~0ULL});
    token.sections.push_back(section);
  }
  std::vector<std::byte> packet(kPacketBytesMax);
  const std::size_t size = encode_token(header_of(FrameKind::token), token, packet);
  EXPECT_EQ(size, 122 + kSectionsMax * (22 + kRangesMax * 16));
  Token decoded;
  EXPECT_EQ(drop_name(decode_token(ByteView(packet).first(size), decoded)), "none");
  EXPECT_TRUE(decoded == token);
}

TEST(WireEncode, WritesTheKindOfTheFrameWhateverTheHeaderSays) {
  std::vector<std::byte> packet(kPacketBytesMax);
  const std::size_t size = encode_probe(header_of(FrameKind::token), {kSomeView, {}}, packet);
  Header header;
  ASSERT_EQ(drop_name(decode_header(ByteView(packet).first(size), header)), "none");
  EXPECT_EQ(header.kind, FrameKind::probe);
}

}  // namespace
}  // namespace peal::wire::test
