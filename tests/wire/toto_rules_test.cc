// SPDX-License-Identifier: Apache-2.0
// One case per rule of the frames of toto.h: a frame at its limit is accepted, one beyond it is
// dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "toto_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;

// The offsets of fields of a NODE in the packet.
constexpr std::size_t kNodeKindOffset = kHeaderBytes + kViewBytes + 2;
constexpr std::size_t kNodeFlagsOffset = kNodeKindOffset + 1;
constexpr std::size_t kAdvancesOffset = kNodeFixedBytes - 2;

std::string node_outcome(const Bytes& packet) {
  Header header;
  const Drop drop = decode_header(packet, header);
  if (drop != Drop::none) return "header: " + std::string(drop_name(drop));
  Node decoded;
  return std::string(drop_name(decode_node(packet, decoded)));
}

/// The result for a control node.
std::string with_control(const std::function<void(Node&)>& change) {
  NodeSample sample = plain_control();
  change(sample.frame);
  return node_outcome(packet_of(sample));
}

/// The result for a node with a unit.
std::string with_node(const std::function<void(Node&)>& change) {
  NodeSample sample = plain_node();
  change(sample.frame);
  return node_outcome(packet_of(sample));
}

/// The result for nodes with and without a unit, which must be the same.
std::string with_both(const std::function<void(Node&)>& change) {
  const std::string outcome = with_node(change);
  EXPECT_EQ(with_control(change), outcome);
  return outcome;
}

std::string with_advances(const FixedVector<Advance, kMembersMax>& advances) {
  return with_both([&](Node& node) { node.advances = advances; });
}

/// The result if the count of advances is overwritten with `count`.
std::string with_advances_count(const NodeSample& sample, std::uint16_t count) {
  Bytes packet = packet_of(sample);
  Writer out(ByteSpan(packet).subspan(kAdvancesOffset, 2));
  out.u(count);
  complete(packet);
  return node_outcome(packet);
}

std::string lacks_outcome(const TotoLacks& lacks) {
  return outcome(lacks, frame_kind(TotoKind::lacks), encode_toto_lacks, decode_toto_lacks);
}
std::string with_node_ranges(std::initializer_list<NodeRange> ranges) {
  return lacks_outcome({kSomeView, ranges_of(ranges)});
}

std::string with_status(const std::function<void(TotoStatus&)>& change) {
  TotoStatus status = plain_toto_status();
  change(status);
  return outcome(status, frame_kind(TotoKind::status), encode_toto_status, decode_toto_status);
}

std::string with_toto_pass(const std::function<void(TotoPass&)>& change) {
  TotoPass pass = plain_toto_pass();
  change(pass);
  return outcome(pass, frame_kind(TotoKind::pass), encode_toto_pass, decode_toto_pass);
}

void expect_formed_view(const std::function<std::string(const ViewId&)>& with) {
  EXPECT_EQ(with(kSomeView), "none");
  EXPECT_EQ(with({1, {{1}, 0}}), "none");
  EXPECT_EQ(with({kTop, kLastNode}), "none");
  EXPECT_EQ(with({kTop + 1, kLastNode}), "bad_value");
  EXPECT_EQ(with({0, kSender}), "bad_value") << "a birth view";
  EXPECT_EQ(with({}), "bad_value");
  EXPECT_EQ(with({1, kNobody}), "bad_value");
  EXPECT_EQ(with({1, kNodeTooLarge}), "bad_value");
}

TEST(WireTotoFrames, NameAFormedView) {
  expect_formed_view(
      [](const ViewId& view) { return with_both([&](Node& node) { node.view = view; }); });
  expect_formed_view([](const ViewId& view) {
    return lacks_outcome({view, plain_toto_lacks().ranges});
  });
  expect_formed_view(
      [](const ViewId& view) { return with_status([&](TotoStatus& s) { s.view = view; }); });
  expect_formed_view(
      [](const ViewId& view) { return with_toto_pass([&](TotoPass& p) { p.view = view; }); });
}

