// SPDX-License-Identifier: Apache-2.0
// `expect ...` checks nodes (view_checks(), delivery_checks(), client_checks()), counts and the
// whole run.
#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "sim/judge/availability.h"
#include "sim/judge/liveness.h"
#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

constexpr std::array<std::string_view, 6> kOperators{"==", "!=", "<=", ">=", "<", ">"};

bool holds(const std::string& op, std::uint64_t left, std::uint64_t right) {
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<=") return left <= right;
  if (op == ">=") return left >= right;
  if (op == "<") return left < right;
  return left > right;
}

using Count = std::optional<std::uint64_t>;

/// Compares the count with the operator and the bound that follow in `words`, such as `<= 20`.
void compare_with_bound(ScenarioContext& context, Tokenizer& words, const std::string& what,
                        NodeId node, const std::function<Count()>& value) {
  const std::string op = words.take("a comparison");
  if (std::find(kOperators.begin(), kOperators.end(), op) == kOperators.end()) {
    words.fail("'" + op + "' is no comparison: == != <= >= < >");
  }
  const std::uint64_t bound = words.number(0, ~0ULL);
  if (!context.acting(words)) return;
  const std::optional<std::uint64_t> here = value();
  const std::string name = node.value == 0 ? "" : nodes_text({node}) + ": ";
  if (!here) {
    context.fail(name + "no " + what + "; is the node running?");
  } else if (!holds(op, *here, bound)) {
    context.fail(name + what + " is " + std::to_string(*here) + ", expected " + op + " " +
                 std::to_string(bound));
  }
}

// ---- counts ----

/// Returns a function that reads the count of a running node; nullopt if the node does not run.
template <class Of>
std::function<Count()> of_process(ScenarioContext& context, NodeId node, Of of) {
  return [&context, node, of]() -> Count {
    const Process* process = context.world().process(node);
    return process == nullptr ? std::nullopt : Count(of(*process));
  };
}

void check_counter(ScenarioContext& context, Tokenizer& words) {
  const NodeId node = words.node();
  const std::string name = words.take("a counter");
  compare_with_bound(context, words, "counter " + name, node,
                     of_process(context, node, [name](const Process& process) -> Count {
                       return process.counter(name);
                     }));
}

void check_delta(ScenarioContext& context, Tokenizer& words) {
  const NodeId node = words.node();
  const std::string name = words.take("a counter");
  compare_with_bound(context, words, "counter " + name, node,
                     of_process(context, node, [&context, name](const Process& process) {
                       return context.marks().counter_since(process, name);
                     }));
}

void check_views(ScenarioContext& context, Tokenizer& words) {
  const NodeId node = words.node();
  compare_with_bound(context, words, "views since the mark", node,
                     of_process(context, node, [&context](const Process& process) {
                       return context.marks().views_since(process);
                     }));
}

void check_queue(ScenarioContext& context, Tokenizer& words) {
  const NodeId node = words.node();
  compare_with_bound(context, words, "queued messages", node,
                     of_process(context, node, [](const Process& process) {
                       return process.node->queued_messages() + process.inputs.inbox.size();
                     }));
}

void check_events(ScenarioContext& context, Tokenizer& words) {
  const EventPattern pattern = read_event_pattern(words);
  if (pattern.nodes.size() != 1) words.fail("events are counted at one node");
  const NodeId node = pattern.nodes.empty() ? NodeId{1} : pattern.nodes[0];
  const order::EventKind* kind = pattern.kind;
  compare_with_bound(context, words, std::string(kind->name) + " since the mark", node,
                     of_process(context, node, [&context, kind](const Process& process) {
                       return context.marks().events_since(process, kind);
                     }));
}

void check_packets(ScenarioContext& context, Tokenizer& words) {
  Tokenizer keys(words.take("kind="), 0);
  keys.take_keys();
  const std::optional<PacketKind> kind = read_packet_kind(keys, "kind");
  if (!kind) words.fail(keys.failed() ? keys.problem() : "which packets? say kind=join");
  const std::vector<NodeId> from = words.accept("from") ? words.nodes() : std::vector<NodeId>{};
  compare_with_bound(context, words, "packets since the mark", NodeId{},
                     [&] { return Count(context.marks().packets_since(*kind, from)); });
}

