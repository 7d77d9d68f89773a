// SPDX-License-Identifier: Apache-2.0
#include "sim/world/one_order.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/tokenizer.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

struct Voter {
  NodeId node;
  std::uint64_t order = 0;      ///< identifies the order
  std::uint64_t acceptors = 0;  ///< number of acceptors of this order, as the node knows it
};

/// Returns the node as a voter. nullopt if the node does not run, does not vote, or knows no order.
std::optional<Voter> voter(const World& world, NodeId node) {
  const Process* process = world.process(node);
  if (process == nullptr || process->end != Process::End::none) return std::nullopt;
  const bool votes = process->counter("quorum_acceptor").value_or(1) != 0 &&
                     process->counter("quorum_amnesiac").value_or(0) == 0;
  const std::uint64_t order = process->counter("quorum_order").value_or(0);
  if (!votes || order == 0) return std::nullopt;
  return Voter{node, order, process->counter("quorum_acceptors").value_or(0)};
}

bool lists(const World& world, NodeId node, NodeId other) {
  const std::vector<NodeId>& list = world.lists().nodes(node);
  return std::find(list.begin(), list.end(), other) != list.end();
}

/// True if a majority of the acceptors of the voter's order vote in that order.
bool can_decide(const Voter& voter, const std::vector<Voter>& all) {
  const auto count = std::count_if(
      all.begin(), all.end(), [&voter](const Voter& each) { return each.order == voter.order; });
  return 2 * static_cast<std::uint64_t>(count) > voter.acceptors;
}

}  // namespace

void check_one_order(World& world) {
  std::vector<Voter> voters;
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    if (const auto found = voter(world, NodeId{n})) voters.push_back(*found);
  }
  for (const Voter& a : voters) {
    for (const Voter& b : voters) {
      if (a.order == b.order) continue;
      const bool known = lists(world, a.node, b.node) && lists(world, b.node, a.node);
      if (!known && !(can_decide(a, voters) && can_decide(b, voters))) continue;
      world.recorder().violation(
          world.now(), "fork",
          nodes_text({a.node}) + " and " + nodes_text({b.node}) + " vote in two orders");
      return;
    }
  }
}

}  // namespace peal::sim
