// SPDX-License-Identifier: Apache-2.0
#include "wire/paxos_value.h"

#include <algorithm>

#include "base/assert.h"
#include "base/digest.h"
#include "wire/packet.h"

// Values and checkpoints, as packets and log records hold them.

namespace peal::wire {
namespace {

constexpr std::size_t kNodeBytes = 4;
/// Flag in the entry of a listed node, beside the node's number: the node is an acceptor.
constexpr std::uint32_t kIsAcceptor = 1U << 31;
static_assert(kNodeMax < kIsAcceptor);
/// Flag in a list's count: the incarnations of the acceptors follow the nodes.
constexpr std::uint16_t kHasLives = 1U << 15;
static_assert(kMembersMax < kHasLives);
/// The first view number of an order is the sum of its acceptors' epochs, shifted by kViewShift. So
/// an order has at least 1 << kViewShift view numbers below the first one of the next order.
constexpr unsigned kViewShift = 8;
constexpr std::uint64_t kLivesSumMax = 1ULL << 53;

/// Reads the count of members. Returns 0 if the count is too large, or if too few bytes are left
/// for that number of members.
std::uint16_t read_member_count(ByteReader& in, std::size_t bytes_each) {
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kMembersMax, Drop::count_too_large);
  return !in.failed() && in.holds(count, bytes_each) ? count : std::uint16_t{0};
}

/// Reads the next member. Notes not_sorted unless the member's node is above `before`.
ViewMember read_view_member(ByteReader& in, NodeId before) {
  ViewMember read;
  read.member = read_member(in);
  read.came_from = read_counter(in);
  // Two incarnations of a node cannot both be members.
  in.require(before < read.member.node, Drop::not_sorted);
  return read;
}

struct NodeCount {
  std::uint16_t nodes = 0;
  bool lives = false;
};

/// Reads the count of nodes. Returns 0 if the count is too large, or if fewer bytes are left than
/// so many nodes need. Zero nodes are no error here: the caller rejects a list without acceptors.
NodeCount read_node_count(ByteReader& in) {
  const auto said = in.u<std::uint16_t>();
  const auto count = static_cast<std::uint16_t>(said & ~kHasLives);
  in.require(count <= kMembersMax, Drop::count_too_large);
  if (in.failed() || !in.holds(count, kNodeBytes)) return {};
  return {count, (said & kHasLives) != 0};
}

std::uint64_t read_life(ByteReader& in) {
  const auto life = in.u<std::uint64_t>();
  in.require(life != 0, Drop::bad_value);
  return life;
}

struct ListedNode {
  NodeId node{};
  bool acceptor = false;
};

/// Reads the next node of a list. Notes not_sorted unless the node is above `before`.
ListedNode read_listed_node(ByteReader& in, NodeId before) {
  const auto entry = in.u<std::uint32_t>();
  const ListedNode read{{entry & ~kIsAcceptor}, (entry & kIsAcceptor) != 0};
  in.require(read.node.value >= 1 && read.node.value <= kNodeMax, Drop::bad_value);
  in.require(before < read.node, Drop::not_sorted);
  return read;
}

std::uint64_t read_list_hash(ByteReader& in) {
  const auto hash = in.u<std::uint64_t>();
  in.require(hash != 0, Drop::bad_value);
  return hash;
}

/// Checks the bytes that read_nodes() reads, without storing them.
void require_nodes(ByteReader& value) {
  read_list_hash(value);
  const NodeCount count = read_node_count(value);
  NodeId before{};
  std::size_t acceptors = 0;
  for (std::uint16_t i = 0; i < count.nodes && !value.failed(); ++i) {
    const ListedNode read = read_listed_node(value, before);
    before = read.node;
    acceptors += read.acceptor ? 1U : 0U;
  }
  value.require(acceptors != 0, Drop::bad_value);
  for (std::size_t i = 0; count.lives && i < acceptors && !value.failed(); ++i) read_life(value);
}

}  // namespace

Instance read_instance(ByteReader& in) {
  const Instance instance = read_counter(in);
  in.require(instance >= 1, Drop::bad_value);
  return instance;
}

