// SPDX-License-Identifier: Apache-2.0
// Tests the rules of lists of nodes, as values and in checkpoints. A list at a limit is accepted. A
// list beyond the limit is dropped, with a useful reason for the counters.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "paxos_outcome.h"
#include "paxos_samples.h"
#include "wire/packet.h"

namespace peal::wire::test {
namespace {

using Bytes = std::vector<std::byte>;
using Entries = std::vector<std::uint32_t>;

constexpr std::uint32_t kAcceptor = 1U << 31;

/// The bytes of a list that may break rules, with `count` in front of its entries.
Bytes raw_list(std::uint64_t hash, const Entries& entries, std::size_t count) {
  Bytes bytes(8 + 2 + 4 * entries.size());
  Writer out(bytes);
  out.u(hash);
  out.u(static_cast<std::uint16_t>(count));
  for (const std::uint32_t entry : entries) out.u(entry);
  return bytes;
}
Bytes raw_list(const Entries& entries) { return raw_list(77, entries, entries.size()); }

/// Nodes 1 to `count`, of which only the first is an acceptor.
Entries nodes_upto(std::uint32_t count) {
  Entries entries;
  for (std::uint32_t node = 1; node <= count; ++node) entries.push_back(node);
  if (!entries.empty()) entries.front() |= kAcceptor;
  return entries;
}

template <class Frame>
std::string outcome_of_packet(const Bytes& packet, Drop (*decode)(ByteView, Frame&)) {
  Header header;
  const Drop drop = decode_header(packet, header);
  if (drop != Drop::none) return "header: " + std::string(drop_name(drop));
  Frame decoded;
  return std::string(drop_name(decode(packet, decoded)));
}

/// The result for a list alone. Each frame that has the list as its value must give the same
/// result.
std::string list_outcome(const Bytes& bytes) {
  Nodes decoded;
  const std::string outcome(drop_name(decode_nodes(bytes, decoded)));
  ValueSample value = plain_nodes();
  value.bytes = bytes;
  EXPECT_EQ(outcome_of_packet(packet_of(value), decode_value), outcome);
  value.kind = PaxosKind::decided;
  value.frame = {0, 100, 0, value.frame.head};
  EXPECT_EQ(outcome_of_packet(packet_of(value), decode_value), outcome);
  const FetchedSample fetched{{kSomeRound, 100, value.frame.head}, bytes};
  EXPECT_EQ(outcome_of_packet(packet_of(fetched), decode_fetched), outcome);
  const WordSample word{{100, kSomeRound, value.frame.head}, bytes};
  EXPECT_EQ(outcome_of_packet(packet_of(word), decode_word), outcome);
  for (const PaxosKind kind : {PaxosKind::relay, PaxosKind::distribute}) {
    RelaySample relay = plain_relay(kind);
    relay.frame.head = value.frame.head;
    relay.bytes = bytes;
    EXPECT_EQ(outcome_of_packet(packet_of(relay), decode_relay), outcome);
  }
  return outcome;
}

constexpr std::size_t kListOffset = kHeaderBytes + 8 + 8 + 8 + 8;

/// The result for a checkpoint in which these bytes replace the list.
std::string in_checkpoint(const Bytes& bytes) {
  const Checkpoint plain = plain_checkpoint();
  Bytes packet(kPacketBytesMax);
  packet.resize(encode_checkpoint(header_of(PaxosKind::checkpoint), plain, packet));
  const auto start = packet.begin() + kListOffset;
  const auto own = static_cast<std::ptrdiff_t>(nodes_bytes(plain.nodes).size());
  packet.insert(packet.erase(start, start + own), bytes.begin(), bytes.end());
  complete(packet);
  return outcome_of_packet(packet, decode_checkpoint);
}

/// The result for a list. It must be the same for the list as a value and in a checkpoint. Use this
/// function for errors that do not change the length of the list.
std::string everywhere(const Bytes& bytes) {
  const std::string outcome = list_outcome(bytes);
  EXPECT_EQ(in_checkpoint(bytes), outcome);
  return outcome;
}

TEST(WirePaxosNodes, AListHasAHash) {
  EXPECT_EQ(everywhere(raw_list(0, nodes_upto(3), 3)), "bad_value");
  EXPECT_EQ(everywhere(raw_list(1, nodes_upto(3), 3)), "none");
  EXPECT_EQ(everywhere(raw_list(~0ULL, nodes_upto(3), 3)), "none");
}

TEST(WirePaxosNodes, AListHasOneToKMembersMaxNodes) {
  EXPECT_EQ(everywhere(raw_list({})), "bad_value");
  EXPECT_EQ(everywhere(raw_list(nodes_upto(1))), "none");
  EXPECT_EQ(everywhere(raw_list(nodes_upto(kMembersMax))), "none");
  EXPECT_EQ(everywhere(raw_list(nodes_upto(kMembersMax + 1))), "count_too_large");
  const auto count = [](std::size_t value) { return raw_list(77, nodes_upto(3), value); };
  EXPECT_EQ(list_outcome(count(0)), "bad_value");
  EXPECT_EQ(list_outcome(count(2)), "trailing_bytes");
  EXPECT_EQ(list_outcome(count(4)), "truncated");
  EXPECT_EQ(everywhere(count(kMembersMax)), "truncated");
  EXPECT_EQ(everywhere(count(kMembersMax + 1)), "count_too_large");
  EXPECT_EQ(everywhere(count(0xffff)), "count_too_large");
}

TEST(WirePaxosNodes, NodesAreNumbered) {
  for (const std::uint32_t acceptor : {0U, kAcceptor}) {
    EXPECT_EQ(everywhere(raw_list({0 | acceptor, 1 | kAcceptor})), "bad_value");
    EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, 0 | acceptor})), "bad_value");
    EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, kNodeMax | acceptor})), "none");
    EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, (kNodeMax + 1) | acceptor})), "bad_value");
    EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, (kAcceptor - 1) | acceptor})), "bad_value");
    EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, (kAcceptor / 2 + 2) | acceptor})), "bad_value");
  }
}

