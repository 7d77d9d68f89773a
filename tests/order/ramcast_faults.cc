// SPDX-License-Identifier: Apache-2.0
#include "ramcast_faults.h"

#include <algorithm>

namespace peal::order::ramcast::test {
namespace {

Shape draw_shape(Random& random) {
  Shape shape;
  shape.domains.clear();
  const std::uint64_t domains = random.chance(0.4) ? 1 : 1 + random.below(3);
  for (std::uint64_t i = 0; i < domains; ++i) {
    static constexpr std::uint32_t kSizes[] = {1, 2, 3, 3, 3, 3, 4, 5};
    shape.domains.push_back(kSizes[random.below(8)]);
  }
  shape.outsiders = static_cast<std::uint32_t>(random.below(3));
  Options& options = shape.options;
  static constexpr std::uint32_t kSlots[] = {1, 2, 4, 16, 64};
  options.slots = kSlots[random.below(5)];
  options.log_bytes = random.chance(0.3) ? 16'384 : 1U << 17;
  options.inline_bytes = random.chance(0.3) ? 0 : 200;
  options.lazy = random.chance(0.25);
  options.fast = random.chance(0.8);
  options.beat = microseconds(500);
  options.suspect = milliseconds(random.between(4, 12));
  options.repair = microseconds(random.between(300, 2'000));
  sim::FabricOptions& fabric = shape.fabric;
  static constexpr std::size_t kSegments[] = {8, 64, 256};
  fabric.segment_bytes = kSegments[random.below(3)];
  fabric.tear = static_cast<sim::FabricOptions::Tear>(random.below(4));
  fabric.down_after = milliseconds(random.between(1, 4));
  if (random.chance(0.5)) {
    fabric.slow = 0.05;
    fabric.slow_most = microseconds(random.between(20, 3'000));
  }
  if (random.chance(0.3)) fabric.write_most = microseconds(200);
  if (random.chance(0.5)) shape.packet_loss = 0.05;
  if (random.chance(0.6)) shape.reaction_most = microseconds(random.between(1, 300));
  return shape;
}

/// Changes of the leader at moments when much is under way: clocks that differ between domains,
/// slow writes, pauses that are about as long as it takes to suspect a node.
void harden(Shape& shape, Random& random) {
  shape.domains.assign(1 + random.below(3), 3);
  if (random.chance(0.3)) shape.domains.front() = 5;
  for (std::size_t i = 0; i < shape.domains.size(); ++i) {
    static constexpr std::uint64_t kClocks[] = {0, 30, 500};
    shape.clocks.push_back(kClocks[random.below(3)]);
  }
  shape.outsiders = static_cast<std::uint32_t>(1 + random.below(3));
  shape.options.suspect = microseconds(random.between(2'000, 5'000));
  shape.options.repair = microseconds(random.between(100, 1'000));
  shape.fabric.slow = 0.02 + 0.02 * static_cast<double>(random.below(8));
  shape.fabric.slow_most = microseconds(random.between(100, 4'000));
}

/// Which servers of each domain may be down at once, so that a majority stays.
class Faults {
 public:
  Faults(World& world, Random& random, Strain strain)
      : world_(world), random_(random), strain_(strain) {
    crashes_ = random.chance(0.6);
    pauses_ = random.chance(0.5);
    cuts_ = random.chance(0.4);
    restarts_ = random.chance(0.7);
    senders_ = random.chance(0.5);
    if (strain != Strain::usual) pauses_ = true;
    if (strain == Strain::turns) restarts_ = false;
  }

  void strike() {
    auto node = static_cast<std::uint32_t>(random_.below(world_.nodes()));
    if (strain_ != Strain::usual && random_.chance(0.6)) {
      const auto domain = static_cast<unsigned>(1 + random_.below(world_.layout().domains()));
      node = world_.leader(domain).value_or(node);
    }
    if (strain_ == Strain::regions && random_.chance(0.4)) return lose_region(node);
    if (strain_ == Strain::turns && random_.chance(0.5)) return cut_off(node);
    switch (random_.below(4)) {
      case 0:
        if (crashes_) crash(node);
        break;
      case 1:
        if (pauses_ && world_.is_up(node)) {
          world_.pause(node);
          paused_.push_back(node);
        }
        break;
      case 2:
        if (cuts_) {
          const auto other = static_cast<std::uint32_t>(random_.below(world_.nodes()));
          world_.cut(node, other);
          if (random_.chance(0.5)) world_.cut(other, node);
        }
        break;
      default: mend(); break;
    }
  }
  void mend() {
    for (const std::uint32_t node : paused_) world_.resume(node);
    paused_.clear();
    world_.heal_all();
    for (std::uint32_t node = 0; restarts_ && node < world_.nodes(); ++node) {
      if (!world_.is_up(node) && random_.chance(0.5)) world_.start(node);
    }
  }
  /// The end: what is to be there is there.
  void end() {
    mend();
    world_.set_loss(0);
    for (std::uint32_t node = 0; restarts_ && node < world_.nodes(); ++node) {
      if (!world_.is_up(node)) world_.start(node);
    }
  }

 private:
  /// Cuts a server off from another one of its domain, or from all, or loses what it writes into a
  /// region.
  void cut_off(std::uint32_t node) {
    const NodeRole& role = world_.layout().role(static_cast<NodeIndex>(node));
    if (role.domain == 0) return;
    const std::vector<NodeIndex>& servers = world_.layout().servers(role.domain);
    if (random_.chance(0.3)) {
      static constexpr Area kAreas[] = {Area::log, Area::control, Area::cells};
      const NodeIndex other = servers[random_.below(servers.size())];
      return world_.cut(node, other, kAreas[random_.below(std::size(kAreas))]);
    }
    const bool all = random_.chance(0.4);
    const NodeIndex chosen = servers[random_.below(servers.size())];
    const std::uint64_t direction = random_.below(4);
    for (const NodeIndex other : servers) {
      if (other == node || (!all && other != chosen)) continue;
      if (direction != 0) world_.cut(node, other);
      if (direction != 1) world_.cut(other, node);
    }
  }
  /// What the node writes into one region of another node is lost, or what one region of its own
  /// gets.
  void lose_region(std::uint32_t node) {
    static constexpr Area kAreas[] = {Area::messages, Area::log,   Area::control,
                                      Area::control,  Area::cells, Area::replies};
    auto other = static_cast<std::uint32_t>(random_.below(world_.nodes()));
    const Area area = kAreas[random_.below(std::size(kAreas))];
    if (random_.chance(0.5)) std::swap(node, other);
    world_.cut(node, other, area);
  }
  void crash(std::uint32_t node) {
    if (!world_.is_up(node)) return;
    const NodeRole& role = world_.layout().role(static_cast<NodeIndex>(node));
    if (role.domain == 0) {
      if (senders_) world_.crash(node);
      return;
    }
    // Votes are in memory: only settled nodes count as up.
    const std::vector<NodeIndex>& servers = world_.layout().servers(role.domain);
    if (!world_.is_settled() && strain_ != Strain::turns) return;
    const auto up = std::count_if(servers.begin(), servers.end(),
                                  [this](NodeIndex server) { return world_.is_up(server); });
    if (static_cast<unsigned>(up) > world_.layout().quorum(role.domain)) world_.crash(node);
  }

  World& world_;
  Random& random_;
  const Strain strain_;
  bool crashes_, pauses_, cuts_, restarts_, senders_;
  std::vector<std::uint32_t> paused_;
};

std::string explain(World& world) {
  std::string text;
  for (std::uint32_t node = 0; node < world.nodes(); ++node) {
    text += "\n  node " + std::to_string(node + 1);
    if (!world.is_up(node)) {
      text += " is down";
      continue;
    }
    const RamcastEngine& engine = world.engine(node);
    text += ": " + engine.describe() + ", delivered " + std::to_string(world.delivered(node)) +
            ", placed " + std::to_string(world.places(node).size()) + ", queue " +
            std::to_string(world.backlog(node)) + ", view of " +
            std::to_string(world.view(node).size()) + ", counters:";
    for (const Counter& counter : engine.counters()) {
      if (counter.value == 0) continue;
      text += " " + std::string(counter.name) + " " + std::to_string(counter.value);
    }
  }
  return text;
}

}  // namespace

Outcome run_seed(std::uint64_t seed, Strain strain) {
  const bool hard = strain == Strain::hard || strain == Strain::regions;
  Random random(seed * 7'919 + 1 + static_cast<std::uint64_t>(strain));
  Shape shape = draw_shape(random);
  if (strain != Strain::usual) harden(shape, random);
  World world(shape, seed);
  Faults faults(world, random, strain);
  world.start_all();
  Outcome outcome;
  if (random.chance(0.7) || strain == Strain::turns) {
    static_cast<void>(world.run_until([&] { return world.is_settled(); }, seconds(1)));
  }
  const std::uint64_t steps = (hard ? 100 : 20) + random.below(60);
  for (std::uint64_t step = 0; step < steps && world.broken().empty(); ++step) {
    const std::uint64_t burst = random.below(20);
    for (std::uint64_t i = 0; i < burst; ++i) {
      const auto node = static_cast<std::uint32_t>(random.below(world.nodes()));
      const auto domain = static_cast<Domain>(random.below(shape.domains.size() + 1));
      world.submit(node, domain, static_cast<std::uint32_t>(20 + random.below(700)));
    }
    world.run(microseconds(random.between(1, 2'000)));
    if (random.chance(0.4)) faults.strike();
    if (random.chance(0.3)) world.run(microseconds(random.between(1, 15'000)));
  }
  faults.end();
  // After a violation, nothing need come to an end.
  outcome.ended =
      world.broken().empty() &&
      world.run_until([&] { return world.is_settled() && world.is_quiet(); }, seconds(3));
  outcome.broken = world.broken();
  if (!outcome.ended) outcome.stuck = explain(world);
  outcome.history = world.history();
  for (std::uint32_t node = 0; node < world.nodes(); ++node) {
    if (!world.is_up(node)) continue;
    outcome.delivered += world.delivered(node);
    outcome.rounds += world.engine(node).counts().rounds;
  }
  return outcome;
}

}  // namespace peal::order::ramcast::test