TEST(WireTotoNode, OriginIsAMemberOfTheLargestView) {
  const auto with = [](std::uint16_t origin) {
    return with_both([&](Node& node) {
      node.origin = origin;
      node.advances.clear();
    });
  };
  EXPECT_EQ(with(0), "none");
  EXPECT_EQ(with(kMembersMax - 1), "none");
  EXPECT_EQ(with(kMembersMax), "bad_value");
  EXPECT_EQ(with(kNoIndex), "bad_value");
}

TEST(WireTotoNode, IsCountedFromOne) {
  expect_from_one([](Seq seq) { return with_both([&](Node& node) { node.seq = seq; }); });
}

TEST(WireTotoNode, DecidedIsACounter) {
  expect_counter(
      [](std::uint64_t decided) { return with_both([&](Node& node) { node.decided = decided; }); });
}

TEST(WireTotoNode, KindAgreesWithTheUnit) {
  for (unsigned kind = 0; kind < 256; ++kind) {
    Bytes with_unit = packet_of(plain_node());
    with_unit[kNodeKindOffset] = static_cast<std::byte>(kind);
    complete(with_unit);
    const char* const expected = kind == 0 ? "trailing_bytes" : kind <= 3 ? "none" : "bad_value";
    EXPECT_EQ(node_outcome(with_unit), expected) << kind;
    Bytes without = packet_of(plain_control());
    without[kNodeKindOffset] = static_cast<std::byte>(kind);
    complete(without);
    const char* const of_control = kind == 0 ? "none" : kind <= 3 ? "truncated" : "bad_value";
    EXPECT_EQ(node_outcome(without), of_control) << kind;
  }
}

TEST(WireTotoNode, AUnitHasAtLeastOneByte) {
  for (const NodeKind kind : {NodeKind::causal, NodeKind::agreed, NodeKind::safe}) {
    NodeSample sample = plain_node();
    sample.frame.kind = kind;
    sample.unit.resize(1);
    Bytes packet = packet_of(sample);
    EXPECT_EQ(node_outcome(packet), "none");
    packet.pop_back();
    complete(packet);
    EXPECT_EQ(node_outcome(packet), "truncated");
  }
}

TEST(WireTotoNode, UnusedFlagsAreZero) {
  for (const NodeSample& sample : {plain_node(), plain_control()}) {
    expect_bytes_accepted(packet_of(sample), kNodeFlagsOffset, {0, 1}, [](ByteView packet) {
      Node decoded;
      return decode_node(packet, decoded);
    });
  }
}

TEST(WireTotoNode, AdvancesAreOfOtherMembersByAtLeastOne) {
  EXPECT_EQ(with_advances({}), "none");
  EXPECT_EQ(with_advances(advances_of({{0, 1}})), "none");
  EXPECT_EQ(with_advances(advances_of({{0, 0xffff}})), "none");
  EXPECT_EQ(with_advances(advances_of({{0, 0}})), "bad_value");
  EXPECT_EQ(with_advances(advances_of({{kMembersMax - 1, 1}})), "none");
  EXPECT_EQ(with_advances(advances_of({{kMembersMax, 1}})), "bad_value");
  EXPECT_EQ(with_advances(advances_of({{kNoIndex, 1}})), "bad_value");
  EXPECT_EQ(with_advances(advances_of({{2, 1}})), "bad_value") << "the origin";
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {2, 1}})), "bad_value") << "the origin";
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {3, 0}})), "bad_value");
}

TEST(WireTotoNode, AdvancesAscendAndNoMemberComesTwice) {
  EXPECT_EQ(with_advances(advances_of({{0, 1}, {1, 1}, {kMembersMax - 1, 1}})), "none");
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {0, 1}})), "not_sorted");
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {1, 1}})), "not_sorted");
  EXPECT_EQ(with_advances(advances_of({{0, 1}, {3, 1}, {1, 1}})), "not_sorted");
}

TEST(WireTotoNode, TheFirstBrokenRuleIsTheReason) {
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {0, 0}})), "bad_value");
  EXPECT_EQ(with_advances(advances_of({{1, 1}, {0, 1}, {0, 0}})), "not_sorted");
  EXPECT_EQ(with_both([](Node& node) {
              node.seq = 0;
              node.advances = advances_of({{1, 1}, {0, 1}});
            }),
            "bad_value");
}

