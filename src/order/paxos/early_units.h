// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/coordinator.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Optimistic delivery: announces units to the application before they have their places. Without
/// Options::optimistic, optimistic delivery is off, and only is_on() may be called.
class EarlyUnits {
 public:
  /// `coordinator`: this node's own coordinator; null on nodes that never vote.
  EarlyUnits(const Parts& parts, const Coordinator* coordinator)
      : p_(parts), coordinator_(coordinator) {}

  bool is_on() const { return p_.early != nullptr; }
  /// The timestamp of a unit of this node that is sent now.
  std::uint64_t stamp(Instant now) { return p_.early->stamp(now); }
  /// The timestamp to be used for a received unit. Call it also for units that are not announced
  /// here: the coordinator needs the timestamp to know when the unit is due.
  std::uint64_t see(Instant now, std::uint64_t stamp) { return p_.early->see(now, stamp); }
  /// A unit arrived from its sender, or is this node's own; `frame.count` is its timestamp.
  wire::Drop hear(Instant now, const wire::ValueFrame& frame, const BufferRef& bytes);
  /// Sends a unit of this node to all nodes, including the coordinator.
  void send(const BufferRef& packet, const Peer& leader, Effects& out);

  /// Announces all units that are due.
  void tell_due(Instant now, Effects& out);
  /// The time at which the next unit is to be announced or proposed.
  std::optional<Instant> at() const { return at_; }
  /// Call when a unit got its place `seq`. Announces the unit first if it was not announced.
  /// Returns the position that was expected for the unit.
  Seq place(const Value& value, Seq seq, Effects& out);
  /// Call when another view is installed.
  void begin_view();

 private:
  void tell(std::size_t index, const Early::Unit& unit, Effects& out);

  Parts p_;
  const Coordinator* coordinator_;
  std::optional<Instant> at_;
};

}  // namespace peal::order::paxos
