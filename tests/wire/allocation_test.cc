// SPDX-License-Identifier: Apache-2.0
// The codecs of the hot path allocate no memory. This test is a program of its own, because it
// counts every call of operator new.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allocations.h"
#include "order/toto/commit_record.h"
#include "paxos_samples.h"
#include "samples.h"
#include "toto_samples.h"
#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::wire::test {
namespace {

std::uint64_t allocations_of(const auto& work) {
  const std::uint64_t before = allocations();
  work();
  return allocations() - before;
}

TEST(WireAllocation, TheCounterCounts) {
  std::vector<std::unique_ptr<int>> kept;
  kept.reserve(2);
  EXPECT_EQ(allocations_of([&] {
              kept.push_back(std::make_unique<int>(1));
              kept.push_back(std::make_unique<int>(2));
            }),
            2U);
}

TEST(WireAllocation, TokensTakeNone) {
  Random random(7);
  std::vector<std::byte> packet(kPacketBytesMax);
  const auto decoded = std::make_unique<Token>();
  for (int round = 0; round < 200; ++round) {
    const Token token = random_token(random);
    const std::uint64_t count = allocations_of([&] {
      const std::size_t size = encode_token(header_of(FrameKind::token), token, packet);
      Header header;
      const ByteView whole = ByteView(packet).first(size);
      if (decode_header(whole, header) != Drop::none) std::abort();
      if (decode_token(whole, *decoded) != Drop::none) std::abort();
      // A token that is dropped takes no memory either.
      if (decode_token(whole.first(size - 1), *decoded) == Drop::none) std::abort();
    });
    ASSERT_EQ(count, 0U) << "round " << round;
  }
}

TEST(WireAllocation, DataTakesNone) {
  Random random(8);
  std::vector<std::byte> packet(1'472);
  for (int round = 0; round < 200; ++round) {
    const Data data = random_data(random);
    const std::uint64_t count = allocations_of([&] {
      encode_data_in_place(header_of(FrameKind::data), data, packet);
      Header header;
      Data decoded;
      if (decode_header(packet, header) != Drop::none) std::abort();
      if (decode_data(packet, decoded) != Drop::none) std::abort();
    });
    ASSERT_EQ(count, 0U) << "round " << round;
  }
}

/// Checks that decoding a whole packet, and each part of it, allocates nothing.
template <class Frame, class Decode>
void expect_no_allocation(ByteView packet, Decode decode) {
  const std::uint64_t count = allocations_of([&] {
    Header header;
    Frame decoded;
    if (decode_header(packet, header) != Drop::none) std::abort();
    if (decode(packet, decoded) != Drop::none) std::abort();
    for (std::size_t part = 0; part < packet.size(); part += 1 + packet.size() / 100) {
      static_cast<void>(decode(packet.first(part), decoded));
    }
  });
  ASSERT_EQ(count, 0U);
}

TEST(WireAllocation, ValuesTakeNone) {
  Random random(10);
  for (int round = 0; round < 200; ++round) {
    expect_no_allocation<ValueFrame>(packet_of(random_value(random)), decode_value);
    expect_no_allocation<Fetched>(packet_of(random_fetched(random)), decode_fetched);
    expect_no_allocation<Word>(packet_of(random_word(random)), decode_word);
    expect_no_allocation<Relay>(packet_of(random_relay(random)), decode_relay);
  }
}

TEST(WireAllocation, NodesTakeNone) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    const NodeSample sample = random_node(random);
    std::vector<std::byte> packet = packet_of(sample);
    const std::uint64_t count = allocations_of(
        [&] { encode_node_in_place(header_of(TotoKind::node), sample.frame, packet); });
    ASSERT_EQ(count, 0U) << "round " << round;
    expect_no_allocation<Node>(packet, decode_node);
  }
}