void require_value(ByteReader& in, ValueKind kind, ByteView bytes) {
  if (in.failed() || kind == ValueKind::unit) return;
  if (kind == ValueKind::nothing) return in.require(bytes.empty(), Drop::trailing_bytes);
  ByteReader value(bytes);
  if (kind == ValueKind::nodes) {
    require_nodes(value);
    return in.require(value.finish() == Drop::none, value.finish());
  }
  const std::uint16_t count = read_member_count(value, kViewMemberBytes);
  NodeId before{};
  for (std::uint16_t i = 0; i < count && !value.failed(); ++i) {
    before = read_view_member(value, before).member.node;
  }
  value.require(count >= 1, Drop::bad_value);
  in.require(value.finish() == Drop::none, value.finish());
}

ValueHead read_value_head(ByteReader& in) {
  ValueHead head;
  const auto kind = in.u<std::uint8_t>();
  in.require(kind >= static_cast<std::uint8_t>(ValueKind::unit) &&
                 kind <= static_cast<std::uint8_t>(ValueKind::nodes),
             Drop::bad_value);
  const auto service = in.u<std::uint8_t>();
  in.require(service == static_cast<std::uint8_t>(Service::agreed) ||
                 service == static_cast<std::uint8_t>(Service::safe),
             Drop::bad_value);
  head.view = read_counter(in);
  head.origin = read_member(in);
  head.number = read_counter(in);
  if (in.failed()) return ValueHead{};
  head.kind = static_cast<ValueKind>(kind);
  head.service = static_cast<Service>(service);
  const bool unit = head.kind == ValueKind::unit;
  const bool nothing = head.kind == ValueKind::nothing;
  in.require(head.number >= 1 || !unit, Drop::bad_value);
  in.require(head.number == 0 || head.kind != ValueKind::nodes, Drop::bad_value);
  in.require((head.view >= 1) == !nothing, Drop::bad_value);
  in.require(head.kind != ValueKind::nodes || head.view <= kListMax, Drop::bad_value);
  in.require(unit || head.service == Service::agreed, Drop::bad_value);
  return head;
}

void write_value_head(Writer& out, const ValueHead& head) {
  out.u(static_cast<std::uint8_t>(head.kind));
  out.u(static_cast<std::uint8_t>(head.service));
  out.u(head.view);
  out.member(head.origin);
  out.u(head.number);
}

void read_nodes(ByteReader& in, Nodes& out) {
  out.hash = read_list_hash(in);
  out.all.clear();
  out.acceptors.clear();
  out.lives.clear();
  const NodeCount count = read_node_count(in);
  out.all.reserve(count.nodes);
  out.acceptors.reserve(count.nodes);
  NodeId before{};
  for (std::uint16_t i = 0; i < count.nodes && !in.failed(); ++i) {
    const ListedNode read = read_listed_node(in, before);
    before = read.node;
    out.all.push_back(read.node);
    if (read.acceptor) out.acceptors.push_back(read.node);
  }
  in.require(!out.acceptors.empty(), Drop::bad_value);
  if (count.lives) read_lives(in, in.failed() ? 0 : out.acceptors.size(), out.lives);
}

void read_lives(ByteReader& in, std::size_t count, std::vector<std::uint64_t>& out) {
  out.clear();
  if (!in.holds(count, sizeof(std::uint64_t))) return;
  out.reserve(count);
  for (std::size_t i = 0; i < count && !in.failed(); ++i) out.push_back(read_life(in));
}

std::uint64_t first_of(const Nodes& nodes) {
  if (nodes.lives.empty()) return nodes.hash;
  Digest digest;
  digest.add(nodes.hash);
  for (const std::uint64_t life : nodes.lives) digest.add(life);
  return digest.value();
}

std::uint64_t first_view_of(const Nodes& nodes) {
  std::uint64_t sum = 0;
  for (const std::uint64_t life : nodes.lives) {
    if ((life & kLogBit) != 0) continue;
    sum = std::min(sum + std::min(life, kLivesSumMax), kLivesSumMax);
  }
  return (sum << kViewShift) + 1;
}

