// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/catch_up.h"
#include "order/paxos/consumer.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/election.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/learner.h"
#include "order/paxos/link_watch.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// This node's report about itself: its STATE, which carries its votes and is also its heartbeat.
class SelfReport {
 public:
  /// The objects whose state the report contains. `coordinator`: this node's own coordinator; null
  /// on nodes that never vote.
  struct Sources {
    const Coordinator* coordinator;
    const Incarnations& incarnations;
    const LinkWatch& links;
    const Election& election;
    const Learner& learner;
    const Consumer& consumer;
    const CatchUp& catch_up;
  };
  SelfReport(const Parts& parts, const Sources& sources) : p_(parts), from_(sources) {}

  wire::State state() const;
  /// Stores this node's own report in its Peer, as other nodes' reports are stored in theirs.
  void update();
  void tell(NodeId to, Effects& out) const;
  void tell_all(const wire::State& said, Lane lane, Effects& out) const;

  /// Makes work() send a STATE soon, to report durable votes, decisions, another view or another
  /// list. Votes that follow shortly are sent in the same packet.
  void announce() { wanted_ = true; }
  /// Sends the announced STATE, if it is time.
  void work(Instant now, Effects& out);
  /// The time at which work() has something to do.
  std::optional<Instant> next_at() const;

  void check_invariants() const;
  void add_to(Digest& digest) const { digest.add(wanted_ ? 1 : 0); }

 private:
  void add_votes(wire::State& state) const;

  Parts p_;
  Sources from_;
  bool wanted_ = false;
  Instant at_{};  ///< the announced STATE is not sent before this time
};

}  // namespace peal::order::paxos
