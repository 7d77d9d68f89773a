// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/availability.h"

#include <algorithm>

#include "sim/judge/liveness.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

constexpr Duration kTurn = milliseconds(1);
constexpr std::int64_t kTrafficParts = 16;
/// quorums() tries all sets of running nodes if at most this many nodes run.
constexpr std::size_t kNodesTried = 16;

bool holds(const std::vector<NodeId>& sorted, NodeId node) {
  return std::binary_search(sorted.begin(), sorted.end(), node);
}

bool any_link_is_lossy(World& world) {
  for (std::uint32_t a = 1; a <= world.nodes(); ++a) {
    for (std::uint32_t b = 1; b <= world.nodes(); ++b) {
      if (a != b && world.network().link_is_lossy(NodeId{a}, NodeId{b})) return true;
    }
  }
  return false;
}

}  // namespace

Duration Availability::usual_bound(World& world) {
  const Duration plain = any_link_is_lossy(world) ? seconds(5) : seconds(2);
  const double slower = world.options().engine.needs(1).slower;
  return Duration{static_cast<std::int64_t>(static_cast<double>(plain.ns) * slower)};
}

// ---- what works ----

bool Availability::node_works(NodeId node) const {
  const Process* process = world_.process(node);
  if (process == nullptr || !world_.machines().is_up(node) || process->application.room_units == 0)
    return false;
  const NodeLog* disk = world_.disks().of(node);
  return disk == nullptr || !disk->hangs();
}

bool Availability::pair_works(NodeId a, NodeId b) const {
  return world_.network().link_works(a, b) && world_.network().link_works(b, a);
}

bool Availability::pair_carries_writes(NodeId a, NodeId b) const {
  return world_.network().link_carries(a, b) && world_.network().link_carries(b, a);
}

bool Availability::all_work_together(const Nodes& nodes, PairTest pair) const {
  for (const NodeId a : nodes) {
    if (!node_works(a)) return false;
    for (const NodeId b : nodes) {
      if (a < b && !(this->*pair)(a, b)) return false;
    }
  }
  return true;
}

Availability::Nodes Availability::running() const {
  Nodes nodes;
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    if (world_.process(NodeId{n}) != nullptr) nodes.push_back(NodeId{n});
  }
  return nodes;
}

Availability::Nodes Availability::linked_with(NodeId first) const {
  Nodes found{first};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const NodeId node : running()) {
      const bool known = std::find(found.begin(), found.end(), node) != found.end();
      if (!known && node_works(node) && pair_works(found[i], node)) found.push_back(node);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// ---- time and views ----

bool Availability::wait(Instant limit, const std::function<bool()>& met) {
  while (!stopped_()) {
    if (met()) return true;
    if (world_.now() >= limit) return false;
    const Instant next = std::min(limit, world_.now() + kTurn);
    while (!stopped_() && world_.step(next)) {
    }
  }
  return true;  // stopped_() is true: a violation has been reported already
}

/// Lets the bound pass, and then returns the result of met(). If links are lossy, first waits up to
/// another bound until met() is true. Returns true if the run was stopped.
bool Availability::settle_down(const std::function<bool()>& met) {
  // An idle ring does not notice that a link loses large packets, so the nodes send some. Engines
  // with acceptors check their links all the time, and must reach stable views without traffic.
  const bool traffic = !world_.options().engine.has_quorum();
  for (std::int64_t part = 0; part < kTrafficParts; ++part) {
    if (traffic) send_large();
    wait(world_.now() + times_.bound / kTrafficParts, [] { return false; });
  }
  return wait(world_.now() + (any_link_is_lossy(world_) ? times_.bound : Duration{}), met);
}

std::size_t Availability::large_bytes() const {
  const WorldOptions& options = world_.options();
  return std::min<std::size_t>({options.limits.message_bytes_max, options.limits.submit_bytes_max,
                                options.engine.packet_bytes_max()});
}

void Availability::send_large() {
  for (const NodeId node : running()) {
    const Process& process = *world_.process(node);
    const bool served =
        process.inputs.inbox.empty() && process.work.own_delivered == process.submissions.accepted;
    if (!node_works(node) || !served) continue;
    world_.submit(node, Service::agreed, world_.loads().payload(node, large_bytes()),
                  world_.domains().draw(node));
  }
}

Availability::Nodes Availability::view_of(NodeId node) const {
  Nodes nodes;
  const Process* process = world_.process(node);
  if (process == nullptr || !process->status.operational || !process->status.view) return nodes;
  for (const MemberId& member : process->status.members) nodes.push_back(member.node);
  return nodes;
}

bool Availability::in_one_view(const Nodes& nodes) const {
  const Process* first = world_.process(nodes.front());
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    const Process* process = world_.process(node);
    return process != nullptr && process->status.operational && process->status.view &&
           first->status.view && *process->status.view == *first->status.view;
  });
}

