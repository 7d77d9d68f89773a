// SPDX-License-Identifier: Apache-2.0
#include "member/config.h"

#include <chrono>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/text.h"
#include "config/schema.h"
#include "io/resolve.h"

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

/// Sets an option. The values of the enumeration `E` are in the order of the option's words.
template <class E>
void choose(std::string_view key, E value, config::Settings& settings) {
  settings.options.set(key, static_cast<std::int64_t>(value));
}

/// Sets options whose values have a range.
Checked set_all(std::initializer_list<std::pair<std::string_view, config::Value>> values,
                config::Settings& settings) {
  for (const auto& [key, value] : values) {
    if (auto done = config::set(settings, std::string(key), value); !done) return done;
  }
  return {};
}

Checked set_order(const v0::Ring& ring, config::Settings& settings) {
  settings.order = order::find_engine("ring");
  choose("primary", ring.primary, settings);
  for (const auto& [name, value] : ring.tunables) {
    constexpr double kExact = 1e15;
    const bool whole = std::abs(value) < kExact && value == std::floor(value);
    const auto typed = whole ? config::Value(static_cast<std::int64_t>(value)) : value;
    if (auto done = config::set(settings, "ring." + name, typed); !done) return done;
  }
  return {};
}

/// Sets the options that all engines with acceptors have.
template <class Engine>
void set_acceptors(const Engine& engine, config::Settings& settings) {
  settings.acceptors = node_ids(engine.acceptors);
  settings.data_dir = engine.data_dir;
  choose("paxos.storage", engine.storage, settings);
}

Checked set_order(const v0::Toto& toto, config::Settings& settings) {
  settings.order = order::find_engine("toto");
  choose("primary", toto.primary, settings);
  choose("toto.delivery", toto.delivery, settings);
  return set_all({{"toto.win", toto.win},
                  {"toto.ack_rate", std::int64_t{toto.ack_rate}},
                  {"toto.fault_ms", static_cast<std::int64_t>(toto.fault.count())},
                  {"toto.window", std::int64_t{toto.window}}},
                 settings);
}

Checked set_order(const v0::Paxos& paxos, config::Settings& settings) {
  settings.order = order::find_engine("paxos");
  set_acceptors(paxos, settings);
  return {};
}

void set_domains(const std::vector<v0::Domain>& domains, config::Settings& settings) {
  for (const v0::Domain& each : domains) {
    settings.domains.push_back(
        {each.name, node_ids(each.nodes), node_ids(each.acceptors), each.groups});
  }
}

Checked set_order(const v0::Ridge& ridge, config::Settings& settings) {
  settings.order = order::find_engine("ridge");
  set_acceptors(ridge, settings);
  choose("ridge.dissemination", ridge.dissemination, settings);
  choose("ridge.ensembles", ridge.ensembles, settings);
  choose("ridge.merge", ridge.merge, settings);
  choose("ridge.optimistic", ridge.optimistic, settings);
  set_domains(ridge.domains, settings);
  return {};
}

Checked set_order(const v0::Ramcast& ramcast, config::Settings& settings) {
  settings.order = order::find_engine("ramcast");
  choose("ramcast.fabric", ramcast.fabric, settings);
  choose("ramcast.verbs_in_clear", ramcast.verbs_in_clear, settings);
  choose("ramcast.poll", ramcast.poll, settings);
  choose("ramcast.lazy", ramcast.lazy, settings);
  set_domains(ramcast.domains, settings);
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return set_all({{"ramcast.slots", std::int64_t{ramcast.slots}},
                  {"ramcast.log_bytes", std::int64_t{ramcast.log_bytes}},
                  {"ramcast.inline_bytes", std::int64_t{ramcast.inline_bytes}},
                  {"ramcast.beat_ms", Milliseconds(ramcast.beat).count()},
                  {"ramcast.suspect_ms", std::int64_t{ramcast.suspect.count()}}},
                 settings);
}

Checked set_ways_of_data(const v0::Config& config, config::Settings& settings) {
  settings.streams = config.data == v0::Data::streams;
  settings.packet_bytes = config.packet_bytes;
  if (const auto* group = std::get_if<v0::MulticastGroup>(&config.multicast)) {
    return config::set(settings, "network.multicast", group->address);
  }
  const bool off = std::get<v0::Multicast>(config.multicast) == v0::Multicast::off;
  settings.multicast = off ? io::MulticastMode::off : io::MulticastMode::automatic;
  return {};
}

}  // namespace

Checked to_settings(const v0::Config& config, config::Settings& settings) {
  settings.cluster = config.cluster;
  settings.name = config.name;
  settings.nodes_max = config.nodes_max;
  settings.insecure = config.insecure;
  settings.key_file = config.key_file;
  settings.limits.message_bytes_max = config.message_bytes_max;
  settings.limits.submit_bytes_max = config.submit_bytes_max;
  settings.limits.submit_messages_max = config.submit_messages_max;
  settings.receive_bytes_max = config.receive_bytes_max;
  settings.own_thread = config.thread == v0::Thread::own;
  settings.trace = config.trace;
  settings.state_dir = config.state_dir;
  if (auto done = set_ways_of_data(config, settings); !done) return done;
  if (auto done = set_nodes(config.nodes, settings); !done) return done;
  return std::visit([&](const auto& order) { return set_order(order, settings); }, config.order);
}

Result<config::Settings, v0::Error> settings_of(const v0::Config& config) {
  config::Settings settings;
  auto done = to_settings(config, settings);
  if (done) done = config::validate(settings);
  if (done) done = config::load_keys(settings);
  if (!done) return invalid(std::move(done.error()));
  return settings;
}

Result<std::vector<config::NodeEntry>, v0::Error> nodes_of(const std::vector<v0::Node>& nodes) {
  config::Settings settings;
  if (auto done = set_nodes(nodes, settings); !done) return invalid(std::move(done.error()));
  return std::move(settings.nodes);
}

}  // namespace peal::member
