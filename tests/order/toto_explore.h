// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "order/toto/total_order.h"

namespace peal::order::toto::test {

/// Which causal graphs are explored.
struct Scope {
  Index senders = 3;
  std::uint32_t nodes = 6;  ///< of all senders together; a sender may have none
  /// Every node may have a unit that needs a place, or none. Otherwise every node has one.
  bool both_kinds = false;
  /// Only one of the graphs that differ in the numbering of senders whose numbers of nodes differ.
  bool sorted_senders = false;
};

struct Explored {
  std::uint64_t graphs = 0;       ///< with different causal orders or kinds of nodes
  std::uint64_t orders = 0;       ///< orders of arrival, of all graphs and thresholds
  std::uint64_t inputs = 0;       ///< nodes that joined; orders share what they have in common
  std::uint64_t activations = 0;  ///< of all graphs and thresholds
  std::string violation;          ///< empty: none
};

/// Explores all causal graphs of the scope, with each legal threshold, in each order of arrival
/// that respects causality. All orders must decide prefixes of one sequence of activations, and the
/// whole graph the same prefix in each order. When every member's last node, which follows
/// everything, has joined too, the whole sequence must be decided and nothing pending. These last
/// nodes join in all orders after the first order of arrival of the graph, and in one of their
/// orders, a different one each time, after each other. Stops at the first violation.
Explored explore(const Scope& scope);

}  // namespace peal::order::toto::test
