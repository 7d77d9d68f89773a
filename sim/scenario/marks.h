// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/world/packet.h"
#include "sim/world/world.h"

namespace peal::sim {

/// Counts packets, views and events since the last `mark`, and how much the counters of nodes have
/// grown. For an incarnation that is younger than the mark, views, events and counters count from
/// the incarnation's start.
class Marks {
 public:
  /// Call when the cluster of `nodes` nodes has been built.
  void begin(std::uint32_t nodes);
  /// Sets the mark: counts begin now.
  void set(const World& world);
  void on_send(const Packet& packet);

  std::uint64_t views_since(const Process& process) const;
  std::uint64_t events_since(const Process& process, const order::EventKind* kind) const;
  /// nullopt if the node has no counter of this name.
  std::optional<std::uint64_t> counter_since(const Process& process, std::string_view name) const;
  /// Number of packets of this kind that the nodes in `from` have sent since the mark. If `from` is
  /// empty, counts the packets of all nodes.
  std::uint64_t packets_since(PacketKind kind, const std::vector<NodeId>& from) const;
  /// True if the node is still in the view that it had at the mark. Also true if the node neither
  /// ran at the mark nor runs now.
  bool view_kept(NodeId node, const World& world) const;

 private:
  struct Mark {
    std::uint32_t incarnation = 0;  ///< 0: the node did not run at the mark
    std::uint64_t views = 0;
    std::vector<std::uint64_t> counters;
    std::map<const order::EventKind*, std::uint64_t> events;
  };
  /// The process's counts at the mark; null if this incarnation is younger than the mark.
  const Mark* of(const Process& process) const;

  std::vector<Mark> marks_;                                            ///< by node
  std::array<std::vector<std::uint64_t>, kPacketKinds> packets_from_;  ///< by node
};

}  // namespace peal::sim
