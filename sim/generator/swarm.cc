// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/swarm.h"

#include <algorithm>

#include "sim/baselines/registry.h"
#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// Writes the cluster, its options, its network and its load. faults.cc plans the faults.

namespace peal::sim {
namespace {

/// Approximate number of events of one seed: enough for a few view changes under load, in a
/// fraction of a second of processor time.
constexpr double kEventsPerSeed = 150'000;

}  // namespace

Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options) {
  return ScenarioGenerator(seed, options).write();
}

ScenarioGenerator::ScenarioGenerator(std::uint64_t seed, const SwarmOptions& options)
    : seed_(seed), options_(options), random_(seed * 0x2545f4914f6cdd1dULL + 0x51), lists_(seed) {
  if (needs_links(options_.engine.engine())) {
    processes_fail_ = options_.faults;
    options_.faults = false;
  }
  if (options_.engine.engine().traits.one_view) options_.faults = false;
  for (const std::string& word : options.overrides) {
    const std::size_t equals = std::min(word.find('='), word.size());
    fixed_.emplace_back(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
  }
}

Script ScenarioGenerator::write() {
  script_.name = "seed " + std::to_string(seed_);
  draw_nodes();
  draw_options();
  draw_network();
  draw_load();
  draw_lists();
  write_cluster();
  script_.add("network " + calm_);
  plan_load();
  plan_faults();
  lists_.plan(timeline_, length_);
  plan_restarts();
  plan_moved_node();
  if (processes_fail_) plan_pauses();
  if (options_.engine.traits().crash_stop) {
    plan_lost_members();
    spare_members(false);
  } else if (options_.engine.is_genuine()) {
    spare_majorities();
  } else if (options_.engine.votes_in_memory()) {
    spare_lives();
  }
  DiskFaults disks(seed_, options_, nodes_, acceptors_, lists_);
  disks.plan_lost(timeline_, length_);
  plan_slow_node();
  disks.plan_damaged(timeline_, length_);
  write_timeline();
  write_ending(disks);
  return std::move(script_);
}

void ScenarioGenerator::draw_nodes() {
  if (options_.engine.is_genuine() && options_.domains > 0) return draw_domains();
  if (options_.nodes != 0) {
    nodes_ = options_.nodes;
  } else if (random_.chance(0.75)) {
    nodes_ = random_.chance(0.6) ? 3 : 4;
  } else {
    nodes_ = static_cast<std::uint64_t>(random_.between(2, 9));
  }
}

/// With genuine multicast: one to four domains, or as many as wanted, of one to five nodes, mostly
/// three, and nodes that only send. The draws use a random generator of their own.
void ScenarioGenerator::draw_domains() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x7a);
  const std::uint64_t count = 1 + own.below(options_.domains);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < count; ++i) {
    sizes.push_back(own.chance(0.5) ? 3 : 1 + own.below(5));
  }
  const std::uint64_t senders = own.chance(0.5) ? 0 : 1 + own.below(2);
  nodes_ = senders;
  for (const std::uint64_t size : sizes) nodes_ += size;
  nodes_ = std::max<std::uint64_t>(nodes_, 2);  // faults need two nodes
  if (options_.nodes != 0) nodes_ = options_.nodes;
  std::vector<NodeId> nodes;
  for (std::uint32_t n = 1; n <= nodes_; ++n) nodes.push_back(NodeId{n});
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[own.below(i)]);
  std::size_t next = 0;
  for (const std::uint64_t size : sizes) {
    std::vector<NodeId> members;
    while (members.size() < size && next < nodes.size()) members.push_back(nodes[next++]);
    if (members.empty()) break;
    std::sort(members.begin(), members.end());
    domains_.push_back(std::move(members));
  }
}

bool ScenarioGenerator::is_fixed(const std::string& key) const {
  return std::any_of(fixed_.begin(), fixed_.end(),
                     [&key](const auto& pair) { return pair.first == key; });
}

bool ScenarioGenerator::overridden(const order::Option& option) const {
  return std::any_of(fixed_.begin(), fixed_.end(),
                     [&option](const auto& pair) { return is_called(option, pair.first); });
}

