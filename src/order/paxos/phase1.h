// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "base/digest.h"
#include "order/paxos/parts.h"

namespace peal::order::paxos {

/// What an acceptor answers in Phase 1.
wire::Promise promise_of(const Round& round, const Store& store, const OrderState& state);

/// Phase 1 of one round, for all instances at once: collects promises, chooses for each instance
/// the vote of the highest round, and fetches the values that are not here. If anything was
/// decided, it is what was chosen.
class Phase1 {
 public:
  explicit Phase1(const Parts& parts) : p_(parts) {}

  /// Begins anew, for the instances from the next one on.
  void begin();
  /// The round is over.
  void clear();
  /// The values that were chosen are proposed: forgets them.
  void finish();

  void ask(const Round& round, Effects& out);
  bool has_promise_of(NodeId node) const { return promises_.count(node) != 0; }
  /// An acceptor promised. True: a majority has.
  bool note(NodeId from, const wire::Promise& promise);
  /// A majority has promised: chooses.
  void choose();
  /// Everything below is decided: it is learnt from nodes that consumed it.
  Instance base() const { return base_; }

  /// All values that were chosen are here. Else fetch() asks for more.
  bool knows_values();
  void fetch(Effects& out);
  /// Once in each heartbeat: asks again for what seems lost. False: a node that has such a value is
  /// gone, so others that voted for it are to be found by a new round.
  bool fetch_again(Effects& out);
  void on_fetched(const wire::Fetched& frame, const BufferRef& bytes);

  /// One above the last instance for which something was chosen; `next` if nothing was.
  Instance end(Instance next) const {
    return choices_.empty() ? next : choices_.rbegin()->first + 1;
  }
  /// What was chosen for the instance; null: nothing, as nobody of a majority voted.
  const Value* chosen(Instance instance) const;

  void check_invariants() const;
  void add_to(Digest& digest) const;

 private:
  struct Choice {
    Round round{};
    NodeId voter{};  ///< has the value
  };
  struct Fetching {
    Instance known_upto = 0;    ///< choices below are here
    Instance asked_upto = 0;    ///< choices below were asked for
    std::uint32_t awaited = 0;  ///< asked for, and not here
    bool came = false;          ///< one did, since the last heartbeat
  };

  bool take_known(Instance instance, const Choice& choice);

  Parts p_;
  Instance from_ = 0;
  std::map<NodeId, wire::Promise> promises_;
  Instance base_ = 0;
  std::map<Instance, Choice> choices_;
  std::map<Instance, Value> values_;  ///< of choices, as far as they are here
  Fetching fetching_;
};

}  // namespace peal::order::paxos
