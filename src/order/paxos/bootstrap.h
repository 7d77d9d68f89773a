// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/digest.h"
#include "order/paxos/peers.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// How the acceptors of a list bootstrap an order: they begin it once all of them have named the
/// same incarnations of all of them. An acceptor's incarnation is that of its log or, with votes in
/// memory, that of its process. README.md explains why this agreement is enough.
class Bootstrap {
 public:
  /// Before it restarted, this node had named the acceptors `taken`, and had heard them in the
  /// process incarnations `heard`.
  void restore(const wire::Lives& taken, const std::vector<MemberId>& heard);
  /// If this node hears all acceptors of `list`, and no node that it hears knows an order, it names
  /// these acceptors for the bootstrap. True: they differ from the acceptors named before. Then the
  /// log must record them before any other node is notified.
  bool take(const wire::Nodes& list, const Peers& peers);
  /// Call when the log has durably recorded the acceptors that this node names.
  void note_own(NodeId self);
  /// Another acceptor reports the acceptors that it names. The report counts only if this node
  /// names the same acceptors. The sender repeats its report.
  void note(const wire::Lives& said, const Peer& from);
  /// True: each named acceptor has named the same acceptors, so the order can begin.
  bool complete() const;

  /// The acceptors that this node named last. If `lives` is empty, this node has named none yet.
  const wire::Lives& taken() const { return taken_; }
  /// The process incarnations in which the acceptors were heard when this node named them, in the
  /// order of the nodes.
  const std::vector<MemberId>& heard() const { return heard_; }
  /// Are the acceptors that this node named last exactly those that bootstrapped `order`?
  bool took_those_of(const wire::Nodes& order) const;
  /// Has this node named `acceptor` in the present incarnation of `acceptor`? Then every order that
  /// this node may have helped to bootstrap needs `acceptor`. Also true if this node has named no
  /// acceptors.
  bool needs(const Peer& acceptor) const;

  void add_to(Digest& digest) const;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t index_of(NodeId node) const;

  wire::Lives taken_;
  std::vector<MemberId> heard_;
  std::vector<bool> agreed_;  ///< for each acceptor in heard_: has it named the same acceptors?
};

}  // namespace peal::order::paxos
