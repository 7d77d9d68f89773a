// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

namespace peal {

/// A configured node, 1 to 65535. The same number on every node of the cluster; 0 names nobody.
struct NodeId {
  std::uint32_t value{};
  friend constexpr auto operator<=>(NodeId, NodeId) = default;
};

/// One incarnation of a node: a node that crashed and restarted is a different member. Later
/// incarnations have larger epochs. Order: node, then epoch; this is the order of the ring.
struct MemberId {
  NodeId node{};
  std::uint64_t epoch{};
  friend constexpr auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// Names one regular view: a number, and the member that formed it. Number 0 is a member's birth
/// view, which is never announced.
struct ViewId {
  std::uint64_t number{};
  MemberId representative{};
  friend constexpr auto operator<=>(const ViewId&, const ViewId&) = default;
};

/// Position in one view's order; the first is 1, and 0 means nothing. 64 bits never wrap.
using Seq = std::uint64_t;

/// Position of a record in a node's durable log; the first is 1, and 0 means nothing. Counts
/// records; 64 bits never wrap.
struct LogPosition {
  std::uint64_t value{};
  constexpr LogPosition next() const { return LogPosition{value + 1}; }
  friend constexpr auto operator<=>(LogPosition, LogPosition) = default;
};

/// What a sender asks for. fifo and causal are delivered as agreed, which is stronger.
enum class Service : std::uint8_t { fifo, causal, agreed, safe };

constexpr bool is_safe(Service service) { return service == Service::safe; }

/// How bytes travel, not what they mean. `token`: small, urgent, to one node. `data`: to all, by
/// multicast where there is one. `control`: rare membership traffic, to all configured nodes or to
/// one, may exceed one MTU. All three may lose, duplicate and reorder.
enum class Lane : std::uint8_t { token, data, control };

}  // namespace peal
