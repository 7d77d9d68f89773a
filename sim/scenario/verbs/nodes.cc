// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

void do_start(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  std::int64_t step = 0;
  if (const auto epoch = words.value("epoch")) {
    const bool back = !epoch->empty() && (*epoch)[0] == '-';
    Tokenizer number(epoch->substr(back || (*epoch)[0] == '+' ? 1 : 0), 0);
    step = static_cast<std::int64_t>(number.number(0, 1'000'000'000));
    if (number.failed()) words.fail("epoch=" + *epoch + ": " + number.problem());
    if (back) step = -step;
  }
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) context.world().start(node, step);
}

void do_crash(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  std::uint64_t sends = 0;
  if (words.accept("after-sends")) sends = words.number(1, 1'000'000'000);
  if (!context.acting(words)) return;
  if (sends == 0 && nodes.size() == context.world().nodes()) context.faults().add(Fault::crash_all);
  for (const NodeId node : nodes) {
    if (sends == 0) {
      context.world().crash(node);
    } else {
      context.world().crash_after_sends(node, sends);
    }
  }
}

void do_pause(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const Duration length = words.duration();
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) context.world().pause(node, length);
}

void do_leave(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) context.world().leave(node);
}

void do_list(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.expect("to");
  const std::vector<NodeId> list = words.nodes();
  if (context.cluster().list.empty()) words.fail("lists change only if 'cluster' has list=");
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) context.world().set_list(node, list);
}

void do_slow(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const std::uint64_t times = words.number(1, 100'000);
  if (!context.acting(words)) return;
  for (const NodeId node : nodes)
    context.world().set_slowness(node, static_cast<std::int64_t>(times));
}

void do_application(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  const bool normal = words.accept("normal");
  words.take_keys();
  std::uint32_t room = context.cluster().process.room_units;
  Duration per_unit{};
  if (!normal) {
    room = static_cast<std::uint32_t>(words.number("room", room, 0, 1U << 20));
    per_unit = words.duration("per-unit", per_unit);
  }
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) context.world().set_application(node, room, per_unit);
}

/// Sets the rate of clocks. A clock with rate=1.2 is 20 % too fast; a clock with rate=1 is correct.
void do_clock(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  words.take_keys();
  const double rate = words.fraction("rate", 1, 1.5);
  if (rate < 0.5) words.fail("rate= is 0.5 to 1.5");
  if (!context.acting(words)) return;
  const auto ppm = static_cast<std::int32_t>(std::lround((rate - 1) * 1e6));
  if (ppm != 0) context.faults().add(Fault::clock_rate, nodes.size());
  for (const NodeId node : nodes) context.world().set_clock_drift(node, ppm);
}

constexpr std::array kNodeVerbs{
    Verb{"start", do_start, "start NODES [epoch=+5|-5]"},
    Verb{"restart", do_start, "restart NODES [epoch=+5|-5]"},
    Verb{"crash", do_crash, "crash NODES [after-sends 3]"},
    Verb{"pause", do_pause, "pause NODES 700ms"},
    Verb{"leave", do_leave, "leave NODES"},
    Verb{"list", do_list, "list NODES to n1,n2,n3"},
    Verb{"slow", do_slow, "slow NODES 30"},
    Verb{"application", do_application,
         "application NODES normal, or application NODES [room=0] [per-unit=1ms]"},
    Verb{"clock", do_clock, "clock NODES rate=1.2"},
};

}  // namespace

std::span<const Verb> node_verbs() { return kNodeVerbs; }

}  // namespace peal::sim
