// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

/// The nodes at both ends of links. `n1 > n2` means the direction from n1 to n2; `n1 with n2` and
/// `n1 from n2` mean both directions.
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

void read_conditions(Tokenizer& words, Conditions& conditions) {
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
  if (words.has("bad-kind")) c.bad_kind = read_packet_kind(words, "bad-kind");
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

void do_network(ScenarioContext& context, Tokenizer& words) {
  Conditions conditions;
  if (!words.accept("calm") && context.has_world())
    conditions = context.world().network().conditions();
  read_conditions(words, conditions);
  if (context.acting(words)) context.world().network().conditions() = conditions;
}

void do_link(ScenarioContext& context, Tokenizer& words) {
  const Ends ends = read_ends(words, "with");
  Conditions conditions;
  if (context.has_world()) conditions = context.world().network().conditions();
  read_conditions(words, conditions);
  if (!context.acting(words)) return;
  if (is_lossy(conditions)) context.faults().add(Fault::lossy_link);
  if (conditions.dead_data || conditions.dead_control) context.faults().add(Fault::dead_lane);
  if (conditions.dead_above != 0) context.faults().add(Fault::dead_large);
  each_link(ends,
            [&](NodeId a, NodeId b) { context.world().network().set_link(a, b, conditions); });
}

void do_mtu(ScenarioContext& context, Tokenizer& words) {
  const auto mtu = static_cast<std::uint32_t>(words.number(0, 65'535));
  if (context.acting(words)) context.world().network().conditions().mtu = mtu;
}

void do_cut(ScenarioContext& context, Tokenizer& words) {
  const Ends ends = read_ends(words, "from");
  if (!context.acting(words)) return;
  context.faults().add(ends.both ? Fault::cut : Fault::cut_one_way);
  each_link(ends, [&](NodeId a, NodeId b) { context.world().network().cut(a, b); });
}

/// Until `heal`, the configuration files of `others` contain old addresses of `nodes`, so that
/// `nodes` and `others` cannot reach each other.
void do_move(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.expect("from");
  const std::vector<NodeId> others = words.nodes();
  if (!context.acting(words)) return;
  context.faults().add(Fault::moved, nodes.size());
  each_link({nodes, others}, [&](NodeId a, NodeId b) { context.world().network().cut(a, b); });
}

/// No packet reaches a deaf node, and no packet leaves a mute node. `heal` ends both faults.
void cut_off(ScenarioContext& context, Tokenizer& words, bool deaf) {
  const std::vector<NodeId> nodes = words.nodes();
  if (!context.acting(words)) return;
  context.faults().add(deaf ? Fault::deaf : Fault::mute, nodes.size());
  for (const NodeId node : nodes) {
    for (const NodeId other : context.all_nodes()) {
      if (other == node) continue;
      context.world().network().cut(deaf ? other : node, deaf ? node : other);
    }
  }
}

void do_deaf(ScenarioContext& context, Tokenizer& words) { cut_off(context, words, true); }
void do_mute(ScenarioContext& context, Tokenizer& words) { cut_off(context, words, false); }

void do_heal(ScenarioContext& context, Tokenizer& words) {
  if (words.at_end()) {
    if (!context.acting(words)) return;
    context.faults().add(Fault::heal);
    context.world().network().heal_all();
    return;
  }
  const Ends ends = read_ends(words, "with");
  if (!context.acting(words)) return;
  context.faults().add(Fault::heal);
  each_link(ends, [&](NodeId a, NodeId b) { context.world().network().heal(a, b); });
}

/// Splits the network. A node that is in two parts connects these parts.
void do_split(ScenarioContext& context, Tokenizer& words) {
  std::vector<std::vector<NodeId>> parts{words.nodes()};
  while (words.accept("|")) parts.push_back(words.nodes());
  if (!context.acting(words)) return;
  std::size_t places = 0;
  std::vector<NodeId> all;
  for (const auto& part : parts) {
    places += part.size();
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  context.faults().add(places > all.size() ? Fault::bridge : Fault::split);
  context.world().network().split(parts);
}

void do_flap(ScenarioContext& context, Tokenizer& words) {
  const Ends ends = read_ends(words, "from");
  words.expect("every");
  const Duration every = words.duration();
  words.expect("for");
  const Duration length = words.duration();
  if (every.ns <= 0) words.fail("a link must stay up or down for some time");
  if (!context.acting(words)) return;
  context.faults().add(Fault::flap);
  Network& network = context.world().network();
  bool down = true;
  for (Duration at{}; at < length; at = at + every, down = !down) {
    context.plan(context.now() + at, [&network, ends, down] {
      each_link(ends, [&](NodeId a, NodeId b) { down ? network.cut(a, b) : network.heal(a, b); });
    });
  }
  context.plan(context.now() + length, [&network, ends] {
    each_link(ends, [&](NodeId a, NodeId b) { network.heal(a, b); });
  });
}

constexpr std::array kLinkVerbs{
    Verb{"network", do_network, "network [calm] [key=value ...]"},
    Verb{"link", do_link, "link n1 > n2 key=value ..., or link n1 with n2 key=value ..."},
    Verb{"mtu", do_mtu, "mtu 1480"},
    Verb{"cut", do_cut, "cut NODES from NODES, or cut NODES > NODES"},
    Verb{"move", do_move, "move NODES from NODES"},
    Verb{"deaf", do_deaf, "deaf NODES"},
    Verb{"mute", do_mute, "mute NODES"},
    Verb{"heal", do_heal, "heal, heal NODES with NODES, or heal NODES > NODES"},
    Verb{"split", do_split, "split n1,n2 | n3,n4 [| ...]"},
    Verb{"flap", do_flap, "flap NODES from NODES every 20ms for 1s, or flap NODES > NODES ..."},
};

}  // namespace

std::span<const Verb> link_verbs() { return kLinkVerbs; }

}  // namespace peal::sim
