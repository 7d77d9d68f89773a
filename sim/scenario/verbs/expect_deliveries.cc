// SPDX-License-Identifier: Apache-2.0
// `expect NODES ...` about deliveries.
#include <algorithm>
#include <array>
#include <map>

#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

std::vector<const trace::Event*> deliveries_of(const HistoryRecorder& recorder,
                                               const Process& process) {
  std::vector<const trace::Event*> out;
  for (const trace::Event& event : recorder.events()) {
    if (event.kind == trace::Kind::deliver && event.layer == trace::Layer::order &&
        event.node == process.self) {
      out.push_back(&event);
    }
  }
  return out;
}

/// Checks that, in every view, the members among `nodes` delivered the same messages in one order.
void check_same_deliveries(ScenarioContext& context, Tokenizer& words,
                           const std::vector<NodeId>& nodes) {
  if (!context.acting(words)) return;
  using Order = std::vector<trace::MessageId>;
  std::map<ViewId, std::pair<NodeId, Order>> first;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    if (process == nullptr) {
      context.fail(nodes_text({node}) + " is not running");
      return;
    }
    std::map<ViewId, Order> mine;
    for (const trace::Event& event : context.recorder().events()) {
      if (event.kind == trace::Kind::view && !event.transitional && event.node == process->self) {
        mine[event.view];
      }
    }
    for (const trace::Event* event : deliveries_of(context.recorder(), *process)) {
      mine[event->view].push_back(event->message);
    }
    for (auto& [view, order] : mine) {
      const auto [entry, fresh] = first.emplace(view, std::pair{node, order});
      if (fresh || entry->second.second == order) continue;
      context.fail(nodes_text({entry->second.first, node}) + " delivered " +
                   std::to_string(entry->second.second.size()) + " and " +
                   std::to_string(order.size()) + " messages of view " +
                   std::to_string(view.number) + ", or in another order");
      return;
    }
  }
}

void check_text(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes,
                bool wanted) {
  const std::uint64_t hash = digest_of(as_bytes_view(words.text()));
  std::optional<std::uint64_t> before;
  if (words.accept("before")) before = digest_of(as_bytes_view(words.text()));
  std::optional<bool> transitional;
  if (words.accept("transitional")) transitional = true;
  if (words.accept("regular")) transitional = false;
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    if (process == nullptr) {
      context.fail(nodes_text({node}) + " is not running");
      return;
    }
    bool found = false;
    for (const trace::Event* event : deliveries_of(context.recorder(), *process)) {
      if (before && event->hash == *before && !found) break;
      found =
          found || (event->hash == hash && (!transitional || *transitional == event->transitional));
    }
    if (found != wanted) {
      context.fail(nodes_text({node}) + (wanted ? " did not deliver it so" : " delivered it so"));
      return;
    }
  }
}

void check_delivers(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  check_text(context, words, nodes, true);
}

void check_not(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  words.expect("delivers");
  check_text(context, words, nodes, false);
}

void check_delivered(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  words.take_keys();
  const std::uint64_t count = words.number("count", 0, 0, ~0ULL);
  const std::vector<NodeId> from = words.accept("from") ? words.nodes() : std::vector<NodeId>{};
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    std::uint64_t here = 0;
    if (process != nullptr) {
      for (const trace::Event* event : deliveries_of(context.recorder(), *process)) {
        const NodeId sender = event->message.sender.node;
        if (from.empty() || std::find(from.begin(), from.end(), sender) != from.end()) ++here;
      }
    }
    if (here != count) {
      context.fail(nodes_text({node}) + " delivered " + std::to_string(here) +
                   " messages, expected " + std::to_string(count));
      return;
    }
  }
}

constexpr std::array kDeliveryChecks{
    NodeCheck{"same-deliveries", check_same_deliveries, "expect NODES same-deliveries"},
    NodeCheck{"delivers", check_delivers,
              "expect NODES delivers \"a\" [before \"b\"] [transitional|regular]"},
    NodeCheck{"not", check_not,
              "expect NODES not delivers \"a\" [before \"b\"] [transitional|regular]"},
    NodeCheck{"delivered", check_delivered, "expect NODES delivered count=50 [from n3]"},
};

}  // namespace

std::span<const NodeCheck> delivery_checks() { return kDeliveryChecks; }

}  // namespace peal::sim