TEST(WireTotoNode, AControlNodeAdvancesByAllOtherMembers) {
  const auto with = [](std::uint16_t count, std::uint16_t origin) {
    return with_control([&](Node& node) {
      node.origin = origin;
      node.advances = first_advances(count, origin);
    });
  };
  EXPECT_EQ(with(kMembersMax - 1, 0), "none");
  EXPECT_EQ(with(kMembersMax - 1, 64), "none");
  EXPECT_EQ(with(kMembersMax - 1, kMembersMax - 1), "none");
  EXPECT_EQ(with(kMembersMax, kMembersMax - 1), "count_too_large");
}

TEST(WireTotoNode, ANodeWithAUnitHasFewAdvances) {
  for (const NodeKind kind : {NodeKind::causal, NodeKind::agreed, NodeKind::safe}) {
    const auto with = [&](std::size_t count) {
      return with_node([&](Node& node) {
        node.kind = kind;
        node.advances = first_advances(count, node.origin);
      });
    };
    EXPECT_EQ(with(0), "none");
    EXPECT_EQ(with(kUnitAdvancesMax), "none");
    EXPECT_EQ(with(kUnitAdvancesMax + 1), "count_too_large");
    EXPECT_EQ(with(kMembersMax - 1), "count_too_large");
  }
}

TEST(WireTotoNode, CountsAreLimitedBeforeTheyAreUsed) {
  const auto control = [](std::uint16_t count) {
    return with_advances_count(plain_control(), count);
  };
  EXPECT_EQ(control(2), "trailing_bytes");
  EXPECT_EQ(control(3), "none");
  EXPECT_EQ(control(4), "truncated");
  EXPECT_EQ(control(kMembersMax - 1), "truncated");
  EXPECT_EQ(control(kMembersMax), "count_too_large");
  EXPECT_EQ(control(0xffff), "count_too_large");
  const auto unit = [](std::uint16_t count) { return with_advances_count(plain_node(), count); };
  EXPECT_EQ(unit(1), "none") << "the second advance counts as bytes of the unit";
  EXPECT_EQ(unit(2), "none");
  EXPECT_EQ(unit(3), "truncated");
  EXPECT_EQ(unit(kUnitAdvancesMax), "truncated");
  EXPECT_EQ(unit(kUnitAdvancesMax + 1), "count_too_large");
  EXPECT_EQ(unit(0xffff), "count_too_large");
}

TEST(WireTotoNode, TheUnitBeginsBehindTheAdvances) {
  NodeSample sample = plain_node();
  sample.unit = {std::byte{1}, std::byte{2}, std::byte{3}};
  const Bytes packet = packet_of(sample);
  EXPECT_EQ(packet.size(), kHeaderBytes + 42 + 2 * 4 + 3);
  EXPECT_EQ(node_header_bytes(2), packet.size() - 3);
  EXPECT_EQ(Bytes(packet.end() - 3, packet.end()), sample.unit);
}

TEST(WireTotoNode, DecodingLeavesNothingOfTheNodeBefore) {
  NodeSample large = plain_control();
  large.frame.retransmission = true;
  large.frame.advances = first_advances(kMembersMax - 1, large.frame.origin);
  Node decoded;
  ASSERT_EQ(drop_name(decode_node(packet_of(large), decoded)), "none");
  EXPECT_EQ(decoded, large.frame);
  NodeSample small = plain_node();
  small.frame.advances.clear();
  ASSERT_EQ(drop_name(decode_node(packet_of(small), decoded)), "none");
  EXPECT_EQ(decoded, small.frame);
}

TEST(WireTotoNode, HasAUnitUnlessItIsAControlNode) {
  const auto encode = [](NodeSample sample, std::size_t unit_bytes) {
    sample.unit.resize(unit_bytes);
    static_cast<void>(packet_of(sample));
  };
  EXPECT_DEATH(encode(plain_node(), 0), "assertion failed");
  EXPECT_DEATH(encode(plain_control(), 1), "assertion failed");
}

