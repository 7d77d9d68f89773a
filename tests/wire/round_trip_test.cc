// SPDX-License-Identifier: Apache-2.0
// Every legal frame survives encoding and decoding, and needs exactly the room that it needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "examine.h"
#include "paxos_samples.h"
#include "samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

constexpr int kRounds = 2'000;
constexpr std::byte kUntouched{0xa5};

std::vector<std::byte> whole_packet() {
  return std::vector<std::byte>(kPacketBytesMax, kUntouched);
}

/// Encodes and decodes random frames, and asks that nothing is written past the end.
template <class Frame, class Make, class Encode, class Decode>
void expect_round_trips(Make make, Encode encode, Decode decode, FrameKind kind) {
  Random random(20'260);
  std::vector<std::byte> packet = whole_packet();
  Frame decoded;  // reused, as an engine does
  for (int round = 0; round < kRounds; ++round) {
    const Frame frame = make(random);
    const std::size_t size = encode(header_of(kind), frame, ByteSpan(packet));
    ASSERT_GT(size, kHeaderBytes);
    ASSERT_TRUE(std::all_of(packet.begin() + static_cast<std::ptrdiff_t>(size), packet.end(),
                            [](std::byte b) { return b == kUntouched; }));
    const ByteView whole = ByteView(packet).first(size);
    Header header;
    ASSERT_EQ(drop_name(decode_header(whole, header)), "none");
    ASSERT_EQ(header.kind, kind);
    ASSERT_EQ(header.sender, kSender);
    ASSERT_EQ(drop_name(decode(whole, decoded)), "none") << "round " << round;
    ASSERT_TRUE(decoded == frame) << "round " << round;
    ASSERT_STREQ(examine(whole).wrong, nullptr) << "round " << round;
    std::fill_n(packet.begin(), size, kUntouched);
  }
}

TEST(WireRoundTrip, Tokens) {
  expect_round_trips<Token>(random_token, encode_token, decode_token, FrameKind::token);
}
TEST(WireRoundTrip, Joins) {
  expect_round_trips<Join>(random_join, encode_join, decode_join, FrameKind::join);
}
TEST(WireRoundTrip, Commits) {
  expect_round_trips<Commit>(random_commit, encode_commit, decode_commit, FrameKind::commit);
}
TEST(WireRoundTrip, Probes) {
  expect_round_trips<ProbeFrame>(random_probe, encode_probe, decode_probe, FrameKind::probe);
}
TEST(WireRoundTrip, HoldCancels) {
  expect_round_trips<HoldCancel>(random_hold_cancel, encode_hold_cancel, decode_hold_cancel,
                                 FrameKind::hold_cancel);
}
TEST(WireRoundTrip, EpochNotices) {
  expect_round_trips<EpochNotice>(random_epoch_notice, encode_epoch_notice, decode_epoch_notice,
                                  FrameKind::epoch_notice);
}

TEST(WireRoundTrip, States) {
  expect_round_trips<State>(random_state, encode_state, decode_state, frame_kind(PaxosKind::state));
}
TEST(WireRoundTrip, Prepares) {
  expect_round_trips<Prepare>(random_prepare, encode_prepare, decode_prepare,
                              frame_kind(PaxosKind::prepare));
}
TEST(WireRoundTrip, Promises) {
  expect_round_trips<Promise>(random_promise, encode_promise, decode_promise,
                              frame_kind(PaxosKind::promise));
}
TEST(WireRoundTrip, Fetches) {
  expect_round_trips<Fetch>(random_fetch, encode_fetch, decode_fetch, frame_kind(PaxosKind::fetch));
}
TEST(WireRoundTrip, Repeats) {
  expect_round_trips<Repeat>(random_repeat, encode_repeat, decode_repeat,
                             frame_kind(PaxosKind::repeat));
}
TEST(WireRoundTrip, LackedUnits) {
  expect_round_trips<Lacks>(random_lacks, encode_lacks, decode_lacks, frame_kind(PaxosKind::lacks));
}
TEST(WireRoundTrip, Checkpoints) {
  expect_round_trips<Checkpoint>(random_checkpoint, encode_checkpoint, decode_checkpoint,
                                 frame_kind(PaxosKind::checkpoint));
}

/// Values stand in the packet before their header is written; it leaves them alone.
template <class Frame, class Make, class Decode>
void expect_values_round_trip(Make make, Decode decode, std::size_t front_bytes) {
  Random random(20'262);
  std::set<ValueKind> kinds;
  for (int round = 0; round < kRounds; ++round) {
    const auto sample = make(random);
    kinds.insert(sample.frame.head.kind);
    for (const Checksum checksum : {Checksum::present, Checksum::absent}) {
      const std::vector<std::byte> packet = packet_of(sample, checksum);
      Header header;
      ASSERT_EQ(drop_name(decode_header(packet, header, checksum)), "none");
      Frame decoded;
      ASSERT_EQ(drop_name(decode(packet, decoded)), "none") << "round " << round;
      ASSERT_TRUE(decoded == sample.frame) << "round " << round;
      const ByteView bytes = ByteView(packet).subspan(front_bytes);
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), sample.bytes.begin(), sample.bytes.end()));
      ASSERT_STREQ(examine(packet, checksum).wrong, nullptr) << "round " << round;
    }
  }
  using Kinds = std::set<ValueKind>;
  EXPECT_EQ(kinds, (Kinds{ValueKind::unit, ValueKind::nothing, ValueKind::view, ValueKind::nodes}));
}

