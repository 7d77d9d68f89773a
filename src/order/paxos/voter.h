// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "order/paxos/election.h"
#include "order/paxos/history.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/parts.h"
#include "order/paxos/self_report.h"

namespace peal::order::paxos {

/// This node as an acceptor, towards coordinators: promises in Phase 1, votes in Phase 2, and sends
/// values that it voted for. The Acceptor stores promises and votes.
class Voter {
 public:
  Voter(const Parts& parts, Incarnations& incarnations, Election& election, History& history,
        SelfReport& report)
      : p_(parts),
        incarnations_(incarnations),
        election_(election),
        history_(history),
        report_(report) {}

  wire::Drop on_prepare(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  /// Sends the promise, once it is on disk.
  void answer_prepare(Effects& out);
  /// A coordinator asks for a vote in this round; instances below `floor` are decided. False if a
  /// higher round is promised or the log failed; then the coordinator is notified. True otherwise,
  /// even if this node must not vote.
  bool accept(const Round& round, Instance floor, Effects& out);
  /// Votes for the proposals. True if there are new votes that count at once, because votes are in
  /// memory.
  bool vote();
  wire::Drop on_fetch(const Peer& from, const BufferRef& packet, Effects& out);
  /// No coordinator waits for a promise any more: another list is active, or this node must not
  /// vote.
  void forget() { promise_for_.reset(); }

  void check_invariants() const;
  void add_to(Digest& digest) const { digest.add(promise_for_ ? promise_for_->value : 0); }

 private:
  Parts p_;
  Incarnations& incarnations_;
  Election& election_;
  History& history_;
  SelfReport& report_;
  std::optional<NodeId> promise_for_;  ///< the coordinator that waits for a promise to be on disk
};

}  // namespace peal::order::paxos
