// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "order/paxos/consumer.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/election.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/link_watch.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Determines why the engine waits, for status output.
class Diagnosis {
 public:
  /// The objects that the diagnosis reads. `coordinator`: this node's own coordinator; null on
  /// nodes that never vote.
  struct Sources {
    const Coordinator* coordinator;
    const Incarnations& incarnations;
    const LinkWatch& links;
    const Election& election;
    const Consumer& consumer;
  };
  /// Further facts, which only the engine knows.
  struct Question {
    bool opening;  ///< the log has not recorded yet that this incarnation began
    bool missing;  ///< a decided value is missing here
    bool waits;    ///< units wait to be ordered
  };
  Diagnosis(const Parts& parts, const Sources& sources) : p_(parts), from_(sources) {}

  WaitReason why(const Question& question) const;

 private:
  WaitReason bootstrap() const;
  WaitReason acceptors(const WaitKind* kind, Seq seq) const;
  WaitReason outside() const;
  WaitReason no_coordinator() const;
  WaitReason hung_disks() const;
  WaitReason unheard_members() const;
  MemberId full_application() const;
  Seq next() const { return from_.consumer.seq() + 1; }

  Parts p_;
  Sources from_;
};

}  // namespace peal::order::paxos