TEST(WirePaxosNodes, NodesAscendAndNoneComesTwice) {
  EXPECT_EQ(everywhere(raw_list({1, 3, 40'000 | kAcceptor})), "none");
  EXPECT_EQ(everywhere(raw_list({1, 2 | kAcceptor, 2})), "not_sorted");
  EXPECT_EQ(everywhere(raw_list({1, 2, 2 | kAcceptor})), "not_sorted");
  EXPECT_EQ(everywhere(raw_list({2 | kAcceptor, 2 | kAcceptor})), "not_sorted");
  EXPECT_EQ(everywhere(raw_list({2 | kAcceptor, 1})), "not_sorted");
  EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, 3, 2})), "not_sorted");
  // Nodes ascend by their numbers, whether they are acceptors or not.
  EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, 2})), "none");
  EXPECT_EQ(everywhere(raw_list({2, 1 | kAcceptor})), "not_sorted");
}

TEST(WirePaxosNodes, SomeNodeIsAnAcceptor) {
  EXPECT_EQ(everywhere(raw_list({1})), "bad_value");
  EXPECT_EQ(everywhere(raw_list({1, 2, 3})), "bad_value");
  for (std::size_t acceptor = 0; acceptor < 3; ++acceptor) {
    Entries entries{1, 2, 3};
    entries[acceptor] |= kAcceptor;
    EXPECT_EQ(everywhere(raw_list(entries)), "none");
  }
  EXPECT_EQ(everywhere(raw_list({1 | kAcceptor, 2 | kAcceptor, 3 | kAcceptor})), "none");
}

TEST(WirePaxosNodes, AListEndsWithItsLastNode) {
  Bytes bytes = raw_list({1 | kAcceptor, 2, 3});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(list_outcome(Bytes(bytes.begin(), end)), "truncated") << size;
  }
  for (int extra = 1; extra <= 8; ++extra) {
    bytes.push_back(std::byte{0});
    EXPECT_EQ(list_outcome(bytes), "trailing_bytes") << extra;
  }
}

