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

group::Domains domains_of(const Process& process, const ClientMix& mix) {
  const auto& nodes = process.world.options().domains;
  std::vector<group::GroupDomain> domains;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    group::GroupDomain& domain = domains.emplace_back();
    domain.name = "d" + std::to_string(i + 1);
    domain.nodes = nodes[i].nodes;
    // Assign the groups to the domains in turn; some groups belong to no domain.
    for (std::size_t g = i; g < mix.groups.size(); g += nodes.size() + 1) {
      domain.groups.push_back(mix.groups[g]);
    }
  }
  return {std::move(domains), process.self.node};
}

Result<std::uint64_t, Errc> ClientSide::submit_to_node(ByteView message, Service service,
                                                       order::Domain domain) {
  node::Gathered block{std::make_unique<std::byte[]>(message.size()),
                       static_cast<std::uint32_t>(message.size())};
  std::copy(message.begin(), message.end(), block.bytes.get());
  const Result<std::uint64_t, Errc> number =
      process_.node->submit_block(block, service, DomainSet::of(domain));
  if (!number) return number;
  PEAL_ASSERT(*number == process_.submissions.accepted + 1);
  process_.submissions.pending = {*number, digest_of(message),    message.size(),
                                  service, DomainSet::of(domain), false};
  ++process_.submissions.accepted;
  ++process_.world.recorder().figures().messages_submitted;
  process_.announce_submission();
  return number;
}

void ClientSide::replace_control_of_node(ByteView message) {
  process_.node->drop_control();
  if (message.empty()) return;
  const auto number = process_.node->submit_control(message, Service::agreed);
  PEAL_ASSERT(number || number.error() == Errc::closed);
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
