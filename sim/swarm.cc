// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "sim/knobs.h"
#include "sim/words.h"

namespace peal::sim {
namespace {

/// Happenings of one seed, roughly: enough for a few view changes under load, and a fraction of a
/// second of work.
constexpr double kEventsPerSeed = 150'000;

std::string decimal(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

class Author {
 public:
  Author(std::uint64_t seed, const SwarmOptions& options)
      : seed_(seed), options_(options), random_(seed * 0x2545f4914f6cdd1dULL + 0x51) {
    for (const std::string& word : options.overrides) {
      const std::size_t equals = std::min(word.find('='), word.size());
      fixed_.emplace_back(word.substr(0, equals), word.substr(std::min(equals + 1, word.size())));
    }
  }

  Script write() {
    script_.name = "seed " + std::to_string(seed_);
    draw_nodes();
    draw_ring();
    draw_network();
    draw_load();
    write_cluster();
    script_.add("network " + calm_);
    plan_everything();
    write_timeline();
    write_ending();
    return std::move(script_);
  }

 private:
  bool often() { return random_.chance(0.5); }
  bool maybe(double p) { return random_.chance(p); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return random_.between(low, high); }
  /// Between two durations, small ones as likely as large ones.
  Duration spread(Duration low, Duration high);
  std::string node() { return "n" + std::to_string(1 + random_.below(nodes_)); }
  std::string other_than(const std::string& name);
  std::string some_parts(std::uint64_t parts, bool overlapping);
  Duration moment() { return Duration{between(0, length_.ns)}; }
  void at(Duration when, std::string line) { timeline_.emplace(when.ns, std::move(line)); }

  void draw_nodes();
  void draw_ring();
  bool draw_knobs();
  bool is_fixed(const std::string& key) const;
  bool overridden(const order::ring::Knob& knob) const;
  void draw_network();
  void draw_load();
  void write_cluster();
  void plan_everything();
  void plan_packets();
  void plan_rule();
  void plan_gap();
  void plan_links();
  void plan_processes();
  void plan_resources();
  void plan_targets();
  void write_timeline();
  void write_ending();

  std::uint64_t seed_;
  SwarmOptions options_;
  std::vector<std::pair<std::string, std::string>> fixed_;  ///< overrides: key and value
  Random random_;
  Script script_;
  std::uint64_t nodes_ = 3;
  order::ring::Options ring_;
  std::string knobs_;
  std::string calm_;
  Duration hop_{};     ///< of a token, about
  Duration length_{};  ///< of the time with faults
  double rate_ = 0;    ///< messages per second and node
  std::multimap<std::int64_t, std::string> timeline_;
};

Duration Author::spread(Duration low, Duration high) {
  std::int64_t top = high.ns;
  while (top > 2 * low.ns && often()) top /= 2;
  return Duration{between(std::min(low.ns, top), top)};
}

std::string Author::other_than(const std::string& name) {
  std::string other = node();
  while (other == name) other = node();
  return other;
}

void Author::draw_nodes() {
  if (options_.nodes != 0) {
    nodes_ = options_.nodes;
  } else if (maybe(0.75)) {
    nodes_ = maybe(0.6) ? 3 : 4;
  } else {
    nodes_ = static_cast<std::uint64_t>(between(2, 9));
  }
}

bool Author::is_fixed(const std::string& key) const {
  return std::any_of(fixed_.begin(), fixed_.end(),
                     [&key](const auto& pair) { return pair.first == key; });
}

bool Author::overridden(const order::ring::Knob& knob) const {
  return std::any_of(fixed_.begin(), fixed_.end(),
                     [&knob](const auto& pair) { return is_called(knob, pair.first); });
}

bool Author::draw_knobs() {
  order::ring::Options drawn;
  for (const auto& [key, value] : fixed_) static_cast<void>(read_knob(key, value, drawn));
  std::string text;
  for (const order::ring::Knob& knob : order::ring::knobs()) {
    if (often() || overridden(knob)) continue;
    const std::int64_t value = between(knob.hostile_low, knob.hostile_high);
    if (knob.duration != nullptr) {
      const std::int64_t whole = std::max<std::int64_t>(1, value / 100'000) * 100'000;
      drawn.*knob.duration = Duration{whole};
      text += " " + std::string(knob.name) + "=" + decimal(static_cast<double>(whole) / 1e6);
    } else {
      drawn.*knob.number = static_cast<std::uint32_t>(value);
      text += " " + std::string(knob.name) + "=" + std::to_string(value);
    }
  }
  if (!order::ring::validate(drawn).empty()) return false;
  ring_ = drawn;
  knobs_ = text;
  return true;
}

/// Options from the hostile ranges, as long as they are legal together.
void Author::draw_ring() {
  for (int tries = 0; tries < 300; ++tries) {
    if (draw_knobs()) break;
  }
  if (knobs_.find("damping_max_ms") == std::string::npos && ring_.damping <= seconds(1) &&
      !is_fixed("damping_max_ms") && !is_fixed("damping_max")) {
    ring_.damping_max = seconds(1);
    knobs_ += " damping_max_ms=1000";
  }
  if (maybe(0.3) && !is_fixed("priority")) knobs_ += " priority=aggressive";
  if (maybe(0.2) && !is_fixed("primary")) knobs_ += " primary=majority";
}

/// Delays under which the ring can work at all: a rotation takes a third of token_retransmit at
/// most. What the faults do on top of it is another matter.
void Author::draw_network() {
  const std::int64_t most = ring_.token_retransmit.ns / 4 / static_cast<std::int64_t>(nodes_);
  const Duration delay = spread(microseconds(20), Duration{std::max<std::int64_t>(most, 40'000)});
  const Duration tail{delay.ns / between(2, 20)};
  calm_ = "delay=" + duration_text(delay) + " tail=" + duration_text(tail);
  if (maybe(0.2)) calm_ += " kilobyte=" + duration_text(microseconds(between(1, 8)));
  hop_ = delay + tail + microseconds(2);
}

void Author::draw_load() {
  const double tokens_per_second = 1e9 / static_cast<double>(hop_.ns);
  rate_ = static_cast<double>(spread(Duration{100}, Duration{8'000}).ns);
  const double data_per_second = rate_ * static_cast<double>(nodes_) * static_cast<double>(nodes_);
  const double cost = 1.6 * tokens_per_second + data_per_second;
  const double length_s = std::clamp(kEventsPerSeed / cost, 0.3, 8.0);
  length_ = microseconds(static_cast<std::int64_t>(length_s * 1e6));
}

void Author::write_cluster() {
  std::string line = "cluster order=ring nodes=" + std::to_string(nodes_) +
                     " seed=" + std::to_string(seed_) + knobs_;
  const auto add = [&](double p, const std::string& key, const std::string& value) {
    if (maybe(p) && !is_fixed(key)) line += " " + key + "=" + value;
  };
  const std::int64_t gap = ring_.max_gap;
  add(0.5, "drift", std::to_string(between(1, 50'000)));
  add(0.25, "fan-out", "yes");
  add(0.25, "driver", "preferred");
  add(0.3, "read-budget", std::to_string(between(1, 64)));
  add(0.3, "step-cost", duration_text(nanoseconds(between(200, 5'000))));
  add(0.2, "socket", std::to_string(between(16, 256)));
  add(0.2, "buffers", std::to_string(between(2 * gap + 128, 4 * gap + 256)));
  add(0.2, "unit-buffers", std::to_string(between(gap + 64, 2 * gap + 256)));
  add(0.2, "submit-messages", std::to_string(between(1, 40)));
  // Near the powers of two at which narrower or signed counters would go wrong.
  // Drawn apart, so that the rest of a seed's story does not depend on it.
  Random own(seed_ * 0x9e3779b97f4a7c15ULL + 0x63);
  if (own.chance(0.1) && !is_fixed("first-count")) {
    const std::uint64_t border = own.chance(0.5) ? 1ULL << 32 : (1ULL << 63) - (1U << 21);
    line += " first-count=" + std::to_string(border - 1 - own.below(3'000));
  }
  add(0.2, "room", std::to_string(between(16, 400)));
  for (const std::string& word : options_.overrides) line += " " + word;
  script_.add(line);
}

std::string Author::some_parts(std::uint64_t parts, bool overlapping) {
  std::vector<std::vector<NodeId>> part(parts);
  for (std::uint32_t n = 1; n <= nodes_; ++n) {
    const std::uint64_t first = random_.below(parts);
    part[first].push_back(NodeId{n});
    if (overlapping && maybe(0.4)) part[(first + 1) % parts].push_back(NodeId{n});
  }
  std::string text;
  for (const auto& members : part) {
    if (!members.empty()) text += (text.empty() ? "" : " | ") + nodes_text(members);
  }
  return text;
}

void Author::plan_everything() {
  const std::string all = "load rate=" + decimal(rate_);
  std::string load = all + " size=" + std::to_string(between(0, 30)) + "-" +
                     std::to_string(between(30, 400)) + " safe=" + decimal(random_.unit());
  if (maybe(0.4)) {
    load += " large=" + decimal(0.02 * random_.unit()) +
            " large-size=" + std::to_string(between(500, 3'000)) + "-" +
            std::to_string(between(3'000, 30'000));
  }
  if (maybe(0.4)) load += " burst=" + std::to_string(between(2, 60));
  if (maybe(0.15)) load += " nodes=" + node();
  if (maybe(0.9)) at(Duration{between(0, length_.ns / 10)}, load);
  if (!options_.faults) return;
  if (often()) plan_packets();
  if (often()) plan_links();
  if (often()) plan_processes();
  if (maybe(0.35)) plan_resources();
  plan_targets();
}

void Author::plan_packets() {
  std::string line = "network " + calm_;
  const auto add = [&](const char* key, double most) {
    if (often())
      line += std::string(" ") + key + "=" + decimal(most * random_.unit() * random_.unit());
  };
  add("loss", 0.3);
  add("burst", 0.01);
  add("duplicate", 0.2);
  add("reorder", 0.2);
  add("late", 0.03);
  add("flip", 0.01);
  add("partial", 0.1);
  add("replay", 0.02);
  if (often()) line += " burst-packets=" + std::to_string(between(2, 300));
  line += " reorder-by=" + duration_text(spread(microseconds(50), milliseconds(30)));
  line += " late-by=" + duration_text(spread(milliseconds(1), milliseconds(600)));
  line += " replay-by=" + duration_text(spread(milliseconds(1), seconds(2)));
  if (maybe(0.15)) {
    const std::int64_t largest = ring_.packet_bytes_max;
    line += " mtu=" + std::to_string(between(std::min<std::int64_t>(300, largest), largest));
  }
  if (maybe(0.1)) {
    line += " large=" + std::to_string(between(300, 1'200)) +
            " large-by=" + duration_text(spread(milliseconds(1), milliseconds(900)));
  }
  if (maybe(0.25)) {
    static constexpr std::array<const char*, 5> kKinds{"token", "data", "join", "commit", "probe"};
    line += std::string(" bad-kind=") + kKinds[random_.below(kKinds.size())] +
            " bad-kind-loss=" + decimal(random_.unit());
  }
  const Duration from = moment();
  at(from, line);
  if (often()) at(from + Duration{between(0, length_.ns - from.ns)}, "network " + calm_);
  if (maybe(0.3)) plan_rule();
  if (maybe(0.3)) at(moment(), "inject random count=" + std::to_string(between(1, 200)));
  if (maybe(0.3)) {
    at(moment(), "replay-old count=" + std::to_string(between(1, 60)) + " delay=0-50ms");
  }
}

/// Packets of one kind are delayed or doubled for a while: a token of an attempt that is over must
/// find everybody elsewhere.
void Author::plan_rule() {
  static constexpr std::array<const char*, 6> kKinds{"commit",         "commit phase=2", "token",
                                                     "recovery-token", "join",           "data"};
  const Duration from = moment();
  const std::string range = "0-" + duration_text(spread(milliseconds(1), milliseconds(300)));
  const std::string which = std::string(" kind=") + kKinds[random_.below(kKinds.size())] +
                            " p=" + decimal(0.02 + 0.5 * random_.unit() * random_.unit());
  at(from, often() ? "delay " + range + which : "duplicate delay=" + range + which);
  at(from + spread(milliseconds(20), seconds(2)), "clear rules");
}

/// A node dies and leaves a gap: what it sent last reaches nobody, or a few, while others have sent
/// behind it.
void Author::plan_gap() {
  const Duration from = moment();
  const std::string a = node();
  at(from, "drop kind=data from " + a + " p=" + (often() ? "1" : decimal(random_.unit())));
  const Duration dies = from + spread(microseconds(100), milliseconds(8));
  at(dies, "crash " + a + (often() ? " after-sends " + std::to_string(between(1, 20)) : ""));
  at(dies + milliseconds(between(5, 60)), "clear rules");
  at(dies + milliseconds(between(1, 900)), "start " + a);
}

void Author::plan_links() {
  const std::int64_t events = between(1, 6);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const Duration until = from + spread(milliseconds(1), milliseconds(900));
    const std::string a = node();
    const std::string b = other_than(a);
    switch (random_.below(6)) {
      case 0: at(from, "split " + some_parts(2, false)); break;
      case 1: at(from, "split " + some_parts(nodes_ > 3 ? 3 : 2, often())); break;
      case 2: at(from, "cut " + a + " > " + b); break;
      case 3:
        at(from, "cut " + a + " from " + b);
        if (often()) at(until, "heal " + a + " with " + b);
        break;
      case 4:
        at(from, "flap " + a + " from " + b + " every " +
                     duration_text(spread(milliseconds(1), milliseconds(200))) + " for " +
                     duration_text(spread(milliseconds(10), seconds(1))));
        break;
      default:
        at(from, "link " + a + " > " + b + " loss=" + decimal(random_.unit()) + " " + calm_);
        at(until, "clear links");
        break;
    }
    if (maybe(0.8)) at(until, "heal");
  }
}

void Author::plan_processes() {
  const std::int64_t events = between(1, 5);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    const Duration until = from + milliseconds(between(1, 900));
    switch (random_.below(9)) {
      case 8: plan_gap(); break;
      case 0:
      case 1:
        at(from, "crash " + a);
        at(until,
           "start " + a + (maybe(0.1) ? " epoch=-" + std::to_string(between(1, 5'000)) : ""));
        break;
      case 2:
        at(from, "crash " + a + " after-sends " + std::to_string(between(1, 40)));
        at(until, "start " + a);
        break;
      case 3:  // it joins and dies
        at(from, "crash " + a);
        at(until, "start " + a);
        at(until, "crash " + a + " after-sends " + std::to_string(between(1, 12)));
        at(until + milliseconds(between(1, 300)), "start " + a);
        break;
      case 4:
        if (maybe(0.3)) {
          at(from, "crash all");
          at(until, "start all");
          break;
        }
        [[fallthrough]];
      case 5:
        at(from, "pause " + a + " " +
                     duration_text(spread(milliseconds(1), maybe(0.1) ? seconds(30) : seconds(1))));
        break;
      case 6:
        at(from, "slow " + a + " " + std::to_string(between(10, 100)));
        at(until, "slow " + a + " 1");
        break;
      default:
        at(from, "leave " + a);
        at(until, "start " + a);
        break;
    }
  }
}

void Author::plan_resources() {
  const std::int64_t events = between(1, 3);
  for (std::int64_t i = 0; i < events; ++i) {
    const Duration from = moment();
    const std::string a = node();
    std::string line = "application " + a + " room=" + std::to_string(between(0, 60));
    if (often()) line += " per-unit=" + duration_text(spread(microseconds(10), milliseconds(5)));
    at(from, line);
    at(from + spread(milliseconds(1), milliseconds(700)), "application " + a + " normal");
  }
}

void Author::plan_targets() {
  const double wanted = options_.targeted < 0 ? 0.6 : options_.targeted;
  if (!maybe(wanted)) return;
  std::string kinds;
  for (const char* kind : {"commit", "recovery"}) {
    if (maybe(0.7)) kinds += (kinds.empty() ? "" : ",") + std::string(kind);
  }
  if (maybe(0.1)) kinds += (kinds.empty() ? "" : ",") + std::string("join");
  if (kinds.empty()) kinds = "commit";
  std::string actions;
  for (const char* action : {"split", "cut", "crash", "pause"}) {
    if (often()) actions += (actions.empty() ? "" : ",") + std::string(action);
  }
  if (actions.empty()) actions = "split";
  const Duration low = spread(milliseconds(1), milliseconds(60));
  at(Duration{}, "target kinds=" + kinds + " p=" + decimal(0.01 + 0.11 * random_.unit()) +
                     " actions=" + actions +
                     " within=" + duration_text(spread(microseconds(10), microseconds(400))) +
                     " heal=" + duration_text(low) + "-" +
                     duration_text(low + spread(milliseconds(10), milliseconds(600))));
  // Something must set the first view change off.
  const Duration first{between(0, length_.ns / 4)};
  if (maybe(0.3)) {
    plan_gap();
  } else if (often()) {
    at(first, "split " + some_parts(2, false));
    at(first + milliseconds(between(10, 300)), "heal");
  } else {
    const std::string a = node();
    at(first, "crash " + a);
    at(first + milliseconds(between(1, 300)), "start " + a);
  }
}

void Author::write_timeline() {
  std::int64_t now = 0;
  for (const auto& [when, line] : timeline_) {
    if (when > length_.ns) break;
    if (when > now) script_.add("run " + duration_text(Duration{when - now}));
    now = when;
    script_.add(line);
  }
  script_.add("run " + duration_text(Duration{std::max<std::int64_t>(length_.ns - now, 1)}));
}

void Author::write_ending() {
  // Mostly everybody comes back; sometimes some stay dead, or stay away.
  if (maybe(0.8)) {
    script_.add("start all");
  } else if (nodes_ > 2) {
    const std::string a = node();
    script_.add("crash " + a);
    script_.add("start " + other_than(a));
  }
  if (maybe(0.85)) {
    script_.add("settle");
  } else {
    script_.add("settle " + some_parts(2, false));
  }
}

}  // namespace

Script make_swarm_script(std::uint64_t seed, const SwarmOptions& options) {
  return Author(seed, options).write();
}

}  // namespace peal::sim
