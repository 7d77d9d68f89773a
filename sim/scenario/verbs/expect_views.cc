// SPDX-License-Identifier: Apache-2.0
// `expect NODES ...` about views and the state of nodes.
#include <array>

#include "sim/judge/liveness.h"
#include "sim/scenario/verbs.h"

namespace peal::sim {
namespace {

/// Checks that each node installed a view of this kind with these members, after the last view that
/// an earlier line expected of the node.
void check_install(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::string kind = words.take("transitional or regular");
  if (kind != "transitional" && kind != "regular") {
    words.fail("'" + kind + "': accepted is transitional or regular");
  }
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  if (!context.acting(words)) return;
  const std::vector<trace::Event>& events = context.recorder().events();
  for (const NodeId node : nodes) {
    std::size_t& at = context.expectations().views_expected(node);
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
      context.fail(nodes_text({node}) + " installed no " + kind + " view of " +
                   nodes_text(members) + "; it installed " + (seen.empty() ? "nothing" : seen));
      return;
    }
  }
}

void check_view(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  words.take_keys();
  const std::vector<NodeId> members = words.nodes("members", nodes);
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    if (process != nullptr && process->status.operational &&
        consists_of(process->status.members, members)) {
      continue;
    }
    context.fail(nodes_text({node}) + " is not in a view of " + nodes_text(members) + ": " +
                 waiting_text(context.world()));
    return;
  }
}

void check_state(ScenarioContext& context, Tokenizer& words, const std::vector<NodeId>& nodes) {
  const std::string wanted = words.take("running, paused or down");
  if (wanted != "running" && wanted != "paused" && wanted != "down") {
    words.fail("'" + wanted + "': accepted is running, paused or down");
  }
  if (!context.acting(words)) return;
  for (const NodeId node : nodes) {
    const Process* process = context.world().process(node);
    const std::string here = process == nullptr                       ? "down"
                             : context.world().machines().is_up(node) ? "running"
                                                                      : "paused";
    if (here != wanted) context.fail(nodes_text({node}) + " is " + here);
  }
}

constexpr std::array kViewChecks{
    NodeCheck{"install", check_install,
              "expect NODES install transitional|regular [members=n1,n2]"},
    NodeCheck{"view", check_view, "expect NODES view [members=n1,n2]"},
    NodeCheck{"state", check_state, "expect NODES state running|paused|down"},
};

}  // namespace

std::span<const NodeCheck> view_checks() { return kViewChecks; }

}  // namespace peal::sim
