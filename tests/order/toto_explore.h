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
  /// True: explores all choices of the nodes that have a unit to order. False: every node has one.
  bool both_kinds = false;
  /// True: explores only graphs in which no sender has more nodes than the sender before it. All
  /// other graphs differ from one of these in the numbering of the senders.
  bool sorted_senders = false;
};

struct Explored {
  std::uint64_t graphs = 0;       ///< with different causal orders or kinds of nodes
  std::uint64_t orders = 0;       ///< orders of arrival, of all graphs and thresholds
  std::uint64_t inputs = 0;       ///< nodes that joined; orders share their common beginnings
  std::uint64_t activations = 0;  ///< of all graphs and thresholds
  std::string violation;          ///< empty: none
};

/// Explores all causal graphs of the scope, with each legal threshold, in each order of arrival
/// that respects causality. All orders must decide prefixes of one sequence of activations. The
/// whole graph must decide the same prefix in each order. At the end one last node of every member
/// joins, which follows everything. Then the whole sequence must be decided, and no unit may be
/// pending. After the first order of arrival of a graph, the last nodes join in all orders. After
/// each other one, they join in one order, which is a different one each time. Stops at the first
/// violation.
Explored explore(const Scope& scope);

}  // namespace peal::order::toto::test
