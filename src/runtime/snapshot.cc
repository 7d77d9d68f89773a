// SPDX-License-Identifier: Apache-2.0
#include "runtime/snapshot.h"

#include <algorithm>
#include <string>
#include <vector>

#include "config/domains.h"
#include "config/nodes.h"
#include "runtime/node_memory.h"
#include "runtime/runtime.h"
#include "runtime/text.h"
#include "trace/json.h"

namespace peal::runtime {

std::string wait_text(const Runtime& runtime) {
  const order::WaitReason reason = runtime.node().why();
  const std::string_view name = domain_name(runtime.nodes().settings(), reason.domain);
  const std::string text = wait_text(reason, runtime.names());
  return name.empty() ? text : text + ", in the domain " + std::string(name);
}

std::vector<ChosenOption> shown_options(const config::Settings& settings) {
  std::vector<ChosenOption> shown;
  for (const order::Option& option : settings.order->options()) {
    if (!option.in_status) continue;
    const bool word = option.kind == order::Option::Kind::word;
    shown.push_back({std::string(option.key),
                     word ? std::string(order::chosen_word(settings.options, option.key))
                          : order::chosen_text(settings.options, option.key),
                     !word});
  }
  return shown;
}

/// Adds the nodes of the active list that are not in the newest view, with the reason if it is
/// known.
void add_missing(const Runtime& runtime, Snapshot& to) {
  const std::vector<MemberId>& members = runtime.view_cause().members();
  for (const config::NodeEntry& node : runtime.nodes().active()) {
    const bool here = std::any_of(members.begin(), members.end(),
                                  [&](const MemberId& each) { return each.node == node.number; });
    const config::Settings& settings = runtime.nodes().settings();
    if (here || node.number == settings.self()) continue;
    if (!may_share_view(settings, node.number)) continue;
    to.missing.push_back(
        {runtime.names().name(node.number), runtime.transport().refusals().why(node.number)});
  }
}

std::vector<DomainStatus> all_domains(const Runtime& runtime) {
  std::vector<DomainStatus> all;
  for (const config::DomainEntry& domain : runtime.nodes().settings().domains) {
    DomainStatus& status = all.emplace_back();
    status.name = domain.name;
    status.groups_count = domain.groups.size();
    const std::size_t shown = std::min(domain.groups.size(), kDomainGroupsShown);
    status.groups.assign(domain.groups.begin(),
                         domain.groups.begin() + static_cast<std::ptrdiff_t>(shown));
    for (const config::NodeEntry& node : runtime.nodes().active()) {
      const bool in =
          std::find(domain.nodes.begin(), domain.nodes.end(), node.number) != domain.nodes.end();
      if (in) status.nodes.push_back(node.name);
    }
  }
  return all;
}

Snapshot snapshot_of(const Runtime& runtime) {
  const node::Node& node = runtime.node();
  Snapshot now;
  now.id = trace::text_of(node.self(), runtime.names());
  now.queued_messages = node.queued_messages();
  now.queued_bytes = node.queued_bytes();
  now.order = runtime.nodes().settings().order->name;
  now.options = shown_options(runtime.nodes().settings());
  now.domains = own_domain_names(runtime.nodes().settings());
  now.all_domains = all_domains(runtime);
  const NodeId slow = runtime.transport().udp().congested();
  now.waits_for = slow != NodeId{} && node.queued_messages() > 0
                      ? congested_text(slow, runtime.names())
                      : wait_text(runtime);
  now.without_majority = node.why().kind->without_majority;
  add_missing(runtime, now);
  now.multicast = runtime.transport().udp().multicast_status();
  now.data = data_text(runtime.transport().udp(), runtime.names());
  if (const io::fabric::Fabric* memory = runtime.memory()) {
    now.memory = memory_text(memory_state(*memory), runtime.names());
    add_memory_counters(*memory, runtime.names(), now.counters);
  }
  if (const auto leads = node.leadership()) {
    now.leader = runtime.names().name(leads->leader.node);
    now.round = leads->round;
  }
  now.engine = node.describe();
  const auto key = runtime.transport().sending_key();
  now.seal = key ? "key " + seal::to_text(*key) : "insecure";
  for (const io::AddressBook::Entry& entry : runtime.nodes().addresses().entries()) {
    now.nodes.push_back({runtime.names().name(entry.node), entry.node.value, to_string(entry.name),
                         entry.known() ? to_string(entry.at) : "", entry.problem});
  }
  now.list = config::names_in(runtime.nodes().active());
  const order::NodesWait wait = node.nodes_wait();
  if (runtime.nodes().pending()) {
    now.next_list = config::names_in(runtime.nodes().pending()->nodes);
  } else if (wait.kind != order::NodesWait::Kind::nothing) {
    now.next_list = now.list;  // this node's configured list; the other nodes have another list
  }
  now.list_waits_for = config::nodes_wait_text(wait, runtime.names());
  if (const auto lost = runtime.trace_lines_lost())
    now.counters.emplace_back("trace_lines_lost", *lost);
  for (const order::Counter& each : node.counters())
    now.counters.emplace_back(each.name, each.value);
  for (const io::CounterField& field : io::udp_counter_fields()) {
    now.counters.emplace_back("udp_" + std::string(field.name),
                              runtime.transport().udp().counters().*field.value);
  }
  if (const io::PeerStreamCounters* streams = runtime.transport().udp().stream_counters()) {
    for (const io::PeerStreamCounterField& field : io::peer_stream_counter_fields()) {
      now.counters.emplace_back("stream_" + std::string(field.name), streams->*field.value);
    }
    for (const io::StreamState& each : runtime.transport().udp().streams()) {
      now.counters.emplace_back("stream_dropped_to_" + runtime.names().name(each.node),
                                each.dropped);
    }
  }
  if (!key) return now;
  for (std::size_t i = 0; i < seal::kRefusals; ++i) {
    const auto reason = static_cast<seal::Refusal>(i);
    const bool opened = reason == seal::Refusal::none;
    now.counters.emplace_back(
        "seal_" + (opened ? "opened" : std::string(seal::refusal_name(reason))),
        runtime.transport().udp().count(reason));
  }
  return now;
}

}  // namespace peal::runtime