/// The list of nodes, followed by its acceptors' incarnations.
Bytes with_lives(const Entries& entries, const std::vector<std::uint64_t>& lives) {
  Bytes bytes = raw_list(77, entries, entries.size() | 0x8000);
  Bytes behind(8 * lives.size());
  Writer out(behind);
  for (const std::uint64_t epoch : lives) out.u(epoch);
  bytes.insert(bytes.end(), behind.begin(), behind.end());
  return bytes;
}

TEST(WirePaxosNodes, AListMayNameTheLifeOfEachAcceptor) {
  const Entries two{1 | kAcceptor, 2, 3 | kAcceptor};
  EXPECT_EQ(everywhere(with_lives(two, {1, ~0ULL})), "none");
  EXPECT_EQ(everywhere(with_lives(two, {0, 5})), "bad_value");
  EXPECT_EQ(everywhere(with_lives(two, {5, 0})), "bad_value");
  EXPECT_EQ(list_outcome(with_lives(two, {})), "truncated");
  EXPECT_EQ(list_outcome(with_lives(two, {5})), "truncated");
  EXPECT_EQ(list_outcome(with_lives(two, {5, 5, 5})), "trailing_bytes");
  EXPECT_EQ(everywhere(with_lives({1, 2}, {})), "bad_value") << "nobody is an acceptor";
  EXPECT_EQ(everywhere(raw_list(77, nodes_upto(3), kMembersMax | 0x8000)), "truncated");
  EXPECT_EQ(everywhere(raw_list(77, nodes_upto(3), (kMembersMax + 1) | 0x8000)), "count_too_large");
  const std::vector<std::uint64_t> most(kMembersMax, 7);
  Entries all = nodes_upto(kMembersMax);
  for (std::uint32_t& entry : all) entry |= kAcceptor;
  EXPECT_EQ(everywhere(with_lives(all, most)), "none");
}

TEST(WirePaxosNodes, LivesTellOneOrderFromTheNext) {
  Nodes nodes = first_nodes(4, 3);
  EXPECT_EQ(first_of(nodes), nodes.hash);
  EXPECT_EQ(first_view_of(nodes), 1U);
  nodes.lives = {5, 6, 7};
  Nodes later = nodes;
  later.lives = {8, 9, 10};
  EXPECT_NE(first_of(nodes), first_of(later));
  EXPECT_LT(first_view_of(nodes) + 255, first_view_of(later)) << "views of both do not meet";
  later.lives = {~0ULL, ~0ULL, ~0ULL};
  EXPECT_LE(first_view_of(later), kTop / 2) << "there is room for views";
}

TEST(WirePaxosNodes, TheFirstBrokenRuleIsTheReason) {
  EXPECT_EQ(everywhere(raw_list(0, {}, kMembersMax + 1)), "bad_value");
  EXPECT_EQ(everywhere(raw_list(77, {0, 0}, kMembersMax + 1)), "count_too_large");
  // The count is larger than the content, so no entry is read.
  EXPECT_EQ(everywhere(raw_list(77, {0, 0}, kMembersMax)), "truncated");
  EXPECT_EQ(everywhere(raw_list({2, 1, 0})), "not_sorted");
  EXPECT_EQ(everywhere(raw_list({2, 0, 1})), "bad_value");
  EXPECT_EQ(list_outcome(raw_list(77, {1, 2, 3}, 2)), "bad_value");
}

TEST(WirePaxosNodes, DecodingLeavesNothingOfTheListBefore) {
  Nodes nodes = first_nodes(kMembersMax, kMembersMax);
  nodes.number = 5;
  nodes.first = 6;
  ASSERT_EQ(drop_name(decode_nodes(raw_list({7, 9 | kAcceptor}), nodes)), "none");
  EXPECT_EQ(nodes, (Nodes{5, 6, 77, {{7}, {9}}, {{9}}}));
}

std::string with_list_head(const std::function<void(ValueHead&)>& change) {
  ValueSample sample = plain_nodes();
  change(sample.frame.head);
  return outcome_of_packet(packet_of(sample), decode_value);
}