void Availability::say(const std::string& text) {
  world_.recorder().violation(world_.now(), "E13", text + ": " + state_text());
}

std::string Availability::state_text() const {
  std::string text;
  Network& network = world_.network();
  for (const NodeId a : running()) {
    if (!node_works(a)) text += "n" + std::to_string(a.value) + " does not work, ";
    for (const NodeId b : running()) {
      if (a == b || network.link_works(a, b)) continue;
      text += "n" + std::to_string(a.value) + " > n" + std::to_string(b.value) + " does not work, ";
    }
  }
  return text + waiting_text(world_);
}

// ---- applications ----

void Availability::wake_applications() {
  Nodes stopped;
  for (const NodeId node : running()) {
    if (world_.process(node)->application.room_units == 0) stopped.push_back(node);
  }
  if (stopped.empty()) return;
  const Instant limit = world_.now() + times_.bound;
  const auto named = [&stopped](const order::WaitReason& why) {
    return why.kind == &order::wait::slow_application && holds(stopped, why.who.node);
  };
  for (const NodeId node : running()) {
    world_.submit(node, Service::agreed, world_.loads().payload(node, kProbeBytes));
  }
  // Each member that has not delivered all its own messages must report that it waits for a stopped
  // application. This demand applies to a stopped node only if the other members of its view work
  // together. If the engine needs a quorum, the view must have one, too. In place of this, a member
  // may report that the stopped node's disk hangs. If the link from the stopped node to the member
  // fails, the member may report any reason that names the stopped node.
  const bool said = wait(limit, [&] {
    return std::all_of(stopped.begin(), stopped.end(), [&](NodeId node) {
      const Nodes members = view_of(node);
      Nodes others = members;
      std::erase(others, node);
      if (others.empty() || !all_work_together(others)) return true;
      if (world_.options().engine.has_quorum() && !is_quorum(members)) return true;
      return std::all_of(members.begin(), members.end(), [&](NodeId member) {
        if (!holds(view_of(member), node)) return true;  // the member's view excludes the node
        const Process& process = *world_.process(member);
        if (process.work.own_delivered == process.submissions.accepted)
          return true;  // the member is not blocked yet
        const order::WaitReason& why = process.node->why();
        const bool said_of_it = std::any_of(why.all.begin(), why.all.end(),
                                            [&](const MemberId& one) { return one.node == node; });
        const bool of_its_disk = why.kind == &order::wait::disk && said_of_it;
        return named(why) || of_its_disk ||
               (said_of_it && !world_.network().link_works(node, member));
      });
    });
  });
  if (!said) {
    say("not everybody says that the application of " + nodes_text(stopped) + " takes nothing");
  }
  for (const NodeId node : stopped) {
    world_.set_application(node, world_.options().process.room_units, Duration{});
  }
}

// ---- engines that order on each side of a partition ----

/// A set of nodes that all work with each other, and with no node outside the set, must install one
/// view, and the view must stay. All other working nodes must order in their present views.
void Availability::judge_sets() {
  std::vector<Nodes> sets;
  Nodes settled, others;
  for (const NodeId node : running()) {
    const bool known = holds(settled, node) || holds(others, node);
    if (known || !node_works(node)) continue;
    const Nodes linked = linked_with(node);
    Nodes& kind = all_work_together(linked) ? settled : others;
    if (all_work_together(linked)) sets.push_back(linked);
    kind.insert(kind.end(), linked.begin(), linked.end());
    std::sort(kind.begin(), kind.end());
  }
  const bool formed = settle_down([&] {
    return std::all_of(sets.begin(), sets.end(),
                       [this](const Nodes& set) { return in_one_view(set); });
  });
  if (!formed) {
    std::string text;
    for (const Nodes& set : sets) text += (text.empty() ? "" : " | ") + nodes_text(set);
    return say("no view of each set that works, " + text + ", within " +
               duration_text(times_.bound));
  }
  if (stopped_()) return;
  Nodes all = settled;
  all.insert(all.end(), others.begin(), others.end());
  std::sort(all.begin(), all.end());
  if (all.empty() || !exchange(all, "while faults stay")) return;
  if (settled.empty()) return;
  watch(settled);
  if (!stopped_()) exchange(settled, "after faults had stayed");
}