TEST(WireRoundTrip, ValuesOfEveryKind) {
  expect_values_round_trip<ValueFrame>(random_value, decode_value, kDataHeaderBytes);
}
TEST(WireRoundTrip, FetchedValues) {
  expect_values_round_trip<Fetched>(random_fetched, decode_fetched, kFetchedHeaderBytes);
}

TEST(WireRoundTrip, RelayedValues) {
  expect_values_round_trip<Relay>(random_relay, decode_relay, kRelayHeaderBytes);
}

TEST(WireRoundTrip, MembersOfAView) {
  Random random(20'263);
  std::vector<ViewMember> decoded;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<ViewMember> members = random_view_members(random);
    ASSERT_EQ(drop_name(decode_view_members(view_bytes(members), decoded)), "none");
    ASSERT_TRUE(decoded == members) << "round " << round;
  }
}

TEST(WireRoundTrip, ListsOfNodes) {
  Random random(20'264);
  Nodes decoded;
  std::set<bool> all_are_acceptors;
  for (int round = 0; round < kRounds; ++round) {
    const Nodes nodes = random_nodes(random);
    decoded.number = nodes.number;
    decoded.first = nodes.first;
    ASSERT_EQ(drop_name(decode_nodes(nodes_bytes(nodes), decoded)), "none");
    ASSERT_TRUE(decoded == nodes) << "round " << round;
    all_are_acceptors.insert(nodes.all == nodes.acceptors);
  }
  EXPECT_EQ(all_are_acceptors.size(), 2U);
}

TEST(WireRoundTrip, RandomStatesAndCheckpointsAreOfFirstAndLaterLists) {
  Random random(20'265);
  int states_before = 0;
  int states_later = 0;
  int first_lists = 0;
  int later_lists = 0;
  for (int round = 0; round < kRounds; ++round) {
    const State state = random_state(random);
    states_before += state.next == 0 ? 1 : 0;
    states_later += state.list != 0 ? 1 : 0;
    const Checkpoint checkpoint = random_checkpoint(random);
    first_lists += checkpoint.nodes.number == 0 ? 1 : 0;
    later_lists += checkpoint.nodes.number == kListMax ? 1 : 0;
  }
  for (const int count : {states_before, states_later, first_lists, later_lists}) {
    EXPECT_GT(count, kRounds / 50);
  }
}

TEST(WireRoundTrip, DataLeavesTheUnitAlone) {
  Random random(20'261);
  for (int round = 0; round < kRounds; ++round) {
    const Data data = random_data(random);
    std::vector<std::byte> unit(random.below(round % 100 == 0 ? 60'000 : 200));
    for (std::byte& b : unit) b = static_cast<std::byte>(random.below(256));
    std::vector<std::byte> packet(kDataHeaderBytes + unit.size(), kUntouched);
    std::copy(unit.begin(), unit.end(), packet.begin() + kDataHeaderBytes);
    encode_data_in_place(header_of(FrameKind::data), data, packet);
    Header header;
    ASSERT_EQ(drop_name(decode_header(packet, header)), "none");
    ASSERT_EQ(header.kind, FrameKind::data);
    Data decoded;
    ASSERT_EQ(drop_name(decode_data(packet, decoded)), "none");
    ASSERT_TRUE(decoded == data);
    ASSERT_TRUE(
        std::equal(unit.begin(), unit.end(), packet.begin() + kDataHeaderBytes, packet.end()));
    ASSERT_STREQ(examine(packet).wrong, nullptr);
  }
}

/// Encoding into every size that is too small gives 0 and stays inside it.
template <class Frame, class Encode>
void expect_needs_its_size(const Frame& frame, Encode encode, FrameKind kind) {
  std::vector<std::byte> packet = whole_packet();
  const std::size_t size = encode(header_of(kind), frame, ByteSpan(packet));
  ASSERT_GT(size, 0U);
  for (std::size_t room = 0; room < size; ++room) {
    std::vector<std::byte> small(room);  // its own block: a write behind it is a sanitizer's find
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
  expect_needs_its_size(plain_state(), encode_state, frame_kind(PaxosKind::state));
  expect_needs_its_size(Prepare{1, 1}, encode_prepare, frame_kind(PaxosKind::prepare));
  expect_needs_its_size(plain_promise(), encode_promise, frame_kind(PaxosKind::promise));
  expect_needs_its_size(Fetch{kSomeRound, 1}, encode_fetch, frame_kind(PaxosKind::fetch));
  expect_needs_its_size(Repeat{1, 1}, encode_repeat, frame_kind(PaxosKind::repeat));
  expect_needs_its_size(Lacks{1, 1, 1}, encode_lacks, frame_kind(PaxosKind::lacks));
  expect_needs_its_size(plain_checkpoint(), encode_checkpoint, frame_kind(PaxosKind::checkpoint));
  std::vector<std::byte> small(kHeaderBytes - 1);
  EXPECT_EQ(encode_checkpoint_get(header_of(PaxosKind::checkpoint_get), small), 0U);
  small.resize(2 + 3 * kViewMemberBytes - 1);
  EXPECT_EQ(encode_view_members(first_view_members(3), small), 0U);
  const Nodes list = first_nodes(4, 3);
  for (std::size_t room = 0; room < 8 + 2 + 4 * 4; ++room) {
    std::vector<std::byte> less(room);
    EXPECT_EQ(encode_nodes(list, less), 0U) << room;
  }
}

TEST(WireEncode, GivesZeroForListsThatNoPacketMayHold) {
  std::vector<std::byte> packet = whole_packet();
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
  commit.old_views[0].obligation = first_members(kMembersMax + 1);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));
  commit = plain_commit();
  commit.old_views.resize(kMembersMax + 1);
  none(encode_commit(header_of(FrameKind::commit), commit, packet));

  none(encode_probe(header_of(FrameKind::probe), {kSomeView, first_members(kProcessesMax + 1)},
                    packet));
}

TEST(WireEncode, GivesZeroForMoreMembersOrRunsThanAPacketMayHold) {
  std::vector<std::byte> packet = whole_packet();
  Checkpoint checkpoint = plain_checkpoint();
  checkpoint.members = first_view_members(kMembersMax);
  checkpoint.numbers.resize(kMembersMax);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet),
            88 + 4 * 4 + 28 * kMembersMax);
  EXPECT_EQ(encode_view_members(checkpoint.members, packet), 2 + 20 * kMembersMax);
  checkpoint.nodes = first_nodes(kMembersMax, 1);
  EXPECT_EQ(encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet), 4'184U);
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
  RelaySample relay = plain_relay(PaxosKind::distribute);
  relay.bytes.resize(kPacketBytesMax - kRelayHeaderBytes);
  EXPECT_TRUE(examine(packet_of(relay)).accepted());
}

TEST(WireEncode, GivesZeroForAHaveListOfTheWrongLength) {
  std::vector<std::byte> packet = whole_packet();
  const auto encoded = [&](const OldView& old) {
    Commit commit = plain_commit();
    commit.old_views[0] = old;
    return encode_commit(header_of(FrameKind::commit), commit, packet);
  };
  OldView old = plain_commit().old_views[0];
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
  // 64 old views with the longest list of holes are legal each, and 128 KiB together.
  Commit commit = plain_commit();
  commit.members = first_members(64);
  commit.old_views.clear();
  for (const MemberId& member : commit.members) {
    OldView old{{8, member}, {member}, 0, kSpanMax, 0, {}, {}};
    old.have.resize(kSpanMax / 64);
    commit.old_views.push_back(old);
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
  std::vector<std::byte> packet = whole_packet();
  const std::size_t size = encode_token(header_of(FrameKind::token), token, packet);
  EXPECT_EQ(size, 122 + kSectionsMax * (22 + kRangesMax * 16));
  Token decoded;
  EXPECT_EQ(drop_name(decode_token(ByteView(packet).first(size), decoded)), "none");
  EXPECT_TRUE(decoded == token);
}

TEST(WireEncode, WritesTheKindOfTheFrameWhateverTheHeaderSays) {
  std::vector<std::byte> packet = whole_packet();
  const std::size_t size = encode_probe(header_of(FrameKind::token), {kSomeView, {}}, packet);
  Header header;
  ASSERT_EQ(drop_name(decode_header(ByteView(packet).first(size), header)), "none");
  EXPECT_EQ(header.kind, FrameKind::probe);
}

}  // namespace
}  // namespace peal::wire::test
