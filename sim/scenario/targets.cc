// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/targets.h"

#include <array>

#include "sim/scenario/tokenizer.h"
#include "sim/world/packet.h"

namespace peal::sim {

Targets::Targets(World& world, std::uint64_t seed, RunLine run_line)
    : world_(world), random_(seed ^ 0x7a26e7ULL), run_line_(std::move(run_line)) {}

std::uint32_t moment_of_name(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames{
      "commit", "recovery", "token", "join", "prepare", "promise", "view", "vote", "takeover"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return 1U << i;
  }
  return 0;
}

std::uint32_t Targets::moments_of(const Packet& packet) {
  switch (packet.kind) {
    case PacketKind::commit: return TargetRule::at_commit;
    case PacketKind::token:
      return TargetRule::at_token |
             (world_.machines().anyone_recovers() ? TargetRule::at_recovery_token : 0U);
    case PacketKind::join: return TargetRule::at_join;
    case PacketKind::prepare: return TargetRule::at_prepare;
    case PacketKind::promise: return TargetRule::at_promise;
    case PacketKind::propose: return content_of(packet).proposes_view ? TargetRule::at_view : 0U;
    case PacketKind::state: {
      told_votes_.resize(world_.nodes() + 1);
      const std::uint64_t votes = content_of(packet).told_votes.value_or(0);
      const bool more = votes > told_votes_[packet.from.value];
      told_votes_[packet.from.value] = votes;
      return more ? TargetRule::at_vote : 0U;
    }
    default:
      if (!world_.options().engine.is_genuine()) return 0;
      return content_of(packet).takes_over ? TargetRule::at_takeover : 0U;
  }
}

void Targets::on_send(const Packet& packet) {
  if (rules_.empty()) return;
  const std::uint32_t moments = moments_of(packet);
  for (TargetRule& rule : rules_) {
    if (rule.most == 0 || (rule.moments & moments) == 0) continue;
    if (!random_.chance(rule.probability)) continue;
    --rule.most;
    strike(rule, packet);
  }
}

NodeId Targets::random_node() {
  return NodeId{static_cast<std::uint32_t>(1 + random_.below(world_.nodes()))};
}

void Targets::plan(Instant at, std::string line, Fault counted) {
  world_.plan(at, [this, line = std::move(line), counted, era = era_] {
    if (era == era_) run_line_(line, counted);
  });
}

std::string Targets::random_split() {
  const std::uint64_t parts = world_.nodes() > 3 && random_.chance(0.3) ? 3 : 2;
  std::array<std::vector<NodeId>, 3> part;
  for (std::uint32_t n = 1; n <= world_.nodes(); ++n) {
    part[random_.below(parts)].push_back(NodeId{n});
  }
  std::string line = "split";
  bool first = true;
  for (const std::vector<NodeId>& nodes : part) {
    if (nodes.empty()) continue;
    line += (first ? " " : " | ") + nodes_text(nodes);
    first = false;
  }
  return line;
}

void Targets::strike(TargetRule& rule, const Packet& packet) {
  std::array<int, 4> kinds{};
  std::size_t count = 0;
  if (rule.split) kinds[count++] = 0;
  if (rule.cut) kinds[count++] = 1;
  if (rule.crash) kinds[count++] = 2;
  if (rule.pause) kinds[count++] = 3;
  if (count == 0 || world_.nodes() < 2) return;
  const Instant at = world_.now() + Duration{random_.between(0, rule.within.ns)};
  const Duration length{random_.between(rule.heal.first.ns, rule.heal.second.ns)};
  // In two cases of three, strike the packet's sender or receiver. Otherwise, strike a random node.
  const NodeId to = packet.to.value != 0 ? packet.to : random_node();
  const std::uint64_t lot = random_.below(3);
  const NodeId who = lot == 0 ? packet.from : lot == 1 ? to : random_node();
  const std::string name = nodes_text({who});
  switch (kinds[random_.below(count)]) {
    case 0:
      plan(at, random_split(), Fault::targeted_split);
      plan(at + length, "heal", Fault::count);
      break;
    case 1: {
      NodeId other = random_node();
      if (other == who) other = NodeId{who.value % world_.nodes() + 1};
      const std::string link = name + " > " + nodes_text({other});
      plan(at, "cut " + link, Fault::targeted_cut);
      plan(at + length, "heal " + link, Fault::count);
      break;
    }
    case 2: {
      const bool in_call = random_.chance(0.5);
      const std::string sends =
          in_call ? " after-sends " + std::to_string(1 + random_.below(6)) : "";
      plan(at, "crash " + name + sends, Fault::targeted_crash);
      plan(at + length + Duration{in_call ? rule.heal.second.ns : 0}, "start " + name,
           Fault::count);
      break;
    }
    default: plan(at, "pause " + name + " " + duration_text(length), Fault::targeted_pause); break;
  }
}

}  // namespace peal::sim
