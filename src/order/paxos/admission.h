// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "order/paxos/parts.h"
#include "order/said_once.h"
#include "wire/frames.h"

namespace peal::order::paxos {

/// Which packets are taken at all: those of known nodes, in their newest incarnations, with the
/// same settings. Counts what was dropped, and tells people once of each node that does not fit.
class Admission {
 public:
  explicit Admission(const Parts& parts) : p_(parts) {}

  /// Reads the header of a packet. `view`: installed last.
  wire::Drop read(const BufferRef& packet, ViewId view, wire::Header& header, Effects& out);
  /// The packet is of a known node, which lives. False: it was dropped, and counted.
  bool admit(Instant now, const wire::Header& header, ViewId view, Effects& out);
  /// A packet was dropped, unless the reason is `none`.
  void count(wire::Drop reason);
  void report_incompatible(const wire::Header& header, wire::Drop reason, ViewId view,
                           Effects& out);
  /// This node was given another list: what does not fit is told anew.
  void forget_reported() { reported_.clear(); }

  void append_counters(std::vector<Counter>& counters) const;

 private:
  wire::Drop judge(Instant now, const wire::Header& header, ViewId view, Effects& out);

  Parts p_;
  SaidOnce reported_;
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops_{};
};

}  // namespace peal::order::paxos
