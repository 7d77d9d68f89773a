// SPDX-License-Identifier: Apache-2.0
#include "member/config.h"

#include <algorithm>
#include <cmath>

#include "io/resolve.h"

namespace peal::member {
namespace {

v0::Error invalid(std::string message) {
  return {v0::ErrorCode::invalid_option, std::move(message)};
}

std::string quoted(const std::string& text) { return '"' + text + '"'; }

std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return std::to_string(value);
}

/// Sets one tunable; empty, or what is wrong.
std::string set_tunable(const std::string& name, double value, order::ring::Options& options) {
  using order::Option;
  std::string known;
  for (const auto& each : order::ring::fields()) {
    const Option& option = each.option;
    if (!option.is_tunable()) continue;
    if (option.name() != name) {
      known += (known.empty() ? "" : ", ") + std::string(option.name());
      continue;
    }
    const bool time = option.kind == Option::Kind::duration;
    const auto unit = static_cast<double>(option.unit());
    const double exact = value * unit;
    const bool whole = time || exact == std::floor(exact);
    const auto low = static_cast<double>(option.least), high = static_cast<double>(option.most);
    // Written so that a value that is no number at all is refused too.
    if (!(exact >= low && exact <= high) || !whole) {
      return std::string(option.key) + " = " + plain(value) + " is not accepted: it must be " +
             (time ? "" : "a whole number, ") + plain(low / unit) + " to " + plain(high / unit);
    }
    each.set(options, std::llround(exact));
    return {};
  }
  return "ring." + name + " = " + plain(value) + " is not accepted: the tunables are " + known;
}

std::string set_multicast(const std::string& text, config::Settings& settings) {
  if (text == "auto" || text == "off") {
    settings.multicast = text == "auto" ? io::MulticastMode::automatic : io::MulticastMode::off;
    return {};
  }
  const auto group = io::parse_endpoint(text, 0);
  if (!group || !group->is_v4() || !group->is_multicast() || group->port == 0) {
    return "multicast = " + quoted(text) +
           " is not accepted: it must be \"auto\", \"off\" or an IPv4 group with a port, such as "
           "\"239.192.7.1:4800\"";
  }
  settings.multicast = io::MulticastMode::group;
  settings.group = *group;
  return {};
}

std::string set_keys(const v0::Config& config, config::Settings& settings) {
  settings.key_file = config.key_file;
  settings.insecure = config.insecure;
  if (config.key_file.empty()) return {};
  auto keys = config::read_keys(settings);
  if (!keys) return keys.error();
  settings.keys = std::move(*keys);
  return {};
}

std::string set_nodes(const std::vector<v0::Node>& nodes, config::Settings& settings) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string key = "nodes[" + std::to_string(i) + "].address";
    const auto address = io::parse_host_port(nodes[i].address, 0);
    if (!address) {
      return key + " = " + quoted(nodes[i].address) +
             " is not accepted: it must be an address or a name and a port, such as "
             "\"10.0.0.1:4800\", \"[fd00::1]:4800\" or \"node-1.example:4800\" (" +
             address.error().message + ")";
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

std::string set_order(const v0::Config& config, config::Settings& settings) {
  settings.order = order::find_engine(config.order);
  if (settings.order == nullptr) {
    return "order = " + quoted(config.order) + " is not accepted: it must be " +
           order::engine_names();
  }
  if (config.dissemination != "distributors" && config.dissemination != "ring") {
    return "dissemination = " + quoted(config.dissemination) +
           " is not accepted: it must be \"distributors\" or \"ring\"";
  }
  if (config.dissemination == "ring") settings.dissemination = config::Dissemination::ring;
  settings.ensembles = config.ensembles;
  if (config.merge != "keys" && config.merge != "rotation") {
    return "merge = " + quoted(config.merge) +
           " is not accepted: it must be \"keys\" or \"rotation\"";
  }
  if (config.merge == "rotation") settings.merging = config::Merging::rotation;
  for (const v0::Domain& each : config.domains) {
    settings.domains.push_back(
        {each.name, node_ids(each.nodes), node_ids(each.acceptors), each.groups});
  }
  settings.optimistic = config.optimistic;
  if (settings.order->traits.quorum && !config.ring.empty()) {
    return "ring." + config.ring.begin()->first + " = " + plain(config.ring.begin()->second) +
           " is not accepted with order = " + quoted(config.order) +
           ": leave out what is the ring's";
  }
  settings.acceptors = node_ids(config.acceptors);
  if (config.storage != "disk" && config.storage != "memory") {
    return "storage = " + quoted(config.storage) +
           " is not accepted: it must be \"disk\" or \"memory\"";
  }
  if (config.storage == "memory") settings.storage = config::Storage::memory;
  settings.data_dir = config.data_dir;
  if (config.data != "datagrams" && config.data != "streams") {
    return "data = " + quoted(config.data) +
           " is not accepted: it must be \"datagrams\" or \"streams\"";
  }
  settings.streams = config.data == "streams";
  return {};
}

std::string set_all(const v0::Config& config, config::Settings& settings) {
  settings.cluster = config.cluster;
  settings.name = config.name;
  settings.nodes_max = config.nodes_max;
  if (std::string wrong = set_order(config, settings); !wrong.empty()) return wrong;
  if (config.ring.count("packet_bytes_max") != 0) {
    return "ring.packet_bytes_max is not accepted: set packet_bytes_max itself";
  }
  for (const auto& [name, value] : config.ring) {
    if (std::string wrong = set_tunable(name, value, settings.ring); !wrong.empty()) return wrong;
  }
  settings.ring.packet_bytes_max = config.packet_bytes_max == 0
                                       ? config::default_packet_bytes(settings.streams)
                                       : config.packet_bytes_max;
  if (config.primary != "none" && config.primary != "majority") {
    return "primary = " + quoted(config.primary) +
           " is not accepted: it must be \"none\" or \"majority\"";
  }
  if (config.primary == "majority") settings.ring.primary = order::ring::PrimaryRule::majority;

  settings.limits.message_bytes_max = config.message_bytes_max;
  settings.limits.submit_bytes_max = config.submit_bytes_max;
  settings.limits.submit_messages_max = config.submit_messages_max;
  // Unfinished messages take memory only as their bytes come in: the bound may be the worst case.
  settings.limits.reassembly_bytes_max =
      std::max<std::uint64_t>(settings.limits.reassembly_bytes_max,
                              std::uint64_t{config.message_bytes_max} * config.nodes_max);
  settings.receive_bytes_max = config.receive_bytes_max;
  if (config.thread != "own" && config.thread != "caller") {
    return "thread = " + quoted(config.thread) +
           " is not accepted: it must be \"own\" or \"caller\"";
  }
  settings.own_thread = config.thread == "own";
  settings.trace = config.trace;
  if (!config.state_dir.empty()) {
    settings.state_file = config.state_dir + "/" + config.name + ".epoch";
  }
  if (std::string wrong = set_keys(config, settings); !wrong.empty()) return wrong;
  if (std::string wrong = set_multicast(config.multicast, settings); !wrong.empty()) return wrong;
  return set_nodes(config.nodes, settings);
}

}  // namespace

std::variant<config::Settings, v0::Error> settings_of(const v0::Config& config) {
  config::Settings settings;
  if (std::string wrong = set_all(config, settings); !wrong.empty()) return invalid(wrong);
  if (std::string wrong = validate(settings); !wrong.empty()) return invalid(wrong);
  return settings;
}

std::variant<std::vector<config::NodeEntry>, v0::Error> nodes_of(
    const std::vector<v0::Node>& nodes) {
  config::Settings settings;
  if (std::string wrong = set_nodes(nodes, settings); !wrong.empty()) return invalid(wrong);
  return std::move(settings.nodes);
}

}  // namespace peal::member
