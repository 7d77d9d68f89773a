// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "order/engine.h"
#include "order/ridge/dissemination.h"
#include "order/setup.h"

namespace peal::order::ridge {

/// The domain of the unit at `position`, if the layout has domains.
constexpr Domain domain_of(Seq position) { return static_cast<Domain>(position % kEnsemblesMax); }

/// The ensembles. Equal on all nodes.
struct Layout {
  std::uint32_t ensembles = 1;       ///< ensembles of all nodes, 1 to kEnsemblesMax
  std::vector<DomainNodes> domains;  ///< element i is domain i + 1; only with `ensembles` of 1
  Merging merging = Merging::keys;   ///< rotation: only with several ensembles of all nodes

  bool one_engine() const { return ensembles == 1 && domains.empty(); }
  /// True if the node is in the domain. All nodes are in domain 0.
  bool has(Domain domain, NodeId node) const;
};

/// The cluster field of the packets of ensemble number `ensemble`. It differs for each ensemble of
/// one cluster.
std::uint64_t ensemble_cluster(std::uint64_t cluster, std::size_t ensemble);

/// Empty if the layout is accepted; otherwise an error text of one line. `universe`: the configured
/// nodes; each domain must contain at least one of them.
std::string validate(const Layout& layout, const std::vector<NodeId>& universe);

/// The part of `list` that belongs to `domain`, a domain of the layout other than 0.
NodeList part_of(const Layout& layout, Domain domain, const NodeList& list);

}  // namespace peal::order::ridge
