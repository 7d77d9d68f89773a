// SPDX-License-Identifier: Apache-2.0
// The rules between settings.

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "config/schema.h"
#include "wire/frames.h"

namespace peal::config {
namespace {

using Checked = Result<void, std::string>;

/// Least packet_bytes of an engine whose messages fit into one packet each.
constexpr std::uint32_t kWholeMessagesLeast = 2'048;

constexpr std::string_view kAcceptedNodeName = "1 to 255 letters, digits, '.', '_' or '-'";

Checked refused(const std::string& key, const std::string& value, const std::string& accepted) {
  return unexpected(key + " = " + quote(value) + " is not accepted: it must be " + accepted);
}

Checked refused(const std::string& key, std::uint64_t value, const std::string& accepted) {
  return unexpected(key + " = " + std::to_string(value) + " is not accepted: it must be " +
                    accepted);
}

Checked validate_numbers(const Settings& settings) {
  std::map<NodeId, std::string> names;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const NodeEntry& node = settings.nodes[i];
    const std::string key = "nodes[" + std::to_string(i) + "].number";
    if (node.number.value < 1 || node.number.value > wire::kNodeMax) {
      return refused(key, node.number.value, "1 to " + std::to_string(wire::kNodeMax));
    }
    const auto [known, fresh] = names.emplace(node.number, node.name);
    if (fresh) continue;
    return unexpected(key + " = " + std::to_string(node.number.value) + " is not accepted: \"" +
                      known->second + "\" and \"" + node.name +
                      "\" must have different numbers; a node without one has its place in the "
                      "list");
  }
  return {};
}

Checked validate_nodes(const Settings& settings) {
  const std::string has = "nodes has " + std::to_string(settings.nodes.size()) + " entries: ";
  if (settings.nodes.empty() || settings.nodes.size() > kNodesMax) {
    return unexpected(has + "accepted are 1 to " + std::to_string(kNodesMax));
  }
  if (settings.nodes_max < 1 || settings.nodes_max > kNodesMax) {
    return refused("limits.nodes_max", settings.nodes_max, "1 to " + std::to_string(kNodesMax));
  }
  if (settings.nodes.size() > settings.nodes_max) {
    return unexpected(has + "accepted are up to limits.nodes_max = " +
                      std::to_string(settings.nodes_max) + ", the same on all nodes");
  }
  std::set<std::string> names;
  std::vector<std::string> list;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const NodeEntry& node = settings.nodes[i];
    const std::string key = "nodes[" + std::to_string(i) + "].name";
    if (!trace::Names::valid(node.name)) {
      return refused(key, node.name, std::string(kAcceptedNodeName));
    }
    if (!names.insert(node.name).second) {
      return refused(key, node.name, "different from the names before it");
    }
    list.push_back(node.name);
  }
  if (auto numbers = validate_numbers(settings); !numbers) return numbers;
  if (settings.self() == NodeId{}) {
    return refused("name", settings.name, "one of the names in nodes: " + joined(list));
  }
  return {};
}

Checked validate_acceptors(const Settings& settings) {
  const std::vector<NodeId>& acceptors = settings.acceptors;
  if (acceptors.empty()) return {};
  const std::string key(acceptors_key());
  std::vector<std::string> numbers;
  for (const NodeEntry& each : settings.nodes) numbers.push_back(std::to_string(each.number.value));
  std::set<NodeId> seen;
  for (const NodeId node : acceptors) {
    const std::string has = key + " has " + std::to_string(node.value);
    if (find(settings.nodes, node) == nullptr) {
      return unexpected(has + ", which is no number of [[nodes]]: accepted are " + joined(numbers));
    }
    if (seen.insert(node).second) continue;
    return unexpected(has + " twice, which is not accepted: each node votes once");
  }
  const std::string has =
      key + " has " + std::to_string(acceptors.size()) + " nodes, which is not ";
  if (acceptors.size() > settings.order->traits.acceptors_most) {
    return unexpected(has + "accepted with order = " + quote(settings.order->name) +
                      ": it must be at most " +
                      std::to_string(settings.order->traits.acceptors_most));
  }
  if (acceptors.size() % 2 == 1) return {};
  return unexpected(has +
                    "accepted: it must be an odd number, since one more that makes it even "
                    "survives no more failures");
}

