// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/liveness.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/judge/lost_order.h"
#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

constexpr Duration kSlice = milliseconds(1);
constexpr Duration kLinkSlice = milliseconds(20);
/// How long a link may count as failing after the last fault, in units of Options::suspect. A link
/// counts as failing for a while after losses, and longer after each relapse.
constexpr std::int64_t kLinksFailFor = 120;

const char* describe(const Process* process) {
  if (process == nullptr) return "not running";
  if (process->state == Process::State::paused) return "paused";
  if (process->status.recovering) return "recovering";
  if (process->status.committing) return "committing";
  return process->status.operational ? "operational" : "gathering";
}

std::string wait_text(const Process& process) {
  const order::WaitReason why = process.node->why();
  std::string text = std::string(why.kind->name);
  if (why.who.node.value != 0) text += " of n" + std::to_string(why.who.node.value);
  if (why.seq != 0) text += " at " + std::to_string(why.seq);
  return text;
}

bool has_nothing_left(const Process& process) {
  if (process.clients != nullptr && !process.clients->waits_for().empty()) return false;
  return process.inputs.inbox.empty() && process.node->queued_messages() == 0 &&
         process.undone() == 0;
}

}  // namespace

bool consists_of(const std::vector<MemberId>& members, const std::vector<NodeId>& nodes) {
  return members.size() == nodes.size() &&
         std::equal(members.begin(), members.end(), nodes.begin(),
                    [](const MemberId& member, NodeId node) { return member.node == node; });
}

bool cluster_is_idle(const World& world) {
  std::map<std::pair<ViewId, std::size_t>, Seq> reached;
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    const Process* process = world.process(NodeId{n});
    if (process == nullptr) continue;
    if (!has_nothing_left(*process)) return false;
    if (!world.domains().has_view(NodeId{n})) continue;
    if (!process->status.operational || !process->status.view) return false;
    for (const order::Domain domain : world.domains().of(NodeId{n})) {
      const Seq seq = process->status.reached[domain].seq;
      const auto [entry, fresh] = reached.emplace(std::pair{*process->status.view, domain}, seq);
      if (!fresh && entry->second != seq) return false;
      if (world.domains().is_genuine() && !world.domains().is_delivered(domain)) return false;
    }
  }
  return true;
}

std::string waiting_text(const World& world) {
  std::string text;
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    const Process* process = world.process(NodeId{n});
    text += (n == 1 ? "n" : "; n") + std::to_string(n) + " " + describe(process);
    if (process == nullptr) continue;
    std::vector<NodeId> members;
    for (const MemberId& member : process->status.members) members.push_back(member.node);
    text += " in view of " + (members.empty() ? std::string("nobody") : nodes_text(members)) +
            ", " + std::to_string(process->node->queued_messages()) + " queued, " +
            std::to_string(process->submissions.accepted - process->undone()) + " of " +
            std::to_string(process->submissions.accepted) + " own delivered, at " +
            std::to_string(process->status.last_seq) + ", waits for " + wait_text(*process);
    const std::string clients =
        process->clients == nullptr ? std::string() : process->clients->waits_for();
    if (!clients.empty()) text += ", clients wait for " + clients;
  }
  return text;
}

Liveness::Liveness(World& world, std::vector<std::vector<NodeId>> parts, Duration patience)
    : world_(world), patience_(patience) {
  if (parts.empty()) {
    parts.emplace_back();
    for (std::uint32_t n = 1; n <= world.nodes(); ++n) parts[0].push_back(NodeId{n});
  }
  for (std::uint32_t n = 1; n <= world.nodes(); ++n) {
    const bool somewhere = std::any_of(parts.begin(), parts.end(), [n](const auto& part) {
      return std::find(part.begin(), part.end(), NodeId{n}) != part.end();
    });
    if (!somewhere) parts.push_back({NodeId{n}});
  }
  for (std::vector<NodeId>& nodes : parts) {
    Part part;
    part.all = std::move(nodes);
    for (const NodeId node : part.all) {
      if (world.process(node) != nullptr) part.alive.push_back(node);
    }
    if (!part.all.empty()) parts_.push_back(std::move(part));
  }
}