TEST(WireTotoLacks, RequestsOneToKNodeRangesMaxRanges) {
  EXPECT_EQ(lacks_outcome(plain_toto_lacks()), "none");
  EXPECT_EQ(with_node_ranges({}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, 1, 1}}), "none");
  TotoLacks most{kSomeView, {}};
  while (!most.ranges.full()) most.ranges.push_back({0, 1 + 2 * most.ranges.size(), 1});
  EXPECT_EQ(lacks_outcome(most), "none");
}

TEST(WireTotoLacks, RangesAreOfMembersOfTheLargestView) {
  EXPECT_EQ(with_node_ranges({{kMembersMax - 1, 1, 1}}), "none");
  EXPECT_EQ(with_node_ranges({{kMembersMax, 1, 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{kNoIndex, 1, 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, 1, 1}, {kMembersMax, 1, 1}}), "bad_value");
}

TEST(WireTotoLacks, RangesHaveOneToKNodeRangeMaxNodes) {
  EXPECT_EQ(with_node_ranges({{0, 1, 0}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, 1, 1}}), "none");
  EXPECT_EQ(with_node_ranges({{0, 1, kNodeRangeMax}}), "none");
  EXPECT_EQ(with_node_ranges({{0, 1, kNodeRangeMax + 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, 1, 0xffff}}), "bad_value");
}

TEST(WireTotoLacks, RangesBeginAtOneAndEndBelowTheLastNumber) {
  EXPECT_EQ(with_node_ranges({{0, 0, 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, kTop - 1, 1}}), "none");
  EXPECT_EQ(with_node_ranges({{0, kTop, 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, kTop - kNodeRangeMax, kNodeRangeMax}}), "none");
  EXPECT_EQ(with_node_ranges({{0, kTop - kNodeRangeMax + 1, kNodeRangeMax}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, kTop + 1, 1}}), "bad_value");
  EXPECT_EQ(with_node_ranges({{0, ~0ULL, 1}}), "bad_value");
}

TEST(WireTotoLacks, RangesAscendByOriginAndThenByNumber) {
  EXPECT_EQ(with_node_ranges({{0, 100, 1}, {1, 1, 1}, {1, 2, 1}, {5, 1, 1}}), "none");
  EXPECT_EQ(with_node_ranges({{1, 1, 1}, {0, 2, 1}}), "not_sorted");
  EXPECT_EQ(with_node_ranges({{0, 100, 1}, {0, 1, 1}}), "not_sorted");
  EXPECT_EQ(with_node_ranges({{0, 1, 1}, {1, 1, 1}, {0, 3, 1}}), "not_sorted");
}

TEST(WireTotoLacks, RangesDoNotOverlap) {
  EXPECT_EQ(with_node_ranges({{0, 10, 5}, {0, 15, 1}}), "none");
  EXPECT_EQ(with_node_ranges({{0, 10, 5}, {0, 14, 1}}), "not_sorted");
  EXPECT_EQ(with_node_ranges({{0, 10, 5}, {0, 10, 5}}), "not_sorted");
  EXPECT_EQ(with_node_ranges({{0, 10, 5}, {1, 10, 5}}), "none");
  EXPECT_EQ(with_node_ranges({{0, kTop - 1, 1}, {0, kTop - 1, 1}}), "not_sorted");
}

TEST(WireTotoLacks, CountsAreLimitedBeforeTheyAreUsed) {
  const auto count = [](std::uint16_t value) {
    return with_count(plain_toto_lacks(), frame_kind(TotoKind::lacks), encode_toto_lacks,
                      decode_toto_lacks, kViewBytes, value);
  };
  EXPECT_EQ(count(0), "bad_value");
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(3), "none");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kNodeRangesMax), "truncated");
  EXPECT_EQ(count(kNodeRangesMax + 1), "count_too_large");
  EXPECT_EQ(count(0xffff), "count_too_large");
}

TEST(WireTotoLacks, DecodingLeavesNothingOfTheRequestBefore) {
  std::vector<std::byte> packet(kPacketBytesMax);
  TotoLacks decoded = plain_toto_lacks();
  const TotoLacks one{kSomeView, ranges_of({{7, 8, 9}})};
  packet.resize(encode_toto_lacks(header_of(TotoKind::lacks), one, packet));
  ASSERT_EQ(drop_name(decode_toto_lacks(packet, decoded)), "none");
  EXPECT_EQ(decoded, one);
}

