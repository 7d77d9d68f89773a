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

/// Decides, from the links between nodes, which nodes should be in one view. Each node reports
/// which nodes it does not hear. A link works if both ends hear each other. A set of nodes is
/// chosen if the links between all its nodes work, and if it has a majority of the acceptors and a
/// majority of the listed nodes. Every node applies the same rule, and reports its own fitness to
/// coordinate (wire::Fitness). If there is no such set, a node that hears a majority of the
/// acceptors continues with all nodes that it hears.
///
/// Where subsets of the nodes (parts) have ensembles of their own (Merger), a set of nodes with a
/// majority of each part is preferred. In the ensemble of a part, nodes that the ensemble of all
/// nodes has chosen are preferred.
class Company {
 public:
  /// Evaluates the links, and writes `works`, `serve` and `chosen` of each peer. `state` names the
  /// members of the view. A node outside the view is admitted only if it has working links to all
  /// members whose disks make progress.
  void look(Instant now, const Config& config, Peers& peers, const OrderState& state);
  wire::Fitness fitness() const { return fitness_; }
  /// Nodes of the list whose packets do not arrive here; STATE reports them.
  const wire::NodeSet& unheard() const { return unheard_; }

 private:
  using NodeSet = wire::NodeSet;

  /// Requirements on the nodes to be chosen.
  struct Demand {
    bool moving = false;  ///< acceptors whose disk hangs do not count towards a majority
    /// The set has a majority of each part, and the ensemble of all nodes has chosen every node of
    /// the set.
    bool parts = false;
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

  std::vector<const Peer*> listed_;  ///< scratch: the nodes of the active list, by index
  std::vector<NodeSet> fails_;       ///< scratch: by index, the nodes to which the link fails
  NodeSet heard_;                    ///< scratch: nodes that this node hears, including itself
  std::vector<Part> parts_;          ///< scratch: see Merger::parts()
  NodeSet in_company_of_all_;        ///< scratch: see Merger::in_company_of_all()
  bool fit_for_all_ = true;          ///< scratch: see Merger::fit_for_all()
  /// Scratch: the chosen nodes; all nodes that are heard, if no set of nodes meets the
  /// requirements.
  NodeSet chosen_;
  NodeSet unheard_;
  std::size_t self_ = kNobody;
  wire::Fitness fitness_ = wire::Fitness::none;
  /// When links last became too few for a majority; zero: no wait after such a loss.
  Instant lost_at_{};
  Instant found_at_{};  ///< when enough links for a majority worked again
};

}  // namespace peal::order::paxos
