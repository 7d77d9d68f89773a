// SPDX-License-Identifier: Apache-2.0
#include "cli/config_keys.h"

// Last: see cli/inner_names.h.
#include "cli/client/member_config.h"

namespace peal::cli {

v0::Config member_config(const NodeConfig& config) {
  v0::Config out;
  out.cluster = config.cluster;
  out.name = config.node;
  for (const NodeEntry& entry : config.nodes) {
    out.nodes.push_back({entry.name, io::to_string(entry.address), entry.number});
  }
  out.key_file = config.key_file;
  out.insecure = config.insecure;
  switch (config.multicast) {
    case Multicast::automatic: out.multicast = "auto"; break;
    case Multicast::off: out.multicast = "off"; break;
    case Multicast::group: out.multicast = io::to_string(config.multicast_group); break;
  }
  out.order = config.order->name;
  out.dissemination = dissemination_name(config.dissemination);
  out.ensembles = config.ensembles;
  out.merge = merging_name(config.merging);
  for (const DomainEntry& each : config.domains) {
    out.domains.push_back({each.name, each.nodes, each.acceptors, each.groups});
  }
  out.optimistic = config.optimistic;
  out.acceptors = config.acceptors;
  out.storage = storage_name(config.storage);
  out.data_dir = config.data_dir;
  out.primary = config.ring.primary == order::ring::PrimaryRule::majority ? "majority" : "none";
  out.data = data_name(config.data);
  // Without a value of its own, what is best depends on how data travel.
  const bool own_packets = config.lines.contains("network.packet_bytes");
  out.packet_bytes_max = own_packets ? config.ring.packet_bytes_max : 0;
  out.nodes_max = config.nodes_max;
  out.message_bytes_max = config.message_bytes_max;
  out.submit_bytes_max = config.submit_bytes_max;
  out.submit_messages_max = config.submit_messages_max;
  out.receive_bytes_max = config.receive_bytes_max;
  out.trace = config.trace;
  out.state_dir = config.state_dir;
  for (const auto& each : order::ring::fields()) {
    const order::Option& option = each.option;
    const std::int64_t number = each.get(config.ring);
    if (!option.is_tunable() || number == option.normal) continue;
    out.ring[std::string(option.name())] =
        static_cast<double>(number) / static_cast<double>(option.unit());
  }
  return out;
}

}  // namespace peal::cli
