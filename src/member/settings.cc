// SPDX-License-Identifier: Apache-2.0
#include "member/settings.h"

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "wire/frames.h"

namespace peal::member {
namespace {

constexpr std::string_view kAcceptedName = "1 to 255 letters, digits, '.', '_' or '-'";

std::string complain(const std::string& key, const std::string& value,
                     const std::string& accepted) {
  return key + " = \"" + value + "\" is not accepted: it must be " + accepted;
}

std::string validate_nodes(const Settings& settings) {
  if (settings.nodes.empty() || settings.nodes.size() > wire::kMembersMax) {
    return "nodes has " + std::to_string(settings.nodes.size()) + " entries: it must have 1 to " +
           std::to_string(wire::kMembersMax);
  }
  std::set<std::string> names;
  std::string list;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const NodeEntry& node = settings.nodes[i];
    const std::string key = "nodes[" + std::to_string(i) + "].name";
    if (!trace::Names::valid(node.name))
      return complain(key, node.name, std::string(kAcceptedName));
    if (!names.insert(node.name).second) {
      return complain(key, node.name, "different from the names before it");
    }
    list += (list.empty() ? "" : ", ") + node.name;
  }
  if (settings.self() == NodeId{}) {
    return complain("name", settings.name, "one of the names in nodes: " + list);
  }
  return {};
}

}  // namespace

NodeId Settings::self() const {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == name) return {static_cast<std::uint32_t>(i + 1)};
  }
  return {};
}

std::string validate(const Settings& settings) {
  if (!trace::Names::valid(settings.cluster)) {
    return complain("cluster", settings.cluster, std::string(kAcceptedName));
  }
  if (std::string wrong = validate_nodes(settings); !wrong.empty()) return wrong;
  if (std::string wrong = order::ring::validate(settings.ring); !wrong.empty()) return wrong;
  constexpr std::uint64_t kReceiveBytesMin = 1U << 20;
  if (settings.receive_bytes_max < kReceiveBytesMin) {
    return "receive_bytes_max is " + std::to_string(settings.receive_bytes_max) +
           "; accepted is at least " + std::to_string(kReceiveBytesMin);
  }
  return node::validate(settings.limits, static_cast<std::uint32_t>(settings.nodes.size()));
}

std::uint64_t cluster_id(const Settings& settings) {
  Digest rules;
  for (const NodeEntry& node : settings.nodes) rules.add(as_bytes_view(node.name));
  for (const order::ring::Knob& knob : order::ring::knobs()) {
    if (!knob.cluster_wide) continue;
    rules.add(as_bytes_view(knob.name));
    rules.add(knob.duration != nullptr
                  ? static_cast<std::uint64_t>((settings.ring.*knob.duration).ns)
                  : settings.ring.*knob.number);
  }
  rules.add(static_cast<std::uint64_t>(settings.ring.primary));
  rules.add(settings.limits.message_bytes_max);
  const std::uint64_t name = digest_of(as_bytes_view(settings.cluster));
  return (name << 32U) | (rules.value() & 0xffff'ffffU);
}

trace::Names names_of(const Settings& settings) {
  trace::Names names;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    names.set({static_cast<std::uint32_t>(i + 1)}, settings.nodes[i].name);
  }
  return names;
}

}  // namespace peal::member
