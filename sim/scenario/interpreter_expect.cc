// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "sim/judge/availability.h"
#include "sim/judge/liveness.h"
#include "sim/scenario/interpreter.h"

namespace peal::sim {

/// `expect NODES ...`, `expect headway ...`, `expect no view change [NODES]`,
/// `expect counter|delta|events|views|queue NODE ...`, `expect packets ...`, `expect clean`,
/// `expect violation E5` or `expect transcript`
void Interpreter::do_expect(Tokenizer& words) {
  if (words.accept("clean")) {
    if (acting(words) && recorder_->broken()) fail("the history is not clean");
  } else if (words.accept("headway")) {
    expect_headway(words);
  } else if (words.accept("violation")) {
    expect_violation(words);
  } else if (words.accept("transcript")) {
    if (words.finish()) {
      transcript_block_.emplace();
      transcript_line_ = line_;
    }
  } else if (words.accept("no")) {
    expect_no_view_change(words);
  } else if (words.accept("counter")) {
    expect_counter(words, false);
  } else if (words.accept("delta")) {
    expect_counter(words, true);
  } else if (words.accept("packets")) {
    expect_packets(words);
  } else if (words.accept("views")) {
    for (const NodeId node : std::vector<NodeId>{words.node()}) {
      expect_compared(words, "views since the mark", node,
                      [this, node]() -> std::optional<std::uint64_t> {
                        const Process* process = world_->process(node);
                        if (process == nullptr) return std::nullopt;
                        const bool same = marks_[node.value].incarnation == process->incarnation;
                        return process->status.views - (same ? marks_[node.value].views : 0);
                      });
    }
  } else if (words.accept("queue")) {
    const NodeId node = words.node();
    expect_compared(words, "queued messages", node, [this, node]() -> std::optional<std::uint64_t> {
      const Process* process = world_->process(node);
      if (process == nullptr) return std::nullopt;
      return process->node->queued_messages() + process->inputs.inbox.size();
    });
  } else if (words.accept("events")) {
    const EventPattern pattern = read_event_pattern(words);
    if (pattern.nodes.size() != 1) words.fail("events are counted at one node");
    const NodeId node = pattern.nodes.empty() ? NodeId{1} : pattern.nodes[0];
    const order::EventKind* kind = pattern.kind;
    expect_compared(words, std::string(kind->name) + " since the mark", node,
                    [this, node, kind]() -> std::optional<std::uint64_t> {
                      const Process* process = world_->process(node);
                      if (process == nullptr) return std::nullopt;
                      const Baseline& mark = marks_[node.value];
                      const bool same = mark.incarnation == process->incarnation;
                      const auto seen = [kind](const auto& events) {
                        const auto at = events.find(kind);
                        return at == events.end() ? 0 : at->second;
                      };
                      return seen(process->work.events_seen) - (same ? seen(mark.events) : 0);
                    });
  } else {
    expect_nodes(words, words.nodes());
  }
}

/// `expect headway [within=2s] [for=3s]`: E13, while the present faults stay
void Interpreter::expect_headway(Tokenizer& words) {
  words.take_keys();
  const Duration usual = world_ == nullptr ? seconds(2) : Availability::usual_bound(*world_);
  Availability::Times times{};
  times.bound = words.duration("within", usual);
  times.watch = words.duration("for", seconds(3));
  if (!acting(words)) return;
  targets_->stop();
  Availability(*world_, times).judge([this] { return stopped(); });
}

void Interpreter::expect_nodes(Tokenizer& words, const std::vector<NodeId>& nodes) {
  if (words.accept("install")) {
    expect_install(words, nodes);
  } else if (words.accept("view")) {
    expect_view(words, nodes);
  } else if (words.accept("same-deliveries")) {
    if (acting(words)) expect_same_deliveries(nodes);
  } else if (words.accept("delivers")) {
    expect_delivers(words, nodes, true);
  } else if (words.accept("not")) {
    words.expect("delivers");
    expect_delivers(words, nodes, false);
  } else if (words.accept("delivered")) {
    expect_delivered_count(words, nodes);
  } else if (words.accept("group")) {
    expect_group(words, nodes);
  } else if (words.accept("client")) {
    expect_client(words, nodes);
  } else if (words.accept("state")) {
    expect_state(words, nodes);
  } else {
    words.fail("'" + std::string(words.peek()) +
               "': accepted is install, view, same-deliveries, delivers, not delivers, delivered "
               "or state");
  }
}

bool Interpreter::compare(const std::string& op, std::uint64_t left, std::uint64_t right) {
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<=") return left <= right;
  if (op == ">=") return left >= right;
  if (op == "<") return left < right;
  return left > right;
}

void Interpreter::expect_compared(Tokenizer& words, const std::string& what, NodeId node,
                                  const std::function<std::optional<std::uint64_t>()>& value) {
  static const std::set<std::string> kOperators{"==", "!=", "<=", ">=", "<", ">"};
  const std::string op = words.take("a comparison");
  if (!kOperators.contains(op)) words.fail("'" + op + "' is no comparison: == != <= >= < >");
  const std::uint64_t bound = words.number(0, ~0ULL);
  if (!acting(words)) return;
  const std::optional<std::uint64_t> here = value();
  const std::string name = node.value == 0 ? "" : "n" + std::to_string(node.value) + ": ";
  if (!here) {
    fail(name + "no " + what + "; is the node running?");
  } else if (!compare(op, *here, bound)) {
    fail(name + what + " is " + std::to_string(*here) + ", expected " + op + " " +
         std::to_string(bound));
  }
}

/// expect n2,n3 install transitional|regular members=n2,n3: the next view of this kind after the
/// last one that an earlier line expected of the node.
void Interpreter::expect_install(Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::string kind = words.take("transitional or regular");
  if (kind != "transitional" && kind != "regular") {
    words.fail("'" + kind + "': accepted is transitional or regular");
  }
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  if (!acting(words)) return;
  const std::vector<trace::Event>& events = recorder_->events();
  for (const NodeId node : nodes) {
    std::size_t& at = install_cursor_[node.value];
    std::string seen;
    bool found = false;
    for (std::size_t i = at; i < events.size() && !found; ++i) {
      const trace::Event& event = events[i];
      if (event.kind != trace::Kind::view || event.layer != trace::Layer::order ||
          event.node.node != node) {
        continue;
      }
      std::vector<NodeId> here;
      for (const MemberId& member : event.members) here.push_back(member.node);
      seen += std::string(seen.empty() ? "" : ", ") +
              (event.transitional ? "transitional " : "regular ") + nodes_text(here);
      found = event.transitional == (kind == "transitional") && here == members;
      if (found) at = i + 1;
    }
    if (!found) {
      fail("n" + std::to_string(node.value) + " installed no " + kind + " view of " +
           nodes_text(members) + "; it installed " + (seen.empty() ? "nothing" : seen));
      return;
    }
  }
}

/// expect n1,n2 view members=n1,n2
void Interpreter::expect_view(Tokenizer& words, const std::vector<NodeId>& nodes) {
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    if (process != nullptr && process->status.operational &&
        consists_of(process->status.members, members)) {
      continue;
    }
    fail("n" + std::to_string(node.value) + " is not in a view of " + nodes_text(members) + ": " +
         waiting_text(*world_));
    return;
  }
}

