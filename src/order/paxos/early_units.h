// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/coordinator.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Optimistic delivery: tells the application of units before they have their places. Without
/// Options::optimistic it is off, and nothing but is_on() is called.
class EarlyUnits {
 public:
  /// `coordinator`: this node's own; null on nodes that never vote.
  EarlyUnits(const Parts& parts, const Coordinator* coordinator)
      : p_(parts), coordinator_(coordinator) {}

  bool is_on() const { return p_.early != nullptr; }
  /// The stamp of a unit of this node, which is sent now.
  std::uint64_t stamp(Instant now) { return p_.early->stamp(now); }
  /// The same of a unit that came, also of one that is not told here: so the coordinator knows when
  /// it is due.
  std::uint64_t see(Instant now, std::uint64_t stamp) { return p_.early->see(now, stamp); }
  /// A unit came from its sender, or is this node's; `frame.count` is its stamp.
  wire::Drop hear(Instant now, const wire::ValueFrame& frame, const BufferRef& bytes);
  /// Sends a unit of this node to all, the coordinator among them.
  void send(const BufferRef& packet, const Peer& leader, Effects& out);

  /// Tells the application what is due.
  void tell_due(Instant now, Effects& out);
  /// When a unit is to be told or proposed next.
  std::optional<Instant> at() const { return at_; }
  /// A unit has its place `seq`. If the application was not told of it, it is told first. Returns
  /// the guess.
  Seq place(const Value& value, Seq seq, Effects& out);
  /// Another view counts.
  void begin_view();

 private:
  void tell(std::size_t index, const Early::Unit& unit, Effects& out);

  Parts p_;
  const Coordinator* coordinator_;
  std::optional<Instant> at_;
};

}  // namespace peal::order::paxos
