// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "order/paxos/peers.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// How acceptors begin an order: all of them, each in the life that all others take it to be in: by
/// the log that it has, or in memory by its incarnation. README.md says why that is enough.
class Bootstrap {
 public:
  /// This node had taken these before it restarted, who were heard in these incarnations.
  void restore(const wire::Lives& taken, const std::vector<MemberId>& heard);
  /// This node knows of no order, and hears all acceptors of its list, which know of none: it takes
  /// them for those that begin. True: they are others than before, and its log is to say so before
  /// anybody hears of it.
  bool take(const wire::Nodes& list, const Peers& peers);
  /// The log of this node, an acceptor, says durably whom it takes.
  void note_own(NodeId self);
  /// An acceptor says whom it takes. Words on others than those taken here say nothing; they will
  /// be said again.
  void note(const wire::Lives& said, const Peer& from);
  /// All of those taken have taken the same. They begin the order, and have never taken others
  /// since.
  bool complete() const;

  /// Whom this node took last; no lives: nobody.
  const wire::Lives& taken() const { return taken_; }
  /// In which incarnations they were heard then, in the order of the nodes.
  const std::vector<MemberId>& heard() const { return heard_; }
  /// Did this node take those who begin this order, and nobody since?
  bool took_those_of(const wire::Nodes& order) const;
  /// Would every order that this node's word may have begun need the word of this acceptor, too, in
  /// the life that it has? So if this node has said nothing.
  bool needs(const Peer& acceptor) const;

  void add_to(Digest& digest) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t index_of(NodeId node) const;

  wire::Lives taken_;
  std::vector<MemberId> heard_;
  std::vector<bool> agreed_;  ///< by acceptor of the list
};

}  // namespace peal::order::paxos