std::vector<const trace::Event*> Interpreter::deliveries_of(const Process& process) const {
  std::vector<const trace::Event*> out;
  for (const trace::Event& event : recorder_->events()) {
    if (event.kind == trace::Kind::deliver && event.layer == trace::Layer::order &&
        event.node == process.self) {
      out.push_back(&event);
    }
  }
  return out;
}

/// In every view that several of the nodes were in, they delivered the same messages in one order.
void Interpreter::expect_same_deliveries(const std::vector<NodeId>& nodes) {
  using Order = std::vector<trace::MessageId>;
  std::map<ViewId, std::pair<NodeId, Order>> first;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    if (process == nullptr) {
      fail("n" + std::to_string(node.value) + " is not running");
      return;
    }
    std::map<ViewId, Order> mine;
    for (const trace::Event& event : recorder_->events()) {
      if (event.kind == trace::Kind::view && !event.transitional && event.node == process->self) {
        mine[event.view];
      }
    }
    for (const trace::Event* event : deliveries_of(*process)) {
      mine[event->view].push_back(event->message);
    }
    for (auto& [view, order] : mine) {
      const auto [entry, fresh] = first.emplace(view, std::pair{node, order});
      if (fresh || entry->second.second == order) continue;
      fail(nodes_text({entry->second.first, node}) + " delivered " +
           std::to_string(entry->second.second.size()) + " and " + std::to_string(order.size()) +
           " messages of view " + std::to_string(view.number) + ", or in another order");
      return;
    }
  }
}

