// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/client_side.h"

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "base/digest.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

std::string node_name(NodeId node) { return "n" + std::to_string(node.value); }

}  // namespace

std::int64_t ClientSide::now() const { return process_.world.now().ns; }

std::string ClientSide::members_text(std::string_view group) const {
  std::string text;
  const auto at = groups().table().groups().find(group);
  if (at == groups().table().groups().end()) return text;
  for (const auto& daemon : at->second.daemons) {
    for (const auto& client : daemon.clients) {
      text += (text.empty() ? "" : " ") + client.name + "@" + node_name(daemon.id.node);
    }
  }
  return text;
}

group::Domains domains_of(const WorldOptions& world, const ClientMix& mix, NodeId node) {
  const auto& nodes = world.domains;
  const bool genuine = world.engine.is_genuine();
  std::vector<group::GroupDomain> domains;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    group::GroupDomain& domain = domains.emplace_back();
    domain.name = "d" + std::to_string(i + 1);
    domain.nodes = nodes[i].nodes;
    for (const NodeId each : domain.nodes) domain.node_names.push_back(node_name(each));
    // Assign the groups to the domains in turn. If domains are nested, some groups are of none.
    for (std::size_t g = i; g < mix.groups.size(); g += nodes.size() + (genuine ? 0 : 1)) {
      domain.groups.push_back(mix.groups[g]);
    }
    if (!genuine) continue;
    domain.groups.push_back(domain.name + ".*");
    if (i + 1 == nodes.size()) domain.groups.push_back("*");
  }
  const auto kind = genuine ? group::Domains::Kind::disjoint : group::Domains::Kind::nested;
  return {std::move(domains), node, kind};
}

oracle::GroupDomains oracle_domains(const WorldOptions& world, const ClientMix& mix) {
  if (!world.engine.is_genuine()) return {};
  if (world.domains.empty()) {  // all nodes are one domain
    return {[](NodeId) { return order::Domain{1}; },
            [](std::string_view) { return order::Domain{1}; }};
  }
  const group::Domains domains = domains_of(world, mix, NodeId{});
  const auto of_node = [domains, count = world.domains.size()](NodeId node) {
    for (std::size_t i = 1; i <= count; ++i) {
      if (domains.has(static_cast<order::Domain>(i), node)) return static_cast<order::Domain>(i);
    }
    return order::Domain{0};
  };
  return {of_node, [domains](std::string_view name) { return domains.of_group(name); }};
}

Result<std::uint64_t, Errc> ClientSide::submit_to_node(ByteView message, Service service,
                                                       DomainSet domains) {
  node::Gathered block{std::make_unique<std::byte[]>(message.size()),
                       static_cast<std::uint32_t>(message.size())};
  std::copy(message.begin(), message.end(), block.bytes.get());
  const Result<std::uint64_t, Errc> number = process_.node->submit_block(block, service, domains);
  if (!number) return number;
  PEAL_ASSERT(*number == process_.submissions.accepted + 1);
  process_.submissions.pending = {*number, digest_of(message), message.size(), service, domains,
                                  false};
  ++process_.submissions.accepted;
  ++process_.world.recorder().figures().messages_submitted;
  process_.announce_submission();
  return number;
}

void ClientSide::replace_control_of_node(ByteView message, DomainSet domains) {
  const auto replaced = process_.node->replace_control(message, Service::agreed, domains);
  PEAL_ASSERT(replaced || replaced.error() == Errc::closed);
}

void ClientSide::note_order(const oracle::GroupMessageId& message,
                            const std::vector<std::string>& targets, Seq place) {
  process_.world.recorder().groups().ordered(
      now(), process_.self, message, targets,
      place == 0 ? oracle::Placing::unplaced : oracle::Placing::placed);
}

void ClientSide::count_exchanges(const group::Groups::Counters& before) {
  const group::Groups::Counters& after = groups().counters();
  Figures& figures = process_.world.recorder().figures();
  figures.group_exchanges += after.exchanges - before.exchanges;
  figures.group_exchanges_interrupted += after.interrupted - before.interrupted;
}

void ClientSide::check_counters() const {
  const group::Groups::Counters& counters = groups().counters();
  const char* wrong = counters.out_of_turn > 0    ? "a client's message during an exchange"
                      : counters.bad_messages > 0 ? "bytes that are no message"
                      : counters.bad_changes > 0  ? "a change that contradicts the table"
                      : counters.bad_tables > 0   ? "tables that contradict the view"
                                                  : nullptr;
  if (wrong == nullptr || process_.world.recorder().broken()) return;
  process_.world.recorder().violation(process_.world.now(), "groups",
                                      node_name(process_.self.node) + " was given " + wrong);
}

}  // namespace peal::sim
