// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// An acceptor's answer in Phase 1.
wire::Promise promise_of(const Round& round, const Store& store, const OrderState& state);

/// Phase 1 of one round, for all instances at once: collects promises, chooses for each instance
/// the vote of the highest round, and fetches missing values. If an instance is decided, its chosen
/// value is the decided one.
class Phase1 {
 public:
  explicit Phase1(const Parts& parts) : p_(parts) {}

  /// Begins Phase 1 for all instances from the next one to be consumed on.
  void begin();
  /// The round is over: forgets everything about it.
  void clear();
  /// Drops promises and chosen values. Call it once all chosen values are proposed.
  void finish();

  void ask(const Round& round, Effects& out);
  bool has_promise_of(NodeId node) const { return promises_.count(node) != 0; }
  /// An acceptor promised. True: a majority has promised now.
  bool note(NodeId from, const wire::Promise& promise);
  /// Chooses the values. Call it once a majority has promised.
  void choose();
  /// All instances below the result are decided: nodes that consumed them have the values.
  Instance base() const { return base_; }

  /// True if all chosen values are here. If not, fetch() requests the missing values.
  bool knows_values();
  void fetch(Effects& out);
  /// Call it once per heartbeat: repeats requests that seem lost. False: the voter of a missing
  /// value is suspected, so a new round must find other voters.
  bool fetch_again(Effects& out);
  void on_fetched(const wire::Fetched& frame, const BufferRef& bytes);

  /// One above the last instance for which a value was chosen; `next` if there is none.
  Instance end(Instance next) const {
    return choices_.empty() ? next : choices_.rbegin()->first + 1;
  }
  /// The value chosen for the instance; null if no acceptor of the majority reported a vote for the
  /// instance.
  const Value* chosen(Instance instance) const;

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Choice {
    Round round{};
    NodeId voter{};  ///< the acceptor that has the value
  };
  struct Fetching {
    Instance known_upto = 0;    ///< all values chosen for instances below this one are here
    Instance asked_upto = 0;    ///< values of instances below this one were requested
    std::uint32_t awaited = 0;  ///< number of requested values that have not arrived
    bool came = false;          ///< a value arrived after the last heartbeat
  };

  bool take_known(Instance instance, const Choice& choice);

  Parts p_;
  Instance from_ = 0;
  std::map<NodeId, wire::Promise> promises_;
  Instance base_ = 0;
  std::map<Instance, Choice> choices_;
  std::map<Instance, Value> values_;  ///< chosen values, as far as they are here
  Fetching fetching_;
};

}  // namespace peal::order::paxos
