// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>

#include "base/text.h"
#include "config/schema.h"
#include "io/resolve.h"

// Last: see member/config.h.
#include "member/config.h"

namespace peal::member {
namespace {

using Checked = decltype(config::validate(std::declval<const config::Settings&>()));

v0::Error invalid(std::string message) {
  return {v0::ErrorCode::invalid_option, std::move(message)};
}

Checked set_nodes(const std::vector<v0::Node>& nodes, config::Settings& settings) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string key = "nodes[" + std::to_string(i) + "].address";
    const auto address = io::parse_host_port(nodes[i].address, 0);
    if (!address) {
      return unexpected(key + " = " + quote(nodes[i].address) +
                        " is not accepted: it must be an address or a name and a port, such as "
                        "\"10.0.0.1:4800\", \"[fd00::1]:4800\" or \"node-1.example:4800\" (" +
                        address.error().message + ")");
    }
    const auto place = static_cast<std::uint32_t>(i + 1);
    const std::uint32_t number = nodes[i].number == 0 ? place : nodes[i].number;
    settings.nodes.push_back({nodes[i].name, *address, NodeId{number}});
  }
  return {};
}

std::vector<NodeId> node_ids(const std::vector<std::uint32_t>& numbers) {
  std::vector<NodeId> nodes;
  for (const std::uint32_t number : numbers) nodes.push_back(NodeId{number});
  return nodes;
}

/// Values by the paths of their keys; the schema says what is accepted.
Checked set_keys(const v0::Config& config, config::Settings& settings) {
  std::vector<std::pair<std::string, config::Value>> values{
      {"order", config.order},
      {"ridge.dissemination", config.dissemination},
      {"ridge.ensembles", std::int64_t{config.ensembles}},
      {"ridge.merge", config.merge},
      {"ridge.optimistic", config.optimistic},
      {"paxos.storage", config.storage},
      {"network.data", config.data},
      {"network.multicast", config.multicast}};
  // Not even their defaults go with every engine.
  if (config.primary != "none") values.emplace_back("primary", config.primary);
  for (const auto& [name, value] : config.ring) {
    constexpr double kExact = 1e15;
    const bool whole = std::abs(value) < kExact && value == std::floor(value);
    values.emplace_back("ring." + name, whole ? config::Value(static_cast<std::int64_t>(value))
                                              : config::Value(value));
  }
  for (const auto& [path, value] : values) {
    if (auto done = config::set(settings, path, value); !done) return done;
  }
  return {};
}

Checked set_all(const v0::Config& config, config::Settings& settings) {
  settings.cluster = config.cluster;
  settings.name = config.name;
  settings.nodes_max = config.nodes_max;
  settings.insecure = config.insecure;
  settings.key_file = config.key_file;
  settings.acceptors = node_ids(config.acceptors);
  settings.data_dir = config.data_dir;
  for (const v0::Domain& each : config.domains) {
    settings.domains.push_back(
        {each.name, node_ids(each.nodes), node_ids(each.acceptors), each.groups});
  }
  settings.packet_bytes = config.packet_bytes_max;
  settings.limits.message_bytes_max = config.message_bytes_max;
  settings.limits.submit_bytes_max = config.submit_bytes_max;
  settings.limits.submit_messages_max = config.submit_messages_max;
  settings.receive_bytes_max = config.receive_bytes_max;
  settings.trace = config.trace;
  settings.state_dir = config.state_dir;
  if (config.thread != "own" && config.thread != "caller") {
    return unexpected("thread = " + quote(config.thread) +
                      " is not accepted: it must be \"own\" or \"caller\"");
  }
  settings.own_thread = config.thread == "own";
  if (auto done = set_keys(config, settings); !done) return done;
  if (auto done = set_nodes(config.nodes, settings); !done) return done;
  if (auto done = config::validate(settings); !done) return done;
  return config::load_keys(settings);
}

}  // namespace

std::variant<config::Settings, v0::Error> settings_of(const v0::Config& config) {
  config::Settings settings;
  if (auto done = set_all(config, settings); !done) return invalid(std::move(done.error()));
  return settings;
}

std::variant<std::vector<config::NodeEntry>, v0::Error> nodes_of(
    const std::vector<v0::Node>& nodes) {
  config::Settings settings;
  if (auto done = set_nodes(nodes, settings); !done) return invalid(std::move(done.error()));
  return std::move(settings.nodes);
}

}  // namespace peal::member
