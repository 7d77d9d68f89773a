// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/scenario/interpreter.h"
#include "sim/world/packet.h"

namespace peal::sim {
namespace {

/// The two ends of links: n1 > n2 is one direction, n1 with n2 (or from) both.
struct Ends {
  std::vector<NodeId> left;
  std::vector<NodeId> right;
  bool both = true;
};

Ends read_ends(Tokenizer& words, std::string_view both_ways) {
  Ends ends;
  ends.left = words.nodes();
  if (words.accept(">")) {
    ends.both = false;
  } else {
    words.expect(both_ways);
  }
  ends.right = words.nodes();
  return ends;
}

template <class Act>
void each_link(const Ends& ends, Act act) {
  for (const NodeId left : ends.left) {
    for (const NodeId right : ends.right) {
      if (left == right) continue;
      act(left, right);
      if (ends.both) act(right, left);
    }
  }
}

bool among(const std::vector<NodeId>& nodes, NodeId node) {
  return nodes.empty() || std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

std::optional<PacketKind> Interpreter::read_kind(Tokenizer& words, std::string_view key) {
  const std::optional<std::string> name = words.value(key);
  if (!name) return std::nullopt;
  const std::optional<PacketKind> kind = packet_kind_of_name(*name);
  if (!kind) {
    words.fail("'" + *name + "' is no kind of packet: " + packet_kinds_text());
  }
  return kind;
}

void Interpreter::read_conditions(Tokenizer& words, Conditions& conditions) {
  words.take_keys();
  Conditions& c = conditions;
  c.delay = words.duration("delay", c.delay);
  c.tail = words.duration("tail", c.tail);
  c.per_kilobyte = words.duration("kilobyte", c.per_kilobyte);
  c.loss = words.fraction("loss", c.loss);
  c.burst = words.fraction("burst", c.burst);
  c.burst_packets =
      static_cast<std::uint32_t>(words.number("burst-packets", c.burst_packets, 1, 100'000));
  c.duplicate = words.fraction("duplicate", c.duplicate);
  c.reorder = words.fraction("reorder", c.reorder);
  c.reorder_by = words.duration("reorder-by", c.reorder_by);
  c.late = words.fraction("late", c.late);
  c.late_by = words.duration("late-by", c.late_by);
  c.flip = words.fraction("flip", c.flip);
  c.partial = words.fraction("partial", c.partial);
  c.replay = words.fraction("replay", c.replay);
  c.replay_by = words.duration("replay-by", c.replay_by);
  c.mtu = static_cast<std::uint32_t>(words.number("mtu", c.mtu, 0, 65'535));
  c.large = static_cast<std::uint32_t>(words.number("large", c.large, 0, 65'535));
  c.large_by = words.duration("large-by", c.large_by);
  if (words.has("bad-kind")) c.bad_kind = read_kind(words, "bad-kind");
  c.bad_kind_loss = words.fraction("bad-kind-loss", c.bad_kind_loss);
  const std::string lane = words.value("dead-lane").value_or("");
  if (!lane.empty() && lane != "data" && lane != "control" && lane != "none") {
    words.fail("dead-lane=" + lane + ": accepted is data, control or none");
  }
  if (!lane.empty()) {
    c.dead_data = lane == "data";
    c.dead_control = lane == "control";
  }
  c.dead_above = static_cast<std::uint32_t>(words.number("dead-above", c.dead_above, 0, 65'535));
}

/// network [calm] [key=value ...]
void Interpreter::do_network(Tokenizer& words) {
  Conditions conditions;
  if (!words.accept("calm") && world_ != nullptr) conditions = world_->network().conditions();
  read_conditions(words, conditions);
  if (acting(words)) world_->network().conditions() = conditions;
}

/// link n1 > n2 key=value ... | link n1 with n2 ...
void Interpreter::do_link(Tokenizer& words) {
  const Ends ends = read_ends(words, "with");
  Conditions conditions;
  if (world_ != nullptr) conditions = world_->network().conditions();
  read_conditions(words, conditions);
  if (!acting(words)) return;
  if (is_lossy(conditions)) recorder_->faults().add(Fault::lossy_link);
  if (conditions.dead_data || conditions.dead_control) recorder_->faults().add(Fault::dead_lane);
  if (conditions.dead_above != 0) recorder_->faults().add(Fault::dead_large);
  each_link(ends, [&](NodeId a, NodeId b) { world_->network().set_link(a, b, conditions); });
}

/// mtu 1480
void Interpreter::do_mtu(Tokenizer& words) {
  const auto mtu = static_cast<std::uint32_t>(words.number(0, 65'535));
  if (acting(words)) world_->network().conditions().mtu = mtu;
}

/// cut n1 from n2,n3 | cut n1 > n2
void Interpreter::do_cut(Tokenizer& words) {
  const Ends ends = read_ends(words, "from");
  if (!acting(words)) return;
  recorder_->faults().add(ends.both ? Fault::cut : Fault::cut_one_way);
  each_link(ends, [&](NodeId a, NodeId b) { world_->network().cut(a, b); });
}

/// move n1 from n2,n3: until `heal`, n1 has another address than in the files of n2 and n3
void Interpreter::do_move(Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.expect("from");
  const std::vector<NodeId> others = words.nodes();
  if (!acting(words)) return;
  recorder_->faults().add(Fault::moved, nodes.size());
  each_link({nodes, others}, [&](NodeId a, NodeId b) { world_->network().cut(a, b); });
}

/// deaf n1: no packet reaches it; mute n1: no packet leaves it; `heal` ends both
void Interpreter::cut_off(Tokenizer& words, bool deaf) {
  const std::vector<NodeId> nodes = words.nodes();
  if (!acting(words)) return;
  recorder_->faults().add(deaf ? Fault::deaf : Fault::mute, nodes.size());
  for (const NodeId node : nodes) {
    for (std::uint32_t n = 1; n <= world_options_.nodes; ++n) {
      if (NodeId{n} == node) continue;
      world_->network().cut(deaf ? NodeId{n} : node, deaf ? node : NodeId{n});
    }
  }
}

void Interpreter::do_deaf(Tokenizer& words) { cut_off(words, true); }
void Interpreter::do_mute(Tokenizer& words) { cut_off(words, false); }

/// heal | heal n1 with n2,n3 | heal n1 > n2
void Interpreter::do_heal(Tokenizer& words) {
  if (words.at_end()) {
    if (!acting(words)) return;
    recorder_->faults().add(Fault::heal);
    world_->network().heal_all();
    return;
  }
  const Ends ends = read_ends(words, "with");
  if (!acting(words)) return;
  recorder_->faults().add(Fault::heal);
  each_link(ends, [&](NodeId a, NodeId b) { world_->network().heal(a, b); });
}

/// split n1,n2 | n3,n4 [| ...]; a node in two parts is a bridge
void Interpreter::do_split(Tokenizer& words) {
  std::vector<std::vector<NodeId>> parts{words.nodes()};
  while (words.accept("|")) parts.push_back(words.nodes());
  if (!acting(words)) return;
  std::size_t places = 0;
  std::vector<NodeId> all;
  for (const auto& part : parts) {
    places += part.size();
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  recorder_->faults().add(places > all.size() ? Fault::bridge : Fault::split);
  world_->network().split(parts);
}

/// flap n1 from n2 every 20ms for 1s | flap n1 > n2 ...
void Interpreter::do_flap(Tokenizer& words) {
  const Ends ends = read_ends(words, "from");
  words.expect("every");
  const Duration every = words.duration();
  words.expect("for");
  const Duration length = words.duration();
  if (every.ns <= 0) words.fail("a link must stay up or down for some time");
  if (!acting(words)) return;
  recorder_->faults().add(Fault::flap);
  bool down = true;
  for (Duration at{}; at < length; at = at + every, down = !down) {
    world_->plan(now() + at, [this, ends, down, era = era_] {
      if (era != era_) return;
      each_link(ends, [&](NodeId a, NodeId b) {
        down ? world_->network().cut(a, b) : world_->network().heal(a, b);
      });
    });
  }
  world_->plan(now() + length, [this, ends, era = era_] {
    if (era != era_) return;
    each_link(ends, [&](NodeId a, NodeId b) { world_->network().heal(a, b); });
  });
}

/// drop|delay|duplicate|hold [range] [kind=] [from n1] [to n2] [p=] [count=] [seq=] [phase=]
///   [retransmission=] [post=] [view=] [recovering]
void Interpreter::add_rule(Tokenizer& words, Rule::Act act) {
  Rule rule;
  rule.act = act;
  words.take_keys();
  if (act == Rule::Act::delay) std::tie(rule.low, rule.high) = words.duration_range();
  if (act == Rule::Act::duplicate) {
    std::tie(rule.low, rule.high) = words.duration_range("delay", {Duration{}, Duration{}});
  }
  const bool recovery = words.value("kind").value_or("") == "recovery-token";
  rule.kind = recovery ? std::optional(PacketKind::token) : read_kind(words, "kind");
  rule.recovering = recovery;
  if (words.has("seq")) rule.seq = words.number("seq", 1, 1, ~0ULL);
  rule.view = words.yes_no("view");
  if (words.has("phase")) {
    rule.phase = static_cast<std::uint32_t>(words.number("phase", 1, 1, 2));
  }
  rule.retransmission = words.yes_no("retransmission");
  rule.post = words.yes_no("post");
  rule.probability = words.fraction("p", 1);
  rule.count = words.number("count", rule.count, 1, ~0ULL);
  if (words.accept("from")) rule.from = words.nodes();
  if (words.accept("to")) rule.to = words.nodes();
  if (words.accept("recovering")) rule.recovering = true;
  if (acting(words)) world_->network().add_rule(std::move(rule));
}

void Interpreter::do_drop(Tokenizer& words) { add_rule(words, Rule::Act::drop); }
void Interpreter::do_delay(Tokenizer& words) { add_rule(words, Rule::Act::delay); }
void Interpreter::do_duplicate(Tokenizer& words) { add_rule(words, Rule::Act::duplicate); }
void Interpreter::do_hold(Tokenizer& words) { add_rule(words, Rule::Act::hold); }

void Interpreter::do_release(Tokenizer& words) {
  if (acting(words)) world_->transit().release_held();
}

/// clear rules | clear links | clear triggers
void Interpreter::do_clear(Tokenizer& words) {
  const std::string what = words.take("rules, links or triggers");
  if (what != "rules" && what != "links" && what != "triggers") {
    words.fail("'" + what + "': accepted is rules, links or triggers");
  }
  if (!acting(words)) return;
  if (what == "rules") world_->network().clear_rules();
  if (what == "links") world_->network().clear_links();
  if (what == "triggers") {
    for (Trigger& trigger : triggers_) trigger.remaining = 0;
  }
}

/// target stop | target kinds=commit,recovery|prepare,promise,view,vote [p=0.05]
///   [actions=split,cut,crash,pause]
///   [within=400us] [heal=20ms-300ms] [most=200]
void Interpreter::do_target(Tokenizer& words) {
  if (words.accept("stop")) {
    if (acting(words)) targets_->stop();
    return;
  }
  words.take_keys();
  TargetRule rule;
  const auto listed = [&words](std::string_view key, std::string_view normal, auto&& take) {
    std::string list = words.value(key).value_or(std::string(normal));
    std::size_t from = 0;
    while (from <= list.size()) {
      const std::size_t comma = std::min(list.find(',', from), list.size());
      const std::string item = list.substr(from, comma - from);
      if (!take(item)) words.fail(std::string(key) + "=" + list + ": '" + item + "' is not known");
      from = comma + 1;
    }
  };
  rule.moments = 0;
  rule.split = rule.cut = rule.crash = rule.pause = false;
  listed("kinds", "commit,recovery", [&rule](const std::string& kind) {
    const std::uint32_t moment = moment_of_name(kind);
    rule.moments |= moment;
    return moment != 0;
  });
  listed("actions", "split,cut,crash,pause", [&rule](const std::string& action) {
    if (action == "split") return rule.split = true;
    if (action == "cut") return rule.cut = true;
    if (action == "crash") return rule.crash = true;
    if (action == "pause") return rule.pause = true;
    return false;
  });
  rule.probability = words.fraction("p", rule.probability);
  rule.within = words.duration("within", rule.within);
  rule.heal = words.duration_range("heal", rule.heal);
  rule.most = words.number("most", rule.most, 1, 1'000'000);
  if (acting(words)) targets_->add_rule(rule);
}

/// inject random|damaged|truncated [count=100] [to n1]
void Interpreter::do_inject(Tokenizer& words) {
  const bool damaged = words.accept("damaged");
  const bool truncated = !damaged && words.accept("truncated");
  if (!damaged && !truncated) words.expect("random");
  words.take_keys();
  const std::uint64_t count = words.number("count", 1, 1, 10'000'000);
  const std::vector<NodeId> to = words.accept("to") ? words.nodes() : std::vector<NodeId>{};
  if (!acting(words)) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto any = NodeId{static_cast<std::uint32_t>(1 + i % world_->nodes())};
    const NodeId victim = to.empty() ? any : to[i % to.size()];
    if (damaged) {
      world_->strays().inject_harmed(victim, StrayPackets::Harm::flipped);
    } else if (truncated) {
      world_->strays().inject_harmed(victim, StrayPackets::Harm::truncated);
    } else {
      world_->strays().inject_random(victim);
    }
  }
}

/// replay-old [kind=join] [count=10] [delay=0-50ms]
void Interpreter::do_replay(Tokenizer& words) {
  words.take_keys();
  const std::optional<PacketKind> kind = read_kind(words, "kind");
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  const auto delay = words.duration_range("delay", {Duration{}, Duration{}});
  if (!acting(words)) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    world_->strays().replay(
        kind, Duration{world_->network().random().between(delay.first.ns, delay.second.ns)});
  }
}

/// [kind=commit] [phase 2] [seq 5] [from n1] [to n2] [recovering] [view]
Interpreter::PacketPattern Interpreter::read_packet_pattern(Tokenizer& words) {
  PacketPattern pattern;
  if (words.peek().find('=') != std::string_view::npos) {
    // The keys belong to this pattern; a later command parses its own.
    std::string word = words.take("a packet");
    Tokenizer keys(word, world_options_.nodes);
    keys.take_keys();
    pattern.kind = read_kind(keys, "kind");
    if (keys.failed()) words.fail(keys.problem());
    if (!keys.finish()) words.fail("the first key must be kind=");
  }
  while (!words.failed()) {
    if (words.accept("from")) {
      pattern.from = words.nodes();
    } else if (words.accept("to")) {
      pattern.to = words.nodes();
    } else if (words.accept("phase")) {
      pattern.phase = static_cast<std::uint32_t>(words.number(1, 2));
    } else if (words.accept("seq")) {
      pattern.seq = words.number(1, ~0ULL);
    } else if (words.accept("recovering")) {
      pattern.recovering = true;
    } else if (words.accept("view")) {
      pattern.view = true;
    } else {
      break;
    }
  }
  return pattern;
}

/// n1,n2 recovery_started
Interpreter::EventPattern Interpreter::read_event_pattern(Tokenizer& words) {
  EventPattern pattern;
  pattern.nodes = words.nodes();
  const std::string name = words.take("an event");
  pattern.kind = event_of_name(name);
  if (pattern.kind == nullptr) {
    words.fail("'" + name + "' is no event; src/order/vocabulary.h lists them, e.g. paused");
    pattern.kind = &order::event::paused;
  }
  return pattern;
}

bool Interpreter::matches(const PacketPattern& pattern, const Packet& packet) const {
  if (pattern.kind && *pattern.kind != packet.kind) return false;
  if (!among(pattern.from, packet.from)) return false;
  if (!pattern.to.empty() && (packet.to.value == 0 || !among(pattern.to, packet.to))) return false;
  if (pattern.recovering && !world_->machines().anyone_recovers()) return false;
  if (!pattern.seq && !pattern.view && !pattern.phase) return true;
  const order::PacketContent content = content_of(packet);
  return (!pattern.seq || content.position == pattern.seq) &&
         (!pattern.view || content.proposes_view) &&
         (!pattern.phase || content.rotation == pattern.phase);
}

bool Interpreter::matches(const EventPattern& pattern, MemberId who,
                          const order::Event& event) const {
  return event.kind == pattern.kind && among(pattern.nodes, who.node);
}

}  // namespace peal::sim