void write_nodes(Writer& out, const Nodes& in) {
  PEAL_ASSERT(in.lives.empty() || in.lives.size() == in.acceptors.size());
  out.u(in.hash);
  if (in.lives.empty() || in.all.size() > kMembersMax) {
    out.count(in.all.size(), kMembersMax);
  } else {
    out.u(static_cast<std::uint16_t>(in.all.size() | kHasLives));
  }
  for (const NodeId node : in.all) {
    const bool acceptor = std::binary_search(in.acceptors.begin(), in.acceptors.end(), node);
    out.u(node.value | (acceptor ? kIsAcceptor : 0));
  }
  for (const std::uint64_t epoch : in.lives) out.u(epoch);
}

void read_checkpoint(ByteReader& in, Checkpoint& out) {
  out.next = read_instance(in);
  out.key = in.u<std::uint64_t>();
  in.require(out.key <= kKeyMax, Drop::bad_value);
  out.nodes.number = in.u<std::uint64_t>();
  in.require(out.nodes.number <= kListMax, Drop::bad_value);
  out.nodes.first = in.u<std::uint64_t>();
  read_nodes(in, out.nodes);
  const bool named = out.nodes.number != 0 || !out.nodes.lives.empty();
  in.require(named || out.nodes.first == out.nodes.hash, Drop::bad_value);
  out.view = read_any_view(in);
  out.members.clear();
  out.numbers.clear();
  const std::uint16_t count = read_member_count(in, kViewMemberBytes + sizeof(std::uint64_t));
  out.members.reserve(count);
  out.numbers.reserve(count);
  NodeId before{};
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.members.push_back(read_view_member(in, before));
    out.numbers.push_back(read_counter(in));
    before = out.members.back().member.node;
  }
  in.require((out.view.number == 0) == out.members.empty(), Drop::bad_value);
  in.require(out.view.number != 0 || out.view == ViewId{}, Drop::bad_value);
}

void write_checkpoint(Writer& out, const Checkpoint& in) {
  PEAL_ASSERT(in.members.size() == in.numbers.size());
  out.u(in.next);
  out.u(in.key);
  out.u(in.nodes.number);
  out.u(in.nodes.first);
  write_nodes(out, in.nodes);
  out.view(in.view);
  out.count(in.members.size(), kMembersMax);
  for (std::size_t i = 0; i < in.members.size(); ++i) {
    out.member(in.members[i].member);
    out.u(in.members[i].came_from);
    out.u(in.numbers[i]);
  }
}

Drop decode_placing(ByteView unit, Placing& out) {
  if (unit.size() < kPlacingBytes) return Drop::truncated;
  ByteReader in(unit.first(kPlacingBytes));
  out.stamp = read_counter(in);
  out.view = read_counter(in);
  out.number = read_counter(in);
  in.require(out.view >= 1 && out.number >= 1, Drop::bad_value);
  return in.finish();
}

void encode_placing_in_place(const Placing& in, ByteSpan unit) {
  PEAL_ASSERT(unit.size() >= kPlacingBytes);
  Writer out(unit.first(kPlacingBytes));
  out.u(in.stamp);
  out.u(in.view);
  out.u(in.number);
}

Drop decode_view_members(ByteView bytes, std::vector<ViewMember>& out) {
  ByteReader in(bytes);
  out.clear();
  const std::uint16_t count = read_member_count(in, kViewMemberBytes);
  out.reserve(count);
  NodeId before{};
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    out.push_back(read_view_member(in, before));
    before = out.back().member.node;
  }
  in.require(!out.empty(), Drop::bad_value);
  return in.finish();
}

std::size_t encode_view_members(const std::vector<ViewMember>& in, ByteSpan bytes) {
  Writer out(bytes);
  out.count(in.size(), kMembersMax);
  for (const ViewMember& each : in) {
    out.member(each.member);
    out.u(each.came_from);
  }
  return out.failed() ? 0 : out.written();
}

Drop decode_nodes(ByteView bytes, Nodes& out) {
  ByteReader in(bytes);
  read_nodes(in, out);
  return in.finish();
}

std::size_t encode_nodes(const Nodes& in, ByteSpan bytes) {
  Writer out(bytes);
  write_nodes(out, in);
  return out.failed() ? 0 : out.written();
}

}  // namespace peal::wire
