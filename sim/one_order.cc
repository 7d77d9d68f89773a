// SPDX-License-Identifier: Apache-2.0
#include "sim/one_order.h"

#include <string>
#include <string_view>

#include "sim/world.h"

namespace peal::sim {
namespace {

/// What tells the order that it votes in from others; 0: it does not vote.
std::uint64_t order_of(const Process& process) {
  std::uint64_t order = 0;
  bool votes = true;
  for (const order::Counter& each : process.counters()) {
    const std::string_view name = each.name;
    if (name == "paxos_order") order = each.value;
    if (name == "paxos_acceptor" && each.value == 0) votes = false;
    if (name == "paxos_forgotten" && each.value != 0) votes = false;
  }
  return votes ? order : 0;
}

}  // namespace

void check_one_order(World& world) {
  const Process* first = nullptr;
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    const Process* process = world.process(NodeId{n});
    if (process == nullptr || process->end != Process::End::none || order_of(*process) == 0) {
      continue;
    }
    if (first == nullptr) {
      first = process;
    } else if (order_of(*process) != order_of(*first)) {
      world.ledger().violation(world.now(), "fork",
                               "n" + std::to_string(first->self.node.value) + " and n" +
                                   std::to_string(n) + " vote in two orders");
      return;
    }
  }
}

}  // namespace peal::sim
