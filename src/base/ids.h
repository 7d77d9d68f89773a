// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "peal/service.h"

namespace peal {

/// The number of a configured node, 1 to 65535; 0 means none. All nodes of the cluster use the same
/// number for a node.
struct NodeId {
  std::uint32_t value{};
  friend constexpr auto operator<=>(NodeId, NodeId) = default;
};

/// One incarnation of a node: a node that crashed and restarted is a different member. Later
/// incarnations have larger epochs. Members are ordered by node, then by epoch, also on the ring.
struct MemberId {
  NodeId node{};
  std::uint64_t epoch{};
  friend constexpr auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// Identifies one regular view: its number, and the member that formed the view. A member starts in
/// a view with number 0, which is never announced.
struct ViewId {
  std::uint64_t number{};
  MemberId representative{};
  friend constexpr auto operator<=>(const ViewId&, const ViewId&) = default;
};

/// Position in one view's order, from 1; 0 means none. A 64-bit position never wraps.
using Seq = std::uint64_t;

/// Position of a record in a node's durable log, from 1; 0 means none. Counts records, not bytes. A
/// 64-bit position never wraps.
struct LogPosition {
  std::uint64_t value{};
  constexpr LogPosition next() const { return LogPosition{value + 1}; }
  friend constexpr auto operator<=>(LogPosition, LogPosition) = default;
};

constexpr bool is_safe(Service service) { return service == Service::safe; }
/// True if messages with this service have a place in the order with every engine. With
/// order::Traits::causal, `fifo` and `causal` messages have none.
constexpr bool is_ordered(Service service) { return service >= Service::agreed; }

/// How packets are transported; a lane does not say what they mean. `token`: small, urgent packets
/// to one node. `data`: packets to many nodes, by multicast where available. `control`: rare
/// membership packets, to all configured nodes or to one, possibly larger than one MTU. On each
/// lane, packets may be lost, duplicated and reordered.
enum class Lane : std::uint8_t { token, data, control };

}  // namespace peal
