// SPDX-License-Identifier: Apache-2.0
// E13 for engines with genuine multicast: while faults stay, nodes that work together order, if
// each domain has a majority among them.

#include <algorithm>

#include "sim/judge/availability.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

std::vector<NodeId> nodes_of(const std::vector<NodeId>& all, std::uint32_t bits) {
  std::vector<NodeId> set;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((bits >> i & 1U) != 0) set.push_back(all[i]);
  }
  return set;
}

}  // namespace

/// Leaves out, again and again, the node with the most links that fail. Few faults last, so this is
/// nearly always a largest set.
Availability::Nodes Availability::working_set(PairTest pair) const {
  Nodes nodes = running();
  std::erase_if(nodes, [this](NodeId node) { return !node_works(node); });
  while (true) {
    std::size_t worst = 0, most = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto failing =
          static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId other) {
            return other != nodes[i] && !(this->*pair)(nodes[i], other);
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

/// The sets of nodes that work together and can order, which no other such set contains. With many
/// nodes, only working_set().
std::vector<Availability::Nodes> Availability::ordering_sets(PairTest pair) const {
  constexpr std::size_t kNodesTried = 16;
  const Nodes all = running();
  if (all.size() > kNodesTried) {
    const Nodes one = working_set(pair);
    return can_order(one) ? std::vector<Nodes>{one} : std::vector<Nodes>{};
  }
  std::vector<std::uint32_t> found;
  for (std::uint32_t bits = (1U << all.size()) - 1; bits > 0; --bits) {
    const bool part = std::any_of(found.begin(), found.end(),
                                  [bits](std::uint32_t larger) { return (bits & ~larger) == 0; });
    if (part) continue;
    const Nodes set = nodes_of(all, bits);
    if (can_order(set) && all_work_together(set, pair)) found.push_back(bits);
  }
  std::vector<Nodes> sets;
  for (const std::uint32_t bits : found) sets.push_back(nodes_of(all, bits));
  return sets;
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
  std::vector<Nodes> sets = ordering_sets(&Availability::pair_works);
  wait(world_.now() + times_.bound, [] { return false; });
  if (stopped_()) return;
  if (sets.empty()) return judge_reasons();
  Nodes nodes = sets.front();
  if (world_.fabric() != nullptr) {
    // Views may also hold nodes whose links lose packets, and carry writes nevertheless.
    for (Nodes& each : ordering_sets(&Availability::pair_carries_writes)) {
      sets.push_back(std::move(each));
    }
  }
  if (!world_.options().engine.traits().crash_stop) {
    const auto in_views = [this](const Nodes& set) {
      const auto& domains = world_.domains().view_sets();
      return std::all_of(domains.begin(), domains.end(), [&](const Nodes& domain) {
        Nodes members;
        std::set_intersection(domain.begin(), domain.end(), set.begin(), set.end(),
                              std::back_inserter(members));
        return in_one_view(members);
      });
    };
    const bool formed = settle_down([&] {
      const auto found = std::find_if(sets.begin(), sets.end(), in_views);
      if (found != sets.end()) nodes = *found;
      return found != sets.end();
    });
    if (!formed)
      return say("no views hold a set that works and can order, such as " + nodes_text(nodes));
  }
  if (exchange_in_domains(nodes, world_.now() + times_.bound) || stopped_()) return;
  world_.loads().stop();
  if (drain(nodes) && exchange_in_domains(nodes, world_.now() + times_.bound)) return;
  if (stopped_()) return;
  say("messages of " + nodes_text(nodes) + " did not reach their domains within " +
      duration_text(times_.bound));
}

}  // namespace peal::sim
