// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/order_state.h"
#include "order/paxos/peers.h"
#include "wire/paxos.h"

namespace peal::order::paxos {

/// Which nodes should be in one view, by the links between them. Each node says whom it does not
/// hear; a pair of nodes works if each hears the other. Nodes all of whose pairs work go on
/// together if they are most of the acceptors and most of the listed nodes. Every node looks for
/// them by the same rule, and says how fit it is to coordinate (wire::Fitness). Where there are no
/// such nodes, whoever hears most acceptors goes on with all that it hears.
///
/// Where parts of the nodes have ensembles of their own (Merger), nodes are preferred that are most
/// of each part, too; and in such a part, those that the ensemble of all nodes has chosen.
class Company {
 public:
  /// Looks anew, and writes `works`, `serve` and `chosen` of each peer. `state` tells who is in the
  /// view: others come in only if their links to all of these work.
  void look(Instant now, const Config& config, Peers& peers, const OrderState& state);
  wire::Fitness fitness() const { return fitness_; }
  /// Nodes of the list whose packets do not arrive here: for others to know.
  const wire::NodeSet& unheard() const { return unheard_; }

 private:
  using NodeSet = wire::NodeSet;

  /// What is asked of nodes that are to go on together.
  struct Demand {
    bool moving = false;  ///< acceptors whose disk hangs do not count
    bool parts = false;   ///< they are enough in each part, and chosen by the ensemble of all
  };
  struct Part {
    NodeSet nodes, acceptors;
  };

  bool read_links(const Peers& peers, const OrderState& state);
  void read_parts(const Merger* merger, const OrderState& state);
  NodeSet choose(const Peers& peers, const OrderState& state) const;
  NodeSet choose(const Peers& peers, const OrderState& state, const Demand& demand) const;
  NodeSet candidates(const Demand& demand) const;
  NodeSet around(std::size_t self) const;
  NodeSet search(const Peers& peers, const NodeSet& among, const Demand& demand) const;
  void resolve(NodeSet& set, std::size_t keep) const;
  bool goes_before(std::size_t a, std::size_t b) const;
  std::size_t failing(std::size_t index, const NodeSet& set) const;
  void let_in(std::size_t index, NodeSet& set, const Demand& demand) const;
  bool is_enough(const Peers& peers, const NodeSet& set, const Demand& demand) const;
  bool is_enough(const Part& part, const NodeSet& set) const;
  bool suits_parts(const NodeSet& set) const;
  wire::Fitness judge(const Peers& peers, const OrderState& state, NodeSet& serve);
  bool just_found(Instant now, const Config& config, const NodeSet& found);

  static constexpr std::size_t kNobody = ~std::size_t{0};

  std::vector<const Peer*> listed_;  ///< scratch: by index
  std::vector<NodeSet> fails_;       ///< scratch: by index, the nodes to which the pair fails
  NodeSet heard_;                    ///< scratch: nodes that this node hears, itself included
  std::vector<Part> parts_;          ///< scratch
  NodeSet in_company_of_all_;        ///< scratch
  bool fit_for_all_ = true;          ///< scratch
  NodeSet chosen_;                   ///< scratch: all that are heard if no nodes are enough
  NodeSet unheard_;
  std::size_t self_ = kNobody;
  wire::Fitness fitness_ = wire::Fitness::none;
  Instant lost_at_{};   ///< since when there were no such nodes, until lately; none: there are
  Instant found_at_{};  ///< when there were again
};

}  // namespace peal::order::paxos