void Liveness::stop_faults() {
  world_.loads().stop();
  Network& network = world_.network();
  const Duration delay = network.conditions().delay;
  const Duration tail = network.conditions().tail;
  network.conditions() = Conditions{};
  network.conditions().delay = delay;
  network.conditions().tail = tail;
  network.clear_links();
  network.clear_rules();
  network.heal_all();
  std::vector<std::vector<NodeId>> groups;
  for (const Part& part : parts_) groups.push_back(part.all);
  network.split(groups);
  world_.recorder().faults().add(Fault::heal);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    world_.disks().mend(NodeId{n});
    world_.set_clock_drift(NodeId{n}, world_.machines().first_drift(NodeId{n}));
    Process* process = world_.process(NodeId{n});
    if (process == nullptr) continue;
    process->sending.until_crash = 0;
    process->inputs.leave_wanted = false;
    process->processor.slowness = 1;
    world_.set_application(NodeId{n}, world_.options().process.room_units, Duration{});
  }
}

/// True if the running nodes of the part are in one view, or in one view for each domain that has
/// views of its own.
bool Liveness::one_view(const Part& part) const {
  const auto& sets = world_.domains().view_sets();
  return std::all_of(sets.begin(), sets.end(), [&](const std::vector<NodeId>& set) {
    std::vector<NodeId> nodes;
    for (const NodeId node : part.alive) {
      if (std::find(set.begin(), set.end(), node) != set.end()) nodes.push_back(node);
    }
    return in_one_view(nodes);
  });
}

bool Liveness::in_one_view(const std::vector<NodeId>& nodes) const {
  const Process* first = nodes.empty() ? nullptr : world_.process(nodes[0]);
  // With crash_stop, nodes that have ended stay in the view.
  const bool same = !world_.options().engine.traits().crash_stop;
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    const Process* process = world_.process(node);
    return process != nullptr && first != nullptr && process->status.operational &&
           process->status.view && first->status.view &&
           *process->status.view == *first->status.view &&
           (!same || consists_of(process->status.members, nodes));
  });
}

bool Liveness::all_in_one_view() const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [this](const Part& part) { return one_view(part); });
}

void Liveness::advance(Duration length) {
  const Instant limit = world_.now() + length;
  const FaultCounts& faults = world_.recorder().faults();
  while (!stopped_()) {
    const std::uint64_t conflicts = faults.of(Fault::identity_conflict);
    if (!world_.step(limit)) return;
    if (faults.of(Fault::identity_conflict) != conflicts) start_again();
  }
}

/// Restarts stopped nodes, as their operators would. A node whose clock was set back stops when a
/// packet shows that the node's id is in use. Such a packet may come from before the end of faults.
void Liveness::start_again() {
  if (world_.now() > strays_ + patience_)
    return;  // + patience_: another node may get the packet first and report it later
  for (const Part& part : parts_) {
    for (const NodeId node : part.alive) {
      if (world_.process(node) != nullptr) continue;
      world_.start(node);
      started_again_ = true;
    }
  }
}

std::string Liveness::state_text() const {
  std::string text;
  for (const Part& part : parts_) {
    text += (text.empty() ? "" : " | ") + nodes_text(part.alive);
  }
  return "parts " + text + "; " + waiting_text(world_);
}

void Liveness::restart_all() {
  restarted_ = true;
  world_.recorder().faults().add(Fault::all_restarted);
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) world_.crash(NodeId{n});
  world_.domains().forget_places();
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) world_.start(NodeId{n});
}

bool Liveness::wait_for_views() {
  // A pause may outlast the other faults. So the timeout begins when the last pause has ended and
  // the last packet from before the end of faults has arrived.
  while (!stopped_() && std::any_of(parts_.begin(), parts_.end(), [this](const Part& part) {
    return std::any_of(part.alive.begin(), part.alive.end(), [this](NodeId node) {
      return world_.process(node) != nullptr && !world_.machines().is_up(node);
    });
  })) {
    advance(kSlice);
  }
  Instant limit = std::max(world_.now(), strays_) + patience_;
  while (!stopped_() && !all_in_one_view()) {
    if (std::exchange(started_again_, false)) limit = world_.now() + patience_;
    if (world_.now() >= limit && !restarted_ && order_is_lost(world_)) {
      restart_all();
      return wait_for_views();
    }
    if (world_.now() >= limit) {
      world_.recorder().violation(world_.now(), "E10",
                                  "no view of each part after " + duration_text(patience_) +
                                      " without faults: " + state_text());
      return false;
    }
    advance(kSlice);
  }
  return !stopped_();
}

std::uint64_t Liveness::failing_links() const {
  std::uint64_t sum = 0;
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    const Process* process = world_.process(NodeId{n});
    if (process == nullptr) continue;
    sum += process->counter("quorum_links_failing").value_or(0);
  }
  return sum;
}

