// SPDX-License-Identifier: Apache-2.0
// E13 for engines with genuine multicast: while faults stay, nodes that work together order, if
// each domain has a majority among them.

#include <algorithm>

#include "sim/judge/availability.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {

/// Leaves out, again and again, the node with the most links that fail. Few faults last, so this is
/// nearly always a largest set.
Availability::Nodes Availability::working_set() const {
  Nodes nodes = running();
  std::erase_if(nodes, [this](NodeId node) { return !node_works(node); });
  while (true) {
    std::size_t worst = 0, most = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto failing =
          static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId other) {
            return other != nodes[i] && !pair_works(nodes[i], other);
          }));
      if (failing <= most) continue;
      worst = i;
      most = failing;
    }
    if (most == 0) return nodes;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

/// True if each domain has a majority of its nodes in `nodes`.
bool Availability::can_order(const Nodes& nodes) const {
  const auto& sets = world_.domains().view_sets();
  return std::all_of(sets.begin(), sets.end(), [&](const Nodes& set) {
    const auto count = std::count_if(set.begin(), set.end(), [&](NodeId node) {
      return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    });
    return 2 * static_cast<std::size_t>(count) > set.size();
  });
}

/// Each node sends to each domain, and to all of them. All nodes must learn the places of what they
/// have sent, and deliver everything to their domains that has a place by then.
bool Availability::exchange_in_domains(const Nodes& nodes, Instant limit) {
  const NodeDomains& domains = world_.domains();
  for (const NodeId node : nodes) {
    for (std::size_t i = 0; i <= domains.count(); ++i) {
      const DomainSet to = i == 0 ? DomainSet::up_to(static_cast<std::uint32_t>(domains.count()))
                                  : DomainSet::of(static_cast<order::Domain>(i));
      world_.submit(node, Service::agreed, world_.loads().payload(node, kProbeBytes), to);
    }
  }
  const bool placed = wait_for_own(nodes, limit, &WorkCounts::own_placed);
  if (!placed || stopped_()) return false;
  std::array<Seq, kDomainMax + 1> lines{};
  for (std::size_t i = 0; i <= domains.count(); ++i) {
    lines[i] = domains.last_place(static_cast<order::Domain>(i));
  }
  return wait(limit, [&] {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      const Process* process = world_.process(node);
      if (process == nullptr) return false;
      if (!domains.has_view(node)) return true;
      const order::Domain own = domains.of(node).front();
      return process->status.reached[own].seq >= lines[own];
    });
  });
}

/// A node with messages that do not get their places says what it waits for.
void Availability::judge_reasons() {
  for (const NodeId node : running()) {
    const Process* process = world_.process(node);
    if (!world_.machines().is_up(node) || process->undone() == 0) continue;
    if (process->node->why().kind == &order::wait::nothing) {
      return say(nodes_text({node}) + " does not say why its messages wait");
    }
  }
}

void Availability::judge_domains() {
  for (const NodeId node : running()) {
    world_.set_application(node, world_.options().process.room_units, Duration{});
  }
  const Nodes nodes = working_set();
  const bool able = can_order(nodes);
  wait(world_.now() + times_.bound, [] { return false; });
  if (stopped_()) return;
  if (!able) return judge_reasons();
  if (!world_.options().engine.traits().crash_stop) {
    const auto& sets = world_.domains().view_sets();
    const bool formed = settle_down([&] {
      return std::all_of(sets.begin(), sets.end(), [&](const Nodes& set) {
        Nodes members;
        std::set_intersection(set.begin(), set.end(), nodes.begin(), nodes.end(),
                              std::back_inserter(members));
        return in_one_view(members);
      });
    });
    if (!formed) return say("not each domain has a view of the nodes that work");
  }
  if (exchange_in_domains(nodes, world_.now() + times_.bound) || stopped_()) return;
  world_.loads().stop();
  if (drain(nodes) && exchange_in_domains(nodes, world_.now() + times_.bound)) return;
  if (stopped_()) return;
  say("messages of " + nodes_text(nodes) + " did not reach their domains within " +
      duration_text(times_.bound));
}

}  // namespace peal::sim
