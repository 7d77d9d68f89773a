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

/// With domains, of a position in a view's order: in which one it is.
constexpr Domain domain_of(Seq position) { return static_cast<Domain>(position % kEnsemblesMax); }

/// Which ensembles there are. Equal on all nodes.
struct Layout {
  std::uint32_t ensembles = 1;       ///< that all nodes learn, 1 to kEnsemblesMax
  std::vector<DomainNodes> domains;  ///< domain 1 and so on; only with one ensemble of all nodes
  Merging merging = Merging::keys;   ///< in rotation: only with several ensembles of all nodes

  bool one_engine() const { return ensembles == 1 && domains.empty(); }
  /// Is the node in the domain? All are in domain 0.
  bool has(Domain domain, NodeId node) const;
};

/// All ensembles are of one cluster. Their packets tell by this value of which ensemble they are.
std::uint64_t ensemble_cluster(std::uint64_t cluster, std::size_t ensemble);

/// Empty if all is well, else one line that says what is accepted. `universe`: the configured
/// nodes; each domain has at least one of them.
std::string validate(const Layout& layout, const std::vector<NodeId>& universe);

/// The part of a list of nodes that a domain of the layout has: its number is not 0.
NodeList part_of(const Layout& layout, Domain domain, const NodeList& list);

}  // namespace peal::order::ridge