TEST(WireTotoStatus, UnusedFlagsAreZero) {
  std::vector<std::byte> packet(kPacketBytesMax);
  packet.resize(encode_toto_status(header_of(TotoKind::status), plain_toto_status(), packet));
  expect_bytes_accepted(packet, kHeaderBytes + kViewBytes, {0, 1, 2, 3}, [](ByteView changed) {
    TotoStatus decoded;
    return decode_toto_status(changed, decoded);
  });
}

TEST(WireTotoStatus, EachFlagSaysOneThing) {
  for (const bool full : {false, true}) {
    for (const bool all_have : {false, true}) {
      std::vector<std::byte> packet(kPacketBytesMax);
      TotoStatus status = plain_toto_status();
      status.full = full;
      status.all_have = all_have;
      packet.resize(encode_toto_status(header_of(TotoKind::status), status, packet));
      const auto flags = std::to_integer<unsigned>(packet[kHeaderBytes + kViewBytes]);
      EXPECT_EQ(flags % 2 == 1, full);
      EXPECT_EQ(flags / 2 == 1, all_have);
    }
  }
}

TEST(WireTotoStatus, NumbersAreCountersAndTheListIsAnyHash) {
  for (const std::size_t member : {0U, 2U}) {
    expect_counter([&](Seq seq) {
      return with_status([&](TotoStatus& status) { status.have[member] = seq; });
    });
  }
  for (const std::uint64_t list : {0ULL, ~0ULL}) {
    EXPECT_EQ(with_status([&](TotoStatus& status) { status.list = list; }), "none");
  }
}

TEST(WireTotoStatus, IsOfOneToKMembersMaxMembers) {
  const auto with = [](std::size_t members) {
    return with_status([&](TotoStatus& status) {
      status.have.clear();
      while (status.have.size() < members) status.have.push_back(1);
    });
  };
  EXPECT_EQ(with(0), "bad_value");
  EXPECT_EQ(with(1), "none");
  EXPECT_EQ(with(kMembersMax), "none");
  const auto count = [](std::uint16_t value) {
    return with_count(plain_toto_status(), frame_kind(TotoKind::status), encode_toto_status,
                      decode_toto_status, kViewBytes + 1 + 8, value);
  };
  EXPECT_EQ(count(0), "bad_value");
  EXPECT_EQ(count(2), "trailing_bytes");
  EXPECT_EQ(count(3), "none");
  EXPECT_EQ(count(4), "truncated");
  EXPECT_EQ(count(kMembersMax), "truncated");
  EXPECT_EQ(count(kMembersMax + 1), "count_too_large");
  EXPECT_EQ(count(0xffff), "count_too_large");
}

TEST(WireTotoPass, HopsAreCounted) {
  expect_counter(
      [](std::uint64_t hop) { return with_toto_pass([&](TotoPass& pass) { pass.hop = hop; }); });
}

TEST(WireTotoPass, ARunIsAtMostFourRotations) {
  const auto with = [](std::uint16_t run) {
    return with_toto_pass([&](TotoPass& pass) { pass.run = run; });
  };
  EXPECT_EQ(with(0), "none");
  EXPECT_EQ(with(kPassRunMax), "none");
  EXPECT_EQ(with(kPassRunMax + 1), "bad_value");
  EXPECT_EQ(with(0xffff), "bad_value");
}

TEST(WireTotoPass, AMemberOrNobodyLackedSomething) {
  const auto with = [](std::uint16_t block) {
    return with_toto_pass([&](TotoPass& pass) { pass.block = block; });
  };
  EXPECT_EQ(with(0), "none");
  EXPECT_EQ(with(kMembersMax - 1), "none");
  EXPECT_EQ(with(kMembersMax), "bad_value");
  EXPECT_EQ(with(kNoIndex - 1), "bad_value");
  EXPECT_EQ(with(kNoIndex), "none");
}

}  // namespace
}  // namespace peal::wire::test