/// Checks that encoding and decoding a frame without a list allocate nothing.
template <class Frame, class Make, class Encode, class Decode, class Kind>
void expect_none_taken(Make make, Encode encode, Decode decode, Kind kind) {
  Random random(11);
  std::vector<std::byte> packet(1'472);
  for (int round = 0; round < 200; ++round) {
    const Frame frame = make(random);
    std::size_t size = 0;
    const std::uint64_t count =
        allocations_of([&] { size = encode(header_of(kind), frame, ByteSpan(packet)); });
    ASSERT_EQ(count, 0U) << "round " << round;
    expect_no_allocation<Frame>(ByteView(packet).first(size), decode);
  }
}

TEST(WireAllocation, SmallFramesOnQuorumsTakeNone) {
  expect_none_taken<State>(random_state, encode_state, decode_state, PaxosKind::state);
  expect_none_taken<Prepare>(random_prepare, encode_prepare, decode_prepare, PaxosKind::prepare);
  expect_none_taken<Fetch>(random_fetch, encode_fetch, decode_fetch, PaxosKind::fetch);
  expect_none_taken<Repeat>(random_repeat, encode_repeat, decode_repeat, PaxosKind::repeat);
  expect_none_taken<Recall>(random_recall, encode_recall, decode_recall, PaxosKind::recall);
  expect_none_taken<Word>(random_no_vote, encode_no_vote, decode_word, PaxosKind::word);
  expect_none_taken<LinkCheck>(random_link_check, encode_link_check, decode_link_check,
                               PaxosKind::link_check);
  expect_none_taken<Pass>(random_pass, encode_pass, decode_pass, PaxosKind::pass);
  expect_none_taken<Lacks>(random_lacks, encode_lacks, decode_lacks, PaxosKind::lacks);
}

TEST(WireAllocation, SmallFramesOfTotoTakeNone) {
  expect_none_taken<TotoLacks>(random_toto_lacks, encode_toto_lacks, decode_toto_lacks,
                               TotoKind::lacks);
  expect_none_taken<TotoStatus>(random_toto_status, encode_toto_status, decode_toto_status,
                                TotoKind::status);
  expect_none_taken<TotoPass>(random_toto_pass, encode_toto_pass, decode_toto_pass, TotoKind::pass);
}

TEST(WireAllocation, PlacingsTakeNone) {
  Random random(12);
  std::vector<std::byte> unit(1'472);
  for (int round = 0; round < 200; ++round) {
    const Placing placing = random_placing(random);
    const std::uint64_t count = allocations_of([&] {
      encode_placing_in_place(placing, unit);
      Placing decoded;
      if (decode_placing(unit, decoded) != Drop::none) std::abort();
      if (decode_placing(ByteView(unit).first(kPlacingBytes - 1), decoded) == Drop::none) {
        std::abort();
      }
    });
    ASSERT_EQ(count, 0U) << "round " << round;
  }
}

/// The number of bytes that decoding into a new frame allocates.
template <class Frame, class Decode>
std::uint64_t bytes_of_decoding(ByteView packet, Decode decode) {
  Frame frame;
  const std::uint64_t before = allocated_bytes();
  static_cast<void>(decode(packet, frame));
  return allocated_bytes() - before;
}

/// Decoding allocates at most four bytes for each byte of the packet, whatever length the frame
/// claims.
template <class Frame, class Make, class Encode, class Decode>
void expect_memory_in_proportion(Make make, Encode encode, Decode decode, FrameKind kind) {
  Random random(9);
  std::vector<std::byte> packet(kPacketBytesMax);
  for (int round = 0; round < 100; ++round) {
    const std::size_t size = encode(header_of(kind), make(random), ByteSpan(packet));
    for (std::size_t part = 0; part <= size; part += 1 + size / 40) {
      const ByteView cut = ByteView(packet).first(part);
      ASSERT_LE(bytes_of_decoding<Frame>(cut, decode), 4 * part) << part << " of " << size;
    }
  }
}

TEST(WireAllocation, MemoryIsInProportionToThePacket) {
  expect_memory_in_proportion<Join>(random_join, encode_join, decode_join, FrameKind::join);
  expect_memory_in_proportion<Commit>(random_commit, encode_commit, decode_commit,
                                      FrameKind::commit);
  expect_memory_in_proportion<Commit>(random_toto_commit, order::toto::encode_commit,
                                      order::toto::decode_commit, FrameKind::commit);
  expect_memory_in_proportion<ProbeFrame>(random_probe, encode_probe, decode_probe,
                                          FrameKind::probe);
  expect_memory_in_proportion<Promise>(random_promise, encode_promise, decode_promise,
                                       frame_kind(PaxosKind::promise));
  expect_memory_in_proportion<Checkpoint>(random_checkpoint, encode_checkpoint, decode_checkpoint,
                                          frame_kind(PaxosKind::checkpoint));
}

TEST(WireAllocation, MemoryOfListsOnQuorumsIsTakenOnce) {
  std::vector<std::byte> packet(kPacketBytesMax);
  Promise promise = plain_promise();
  promise.runs.clear();
  for (Instance i = 0; i < kVoteRunsMax; ++i) promise.runs.push_back({100 + 2 * i, 1, kSomeRound});
  std::size_t size = encode_promise(header_of(PaxosKind::promise), promise, packet);
  EXPECT_EQ(bytes_of_decoding<Promise>(ByteView(packet).first(size), decode_promise),
            kVoteRunsMax * sizeof(VoteRun));
  // The count matches the content, but the last byte of the content is missing.
  EXPECT_EQ(bytes_of_decoding<Promise>(ByteView(packet).first(size - 1), decode_promise), 0U);

  Checkpoint checkpoint = plain_checkpoint();
  checkpoint.members = first_view_members(kMembersMax);
  checkpoint.numbers.resize(kMembersMax);
  size = encode_checkpoint(header_of(PaxosKind::checkpoint), checkpoint, packet);
  // A list has space for all its nodes twice, since all of them may be acceptors.
  const std::uint64_t nodes_memory = 2 * checkpoint.nodes.all.size() * sizeof(NodeId);
  EXPECT_EQ(bytes_of_decoding<Checkpoint>(ByteView(packet).first(size), decode_checkpoint),
            nodes_memory + kMembersMax * (sizeof(ViewMember) + sizeof(std::uint64_t)));
  EXPECT_EQ(bytes_of_decoding<Checkpoint>(ByteView(packet).first(size - 1), decode_checkpoint),
            nodes_memory);

  using Members = std::vector<ViewMember>;
  const std::vector<std::byte> bytes = view_bytes(checkpoint.members);
  EXPECT_EQ(bytes_of_decoding<Members>(bytes, decode_view_members),
            kMembersMax * sizeof(ViewMember));
  EXPECT_EQ(
      bytes_of_decoding<Members>(ByteView(bytes).first(bytes.size() - 1), decode_view_members), 0U);
}

TEST(WireAllocation, MemoryOfAListOfNodesIsTakenOnce) {
  const std::vector<std::byte> bytes = nodes_bytes(first_nodes(kMembersMax, kMembersMax));
  EXPECT_EQ(bytes_of_decoding<Nodes>(bytes, decode_nodes), 2 * kMembersMax * sizeof(NodeId));
  EXPECT_EQ(bytes_of_decoding<Nodes>(ByteView(bytes).first(bytes.size() - 1), decode_nodes), 0U);
}

TEST(WireAllocation, CountsWithoutContentTakeNothing) {
  Commit commit = plain_commit();
  commit.members = first_members(kMembersMax);
  OldViewRecord last;
  last.high = kSpanMax;
  last.have.resize(kSpanMax / 64);
  commit.old_views.back().record = encode(last);
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_commit(header_of(FrameKind::commit), commit, ByteSpan(packet)));

  // The packet ends behind a count, so the content of the count is missing.
  constexpr std::size_t kMembersEnd = kHeaderBytes + 46;
  EXPECT_EQ(bytes_of_decoding<Commit>(ByteView(packet).first(kMembersEnd), decode_commit), 0U);
  constexpr std::size_t kOldViewsEnd = kMembersEnd + 12 * kMembersMax + 2;
  constexpr std::uint64_t kMembersMemory = kMembersMax * sizeof(MemberId);
  EXPECT_EQ(bytes_of_decoding<Commit>(ByteView(packet).first(kOldViewsEnd), decode_commit),
            kMembersMemory);
  // A record takes memory only if the packet has all its bytes.
  const std::size_t record_bytes = commit.old_views.back().record.size();
  for (const std::size_t missing : {std::size_t{1}, kSpanMax / 8}) {
    const ByteView cut = ByteView(packet).first(packet.size() - missing);
    const std::uint64_t without = bytes_of_decoding<Commit>(cut, decode_commit);
    EXPECT_LT(without, kMembersMemory + kSpanMax / 8);
    EXPECT_EQ(bytes_of_decoding<Commit>(packet, decode_commit), without + record_bytes);
  }
}

}  // namespace
}  // namespace peal::wire::test