/// expect n1 delivers "a" [before "b"] [transitional|regular]
void Interpreter::expect_delivers(Tokenizer& words, const std::vector<NodeId>& nodes, bool wanted) {
  const std::uint64_t hash = digest_of(as_bytes_view(words.text()));
  std::optional<std::uint64_t> before;
  if (words.accept("before")) before = digest_of(as_bytes_view(words.text()));
  std::optional<bool> transitional;
  if (words.accept("transitional")) transitional = true;
  if (words.accept("regular")) transitional = false;
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    if (process == nullptr) {
      fail("n" + std::to_string(node.value) + " is not running");
      return;
    }
    bool found = false;
    for (const trace::Event* event : deliveries_of(*process)) {
      if (before && event->hash == *before && !found) break;
      found =
          found || (event->hash == hash && (!transitional || *transitional == event->transitional));
    }
    if (found != wanted) {
      fail("n" + std::to_string(node.value) +
           (wanted ? " did not deliver it so" : " delivered it so"));
      return;
    }
  }
}

/// expect n1,n2 delivered count=50 [from n3]
void Interpreter::expect_delivered_count(Tokenizer& words, const std::vector<NodeId>& nodes) {
  words.take_keys();
  const std::uint64_t count = words.number("count", 0, 0, ~0ULL);
  const std::vector<NodeId> from = words.accept("from") ? words.nodes() : std::vector<NodeId>{};
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    std::uint64_t here = 0;
    if (process != nullptr) {
      for (const trace::Event* event : deliveries_of(*process)) {
        const NodeId sender = event->message.sender.node;
        if (from.empty() || std::find(from.begin(), from.end(), sender) != from.end()) ++here;
      }
    }
    if (here != count) {
      fail("n" + std::to_string(node.value) + " delivered " + std::to_string(here) +
           " messages, expected " + std::to_string(count));
      return;
    }
  }
}

/// expect n1 state running|paused|down
void Interpreter::expect_state(Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::string wanted = words.take("running, paused or down");
  if (wanted != "running" && wanted != "paused" && wanted != "down") {
    words.fail("'" + wanted + "': accepted is running, paused or down");
  }
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    const std::string here = process == nullptr               ? "down"
                             : world_->machines().is_up(node) ? "running"
                                                              : "paused";
    if (here != wanted) fail("n" + std::to_string(node.value) + " is " + here);
  }
}