TEST(WirePaxosNodes, AListHasItsNumberAndIsNeitherCountedNorSafe) {
  const auto number = [](std::uint64_t value) {
    return with_list_head([&](ValueHead& h) { h.view = value; });
  };
  EXPECT_EQ(number(0), "bad_value");
  EXPECT_EQ(number(1), "none");
  EXPECT_EQ(number(kListMax), "none");
  EXPECT_EQ(number(kListMax + 1), "bad_value");
  EXPECT_EQ(number(kTop), "bad_value");
  EXPECT_EQ(number(kTop + 1), "bad_value");
  EXPECT_EQ(with_list_head([](ValueHead& h) { h.number = 1; }), "bad_value");
  EXPECT_EQ(with_list_head([](ValueHead& h) { h.service = Service::safe; }), "bad_value");
}

TEST(WirePaxosNodes, NoOtherKindTakesAListForItsBytes) {
  const auto kind = [](unsigned value) {
    Bytes packet = packet_of(plain_nodes());
    packet[kHeaderBytes + 20] = static_cast<std::byte>(value);
    complete(packet);
    return outcome_of_packet(packet, decode_value);
  };
  for (unsigned value = 0; value < 256; ++value) {
    const bool view = value == 3;  // the list's hash is then read as a count of members
    EXPECT_EQ(kind(value), value == 4 ? "none" : view ? "truncated" : "bad_value") << value;
  }
}

std::string with_nodes(const std::function<void(Nodes&)>& change) {
  Checkpoint checkpoint = plain_checkpoint();
  change(checkpoint.nodes);
  return outcome(checkpoint, frame_kind(PaxosKind::checkpoint), encode_checkpoint,
                 decode_checkpoint);
}

TEST(WirePaxosNodes, ACheckpointSaysWhichListCountsAndWhichWasTheFirst) {
  const auto number = [](std::uint64_t value) {
    return with_nodes([&](Nodes& n) { n.number = value; });
  };
  EXPECT_EQ(number(1), "none");
  EXPECT_EQ(number(kListMax), "none");
  EXPECT_EQ(number(kListMax + 1), "bad_value");
  EXPECT_EQ(number(~0ULL), "bad_value");
  const auto with = [](std::uint64_t list, std::uint64_t first, std::uint64_t hash) {
    return with_nodes([&](Nodes& n) {
      n.number = list;
      n.first = first;
      n.hash = hash;
    });
  };
  EXPECT_EQ(with(0, 77, 77), "none");
  EXPECT_EQ(with(0, 76, 77), "bad_value");
  EXPECT_EQ(with(0, 0, 77), "bad_value");
  EXPECT_EQ(with(0, 0, 0), "bad_value");
  // If the list names incarnations, `first` need not be the hash of the list.
  EXPECT_EQ(with_nodes([](Nodes& n) {
              n.number = 0;
              n.first = 76;
              n.lives = {1, 2, 3};
            }),
            "none");
  // A later list may have the hash of the first list, or another.
  EXPECT_EQ(with(2, 77, 77), "none");
  EXPECT_EQ(with(1, 76, 77), "none");
}

TEST(WirePaxosRound, ItsCountBeginsWithTheNumberOfItsList) {
  EXPECT_EQ(first_count(0), 1U);
  EXPECT_EQ(first_count(1), (1ULL << 40) + 1);
  EXPECT_EQ(list_of(Round{}), 0U);
  for (const std::uint64_t list : {0ULL, 1ULL, 2ULL, 1'000ULL, 0ULL + kListMax}) {
    EXPECT_EQ(list_of({first_count(list), kSender}), list);
    EXPECT_EQ(list_of({first_count(list) + (1ULL << 40) - 2, kSender}), list);
  }
  EXPECT_EQ(list_of({kTop, kSender}), kListMax);
  EXPECT_LT((Round{first_count(1) - 2, kLastNode}), (Round{first_count(1), {{1}, 0}}));
}

}  // namespace
}  // namespace peal::wire::test