// ---- engines with acceptors ----

/// True if the node is an acceptor and not amnesiac. An amnesiac acceptor restarted without its
/// votes, or lost its disk.
bool Availability::can_vote(NodeId node) const {
  const Process* process = world_.process(node);
  return process->counter("quorum_acceptor").value_or(0) != 0 &&
         process->counter("quorum_amnesiac").value_or(0) == 0;
}

bool Availability::is_quorum(const Nodes& nodes) const {
  const WorldOptions& options = world_.options();
  const order::NodeList& list = world_.lists().file(nodes.front());
  for (std::size_t i = 0; i <= options.domains.size(); ++i) {
    const order::NodeList part =
        i == 0 ? list : options.engine.engine().part_of(options.domains[i - 1], list);
    std::size_t listed = 0, voting = 0;
    for (const NodeId node : nodes) {
      if (holds(part.nodes, node)) ++listed;
      if (holds(part.acceptors, node) && can_vote(node)) ++voting;
    }
    if (2 * listed <= part.nodes.size() || 2 * voting <= part.acceptors.size()) return false;
  }
  return true;
}

std::vector<Availability::Nodes> Availability::quorums() const {
  const Nodes nodes = running();
  std::vector<Nodes> found;
  if (nodes.size() > kNodesTried) return found;
  for (std::uint32_t bits = 1; bits < 1U << nodes.size(); ++bits) {
    Nodes set;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if ((bits >> i & 1U) != 0) set.push_back(nodes[i]);
    }
    if (all_work_together(set) && is_quorum(set)) found.push_back(set);
  }
  return found;
}

void Availability::judge_quorum() {
  const Nodes all = running();
  for (const NodeId node : all) {  // nodes with different lists need different majorities
    if (world_.lists().file(node).hash != world_.lists().file(all.front()).hash) return;
  }
  const std::vector<Nodes> sets = quorums();
  if (sets.empty()) return;
  Nodes members;
  const bool formed = settle_down([&] {
    for (const Nodes& set : sets) {
      members = view_of(set.front());
      const bool here =
          std::all_of(set.begin(), set.end(), [&](NodeId node) { return holds(members, node); });
      if (here && in_one_view(set)) return true;
    }
    return false;
  });
  if (!formed) {
    return say("no view holds a set that works and can order, such as " + nodes_text(sets.back()) +
               ", within " + duration_text(times_.bound));
  }
  // A member whose disk hangs may still be in the view: it leaves only when its buffers are full.
  Nodes working = members;
  std::erase_if(working, [this](NodeId node) { return !node_works(node); });
  if (stopped_() || !exchange(working, "while faults stay")) return;
  judge_outside(view_of(working.front()));
  if (any_link_is_lossy(world_) || stopped_()) return;
  watch(working);
  if (!stopped_()) exchange(working, "after faults had stayed");
}

void Availability::judge_outside(const Nodes& members) {
  const ViewId view = *world_.process(members.front())->status.view;
  for (const NodeId node : running()) {
    if (holds(members, node) || !world_.machines().is_up(node)) continue;
    const Process* process = world_.process(node);
    if (process->status.operational && process->status.is_in(view)) {
      return say(nodes_text({node}) + " is outside, and does not know it");
    }
    if (process->node->why().kind == &order::wait::nothing) {
      return say(nodes_text({node}) + " is outside, and does not say why");
    }
  }
}

void Availability::judge(const std::function<bool()>& stopped) {
  stopped_ = stopped;
  world_.recorder().faults().add(Fault::lasting);
  if (world_.options().engine.is_genuine()) return judge_domains();
  wake_applications();
  if (stopped_()) return;
  if (world_.options().engine.has_quorum()) {
    judge_quorum();
  } else {
    judge_sets();
  }
}

}  // namespace peal::sim
