// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "peal/service.h"

namespace peal {

/// A configured node, 1 to 65535, with the same number on every node of the cluster; 0 means none.
struct NodeId {
  std::uint32_t value{};
  friend constexpr auto operator<=>(NodeId, NodeId) = default;
};

/// One incarnation of a node: a node that crashed and restarted is a different member. Later
/// incarnations have larger epochs. Members compare by node, then by epoch; this is also their
/// order on the ring.
struct MemberId {
  NodeId node{};
  std::uint64_t epoch{};
  friend constexpr auto operator<=>(const MemberId&, const MemberId&) = default;
};

/// Names one regular view: a number, and the member that formed it. Number 0 is the view that a
/// member starts in, which is never announced.
struct ViewId {
  std::uint64_t number{};
  MemberId representative{};
  friend constexpr auto operator<=>(const ViewId&, const ViewId&) = default;
};

/// Position in one view's order, from 1; 0 means none. 64 bits never wrap.
using Seq = std::uint64_t;

/// Position of a record in a node's durable log, from 1; 0 means none. Counts records, not bytes;
/// 64 bits never wrap.
struct LogPosition {
  std::uint64_t value{};
  constexpr LogPosition next() const { return LogPosition{value + 1}; }
  friend constexpr auto operator<=>(LogPosition, LogPosition) = default;
};

constexpr bool is_safe(Service service) { return service == Service::safe; }

/// How bytes travel, not what they mean. `token`: small, urgent, to one node. `data`: to all nodes,
/// by multicast where available. `control`: rare membership traffic, to all configured nodes or to
/// one, possibly larger than one MTU. On all three, packets may be lost, duplicated and reordered.
enum class Lane : std::uint8_t { token, data, control };

}  // namespace peal
