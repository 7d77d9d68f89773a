// SPDX-License-Identifier: Apache-2.0
// Every legal frame survives encoding and decoding.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "examine.h"
#include "paxos_samples.h"
#include "ramcast_samples.h"
#include "samples.h"
#include "toto_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

constexpr int kRounds = 2'000;
constexpr std::byte kUntouched{0xa5};

std::vector<std::byte> whole_packet() {
  return std::vector<std::byte>(kPacketBytesMax, kUntouched);
}

/// Encodes and decodes random frames, and checks that nothing is written behind their ends.
template <class Frame, class Make, class Encode, class Decode>
void expect_round_trips(Make make, Encode encode, Decode decode, FrameKind kind) {
  Random random(20'260);
  std::vector<std::byte> packet = whole_packet();
  Frame decoded;  // used again, as an engine does
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

TEST(WireRoundTrip, Trials) {
  for (const Lane lane : {Lane::control, Lane::data}) {
    const auto draw = [lane](Random& random) {
      Trial trial = random_trial(random);
      while (lane_of(trial.part) != lane) trial = random_trial(random);
      return trial;
    };
    expect_round_trips<Trial>(draw, encode_trial, decode_trial,
                              lane == Lane::data ? FrameKind::data : FrameKind::trial);
  }
}

TEST(WireRoundTrip, Settings) {
  expect_round_trips<SettingsFrame>(random_settings, encode_settings, decode_settings,
                                    FrameKind::settings);
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
TEST(WireRoundTrip, Recalls) {
  expect_round_trips<Recall>(random_recall, encode_recall, decode_recall,
                             frame_kind(PaxosKind::recall));
}
TEST(WireRoundTrip, WordsWithoutAVote) {
  expect_round_trips<Word>(random_no_vote, encode_no_vote, decode_word,
                           frame_kind(PaxosKind::word));
}
TEST(WireRoundTrip, LinkChecks) {
  expect_round_trips<LinkCheck>(random_link_check, encode_link_check, decode_link_check,
                                frame_kind(PaxosKind::link_check));
}
TEST(WireRoundTrip, LackedUnits) {
  expect_round_trips<Pass>(random_pass, encode_pass, decode_pass, frame_kind(PaxosKind::pass));
  expect_round_trips<Lacks>(random_lacks, encode_lacks, decode_lacks, frame_kind(PaxosKind::lacks));
}
TEST(WireRoundTrip, Lives) {
  expect_round_trips<Lives>(random_lives, encode_lives, decode_lives, frame_kind(PaxosKind::lives));
}
TEST(WireRoundTrip, AnswersAboutALog) {
  expect_round_trips<LogAnswer>(random_log_answer, encode_log_answer, decode_log_answer,
                                frame_kind(PaxosKind::log_heard));
}
TEST(WireRoundTrip, Checkpoints) {
  expect_round_trips<Checkpoint>(random_checkpoint, encode_checkpoint, decode_checkpoint,
                                 frame_kind(PaxosKind::checkpoint));
}

TEST(WireRoundTrip, RequestsForNodes) {
  expect_round_trips<TotoLacks>(random_toto_lacks, encode_toto_lacks, decode_toto_lacks,
                                frame_kind(TotoKind::lacks));
}
TEST(WireRoundTrip, StatusesOfNodes) {
  expect_round_trips<TotoStatus>(random_toto_status, encode_toto_status, decode_toto_status,
                                 frame_kind(TotoKind::status));
}
TEST(WireRoundTrip, PassesInAView) {
  expect_round_trips<TotoPass>(random_toto_pass, encode_toto_pass, decode_toto_pass,
                               frame_kind(TotoKind::pass));
}

TEST(WireRoundTrip, ConnectionsOfMemory) {
  expect_round_trips<MemoryHello>(random_hello, encode_memory_hello, decode_memory_hello,
                                  frame_kind(RamcastKind::hello));
}
TEST(WireRoundTrip, ChangesOfALeader) {
  expect_round_trips<Takeover>(random_takeover, encode_takeover, decode_takeover,
                               frame_kind(RamcastKind::takeover));
  expect_round_trips<MemberState>(random_member_state, encode_member_state, decode_member_state,
                                  frame_kind(RamcastKind::state));
  expect_round_trips<Nack>(random_nack, encode_nack, decode_nack, frame_kind(RamcastKind::nack));
}
TEST(WireRoundTrip, RelayedMessages) {
  Random random(20'269);
  MessageRelay decoded;  // reused, as an engine does
  for (int round = 0; round < kRounds; ++round) {
    const MessageRelay relay = random_message_relay(random);
    const std::vector<std::byte> unit(1 + random.below(300), static_cast<std::byte>(round));
    const std::vector<std::byte> packet = packet_of(relay, unit);
    ASSERT_EQ(drop_name(decode_message_relay(packet, decoded)), "none") << "round " << round;
    ASSERT_TRUE(decoded == relay) << "round " << round;
    const ByteView rest = ByteView(packet).subspan(relay_header_bytes(relay.head.indexes.size()));
    ASSERT_TRUE(std::equal(rest.begin(), rest.end(), unit.begin(), unit.end()));
    ASSERT_STREQ(examine(packet).wrong, nullptr) << "round " << round;
  }
}

/// A unit is in the packet before its header is written. The header must not change the unit.
TEST(WireRoundTrip, NodesOfEveryKind) {
  Random random(20'268);
  std::map<NodeKind, std::set<std::size_t>> seen;  // numbers of advances
  Node decoded;                                    // reused, as an engine does
  for (int round = 0; round < kRounds; ++round) {
    const NodeSample sample = random_node(random);
    const std::size_t advances = sample.frame.advances.size();
    seen[sample.frame.kind].insert(advances);
    for (const Checksum checksum : {Checksum::present, Checksum::absent}) {
      const std::vector<std::byte> packet = packet_of(sample, checksum);
      Header header;
      ASSERT_EQ(drop_name(decode_header(packet, header, checksum)), "none");
      ASSERT_EQ(header.kind, frame_kind(TotoKind::node));
      ASSERT_EQ(header.sender, kSender);
      ASSERT_EQ(drop_name(decode_node(packet, decoded)), "none") << "round " << round;
      ASSERT_TRUE(decoded == sample.frame) << "round " << round;
      const ByteView unit = ByteView(packet).subspan(node_header_bytes(advances));
      ASSERT_TRUE(std::equal(unit.begin(), unit.end(), sample.unit.begin(), sample.unit.end()));
      ASSERT_STREQ(examine(packet, checksum).wrong, nullptr) << "round " << round;
    }
  }
  EXPECT_EQ(seen.size(), 4U);
  for (const auto& [kind, counts] : seen) {
    EXPECT_EQ(*counts.begin(), 0U);
    EXPECT_EQ(*counts.rbegin(), kind == NodeKind::control ? kMembersMax - 1 : kUnitAdvancesMax);
  }
}

/// A value is in the packet before its header is written. The header must not change the value.
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

TEST(WireRoundTrip, WordsOfVotes) {
  expect_values_round_trip<Word>(random_word, decode_word, kWordHeaderBytes);
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

TEST(WireRoundTrip, Placings) {
  Random random(20'266);
  Placing decoded;
  for (int round = 0; round < kRounds; ++round) {
    const Placing placing = random_placing(random);
    const std::vector<std::byte> unit =
        placed_unit(placing, std::vector<std::byte>(random.below(3)));
    ASSERT_EQ(drop_name(decode_placing(unit, decoded)), "none") << "round " << round;
    ASSERT_TRUE(decoded == placing) << "round " << round;
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

/// Random frames must include the key 0, the largest key, and keys between them.
TEST(WireRoundTrip, RandomFramesAreOfOneAndOfSeveralEnsembles) {
  Random random(20'267);
  std::map<std::string, std::array<int, 3>> seen;
  const auto note = [&](const std::string& what, std::uint64_t key,
                        std::uint64_t most = kCounterMax) {
    const std::array<std::uint64_t, 2> border{0, most};
    const auto* at = std::find(border.begin(), border.end(), key);
    ++seen[what][static_cast<std::size_t>(at - border.begin())];
  };
  int visiting = 0;
  for (int round = 0; round < 2 * kRounds; ++round) {
    const State state = random_state(random);
    visiting += state.visiting ? 1 : 0;
    note("state", state.from);
    note("checkpoint", random_checkpoint(random).key, kKeyMax);
    const ValueHead head = random_fetched(random).frame.head;
    if (head.kind == ValueKind::nothing) note("nothing", head.number);
    if (head.kind == ValueKind::view) note("view", head.number);
  }
  EXPECT_GT(visiting, kRounds / 50);
  EXPECT_LT(visiting, 2 * kRounds - kRounds / 50);
  EXPECT_EQ(seen.size(), 4U);
  for (const auto& [what, counts] : seen) {
    for (const int count : counts) EXPECT_GT(count, 0) << what;
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

}  // namespace
}  // namespace peal::wire::test
