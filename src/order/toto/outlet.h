// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "order/engine.h"
#include "order/toto/parts.h"
#include "order/toto/total_order.h"

namespace peal::order::toto {

/// Delivers the units of one view: feeds the total order with the nodes that join the graph, and
/// hands decided units to the node, in one queue. A safe unit waits at the queue's front until
/// every member is known to decide it; what is behind waits with it. A causal unit waits for
/// earlier units of its sender only.
class Outlet {
 public:
  explicit Outlet(const Parts& parts) : p_(parts) {}

  /// A view begins, with the threshold `win`.
  void begin_view(Index win, std::uint32_t capacity);
  /// A node has joined the graph.
  void on_joined(const Joined& joined, Effects& out);
  /// Only for the mutant tt_status_votes: counts a STATUS as a node.
  void on_status(Index member, std::span<const Seq> have, Effects& out);
  /// Delivers what can be delivered now, as far as the application takes it.
  void release(Effects& out);
  /// The application takes no more units: no more nodes may join.
  bool held() const { return held_; }

  /// Number of activations that are decided here, for this member's next node.
  std::uint64_t activations() const { return activations_; }
  /// This member has to send a node, from which others learn that it has decided a safe unit.
  bool owes_evidence() const { return owes_evidence_; }
  void on_own_node() { owes_evidence_ = false; }

  /// The old view is being repaired: units are delivered whatever room the application has, because
  /// this member must become complete. What the survivors hold together limits their number.
  void lift_limit() { unlimited_ = true; }
  void restore_limit() { unlimited_ = false; }
  /// The view ends, and the graph is complete: all that remains is delivered, whatever room the
  /// application has. `survivors`: members that continue with this one. First the rest of the
  /// regular view, then after `install`, which announces the transitional view, the rest.
  template <class Install>
  void finish(const MemberBits& survivors, Install install, Effects& out) {
    unlimited_ = true;
    release(out);
    install();
    drain(survivors, out);
  }

  const TotalOrder& order() const { return order_; }
  /// Members that are not known to decide the safe unit at the queue's front; empty if none waits.
  MemberBits without_evidence() const;
  Seq places() const { return places_; }

  void add_to(Digest& digest) const;
  void check_invariants() const;

 private:
  struct Decided {
    NodeRef node{};
    bool safe = false;
    std::uint64_t activation = 0;  ///< its number in the view, from 1 on
  };

  Decided& front() { return decided_[first_ % decided_.size()]; }
  const Decided& front() const { return decided_[first_ % decided_.size()]; }
  bool empty() const { return first_ == end_; }
  bool has_room() const;
  void decide();
  void append(const Activation& activation);
  void take_virtual(Index member, std::span<const Seq> past);
  bool has_evidence() const;
  void deliver_front(Effects& out);
  bool is_overtaken(NodeRef node) const;
  void advance(Index origin, Effects& out);
  void advance_late(Effects& out);
  void deliver(NodeRef node, Seq place, std::uint64_t set, Effects& out);
  void drain(const MemberBits& survivors, Effects& out);
  void deliver_leftovers(Effects& out);

  Parts p_;
  TotalOrder order_;
  std::vector<Decided> decided_;  ///< a circular buffer of the numbers first_ to end_
  std::uint64_t first_ = 0, end_ = 0;
  std::uint64_t activations_ = 0;          ///< decided in this view
  std::vector<std::uint64_t> decided_by_;  ///< by member: activations that its nodes say it has
                                           ///< decided
  Seq places_{};                           ///< place of the last unit that was delivered in order
  /// The node that joined last, while units that its past decides may still be in the queue: its
  /// own unit comes after them.
  std::optional<NodeRef> newest_;
  /// A member whose causal units come next, once the application takes units again.
  std::optional<Index> resume_;
  MemberBits late_lanes_;  ///< members with nodes that joined while the application took nothing
  bool held_ = false;
  bool owes_evidence_ = false;
  bool unlimited_ = false;  ///< deliver even if the application takes nothing
  bool transitional_ = false;
};

}  // namespace peal::order::toto