bool ScenarioGenerator::draw_knobs() {
  EngineOptions drawn;
  for (const auto& [key, value] : fixed_) static_cast<void>(drawn.read(key, value));
  std::string text;
  for (const order::Option& option : order::default_engine().options()) {
    if (option.kind == order::Option::Kind::word) continue;
    if (random_.often() || overridden(option)) continue;
    const std::int64_t value = random_.between(option.drawn_least, option.drawn_most);
    const bool time = option.kind == order::Option::Kind::duration;
    const std::int64_t number = time ? std::max<std::int64_t>(1, value / 100'000) * 100'000 : value;
    drawn.set(option.name(), number);
    text += " " + std::string(option.name()) + "=" +
            (time ? decimal(static_cast<double>(number) / 1e6) : std::to_string(number));
  }
  if (!drawn.validate({}).empty()) return false;
  drawn_ = drawn;
  knobs_ = text;
  return true;
}

/// Draws values for the options, from Option::drawn_least to drawn_most, until the combination of
/// all values is valid.
void ScenarioGenerator::draw_options() {
  for (int tries = 0; tries < 300; ++tries) {
    if (draw_knobs()) break;
  }
  if (knobs_.find("damping_max_ms") == std::string::npos && drawn_.time("damping") <= seconds(1) &&
      !is_fixed("damping_max_ms") && !is_fixed("damping_max")) {
    drawn_.set("damping_max", seconds(1).ns);
    knobs_ += " damping_max_ms=1000";
  }
  if (random_.chance(0.3) && !is_fixed("priority")) knobs_ += " priority=aggressive";
  if (random_.chance(0.2) && !is_fixed("primary")) knobs_ += " primary=majority";
}

/// Draws network delays under which the ring works: the base delays of a rotation add up to at most
/// a quarter of token_retransmit, or 40 us per hop if that is more. Faults add to these delays.
void ScenarioGenerator::draw_network() {
  const std::int64_t most =
      drawn_.time("token_retransmit").ns / 4 / static_cast<std::int64_t>(nodes_);
  const Duration delay =
      random_.spread(microseconds(20), Duration{std::max<std::int64_t>(most, 40'000)});
  const Duration tail{delay.ns / random_.between(2, 20)};
  calm_ = "delay=" + duration_text(delay) + " tail=" + duration_text(tail);
  if (random_.chance(0.2))
    calm_ += " kilobyte=" + duration_text(microseconds(random_.between(1, 8)));
  hop_ = delay + tail + microseconds(2);
}

void ScenarioGenerator::draw_load() {
  const double tokens_per_second = 1e9 / static_cast<double>(hop_.ns);
  rate_ = static_cast<double>(random_.spread(Duration{100}, Duration{8'000}).ns);
  // A write makes the owner look at all that is open, and leaders have to change meanwhile.
  const bool slow = needs_links(options_.engine.engine());
  if (slow) rate_ /= 8;
  const double data_per_second = rate_ * static_cast<double>(nodes_) * static_cast<double>(nodes_);
  // An engine with acceptors sends heartbeats and a vote for every few units, but no token.
  // With genuine multicast, a message takes some packets for each pair of its destinations.
  const double many = options_.engine.is_genuine() ? 3 : 1;
  const double cost = options_.engine.has_quorum() ? 2 * many * data_per_second + 5'000
                                                   : 1.6 * tokens_per_second + data_per_second;
  const double length_s = std::clamp(kEventsPerSeed / (slow ? 5 : 1) / cost, 0.3, 8.0);
  length_ = microseconds(static_cast<std::int64_t>(length_s * 1e6));
}

/// In some scenarios the list of nodes changes; see ListChange::draw().
void ScenarioGenerator::draw_lists() {
  if (!options_.faults || nodes_ < 3 || is_fixed("list")) return;
  if (options_.engine.is_genuine()) return;  // lists of nodes never change
  const bool quorum = options_.engine.has_quorum();
  ListChange::Kind kind;
  kind.nodes = nodes_;
  kind.share = options_.lists ? 1.0 : 0.15;
  kind.may_replace = quorum;
  kind.may_set_primary =
      !quorum && !is_fixed("primary") && knobs_.find("primary=") == std::string::npos;
  lists_.draw(kind);
}

void ScenarioGenerator::write_cluster() {
  const std::string order(options_.engine.engine().name);
  std::string line = "cluster order=" + order + " nodes=" + std::to_string(nodes_) +
                     " seed=" + std::to_string(seed_) + knobs_;
  const auto add = [&](double p, const std::string& key, const std::string& value) {
    if (random_.chance(p) && !is_fixed(key)) line += " " + key + "=" + value;
  };
  const std::int64_t gap = drawn_.max_gap();
  add(0.5, "drift", random_.number(1, 50'000));
  add(0.25, "fan-out", "yes");
  add(0.25, "driver", "preferred");
  add(0.3, "read-budget", random_.number(1, 64));
  add(0.3, "step-cost", duration_text(nanoseconds(random_.between(200, 5'000))));
  add(0.2, "socket", random_.number(16, 256));
  // The buffers must hold the values that an acceptor replays from its log.
  const std::int64_t read_back = options_.engine.has_acceptors() ? 2'000 : 0;
  add(0.2, "buffers", random_.number(2 * gap + 128 + read_back, 4 * gap + 256 + read_back));
  add(0.2, "unit-buffers", random_.number(gap + 64 + read_back, 2 * gap + 256 + read_back));
  add(0.2, "submit-messages", random_.number(1, 40));
  // Let positions start near the powers of two at which narrower or signed counters would overflow.
  // The draw has its own random generator, so that other draws do not depend on first-count.
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x63);
  if (own.chance(0.1) && !is_fixed("first-count") && !options_.engine.has_quorum()) {
    const std::uint64_t border = own.chance(0.5) ? 1ULL << 32 : (1ULL << 63) - (1U << 21);
    line += " first-count=" + std::to_string(border - 1 - own.below(3'000));
  }
  add(0.2, "room", random_.number(16, 400));
  if (needs_links(options_.engine.engine()) && !is_fixed("write"))
    line += " write=" + slow_writes();
  else if (options_.engine.needs(1).memory)
    line += draw_memory();
  if (options_.engine.has_acceptors()) {
    add(0.3, "window", random_.number(1, std::min<std::int64_t>(gap, 250)));
    add(0.3, "member-window", random_.number(1, 64));
    add(0.5, "checkpoint-every", random_.number(1, 200));
    add(0.3, "sync", duration_text(random_.spread(microseconds(20), milliseconds(10))));
    add(0.2, "slow-syncs", random_.number(1, 50));
    // With fewer than three acceptors, a majority may need a node that is removed for good.
    const bool most = lists_.none();
    const std::string acceptors = random_.number(
        most ? 1 : 3, std::min<std::int64_t>(static_cast<std::int64_t>(nodes_),
                                             options_.engine.engine().traits.acceptors_most));
    add(0.2, "acceptors", acceptors);
    if (line.find(" acceptors=") != std::string::npos) acceptors_ = std::stoul(acceptors);
  }
  line += options_.engine.choices() + own_options();
  if (options_.domains > 0) line += domains();
  if (options_.groups || options_.sessions) line += " groups=yes";
  if (options_.sessions) line += " sessions=yes";
  line += lists_.cluster_keys();
  line += log_keys(line.find(" slow-syncs=") != std::string::npos);
  for (const std::string& word : options_.overrides) line += " " + word;
  script_.add(line);
}

/// Draws the options that only this engine has. Options of engines with acceptors are drawn above.
/// The draws use a random generator of their own.
std::string ScenarioGenerator::own_options() const {
  if (options_.engine.has_acceptors()) return {};
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x65);
  std::string words;
  for (const order::Option& option : options_.engine.engine().options()) {
    const bool chosen = options_.engine.differs(option.name());
    if (!option.is_tunable() || chosen || overridden(option)) continue;
    if (option.drawn_most == 0) continue;
    if (drawn_.find(option.name()) != nullptr || own.chance(0.6)) continue;
    std::int64_t number = own.between(option.drawn_least, option.drawn_most);
    const bool time = option.kind == order::Option::Kind::duration;
    if (time) number = std::max<std::int64_t>(1, number / 1'000'000) * 1'000'000;
    words += " " + std::string(option.name()) + "=" +
             (time ? decimal(static_cast<double>(number) / 1e6) : order::text_of(option, number));
  }
  return words;
}

/// Draws some nodes for each domain; domains may overlap. The draws use a random generator of their
/// own.
std::string ScenarioGenerator::domains() {
  std::string words;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    words += " domain" + std::to_string(i + 1) + "=" + nodes_text(domains_[i]);
  }
  if (options_.engine.is_genuine()) return words;
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x64);
  const std::uint64_t count = 1 + own.below(options_.domains);
  // With fewer than three acceptors, a majority may need a node that is removed for good.
  const std::size_t least = lists_.none() ? 1 : std::min<std::size_t>(3, lists_.before().size());
  const auto counts = [this](NodeId node) {
    return lists_.none() ||
           std::binary_search(lists_.before().begin(), lists_.before().end(), node);
  };
  for (std::uint64_t i = 1; i <= count; ++i) {
    std::vector<NodeId> nodes;
    while (static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), counts)) < least) {
      nodes.clear();
      for (std::uint32_t n = 1; n <= nodes_; ++n) {
        if (own.chance(0.6)) nodes.push_back(NodeId{n});
      }
    }
    words += " domain" + std::to_string(i) + "=" + nodes_text(nodes);
  }
  return words;
}

void ScenarioGenerator::plan_load() {
  const std::string safe = decimal(random_.unit());
  std::string load =
      "load rate=" + decimal(rate_) + " size=" + random_.range(0, 30, 400) + " safe=" + safe;
  if (options_.engine.engine().traits.causal) {
    Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x66);
    if (own.chance(0.7)) load += " causal=" + decimal(own.unit());
  }
  if (random_.chance(0.4)) {
    const std::string size = random_.range(500, 3'000, 30'000);
    load += " large=" + decimal(0.02 * random_.unit()) + " large-size=" + size;
  }
  if (random_.chance(0.4)) load += " burst=" + random_.number(2, 60);
  if (random_.chance(0.15)) load += " nodes=" + node();
  if (random_.chance(0.9)) timeline_.at(Duration{random_.between(0, length_.ns / 10)}, load);
}

void ScenarioGenerator::write_timeline() {
  std::int64_t now = 0;
  for (const auto& [when, line] : timeline_.lines()) {
    if (when > length_.ns) break;
    if (when > now) script_.add("run " + duration_text(Duration{when - now}));
    now = when;
    script_.add(line);
  }
  script_.add("run " + duration_text(Duration{std::max<std::int64_t>(length_.ns - now, 1)}));
}

void ScenarioGenerator::write_ending(const DiskFaults& disks) {
  if (!lists_.none()) script_.add("list all to " + nodes_text(lists_.after()));
  for (const NodeId node : lists_.before()) {  // a removed node may still run if it was paused
    if (lists_.removes(node)) script_.add("crash " + nodes_text({node}));
  }
  if (options_.engine.has_quorum()) {  // without majorities, nothing is ordered: start all nodes
    // A node that has written nothing since its disk failed still runs. Crash this node now;
    // otherwise it would stop after the start of all nodes.
    if (!failed_disk_.empty() && options_.engine.has_logs()) script_.add("crash " + failed_disk_);
    script_.add("disk all mended");
    if (!needs_links(options_.engine.engine())) script_.add("start all");
    // A node may refuse two starts, one for each of its log folders: start all nodes twice more.
    for (int times = disks.damages() ? 2 : 0; times > 0; --times) script_.add("start all");
    script_.add("settle");
    write_late_duplicates();
    disks.write_put_back(script_);
    write_lasting();
    return;
  }
  if (options_.engine.engine().traits.one_view) {
    script_.add("settle");
    return;
  }
  // Usually all nodes return. Sometimes a node stays crashed, or the network stays split.
  const bool all = random_.chance(0.8);
  if (all) {
    script_.add("start all");
  } else if (nodes_ > 2) {
    const std::string a = node();
    script_.add("crash " + a);
    script_.add("start " + other_than(a));
  }
  if (random_.chance(0.85)) {
    script_.add("settle");
    if (all) {
      write_late_duplicates();
      write_lasting();
    }
  } else {
    script_.add("settle " + some_parts(2, false));
  }
}

}  // namespace peal::sim