// ---- the run ----

void check_clean(ScenarioContext& context, Tokenizer& words) {
  if (context.acting(words) && context.recorder().broken()) {
    context.fail("the history is not clean");
  }
}

/// Judges E13 (availability) while the present faults stay.
void check_headway(ScenarioContext& context, Tokenizer& words) {
  words.take_keys();
  const Duration usual =
      !context.has_world() ? seconds(2) : Availability::usual_bound(context.world());
  Availability::Times times{};
  times.bound = words.duration("within", usual);
  times.watch = words.duration("for", seconds(3));
  if (!context.acting(words)) return;
  context.targets().stop();
  Availability(context.world(), times).judge([&context] { return context.stopped(); });
}

/// Checks that nodes kept their views since the mark.
void check_no_view_change(ScenarioContext& context, Tokenizer& words) {
  words.expect("view");
  words.expect("change");
  const std::vector<NodeId> nodes = words.at_end() ? context.all_nodes() : words.nodes();
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    if (context.marks().view_kept(node, context.world())) continue;
    context.fail(nodes_text({node}) + " left its view: " + waiting_text(context.world()));
    return;
  }
}

/// `expect violation` is accepted only with a mutant: without a mutant, a violation is a bug.
void check_violation(ScenarioContext& context, Tokenizer& words) {
  const std::string property = words.take("a property");
  if (context.options().mutant == sim_hooks::Mutant::none) {
    words.fail("'expect violation' needs a mutant: only a deliberate fault may break a property");
  }
  if (context.acting(words)) context.expectations().want_violation(property);
}

void check_transcript(ScenarioContext& context, Tokenizer& words) {
  if (words.finish()) context.transcript().open(context.line());
}

constexpr std::array kChecks{
    Verb{"clean", check_clean, "expect clean"},
    Verb{"headway", check_headway, "expect headway [within=2s] [for=3s]"},
    Verb{"violation", check_violation, "expect violation PROPERTY|any"},
    Verb{"transcript", check_transcript, "expect transcript"},
    Verb{"no", check_no_view_change, "expect no view change [NODES]"},
    Verb{"counter", check_counter, "expect counter NODE NAME == 0"},
    Verb{"delta", check_delta, "expect delta NODE NAME == 0"},
    Verb{"packets", check_packets, "expect packets kind=join [from n1] <= 20"},
    Verb{"views", check_views, "expect views NODE == 0"},
    Verb{"queue", check_queue, "expect queue NODE == 0"},
    Verb{"events", check_events, "expect events NODE EVENT == 0"},
};

// ---- the command ----

void expect_of_nodes(ScenarioContext& context, Tokenizer& words) {
  const std::vector<NodeId> nodes = words.nodes();
  std::string accepted;
  for (const std::span<const NodeCheck> family :
       {view_checks(), delivery_checks(), client_checks()}) {
    for (const NodeCheck& check : family) {
      if (words.accept(check.name)) {
        words.set_usage(check.usage);
        check.run(context, words, nodes);
        return;
      }
      accepted += (accepted.empty() ? "" : ", ") + std::string(check.name);
    }
  }
  words.fail("'" + std::string(words.peek()) + "': accepted is one of " + accepted);
}

void do_expect(ScenarioContext& context, Tokenizer& words) {
  for (const Verb& check : kChecks) {
    if (!words.accept(check.name)) continue;
    words.set_usage(check.usage);
    check.run(context, words);
    return;
  }
  expect_of_nodes(context, words);
}

constexpr std::array kExpectVerbs{
    Verb{"expect", do_expect,
         "expect NODES CHECK ..., or expect "
         "clean|headway|violation|transcript|no|counter|delta|packets|views|queue|events ..."},
};

}  // namespace

std::span<const Verb> expect_verbs() { return kExpectVerbs; }

}  // namespace peal::sim
