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

/// The maximum number of instances in one request.
Instance asked_max(const Options& options);

/// True if the peer is another node, seems alive, and has consumed this instance.
inline bool is_past(const Peer& peer, Instance instance) {
  return !peer.self && !peer.suspected && peer.state.next > instance;
}

/// Fetches decided values that are missing here. A missing value may simply be late: the time to
/// wait for it is learnt from values that arrived without a request.
class CatchUp {
 public:
  CatchUp(const Parts& parts, const Election& election, const Learner& learner,
          const Incarnations& incarnations);

  /// Requests missing values, if it is time. Call it whenever anything changed.
  void work(Instant now, Effects& out);
  /// The time at which work() has something to do; empty while no value is missing.
  std::optional<Instant> next_at() const;
  /// True if this node lacks the value of the instance, and needs it. A node needs the values of
  /// decided instances. An acceptor also needs a value for which it must vote before it votes for
  /// later instances.
  bool lacks(Instance instance) const;
  /// The value of this instance arrived twice. If the value was requested, the request was too
  /// early.
  void note_twice(Instant now, Instance instance);
  /// True if a value was missing at the last call of work().
  bool is_missing() const { return is_missing_; }

  /// True if this node sent requests after its last heartbeat; STATE reports it.
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
  bool on_its_way_ = false;   ///< the first missing value may still be in transit
  Instance missed_ = 0;       ///< the first missing instance
  Instance missed_upto_ = 0;  ///< missing values up to this instance were missing at missed_at_
  Instant missed_at_{};
  std::uint32_t asks_ = 0;  ///< requests so far for the value of missed_
  Instance asked_upto_ = 0;
  Instant asked_at_{};
  bool asked_ = false;
  Patience patience_;
  std::uint64_t requests_ = 0;
};

}  // namespace peal::order::paxos
