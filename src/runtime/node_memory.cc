// SPDX-License-Identifier: Apache-2.0
#include "runtime/node_memory.h"

#include <unistd.h>

#include <string>
#include <utility>

namespace peal::runtime {
namespace {

/// A node that polls counts microseconds. It wakes up nodes that sleep no more often than this.
constexpr Duration kWakeGap = milliseconds(1);

io::fabric::Choice choice_of(order::Needs::Fabric fabric) {
  switch (fabric) {
    case order::Needs::Fabric::automatic: return io::fabric::Choice::automatic;
    case order::Needs::Fabric::shared_memory: return io::fabric::Choice::shm;
    case order::Needs::Fabric::streams: return io::fabric::Choice::tcp;
    case order::Needs::Fabric::rdma: return io::fabric::Choice::verbs;
  }
  return io::fabric::Choice::automatic;
}

io::fabric::Options memory_options(const NodeTable& nodes, const MemberId& self) {
  const config::Settings& settings = nodes.settings();
  const trace::Names& names = nodes.names();
  io::fabric::Options options;
  options.self = self;
  options.cluster = cluster_id(settings);
  const order::Needs needs = needs_of(settings);
  if (needs.polls == order::Needs::Polls::always) options.limits.wake_gap = kWakeGap;
  options.choice = choice_of(needs.fabric);
  options.verbs_in_clear = needs.rdma_in_clear;
  for (const io::Peer& peer : nodes.peers()) {
    const std::string socket = shared_memory_path(settings, names.name(peer.node));
    if (peer.node != self.node) {
      options.peers.push_back({peer.node, peer.at, socket});
      continue;
    }
    if (options.choice != io::fabric::Choice::shm) options.at = peer.at;
    if (options.choice == io::fabric::Choice::shm ||
        options.choice == io::fabric::Choice::automatic) {
      options.socket = socket;
    }
  }
  options.keys = settings.keys;
  return options;
}

}  // namespace

Result<std::unique_ptr<io::fabric::Fabric>, io::IoError> open_memory(const NodeTable& nodes,
                                                                     const MemberId& self,
                                                                     io::Loop& loop) {
  auto fabric = io::fabric::Fabric::open(memory_options(nodes, self));
  if (!fabric) return fabric;
  if (auto attached = (*fabric)->attach(loop); !attached) return unexpected(attached.error());
  return fabric;
}

MemoryState memory_state(const io::fabric::Fabric& memory) {
  return {memory.status(), memory.problem(), memory.verbs_problem()};
}

std::string memory_text(const MemoryState& state, const trace::Names& names) {
  std::string text;
  bool may_be_faster = false;
  for (const io::fabric::PeerStatus& peer : state.peers) {
    may_be_faster = may_be_faster || peer.kind == io::fabric::Kind::tcp;
    text +=
        (text.empty() ? "" : ", ") + names.name(peer.node) + " " + io::fabric::kind_name(peer.kind);
    if (!peer.problem.empty()) text += " (" + peer.problem + ")";
  }
  if (!state.problem.empty()) text += "; " + state.problem;
  if (may_be_faster && !state.verbs_problem.empty()) text += "; " + state.verbs_problem;
  return text;
}

void add_memory_counters(const io::fabric::Fabric& memory, const trace::Names& names,
                         std::vector<std::pair<std::string, std::uint64_t>>& to) {
  const io::fabric::Counters& all = memory.counters();
  const std::pair<const char*, std::uint64_t> counted[] = {
      {"connects", all.connects},   {"connected", all.connected},
      {"broken", all.broken},       {"expired", all.expired},
      {"overflows", all.overflows}, {"refused_memory", all.refused_memory},
      {"rings", all.rings},         {"accepted", all.accepted},
      {"refused", all.refused},     {"late", all.late},
      {"replaced", all.replaced},   {"ended", all.ended},
      {"arrived", all.arrived},     {"turned_down", all.turned_down},
      {"rung", all.rung},           {"revoked", all.revoked},
      {"bad_input", all.bad_input}};
  for (const auto& [name, value] : counted) to.emplace_back("memory_" + std::string(name), value);
  for (const io::fabric::PeerStatus& peer : memory.status()) {
    const std::string end = "_" + names.name(peer.node);
    to.emplace_back("memory_writes" + end, peer.writes.writes);
    to.emplace_back("memory_bytes" + end, peer.writes.bytes);
    to.emplace_back("memory_ok" + end, peer.writes.ok);
    to.emplace_back("memory_denied" + end, peer.writes.denied);
    to.emplace_back("memory_down" + end, peer.writes.down);
  }
}

std::string shared_memory_path(const config::Settings& settings, const std::string& node) {
  return "/tmp/peal-" + std::to_string(::geteuid()) + "/" + settings.cluster + "." + node +
         ".memory";
}

}  // namespace peal::runtime
