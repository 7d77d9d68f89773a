// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/fixed_vector.h"
#include "base/ids.h"
#include "wire/frames.h"

// The frames of ToTo (src/order/toto), as checked structs; docs/wire.md gives every byte. Members
// of a view are named by their index in the view. The rules of frames.h apply to decoders and
// encoders.

namespace peal::wire {

enum class TotoKind : std::uint8_t {
  node = kTotoKindFirst,  ///< a node of the causal graph, with a unit or without
  lacks,                  ///< requests nodes that the sender lacks
  status,                 ///< the sender's progress; never a vote
  pass = kTotoKindLast,   ///< circulates in a new view until every member is known to be in it
};
constexpr FrameKind frame_kind(TotoKind kind) { return static_cast<FrameKind>(kind); }

/// What a node of the causal graph carries. Every kind is a vote.
enum class NodeKind : std::uint8_t {
  control,  ///< no unit: acknowledges other nodes
  causal,   ///< a unit with Service::causal
  agreed,   ///< a unit with Service::agreed
  safe,     ///< a unit with Service::safe
};

/// The sender of a node has taken `count` more nodes of the member with this index since the
/// previous node of the sender.
struct Advance {
  std::uint16_t index{};  ///< below kMembersMax
  std::uint16_t count{};  ///< at least 1
  friend bool operator==(const Advance&, const Advance&) = default;
};

/// NODE: this header, then the unit, which is empty if and only if the kind is control. The node
/// follows all nodes that its advances, and those of its predecessors, name.
struct Node {
  ViewId view{};
  std::uint16_t origin{};  ///< index of the member that made the node; below kMembersMax
  NodeKind kind = NodeKind::control;
  bool retransmission = false;
  Seq seq{};                ///< number of the node among those of its origin in this view; >= 1
  std::uint64_t decided{};  ///< activations that the origin had decided in this view; a member that
                            ///< says so will deliver them
  FixedVector<Advance, kMembersMax> advances;  ///< by ascending index, without the origin's
  friend bool operator==(const Node&, const Node&) = default;
};

inline constexpr std::size_t kNodeFixedBytes = kHeaderBytes + 20 + 2 + 1 + 1 + 8 + 8 + 2;
inline constexpr std::size_t kAdvanceBytes = 4;
/// Maximum number of advances of a node with a unit: they stand in front of the unit, in its
/// headroom (headroom.h). A node without a unit can have kMembersMax - 1.
inline constexpr std::size_t kUnitAdvancesMax = 11;
/// Bytes in front of the unit of a node with so many advances.
constexpr std::size_t node_header_bytes(std::size_t advances) {
  return kNodeFixedBytes + kAdvanceBytes * advances;
}

/// Requests the `count` nodes of one origin from `first` on.
struct NodeRange {
  std::uint16_t origin{};  ///< below kMembersMax
  Seq first{};             ///< >= 1
  std::uint16_t count{};   ///< 1 to kNodeRangeMax
  friend bool operator==(const NodeRange&, const NodeRange&) = default;
};
inline constexpr std::uint16_t kNodeRangeMax = 64;
inline constexpr std::size_t kNodeRangesMax = 64;

struct TotoLacks {
  ViewId view{};                                  ///< of the nodes
  FixedVector<NodeRange, kNodeRangesMax> ranges;  ///< at least one; ascending by origin, then by
                                                  ///< first; without overlaps
  friend bool operator==(const TotoLacks&, const TotoLacks&) = default;
};

struct TotoStatus {
  ViewId view{};
  bool full = false;  ///< the sender's application takes nothing now, so the sender takes no nodes
  bool all_have = false;  ///< the sender knows that every member's STATUS names `list`
  /// Hash of the sender's pending list of nodes or, without one, of its active list.
  std::uint64_t list{};
  /// For each member: all its nodes up to this number are in the sender's graph.
  FixedVector<Seq, kMembersMax> have;
  friend bool operator==(const TotoStatus&, const TotoStatus&) = default;
};

struct TotoPass {
  ViewId view{};
  std::uint64_t hop{};             ///< grows by 1 with each member that passes the frame on
  std::uint16_t run{};             ///< number of consecutive members that lack nothing of their old
                                   ///< view, at most kPassRunMax
  std::uint16_t block = kNoIndex;  ///< index of the last member that lacked something
  std::uint32_t missing{};         ///< number of nodes that members lack, in sum
  friend bool operator==(const TotoPass&, const TotoPass&) = default;
};
inline constexpr std::uint16_t kPassRunMax = 4 * kMembersMax;

[[nodiscard]] Drop decode_node(ByteView packet, Node& out);  ///< unit: from node_header_bytes() on
[[nodiscard]] Drop decode_toto_lacks(ByteView packet, TotoLacks& out);
[[nodiscard]] Drop decode_toto_status(ByteView packet, TotoStatus& out);
[[nodiscard]] Drop decode_toto_pass(ByteView packet, TotoPass& out);

/// Writes the header of a NODE into the first node_header_bytes() of `packet`; the unit, if any,
/// already follows them.
void encode_node_in_place(const Header& header, const Node& in, ByteSpan packet);
[[nodiscard]] std::size_t encode_toto_lacks(const Header& header, const TotoLacks& in,
                                            ByteSpan out);
[[nodiscard]] std::size_t encode_toto_status(const Header& header, const TotoStatus& in,
                                             ByteSpan out);
[[nodiscard]] std::size_t encode_toto_pass(const Header& header, const TotoPass& in, ByteSpan out);

}  // namespace peal::wire
