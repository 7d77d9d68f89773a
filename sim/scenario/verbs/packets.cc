// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <tuple>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

void add_rule(ScenarioContext& context, Tokenizer& words, Rule::Act act) {
  Rule rule;
  rule.act = act;
  words.take_keys();
  if (act == Rule::Act::delay) std::tie(rule.low, rule.high) = words.duration_range();
  if (act == Rule::Act::duplicate) {
    std::tie(rule.low, rule.high) = words.duration_range("delay", {Duration{}, Duration{}});
  }
  const bool recovery = words.value("kind").value_or("") == "recovery-token";
  rule.kind = recovery ? std::optional(PacketKind::token) : read_packet_kind(words, "kind");
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
  if (context.acting(words)) context.world().network().add_rule(std::move(rule));
}

void do_drop(ScenarioContext& context, Tokenizer& words) {
  add_rule(context, words, Rule::Act::drop);
}
void do_delay(ScenarioContext& context, Tokenizer& words) {
  add_rule(context, words, Rule::Act::delay);
}
void do_duplicate(ScenarioContext& context, Tokenizer& words) {
  add_rule(context, words, Rule::Act::duplicate);
}
void do_hold(ScenarioContext& context, Tokenizer& words) {
  add_rule(context, words, Rule::Act::hold);
}

void do_release(ScenarioContext& context, Tokenizer& words) {
  if (context.acting(words)) context.world().transit().release_held();
}

void do_clear(ScenarioContext& context, Tokenizer& words) {
  const std::string what = words.take("rules, links or triggers");
  if (what != "rules" && what != "links" && what != "triggers") {
    words.fail("'" + what + "': accepted is rules, links or triggers");
  }
  if (!context.acting(words)) return;
  if (what == "rules") context.world().network().clear_rules();
  if (what == "links") context.world().network().clear_links();
  if (what == "triggers") context.triggers().clear();
}

void do_target(ScenarioContext& context, Tokenizer& words) {
  if (words.accept("stop")) {
    if (context.acting(words)) context.targets().stop();
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
  if (context.acting(words)) context.targets().add_rule(rule);
}

void do_inject(ScenarioContext& context, Tokenizer& words) {
  const bool damaged = words.accept("damaged");
  const bool truncated = !damaged && words.accept("truncated");
  if (!damaged && !truncated) words.expect("random");
  words.take_keys();
  const std::uint64_t count = words.number("count", 1, 1, 10'000'000);
  const std::vector<NodeId> to = words.accept("to") ? words.nodes() : std::vector<NodeId>{};
  if (!context.acting(words)) return;
  StrayPackets& strays = context.world().strays();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto any = NodeId{static_cast<std::uint32_t>(1 + i % context.world().nodes())};
    const NodeId victim = to.empty() ? any : to[i % to.size()];
    if (damaged) {
      strays.inject_harmed(victim, StrayPackets::Harm::flipped);
    } else if (truncated) {
      strays.inject_harmed(victim, StrayPackets::Harm::truncated);
    } else {
      strays.inject_random(victim);
    }
  }
}

void do_replay(ScenarioContext& context, Tokenizer& words) {
  words.take_keys();
  const std::optional<PacketKind> kind = read_packet_kind(words, "kind");
  const std::uint64_t count = words.number("count", 1, 1, 1'000'000);
  const auto delay = words.duration_range("delay", {Duration{}, Duration{}});
  if (!context.acting(words)) return;
  World& world = context.world();
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration by{world.network().random().between(delay.first.ns, delay.second.ns)};
    world.strays().replay(kind, by);
  }
}

constexpr std::string_view kRuleUsage =
    "drop|filter|delay 5ms-30ms|duplicate [delay=0-30ms]|hold [kind=token] [from n1] [to n2] "
    "[p=0.3] "
    "[count=3] [seq=20] [phase=2] [retransmission=yes] [post=yes] [view=yes] [recovering]";

constexpr std::array kPacketVerbs{
    Verb{"drop", do_drop, kRuleUsage},
    Verb{"filter", do_drop, kRuleUsage},
    Verb{"delay", do_delay, kRuleUsage},
    Verb{"duplicate", do_duplicate, kRuleUsage},
    Verb{"hold", do_hold, kRuleUsage},
    Verb{"release", do_release, "release"},
    Verb{"clear", do_clear, "clear rules|links|triggers"},
    Verb{"target", do_target,
         "target kinds=commit,recovery|token|join|prepare|promise|view|vote [p=0.05] "
         "[actions=split,cut,crash,pause] [within=400us] [heal=20ms-300ms] [most=200], or "
         "target stop"},
    Verb{"inject", do_inject, "inject random|damaged|truncated [count=100] [to n1]"},
    Verb{"replay-old", do_replay, "replay-old [kind=join] [count=10] [delay=0-50ms]"},
};

}  // namespace

std::span<const Verb> packet_verbs() { return kPacketVerbs; }

}  // namespace peal::sim
