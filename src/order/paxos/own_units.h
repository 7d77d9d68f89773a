// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "order/paxos/coordinator.h"
#include "order/paxos/early_units.h"
#include "order/paxos/election.h"
#include "order/paxos/pace.h"
#include "order/paxos/parts.h"
#include "order/paxos/window.h"

namespace peal::order::paxos {

/// This node's own units until they have their places. Takes units from the host, numbers them
/// within the view, sends them to the coordinator, and retransmits lost units.
class OwnUnits {
 public:
  /// `coordinator`: this node's own coordinator; null on nodes that never vote.
  OwnUnits(const Parts& parts, const Election& election, Coordinator* coordinator,
           EarlyUnits& early);

  /// Takes units from the host, as many as the window allows, and sends them.
  void pull(Instant now, Effects& out);
  /// Another node coordinates now: sends all units without a place to that node, because it did not
  /// receive the units that were sent to the previous coordinator.
  void follow(Instant now, Effects& out);
  /// This node coordinates from now on: submits its pending units to its own coordinator.
  void submit_to_self();
  /// Retransmits units, if none has been placed for too long.
  void resend_late(Instant now, Effects& out);
  /// The time at which resend_late() has something to do; empty while no unit waits.
  std::optional<Instant> resend_at() const;
  /// The coordinator requests missing units of this node: retransmits them.
  wire::Drop on_lacks(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  /// The bytes of a unit of this node, for a packet that lacks them; empty if the unit is not this
  /// node's, or has its place by now. Sets `fresh` to true if a header may be written in front of
  /// the bytes.
  BufferRef bytes_of(const wire::ValueHead& head, bool& fresh);

  /// Is the unit with this number the next one to be placed?
  bool is_next(std::uint64_t number) const {
    return !units_.empty() && units_.front().head.number == number;
  }
  /// The first unit without a place has got its place.
  void place(Instant now);
  /// Another view is active: units without a place are void, and the host hands them out again.
  void begin_view();

  bool empty() const { return units_.empty(); }
  std::uint32_t window() const { return window_.size(); }
  /// The number of placed units, and the number of retransmissions.
  std::uint64_t placed() const { return placed_; }
  std::uint64_t resent() const { return resent_; }
  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Own {
    wire::ValueHead head;
    BufferRef bytes;
    BufferRef packet;         ///< the packet to be sent again; empty if none is kept
    bool used = false;        ///< the headroom in front of the bytes was overwritten
    std::uint64_t stamp = 0;  ///< the unit's timestamp, with optimistic delivery
    Instant at{};             ///< when the host handed the unit over
    bool resent = false;
  };

  void submit(Own& own, Effects& out);
  void resend(Own& own, Effects& out);

  Parts p_;
  const Election& election_;
  Coordinator* coordinator_;
  EarlyUnits& early_;
  std::deque<Own> units_;
  std::uint64_t number_ = 0;  ///< number of the last unit
  Instant sent_at_{};         ///< when units were last sent, or a unit was placed
  Instant resent_at_{};       ///< when units were last retransmitted
  /// How often resend_late() retransmitted since a unit last measured its own delay (see place()).
  unsigned vain_ = 0;
  Patience patience_;
  Window window_;
  std::uint64_t placed_ = 0;
  std::uint64_t resent_ = 0;
};

}  // namespace peal::order::paxos
