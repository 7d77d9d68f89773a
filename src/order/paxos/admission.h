// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "order/incompatible_peers.h"
#include "order/paxos/parts.h"
#include "wire/frames.h"

namespace peal::order::paxos {

/// Decides which packets are accepted: those of known nodes, in their newest incarnations, with the
/// same settings. Counts dropped packets, and reports each misconfigured node once.
class Admission {
 public:
  explicit Admission(const Parts& parts) : p_(parts) {}

  /// Decodes the header of a packet. `view`: the last installed view, for reports.
  wire::Drop read(const BufferRef& packet, ViewId view, wire::Header& header, Effects& out);
  /// True if the packet comes from the newest incarnation of a known node with the same settings.
  /// Otherwise the packet is dropped, and has been counted.
  bool admit(Instant now, const wire::Header& header, ViewId view, Effects& out);
  /// Counts a dropped packet, unless the reason is `none`.
  void count(wire::Drop reason);
  void report_incompatible(const wire::Header& header, wire::Drop reason, ViewId view,
                           Effects& out);
  /// This node received another list of nodes: misconfigured nodes will be reported again.
  void forget_reported() { incompatible_.clear(); }

  void append_counters(std::vector<Counter>& counters) const;

 private:
  wire::Drop judge(Instant now, const wire::Header& header, ViewId view, Effects& out);

  Parts p_;
  IncompatiblePeers incompatible_;
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops_{};
};

}  // namespace peal::order::paxos