// Waits until no link counts as failing: nodes remember earlier losses for a while, and these
// losses may still cause a view change. Reports E10 and returns false if a link fails for too long.
bool Liveness::wait_for_links() {
  const Duration most = world_.options().engine.needs(1).suspect * kLinksFailFor;
  const Instant limit = std::max(world_.now(), strays_) + most;
  while (!stopped_() && failing_links() > 0) {
    if (world_.now() >= limit) {
      world_.recorder().violation(world_.now(), "E10",
                                  "links count as failing " + duration_text(most) +
                                      " after the last fault: " + state_text());
      return false;
    }
    advance(kLinkSlice);
  }
  return !stopped_();
}

std::uint64_t Liveness::progress() const {
  std::uint64_t sum = 0;
  for (const Part& part : parts_) {
    for (const NodeId node : part.alive) {
      const Process* process = world_.process(node);
      if (process != nullptr) sum += process->work.units_delivered;
    }
  }
  return sum;
}

bool Liveness::drain() {
  std::uint64_t last = progress();
  Instant limit = world_.now() + patience_;
  while (!stopped_() && !cluster_is_idle(world_)) {
    advance(kSlice);
    if (started_again_ && !wait_for_views()) return false;
    const std::uint64_t here = progress();
    if (here != last) limit = world_.now() + patience_;
    last = here;
    if (world_.now() >= limit && !restarted_ && order_is_lost(world_)) {
      restart_all();
      if (!wait_for_views()) return false;
      limit = world_.now() + patience_;
      continue;
    }
    if (world_.now() >= limit) {
      world_.recorder().violation(
          world_.now(), "E10", "nothing is delivered any more, and messages wait: " + state_text());
      return false;
    }
  }
  if (!stopped_() && !all_in_one_view()) {
    world_.recorder().violation(world_.now(), "E10",
                                "a view was given up without any fault: " + state_text());
    return false;
  }
  return !stopped_();
}

void Liveness::submit_more() {
  const std::size_t large = 3ULL * world_.options().engine.packet_bytes_max();
  const std::size_t most = std::min<std::size_t>(
      {world_.options().limits.message_bytes_max, large, world_.options().limits.submit_bytes_max});
  for (const Part& part : parts_) {
    for (const NodeId node : part.alive) {
      for (int i = 0; i < 4; ++i) {
        world_.submit(node, i % 2 == 0 ? Service::safe : Service::agreed,
                      world_.loads().payload(node, std::min<std::size_t>(most, 16)),
                      world_.domains().draw(node));
      }
      world_.submit(node, Service::agreed, world_.loads().payload(node, most));
    }
  }
}

void Liveness::check_agreement() {
  for (const Part& part : parts_) {
    std::map<order::Domain, NodeId> first;
    for (const NodeId node : part.alive) {
      for (const order::Domain domain : world_.domains().of(node)) {
        const NodeId other = first.emplace(domain, node).first->second;
        const NodeStatus::Reached& a = world_.process(other)->status.reached[domain];
        const NodeStatus::Reached& b = world_.process(node)->status.reached[domain];
        const bool same_causal = a.causal == b.causal;
        if (a.seq == b.seq && a.digest.value() == b.digest.value() && same_causal) continue;
        world_.recorder().violation(
            world_.now(), "E10",
            nodes_text({other, node}) +
                " are in one view and delivered different units: " + state_text());
        return;
      }
    }
  }
}

void Liveness::run(bool quick, const std::function<bool()>& stopped) {
  stopped_ = stopped;
  stop_faults();
  strays_ = world_.transit().latest_arrival();
  if (!wait_for_views() || !wait_for_links()) return;
  // Members may still exclude a member that blocked the ring during the faults: StallWatch also
  // counts the time before the end of faults. Wait until such an exclusion would have happened.
  advance(world_.options().engine.usual().remembers);
  if (stopped_() || !wait_for_views() || !drain()) return;
  if (!quick) {
    // Packets sent before the faults ended must not affect the checks below.
    advance(std::max(strays_ - world_.now(), Duration{}) + world_.options().engine.usual().suspect);
    if (stopped_() || !wait_for_views() || !drain()) return;
    remember_views();
    lose_a_little();
    if (stopped_() || !drain()) return;
    check_traffic();
    if (stopped_()) return;
  }
  check_agreement();
  if (quick || stopped_()) return;
  check_idleness();
  check_views();
}

}  // namespace peal::sim