/// Checks the engine's options, domains, acceptors and data_dir, and the rules between these
/// settings.
Checked validate_order(const Settings& settings) {
  if (auto engines = validate_engines(settings); !engines) return engines;
  for (const order::Option& option : settings.order->options()) {
    const auto value = settings.options.get(option.key);
    if (!value) continue;
    if (std::string wrong = order::refusal(option, *value); !wrong.empty()) {
      return unexpected(std::move(wrong));
    }
  }
  if (auto domains = validate_domains(settings); !domains) return domains;
  auto together = settings.order->validate(settings.options, domain_nodes(settings));
  if (!together) return together;
  if (!settings.order->traits.has_acceptors()) return {};
  if (auto acceptors = validate_acceptors(settings); !acceptors) return acceptors;
  if (!needs_of(settings).log && !settings.data_dir.empty()) {
    return unexpected("data_dir = " + quote(settings.data_dir) + " is not accepted with " +
                      std::string(settings.order->traits.without_log) +
                      ", and no log is kept: leave one of them out");
  }
  if (!votes(settings) || may_vote(settings)) return {};
  return unexpected("data_dir is missing: with order = " + quote(settings.order->name) + ", " +
                    settings.name +
                    " is one of the acceptors, and must keep its votes in a folder of its own (or, "
                    "on all nodes, set " +
                    std::string(settings.order->traits.without_log) + ")");
}

Checked validate_seal(const Settings& settings) {
  const bool has_file = !settings.key_file.empty();
  if (settings.insecure && (has_file || settings.keys)) {
    return unexpected("insecure = true together with key_file = " + quote(settings.key_file) +
                      ": accepted is one of the two");
  }
  if (!settings.insecure && !has_file && !settings.keys) {
    return unexpected(
        "key_file is missing: accepted is a file of `peal keygen`, such as key_file = "
        "\"peal.key\", or insecure = true, and then whoever reaches the network can read and forge "
        "everything");
  }
  return {};
}

Checked validate_packets(const Settings& settings) {
  const std::uint32_t bytes = packet_bytes(settings);
  const std::string key = "network.packet_bytes";
  if (bytes < kPacketBytesLeast || bytes > wire::kPacketBytesMax) {
    return refused(
        key, bytes,
        std::to_string(kPacketBytesLeast) + " to " + std::to_string(wire::kPacketBytesMax));
  }
  if (settings.order->traits.genuine && bytes < kWholeMessagesLeast) {
    return unexpected(key + " = " + std::to_string(bytes) +
                      " is not accepted with order = " + quote(settings.order->name) +
                      ", where each message fits into one packet: " + "it must be at least " +
                      std::to_string(kWholeMessagesLeast));
  }
  if (settings.insecure) return {};
  const std::uint32_t longer = sealed_data_longer(*settings.order);
  const std::uint32_t least = kPacketBytesLeast + longer;
  if (bytes >= least) return {};
  return unexpected(key + " = " + std::to_string(bytes) +
                    " is not accepted with a key_file: it must be at least " +
                    std::to_string(least) + ", as a sealed packet is longer by " +
                    std::to_string(longer));
}

Checked validate_limits(const Settings& settings) {
  const node::Limits limits = node_limits(settings);
  if (limits.submit_bytes_max < limits.message_bytes_max) {
    return refused(
        "limits.submit_bytes_max", limits.submit_bytes_max,
        "at least limits.message_bytes_max = " + std::to_string(limits.message_bytes_max));
  }
  if (settings.receive_bytes_max < kReceiveBytesLeast) {
    return refused("limits.receive_bytes_max", settings.receive_bytes_max,
                   "at least " + std::to_string(kReceiveBytesLeast));
  }
  if (std::string wrong = node::validate(limits, settings.nodes_max); !wrong.empty()) {
    return unexpected("limits." + wrong);
  }
  return {};
}

}  // namespace

Result<void, std::string> validate(const Settings& settings) {
  if (!trace::Names::valid(settings.cluster)) {
    return refused("cluster", settings.cluster, std::string(kAcceptedNodeName));
  }
  for (const auto check :
       {validate_nodes, validate_order, validate_limits, validate_seal, validate_packets}) {
    if (auto checked = check(settings); !checked) return checked;
  }
  return {};
}

}  // namespace peal::config
