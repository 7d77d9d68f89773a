// SPDX-License-Identifier: Apache-2.0
#include "wire/paxos_value.h"

#include <algorithm>

#include "base/assert.h"
#include "wire/packet.h"

// Values and what decided ones come to, as packets and records of a log hold them.

namespace peal::wire {
namespace {

constexpr std::size_t kNodeBytes = 4;
/// Of a node's number in a list; numbers are smaller.
constexpr std::uint32_t kIsAcceptor = 1U << 31;
static_assert(kNodeMax < kIsAcceptor);

/// How many members of a view follow, if the bytes of all of them are there; else 0.
std::uint16_t read_member_count(Reader& in, std::size_t bytes_each) {
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kMembersMax, Drop::count_too_large);
  return !in.failed() && in.holds(count, bytes_each) ? count : std::uint16_t{0};
}

/// The member behind one of the node `before`.
ViewMember read_view_member(Reader& in, NodeId before) {
  ViewMember read;
  read.member = read_member(in);
  read.came_from = read_counter(in);
  // Two incarnations of a node cannot both be members.
  in.require(before < read.member.node, Drop::not_sorted);
  return read;
}

/// How many nodes a list has, if the bytes of all of them are there; else 0. That a list of none is
/// bad need not be asked: it has no acceptor.
std::uint16_t read_node_count(Reader& in) {
  const auto count = in.u<std::uint16_t>();
  in.require(count <= kMembersMax, Drop::count_too_large);
  return !in.failed() && in.holds(count, kNodeBytes) ? count : std::uint16_t{0};
}

struct ListedNode {
  NodeId node{};
  bool acceptor = false;
};

/// The node of a list behind `before`.
ListedNode read_listed_node(Reader& in, NodeId before) {
  const auto entry = in.u<std::uint32_t>();
  const ListedNode read{{entry & ~kIsAcceptor}, (entry & kIsAcceptor) != 0};
  in.require(read.node.value >= 1 && read.node.value <= kNodeMax, Drop::bad_value);
  in.require(before < read.node, Drop::not_sorted);
  return read;
}

std::uint64_t read_list_hash(Reader& in) {
  const auto hash = in.u<std::uint64_t>();
  in.require(hash != 0, Drop::bad_value);
  return hash;
}

/// What read_nodes() reads, without keeping any of it.
void require_nodes(Reader& value) {
  read_list_hash(value);
  const std::uint16_t count = read_node_count(value);
  NodeId before{};
  bool any = false;
  for (std::uint16_t i = 0; i < count && !value.failed(); ++i) {
    const ListedNode read = read_listed_node(value, before);
    before = read.node;
    any = any || read.acceptor;
  }
  value.require(any, Drop::bad_value);
}

}  // namespace

Instance read_instance(Reader& in) {
  const Instance instance = read_counter(in);
  in.require(instance >= 1, Drop::bad_value);
  return instance;
}

void require_value(Reader& in, ValueKind kind, ByteView bytes) {
  if (in.failed() || kind == ValueKind::unit) return;
  if (kind == ValueKind::nothing) return in.require(bytes.empty(), Drop::trailing_bytes);
  Reader value(bytes);
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

ValueHead read_value_head(Reader& in) {
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

void read_nodes(Reader& in, Nodes& out) {
  out.hash = read_list_hash(in);
  out.all.clear();
  out.acceptors.clear();
  const std::uint16_t count = read_node_count(in);
  out.all.reserve(count);
  out.acceptors.reserve(count);
  NodeId before{};
  for (std::uint16_t i = 0; i < count && !in.failed(); ++i) {
    const ListedNode read = read_listed_node(in, before);
    before = read.node;
    out.all.push_back(read.node);
    if (read.acceptor) out.acceptors.push_back(read.node);
  }
  in.require(!out.acceptors.empty(), Drop::bad_value);
}

void write_nodes(Writer& out, const Nodes& in) {
  out.u(in.hash);
  out.count(in.all.size(), kMembersMax);
  for (const NodeId node : in.all) {
    const bool acceptor = std::binary_search(in.acceptors.begin(), in.acceptors.end(), node);
    out.u(node.value | (acceptor ? kIsAcceptor : 0));
  }
}

void read_checkpoint(Reader& in, Checkpoint& out) {
  out.next = read_instance(in);
  out.key = in.u<std::uint64_t>();
  in.require(out.key <= kKeyMax, Drop::bad_value);
  out.nodes.number = in.u<std::uint64_t>();
  in.require(out.nodes.number <= kListMax, Drop::bad_value);
  out.nodes.first = in.u<std::uint64_t>();
  read_nodes(in, out.nodes);
  in.require(out.nodes.number != 0 || out.nodes.first == out.nodes.hash, Drop::bad_value);
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
  Reader in(unit.first(kPlacingBytes));
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
  Reader in(bytes);
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
  Reader in(bytes);
  read_nodes(in, out);
  return in.finish();
}

std::size_t encode_nodes(const Nodes& in, ByteSpan bytes) {
  Writer out(bytes);
  write_nodes(out, in);
  return out.failed() ? 0 : out.written();
}

}  // namespace peal::wire
