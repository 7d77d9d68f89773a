// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "order/paxos/peers.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// How acceptors with their votes in memory begin an order: all of them, each in the life that all
/// others take it to be in. README.md says why that is enough.
class Founding {
 public:
  /// This node knows of no order, and hears all acceptors of its list, which know of none: it takes
  /// them for those that begin. False: not all are heard, or somebody knows of an order.
  bool take(const wire::Nodes& list, const Peers& peers);
  /// An acceptor, in the life `from`, says whom it takes. Words on others than those taken here say
  /// nothing; they will be said again.
  void note(const wire::Lives& said, const MemberId& from, const wire::Nodes& list);
  /// All of those taken have taken the same. They begin the order, and have never taken others
  /// since.
  bool complete() const;

  /// Whom this node took last; no epochs: nobody.
  const wire::Lives& taken() const { return taken_; }
  /// Did this node take those who begin this order, and nobody since?
  bool took_those_of(const wire::Nodes& order) const;
  /// Would every order that this node's word may have begun need the word of `node`, too? So if
  /// this node has said nothing.
  bool needs(NodeId node) const;

  void add_to(Digest& digest) const;

 private:
  wire::Lives taken_;
  std::vector<NodeId> acceptors_;  ///< of whom those are lives; always the same
  std::vector<bool> agreed_;       ///< by acceptor of the list
};

}  // namespace peal::order::paxos
