// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/lost_order.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace peal::sim {
namespace {

/// Some node runs for longer than the order of a domain that it is not in.
bool an_order_is_new(const World& world) {
  for (const std::vector<NodeId>& domain : world.domains().view_sets()) {
    std::uint64_t begun = 0;
    for (const NodeId node : domain) {
      const Process* process = world.process(node);
      if (process != nullptr) {
        begun = std::max(begun, process->counter("domain_order").value_or(0));
      }
    }
    for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
      const Process* process = world.process(NodeId{n});
      const bool member = std::find(domain.begin(), domain.end(), NodeId{n}) != domain.end();
      if (process != nullptr && !member && process->self.epoch < begun) return true;
    }
  }
  return false;
}

/// Each other process of the domain has begun behind a view that this one has not delivered yet. So
/// none of them knows what this one lacks.
bool is_left_behind(const World& world, const Process& process, const std::vector<NodeId>& domain) {
  const std::uint64_t position = process.counter("domain_position").value_or(0);
  bool behind = false;
  for (const NodeId node : domain) {
    const Process* other = world.process(node);
    if (other == nullptr || other == &process) continue;
    const std::uint64_t since = other->counter("domain_known_since").value_or(0);
    if (since == 0) continue;
    if (since <= position) return false;
    behind = true;
  }
  return behind;
}

/// With genuine multicast: most nodes of a domain have restarted, and forgot the order that the
/// others still know; or all of them have, and have begun a new order, which does not go on with
/// messages from before. A process that was excluded does not know the order any more, if nobody
/// has what its last view owes to it.
bool a_domain_is_lost(const World& world) {
  if (an_order_is_new(world)) return true;
  for (const std::vector<NodeId>& domain : world.domains().view_sets()) {
    std::size_t knowing = 0;
    for (const NodeId node : domain) {
      const Process* process = world.process(node);
      if (process != nullptr && process->status.view && !is_left_behind(world, *process, domain))
        ++knowing;
    }
    if (knowing > 0 && knowing < domain.size() / 2 + 1) return true;
  }
  return false;
}

/// What the running nodes of an engine with acceptors know of its order.
class Knowledge {
 public:
  /// `unseen`: stopped acceptors that nodes may still count as living.
  explicit Knowledge(std::uint64_t unseen) : unseen_(unseen) {}

  void add(const Process& process) {
    const auto count = [&process](std::string_view name) {
      return process.counter(name).value_or(0);
    };
    const bool acceptor = count("quorum_acceptor") != 0 && count("quorum_amnesiac") == 0;
    const std::uint64_t order = count("quorum_order");
    const std::uint64_t acceptors = count("quorum_acceptors");
    if (acceptor) ++able_;
    if (acceptor && order != 0) ++knowing_;
    if (order != 0) orders_.insert(order);
    if (order != 0 && count("quorum_acceptors_living") < acceptors / 2 + 1 + unseen_) told_ = true;
    if (count("quorum_list") < list_ || acceptors == 0) return;
    list_ = count("quorum_list");
    named_ = acceptors;
  }

  bool of_no_order() const { return orders_.empty(); }
  /// Too few acceptors can vote; too few know the order that has lost its majority; or nodes know
  /// different orders.
  bool is_of_lost_order() const {
    const std::uint64_t majority = named_ / 2 + 1;
    return able_ < majority || (told_ && knowing_ < majority) || orders_.size() > 1;
  }

 private:
  std::uint64_t unseen_;
  std::uint64_t able_ = 0;     ///< acceptors that can vote
  std::uint64_t knowing_ = 0;  ///< those of them that know the order
  std::uint64_t list_ = 0;     ///< number of the newest known list of nodes
  std::uint64_t named_ = 0;    ///< acceptors of that list
  /// A node sees too few living acceptors, so its order has lost the majority of votes. Then only
  /// acceptors that know the order can continue it.
  bool told_ = false;
  std::set<std::uint64_t> orders_;
};

}  // namespace

bool order_is_lost(World& world) {
  const auto& engine = world.options().engine;
  if (engine.traits().crash_stop) return false;  // starting nodes would not help
  if (engine.is_genuine()) return a_domain_is_lost(world);
  const FaultCounts& faults = world.recorder().faults();
  const bool lost = faults.of(Fault::disk_lost) > 0 || faults.of(Fault::disk_damaged) > 0;
  if (!engine.votes_in_memory() && !lost) return false;
  std::uint64_t gone = 0;
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) gone += world.process(NodeId{n}) == nullptr;
  // Nodes may still count a stopped acceptor as living, although its votes in memory are lost.
  Knowledge knowledge(engine.votes_in_memory() ? gone : 0);
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    if (const Process* process = world.process(NodeId{n})) knowledge.add(*process);
  }
  // Nodes do not bootstrap an order while an acceptor of their first list is missing.
  return knowledge.of_no_order() ? gone > 0 : knowledge.is_of_lost_order();
}

}  // namespace peal::sim
