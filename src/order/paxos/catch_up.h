// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "order/paxos/election.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/learner.h"
#include "order/paxos/pace.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// How many instances are asked for at a time.
Instance asked_max(const Options& options);

/// Another node that is past this instance.
inline bool is_past(const Peer& peer, Instance instance) {
  return !peer.self && !peer.suspected && peer.state.next > instance;
}

/// Asks others for decided values that are missing here. What is missing may only be late: how long
/// to wait is learnt from what came by itself.
class CatchUp {
 public:
  CatchUp(const Parts& parts, const Election& election, const Learner& learner,
          const Incarnations& incarnations);

  /// Asks for what is missing, if it is time for that. To be called whenever anything changed.
  void work(Instant now, Effects& out);
  /// When work() has something to do; none while nothing is missing.
  std::optional<Instant> next_at() const;
  /// The instance is decided, or behind something that this acceptor has to vote for first; and its
  /// value is not here.
  bool lacks(Instance instance) const;
  /// A value came twice: if it was asked for, that was too soon.
  void note_twice(Instant now, Instance instance);
  /// Something was missing at the last call of work().
  bool is_missing() const { return is_missing_; }

  /// This node asked since the last sign of life, which says so.
  bool asked() const { return asked_; }
  void forget_asked() { asked_ = false; }

  std::uint64_t requests() const { return requests_; }
  void check_invariants() const;

 private:
  std::optional<Instance> first_missing() const;
  bool waits_longer(Instant now, Instance first);
  bool begin(Instant now, Instance first);
  const Peer* who_has(Instance instance) const;
  Instant ask_again_at() const;
  void ask(const Peer& peer, Instance first, Effects& out);

  Parts p_;
  const Election& election_;
  const Learner& learner_;
  const Incarnations& incarnations_;
  const Instance asked_max_;
  bool is_missing_ = false;
  bool on_its_way_ = false;   ///< as far as this node can see
  Instance missed_ = 0;       ///< the first
  Instance missed_upto_ = 0;  ///< what is missing up to there is as late
  Instant missed_at_{};
  std::uint32_t asks_ = 0;  ///< for these
  Instance asked_upto_ = 0;
  Instant asked_at_{};
  bool asked_ = false;
  Patience patience_;
  std::uint64_t requests_ = 0;
};

}  // namespace peal::order::paxos
