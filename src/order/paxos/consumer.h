// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "order/paxos/early_units.h"
#include "order/paxos/own_units.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// Consumes decided values in the order of their instances: delivers units and installs views.
class Consumer {
 public:
  Consumer(const Parts& parts, OwnUnits& own, EarlyUnits& early);

  /// Call when this node begins to consume without gaps, at the present state of the order.
  void begin() { from_ = p_.state.key(); }
  /// Consumes the value of the next instance, and returns its outcome.
  OrderState::Outcome apply(const Value& value);
  /// Delivers a unit that has its place. `member`: this node was in the view. False: the unit
  /// claims this node as its origin, but is not this node's next pending unit.
  bool deliver(Instant now, const Value& value, bool member, Effects& out);
  /// Another view is active. True: this node is in the view, and has installed it.
  bool change_view(Effects& out);

  /// The last view that this node installed.
  ViewId view() const { return view_; }
  /// The number of units delivered in view().
  Seq seq() const { return seq_; }
  /// Key of the last value before the values that this incarnation consumed without gaps.
  std::uint64_t from() const { return from_; }

  /// Only with several ensembles. `ready`: views may admit this node. `from`: lower bound of the
  /// keys of views that admit it.
  void set_ready(bool ready, std::uint64_t from) {
    visiting_ = !ready;
    views_from_ = from;
  }
  bool visiting() const { return visiting_; }
  std::uint64_t views_from() const { return views_from_; }

  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t ignored() const { return ignored_; }
  std::uint64_t views() const { return views_; }
  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  void install(Effects& out);

  Parts p_;
  OwnUnits& own_;
  EarlyUnits& early_;
  ViewId view_{};
  Seq seq_ = 0;
  std::uint64_t from_ = 0;
  bool visiting_;                 ///< views must not admit this node
  std::uint64_t views_from_ = 0;  ///< `from` of set_ready(); STATE reports it
  std::uint64_t delivered_ = 0;
  std::uint64_t ignored_ = 0;
  std::uint64_t views_ = 0;
};

}  // namespace peal::order::paxos
