// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/layout.h"

#include <algorithm>
#include <iterator>

#include "base/assert.h"
#include "order/paxos/options.h"
#include "wire/paxos.h"

namespace peal::order::ridge {
namespace {

std::vector<NodeId> common(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
  std::vector<NodeId> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

bool is_set(const std::vector<NodeId>& nodes) {
  return std::adjacent_find(nodes.begin(), nodes.end(), std::greater_equal<>()) == nodes.end();
}

std::string wrong_with(const DomainNodes& domain, const std::vector<NodeId>& universe) {
  if (!is_set(domain.nodes) || !is_set(domain.acceptors)) return "names a node twice";
  if (common(domain.nodes, universe).empty()) return "has none of the configured nodes";
  if (common(domain.acceptors, domain.nodes) != domain.acceptors) {
    return "has an acceptor that is none of its nodes";
  }
  if (domain.acceptors.size() > wire::kChainMax) {
    return "has more than " + std::to_string(wire::kChainMax) + " acceptors";
  }
  if (!domain.acceptors.empty() && common(domain.acceptors, universe).empty()) {
    return "has no acceptor among the configured nodes";
  }
  return {};
}

}  // namespace

bool Layout::has(Domain domain, NodeId node) const {
  if (domain == 0) return true;
  if (domain > domains.size()) return false;
  const std::vector<NodeId>& nodes = domains[domain - 1].nodes;
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

std::uint64_t ensemble_cluster(std::uint64_t cluster, std::size_t ensemble) {
  constexpr std::uint64_t kApart = 0x9e37'79b9;
  const auto settings = static_cast<std::uint32_t>(cluster + ensemble * kApart);
  return (cluster & ~std::uint64_t{0xffff'ffff}) | settings;
}

std::string validate(const Layout& layout, const std::vector<NodeId>& universe) {
  const std::string most = std::to_string(kEnsemblesMax);
  if (layout.ensembles < 1 || layout.ensembles > kEnsemblesMax) {
    return "ensembles = " + std::to_string(layout.ensembles) +
           " is not accepted: it must be 1 to " + most;
  }
  if (layout.merging == Merging::rotation && (layout.ensembles == 1 || !layout.domains.empty())) {
    return layout.domains.empty()
               ? "merge = \"rotation\" is not accepted with ensembles = 1, which leaves nothing to "
                 "merge: leave it out, or set ensembles = 2 or more"
               : "merge = \"rotation\" is not accepted together with domains: leave it out";
  }
  if (layout.domains.empty()) return {};
  if (layout.ensembles > 1) {
    return "ensembles = " + std::to_string(layout.ensembles) +
           " is not accepted together with domains: it must be 1";
  }
  if (layout.domains.size() >= kEnsemblesMax) {
    return std::to_string(layout.domains.size()) + " domains are not accepted: there are at most " +
           std::to_string(kEnsemblesMax - 1);
  }
  for (std::size_t i = 0; i < layout.domains.size(); ++i) {
    const std::string wrong = wrong_with(layout.domains[i], universe);
    if (!wrong.empty()) return "domain " + std::to_string(i + 1) + " " + wrong;
  }
  return {};
}

NodeList part_of(const Layout& layout, Domain domain, const NodeList& list) {
  PEAL_ASSERT(domain >= 1 && domain <= layout.domains.size());
  const DomainNodes& of = layout.domains[domain - 1];
  NodeList part;
  part.hash = list.hash;
  part.nodes = common(of.nodes, list.nodes);
  part.acceptors = common(of.acceptors, part.nodes);
  if (part.acceptors.empty()) part.acceptors = paxos::default_acceptors(part.nodes);
  return part;
}

}  // namespace peal::order::ridge
