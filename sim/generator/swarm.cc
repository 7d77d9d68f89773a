// SPDX-License-Identifier: Apache-2.0
#include "sim/generator/swarm.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "sim/generator/scenario_generator.h"
#include "sim/scenario/tokenizer.h"

// The cluster, its options, its network and its load; faults.cc has the faults.

namespace peal::sim {
namespace {

/// Approximate number of events of one seed: enough for a few view changes under load, and a
/// fraction of a second of work.
constexpr double kEventsPerSeed = 150'000;

}  // namespace

Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options) {
  return ScenarioGenerator(seed, options).write();
}

ScenarioGenerator::ScenarioGenerator(std::uint64_t seed, const SwarmOptions& options)
    : seed_(seed),
      options_(options),
      random_(seed * 0x2545f4914f6cdd1dULL + 0x51),
      list_random_(seed * 0x9e3779b97f4a7c15ULL + 0x6c) {
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
  plan_lists();
  plan_restarts();
  plan_moved_node();
  if (options_.engine.votes_in_memory()) spare_lives();
  plan_lost_disk();
  plan_slow_node();
  plan_damaged_disk();
  write_timeline();
  write_ending();
  return std::move(script_);
}

void ScenarioGenerator::draw_nodes() {
  if (options_.nodes != 0) {
    nodes_ = options_.nodes;
  } else if (maybe(0.75)) {
    nodes_ = maybe(0.6) ? 3 : 4;
  } else {
    nodes_ = static_cast<std::uint64_t>(between(2, 9));
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
    if (often() || overridden(option)) continue;
    const std::int64_t value = between(option.drawn_least, option.drawn_most);
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

/// Draws options from the hostile ranges until they are valid together.
void ScenarioGenerator::draw_options() {
  for (int tries = 0; tries < 300; ++tries) {
    if (draw_knobs()) break;
  }
  if (knobs_.find("damping_max_ms") == std::string::npos && drawn_.time("damping") <= seconds(1) &&
      !is_fixed("damping_max_ms") && !is_fixed("damping_max")) {
    drawn_.set("damping_max", seconds(1).ns);
    knobs_ += " damping_max_ms=1000";
  }
  if (maybe(0.3) && !is_fixed("priority")) knobs_ += " priority=aggressive";
  if (maybe(0.2) && !is_fixed("primary")) knobs_ += " primary=majority";
}

/// Network delays under which the ring can work: a rotation takes at most a third of
/// token_retransmit. Faults come on top of them.
void ScenarioGenerator::draw_network() {
  const std::int64_t most =
      drawn_.time("token_retransmit").ns / 4 / static_cast<std::int64_t>(nodes_);
  const Duration delay = spread(microseconds(20), Duration{std::max<std::int64_t>(most, 40'000)});
  const Duration tail{delay.ns / between(2, 20)};
  calm_ = "delay=" + duration_text(delay) + " tail=" + duration_text(tail);
  if (maybe(0.2)) calm_ += " kilobyte=" + duration_text(microseconds(between(1, 8)));
  hop_ = delay + tail + microseconds(2);
}

void ScenarioGenerator::draw_load() {
  const double tokens_per_second = 1e9 / static_cast<double>(hop_.ns);
  rate_ = static_cast<double>(spread(Duration{100}, Duration{8'000}).ns);
  const double data_per_second = rate_ * static_cast<double>(nodes_) * static_cast<double>(nodes_);
  // An engine with acceptors has no token, but votes for every few units, and heartbeats.
  const double cost = options_.engine.has_quorum() ? 2 * data_per_second + 5'000
                                                   : 1.6 * tokens_per_second + data_per_second;
  const double length_s = std::clamp(kEventsPerSeed / cost, 0.3, 8.0);
  length_ = microseconds(static_cast<std::int64_t>(length_s * 1e6));
}

void ScenarioGenerator::write_cluster() {
  const std::string order(options_.engine.engine().name);
  std::string line = "cluster order=" + order + " nodes=" + std::to_string(nodes_) +
                     " seed=" + std::to_string(seed_) + knobs_;
  const auto add = [&](double p, const std::string& key, const std::string& value) {
    if (maybe(p) && !is_fixed(key)) line += " " + key + "=" + value;
  };
  const std::int64_t gap = drawn_.max_gap();
  add(0.5, "drift", number(1, 50'000));
  add(0.25, "fan-out", "yes");
  add(0.25, "driver", "preferred");
  add(0.3, "read-budget", number(1, 64));
  add(0.3, "step-cost", duration_text(nanoseconds(between(200, 5'000))));
  add(0.2, "socket", number(16, 256));
  // The replay of an acceptor's log must fit.
  const std::int64_t read_back = options_.engine.has_quorum() ? 2'000 : 0;
  add(0.2, "buffers", number(2 * gap + 128 + read_back, 4 * gap + 256 + read_back));
  add(0.2, "unit-buffers", number(gap + 64 + read_back, 2 * gap + 256 + read_back));
  add(0.2, "submit-messages", number(1, 40));
  // Near the powers of two at which narrower or signed counters would overflow. Drawn apart, so
  // that the rest of a seed's scenario does not depend on it.
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x63);
  if (own.chance(0.1) && !is_fixed("first-count") && !options_.engine.has_quorum()) {
    const std::uint64_t border = own.chance(0.5) ? 1ULL << 32 : (1ULL << 63) - (1U << 21);
    line += " first-count=" + std::to_string(border - 1 - own.below(3'000));
  }
  add(0.2, "room", number(16, 400));
  if (options_.engine.has_quorum()) {
    add(0.3, "window", number(1, std::min<std::int64_t>(gap, 250)));
    add(0.3, "member-window", number(1, 64));
    add(0.5, "checkpoint-every", number(1, 200));
    add(0.3, "sync", duration_text(spread(microseconds(20), milliseconds(10))));
    add(0.2, "slow-syncs", number(1, 50));
    // Of fewer than three acceptors, a node removed for good may be needed.
    const bool most = list_before_.empty();
    const std::string acceptors = number(
        most ? 1 : 3, std::min<std::int64_t>(static_cast<std::int64_t>(nodes_),
                                             options_.engine.engine().traits.acceptors_most));
    add(0.2, "acceptors", acceptors);
    if (line.find(" acceptors=") != std::string::npos) acceptors_ = std::stoul(acceptors);
  }
  line += options_.engine.choices();
  if (options_.domains > 0) line += domains();
  if (options_.groups || options_.sessions) line += " groups=yes";
  if (options_.sessions) line += " sessions=yes";
  if (!list_before_.empty()) line += " list=" + nodes_text(list_before_) + list_majority_;
  line += log_keys(line.find(" slow-syncs=") != std::string::npos);
  for (const std::string& word : options_.overrides) line += " " + word;
  script_.add(line);
}

/// Some nodes for each domain; domains may overlap. Drawn apart, as first-count.
std::string ScenarioGenerator::domains() {
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x64);
  std::string words;
  const std::uint64_t count = 1 + own.below(options_.domains);
  // Of fewer than three acceptors, a node removed for good may be needed.
  const std::size_t least =
      list_before_.empty() ? 1 : std::min<std::size_t>(3, list_before_.size());
  const auto counts = [this](NodeId node) {
    return list_before_.empty() ||
           std::binary_search(list_before_.begin(), list_before_.end(), node);
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
  std::string load = "load rate=" + decimal(rate_) + " size=" + range(0, 30, 400) + " safe=" + safe;
  if (maybe(0.4)) {
    const std::string size = range(500, 3'000, 30'000);
    load += " large=" + decimal(0.02 * random_.unit()) + " large-size=" + size;
  }
  if (maybe(0.4)) load += " burst=" + number(2, 60);
  if (maybe(0.15)) load += " nodes=" + node();
  if (maybe(0.9)) at(Duration{between(0, length_.ns / 10)}, load);
}

void ScenarioGenerator::write_timeline() {
  std::int64_t now = 0;
  for (const auto& [when, line] : timeline_) {
    if (when > length_.ns) break;
    if (when > now) script_.add("run " + duration_text(Duration{when - now}));
    now = when;
    script_.add(line);
  }
  script_.add("run " + duration_text(Duration{std::max<std::int64_t>(length_.ns - now, 1)}));
}

void ScenarioGenerator::write_ending() {
  if (!list_after_.empty()) script_.add("list all to " + nodes_text(list_after_));
  for (const NodeId node : list_before_) {  // a removed node that was paused when it had to stop
    if (!std::binary_search(list_after_.begin(), list_after_.end(), node)) {
      script_.add("crash " + nodes_text({node}));
    }
  }
  if (options_.engine.has_quorum()) {  // most acceptors and most nodes are needed
    // A node that writes nothing has not noticed its failed disk, and would stop after the start of
    // all.
    if (!failed_disk_.empty() && options_.engine.has_logs()) script_.add("crash " + failed_disk_);
    script_.add("disk all mended");
    script_.add("start all");
    // Restart nodes that refused to start: once for each of the two folders.
    for (int times = damages_disk_ ? 2 : 0; times > 0; --times) script_.add("start all");
    script_.add("settle");
    write_late_duplicates();
    write_put_back();
    write_lasting();
    return;
  }
  if (options_.engine.engine().traits.one_view) {
    script_.add("settle");
    return;
  }
  // Usually all nodes return; sometimes some stay crashed or cut off.
  const bool all = maybe(0.8);
  if (all) {
    script_.add("start all");
  } else if (nodes_ > 2) {
    const std::string a = node();
    script_.add("crash " + a);
    script_.add("start " + other_than(a));
  }
  if (maybe(0.85)) {
    script_.add("settle");
    if (all) {
      write_late_duplicates();
      write_lasting();
    }
  } else {
    script_.add("settle " + some_parts(2, false));
  }
}

double ScenarioGenerator::small() {
  const double first = random_.unit();
  return first * random_.unit();
}

std::string ScenarioGenerator::range(std::int64_t low, std::int64_t middle, std::int64_t high) {
  const std::string upper = number(middle, high);
  return number(low, middle) + "-" + upper;
}

Duration ScenarioGenerator::spread(Duration low, Duration high) {
  std::int64_t top = high.ns;
  while (top > 2 * low.ns && often()) top /= 2;
  return Duration{between(std::min(low.ns, top), top)};
}

std::string ScenarioGenerator::decimal(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

}  // namespace peal::sim
