// SPDX-License-Identifier: Apache-2.0
#include "toto_samples.h"

#include <algorithm>
#include <set>

#include "order/toto/commit_record.h"

namespace peal::wire::test {
namespace {

constexpr std::uint16_t kLastIndex = kMembersMax - 1;

std::uint16_t random_member_index(Random& random) {
  return static_cast<std::uint16_t>(skewed(random, kLastIndex));
}

order::toto::OldViewRecord random_toto_record(Random& random) {
  order::toto::OldViewRecord record;
  const std::uint64_t members = skewed(random, random.chance(0.2) ? kMembersMax : 9);
  while (record.size() < members) record.push_back(skewed(random, kCounterMax));
  return record;
}

}  // namespace

std::vector<std::byte> packet_of(const NodeSample& sample, Checksum checksum) {
  std::vector<std::byte> packet(node_header_bytes(sample.frame.advances.size()));
  packet.insert(packet.end(), sample.unit.begin(), sample.unit.end());
  Header header = header_of(TotoKind::node);
  header.checksum = checksum;
  encode_node_in_place(header, sample.frame, packet);
  return packet;
}

FixedVector<Advance, kMembersMax> advances_of(std::initializer_list<Advance> advances) {
  FixedVector<Advance, kMembersMax> list;
  for (const Advance& each : advances) list.push_back(each);
  return list;
}

FixedVector<NodeRange, kNodeRangesMax> ranges_of(std::initializer_list<NodeRange> ranges) {
  FixedVector<NodeRange, kNodeRangesMax> list;
  for (const NodeRange& each : ranges) list.push_back(each);
  return list;
}

FixedVector<Seq, kMembersMax> numbers_of(std::initializer_list<Seq> numbers) {
  FixedVector<Seq, kMembersMax> list;
  for (const Seq each : numbers) list.push_back(each);
  return list;
}

FixedVector<Advance, kMembersMax> first_advances(std::size_t count, std::uint16_t origin) {
  FixedVector<Advance, kMembersMax> advances;
  for (std::uint16_t index = 0; advances.size() < count; ++index) {
    if (index != origin) advances.push_back({index, 1});
  }
  return advances;
}

NodeSample plain_control() {
  return {{kSomeView, 2, NodeKind::control, false, 7, 4, first_advances(3, 2)}, {}};
}

NodeSample plain_node() {
  return {{kSomeView, 2, NodeKind::agreed, false, 8, 4, first_advances(2, 2)},
          std::vector<std::byte>(3)};
}

TotoLacks plain_toto_lacks() {
  return {kSomeView, ranges_of({{0, 10, 5}, {0, 15, 1}, {3, 2, kNodeRangeMax}})};
}

TotoStatus plain_toto_status() { return {kSomeView, false, true, 55, numbers_of({7, 0, 12})}; }

TotoPass plain_toto_pass() { return {kSomeView, 3, 2, 1, 40}; }

Commit plain_toto_commit() {
  Commit commit = plain_commit();
  commit.options = order::toto::encode(order::toto::ViewOptions{1'472});
  commit.old_views[0].record = order::toto::encode(numbers_of({10, 0, 9, 300}));
  commit.old_views[1].record = order::toto::encode(numbers_of({5}));
  return commit;
}

NodeSample random_node(Random& random) {
  NodeSample sample;
  Node& node = sample.frame;
  node.view = random_view(random);
  node.origin = random_member_index(random);
  node.kind = static_cast<NodeKind>(random.below(4));
  node.retransmission = random.chance(0.3);
  node.seq = 1 + skewed(random, kCounterMax - 1);
  node.decided = skewed(random, kCounterMax);
  const bool control = node.kind == NodeKind::control;
  const std::uint64_t count = skewed(random, control ? kMembersMax - 1 : kUnitAdvancesMax);
  std::set<std::uint16_t> indices;
  while (indices.size() < count) {
    const std::uint16_t index = random_member_index(random);
    if (index != node.origin) indices.insert(index);
  }
  for (const std::uint16_t index : indices) {
    node.advances.push_back({index, static_cast<std::uint16_t>(1 + skewed(random, 0xfffe))});
  }
  if (!control) sample.unit.resize(1 + random.below(random.chance(0.01) ? 60'000 : 200));
  for (std::byte& b : sample.unit) b = static_cast<std::byte>(random.below(256));
  return sample;
}

TotoLacks random_toto_lacks(Random& random) {
  TotoLacks lacks;
  lacks.view = random_view(random);
  const std::size_t size = 1 + skewed(random, kNodeRangesMax - 1);
  std::uint16_t origin = random_member_index(random);
  Seq free = 1;  // above the ranges of this origin
  while (lacks.ranges.size() < size) {
    const bool last = lacks.ranges.size() + 1 == size;
    if (origin < kLastIndex && random.chance(0.3)) {
      const std::uint64_t above = kLastIndex - std::uint64_t{origin} - 1;
      origin = static_cast<std::uint16_t>(origin + 1U + skewed(random, above));
      free = 1;
    }
    NodeRange range{origin, free, static_cast<std::uint16_t>(1 + skewed(random, 63))};
    if (random.chance(0.5)) range.first += skewed(random, 1ULL << 50);
    if (last && random.chance(0.3)) range.first = kCounterMax - range.count;
    free = range.first + range.count;
    lacks.ranges.push_back(range);
  }
  return lacks;
}

TotoStatus random_toto_status(Random& random) {
  TotoStatus status;
  status.view = random_view(random);
  status.full = random.chance(0.5);
  status.all_have = random.chance(0.5);
  status.list = skewed(random, ~0ULL);
  const std::size_t size = 1 + skewed(random, kMembersMax - 1);
  while (status.have.size() < size) status.have.push_back(skewed(random, kCounterMax));
  return status;
}

TotoPass random_toto_pass(Random& random) {
  TotoPass pass;
  pass.view = random_view(random);
  pass.hop = skewed(random, kCounterMax);
  pass.run = static_cast<std::uint16_t>(skewed(random, kPassRunMax));
  pass.block = random.chance(0.3) ? kNoIndex : random_member_index(random);
  pass.missing = static_cast<std::uint32_t>(skewed(random, 0xffff'ffff));
  return pass;
}

Commit random_toto_commit(Random& random) {
  Commit commit = random_commit(random);
  constexpr std::uint64_t kLeast = node_header_bytes(kUnitAdvancesMax) + 1;
  const std::uint64_t bytes = kLeast + skewed(random, kPacketBytesMax - kLeast);
  commit.options = order::toto::encode(order::toto::ViewOptions{static_cast<std::uint32_t>(bytes)});
  for (OldView& old : commit.old_views) {
    old.record = order::toto::encode(random_toto_record(random));
  }
  return commit;
}

}  // namespace peal::wire::test