/// expect no view change [n1,n2]: since the mark
void Interpreter::expect_no_view_change(Tokenizer& words) {
  words.expect("view");
  words.expect("change");
  std::vector<NodeId> nodes;
  if (!words.at_end()) {
    nodes = words.nodes();
  } else {
    for (std::uint32_t n = 1; n <= world_options_.nodes; ++n) nodes.push_back(NodeId{n});
  }
  if (!acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = world_->process(node);
    const Baseline& mark = marks_[node.value];
    if (process == nullptr && mark.incarnation == 0) continue;
    if (process == nullptr || process->incarnation != mark.incarnation ||
        process->status.views != mark.views || !process->status.operational) {
      fail("n" + std::to_string(node.value) + " left its view: " + waiting_text(*world_));
      return;
    }
  }
}

std::optional<std::uint64_t> Interpreter::counter(NodeId node, std::string_view name) const {
  const Process* process = world_->process(node);
  if (process == nullptr) return std::nullopt;
  for (const order::Counter& counter : process->counters()) {
    if (counter.name == name) return counter.value;
  }
  return std::nullopt;
}

/// expect counter n1 token_lost == 0; expect delta n1 ... counts from the mark on
void Interpreter::expect_counter(Tokenizer& words, bool since_mark) {
  const NodeId node = words.node();
  const std::string name = words.take("a counter");
  expect_compared(words, "counter " + name, node,
                  [this, node, name, since_mark]() -> std::optional<std::uint64_t> {
                    const std::optional<std::uint64_t> value = counter(node, name);
                    const Process* process = world_->process(node);
                    const Baseline& mark = marks_[node.value];
                    if (!value || !since_mark || mark.incarnation != process->incarnation) {
                      return value;
                    }
                    const auto counters = process->counters();
                    for (std::size_t i = 0; i < counters.size(); ++i) {
                      if (counters[i].name == name) return *value - mark.counters[i];
                    }
                    return value;
                  });
}

/// expect packets kind=join [from n1] <= 20: sent since the mark
void Interpreter::expect_packets(Tokenizer& words) {
  std::string word = words.take("kind=");
  Tokenizer keys(word, 0);
  keys.take_keys();
  const std::optional<PacketKind> kind = read_kind(keys, "kind");
  if (!kind) words.fail(keys.failed() ? keys.problem() : "which packets? say kind=join");
  const std::vector<NodeId> from = words.accept("from") ? words.nodes() : std::vector<NodeId>{};
  expect_compared(words, "packets since the mark", NodeId{},
                  [this, kind, from]() -> std::optional<std::uint64_t> {
                    const auto& counts = packets_from_[static_cast<std::size_t>(*kind)];
                    std::uint64_t sum = 0;
                    for (std::uint32_t n = 1; n < counts.size(); ++n) {
                      const bool counted = from.empty() || std::find(from.begin(), from.end(),
                                                                     NodeId{n}) != from.end();
                      if (counted) sum += counts[n];
                    }
                    return sum;
                  });
}

/// expect violation E5 | any: only for mutants, since the rest of the run cannot be trusted
void Interpreter::expect_violation(Tokenizer& words) {
  const std::string property = words.take("a property");
  if (options_.mutant == sim_hooks::Mutant::none) {
    words.fail("'expect violation' needs a mutant: only a deliberate fault may break a property");
  }
  if (acting(words)) wanted_violations_.push_back(property);
}

void Interpreter::expect_transcript(Tokenizer& words) {
  const std::vector<std::string> wanted = std::move(*transcript_block_);
  transcript_block_.reset();
  if (!acting(words)) return;
  const std::vector<std::string> here = transcript_.lines();
  if (options_.record != nullptr) {
    for (const std::string& line : here) std::fprintf(options_.record, "  %s\n", line.c_str());
  }
  for (std::size_t i = 0; i < std::max(wanted.size(), here.size()); ++i) {
    const std::string left = i < wanted.size() ? wanted[i] : "(nothing more)";
    const std::string right = i < here.size() ? here[i] : "(nothing more)";
    if (left == right) continue;
    line_ = transcript_line_ + static_cast<std::uint32_t>(i) + 1;
    fail("expected '" + left + "', sent was '" + right + "'");
    return;
  }
}

}  // namespace peal::sim
