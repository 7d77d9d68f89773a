// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "io/address_book.h"
#include "seal/key_file.h"
#include "seal/packet.h"
#include "wire/frames.h"

namespace peal::config {
const NodeEntry* find(const std::vector<NodeEntry>& nodes, NodeId number) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeEntry& each) { return each.number == number; });
  return found == nodes.end() ? nullptr : &*found;
}

const NodeEntry* find(const std::vector<NodeEntry>& nodes, std::string_view name) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const NodeEntry& each) { return each.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

NodeId Settings::self() const {
  const NodeEntry* own = find(nodes, name);
  return own == nullptr ? NodeId{} : own->number;
}

const NodeEntry& Settings::own() const {
  const NodeEntry* own = find(nodes, name);
  PEAL_ASSERT(own != nullptr);
  return *own;
}

Result<io::Endpoint, io::IoError> choose_own(const Settings& settings,
                                             const std::vector<io::Endpoint>& found) {
  std::optional<bool> v4;
  for (const NodeEntry& node : settings.nodes) {
    if (const auto number = io::endpoint_of(node.address)) v4 = number->is_v4();
  }
  return io::choose_own(settings.own().address, found, v4);
}

Result<io::Endpoint, io::IoError> find_own(const Settings& settings) {
  if (settings.own_at) return *settings.own_at;
  const io::HostPort& name = settings.own().address;
  if (const auto number = io::endpoint_of(name)) return *number;
  auto resolver = settings.question ? io::SystemResolver(kOwnAddressPatience, settings.question)
                                    : io::SystemResolver(kOwnAddressPatience);
  const auto found = resolver.look_up(name);
  if (!found) return unexpected(found.error());
  return choose_own(settings, *found);
}

Result<seal::Keys, std::string> read_keys(const Settings& settings) {
  auto keys = seal::load_keys(settings.key_file);
  if (!keys) return unexpected("key_file = " + keys.error());
  return keys;
}

Result<void, std::string> load_keys(Settings& settings) {
  if (settings.key_file.empty()) return {};
  auto keys = read_keys(settings);
  if (!keys) return unexpected(std::move(keys.error()));
  settings.keys = std::move(*keys);
  return {};
}

std::vector<NodeId> acceptors_of(const Settings& settings) {
  std::vector<NodeId> acceptors = settings.acceptors;
  if (acceptors.empty()) {
    acceptors = settings.order->default_acceptors(list_of(settings.nodes).nodes);
  }
  std::sort(acceptors.begin(), acceptors.end());
  return acceptors;
}

bool votes(const Settings& settings) {
  if (!settings.order->traits.has_acceptors()) return false;
  const std::vector<NodeId> acceptors = acceptors_of(settings);
  return std::binary_search(acceptors.begin(), acceptors.end(), settings.self()) ||
         votes_in_domain(settings);
}

bool keeps_log(const Settings& settings) {
  return settings.order->traits.has_acceptors() && !settings.data_dir.empty();
}

bool may_vote(const Settings& settings) {
  return keeps_log(settings) || (settings.order->traits.has_acceptors() && !needs_of(settings).log);
}

std::uint32_t packet_bytes(const Settings& settings) {
  constexpr std::uint32_t kDatagram = 1'472, kOfStreams = 16'384;
  // Each message fits into one packet: with clients, messages of 16 KiB and their groups.
  constexpr std::uint32_t kOfWholeMessages = 33'792;
  if (settings.packet_bytes != 0) return settings.packet_bytes;
  if (settings.order->traits.genuine) return kOfWholeMessages;
  return settings.streams ? kOfStreams : kDatagram;
}

bool uses_streams(const Settings& settings) {
  return settings.streams || settings.order->traits.genuine;
}

order::Needs needs_of(const Settings& settings) {
  return settings.order->needs(settings.options, settings.nodes.size());
}

node::Limits node_limits(const Settings& settings) {
  node::Limits limits = settings.limits;
  // Unfinished messages take memory only as their bytes arrive, so the limit may cover the worst
  // case.
  limits.reassembly_bytes_max = std::max<std::uint64_t>(
      limits.reassembly_bytes_max, std::uint64_t{limits.message_bytes_max} * settings.nodes_max);
  limits.causal_units = settings.order->traits.causal;
  limits.units_stay = settings.order->traits.genuine;
  if (settings.order->traits.genuine) {
    // Each message of a client fits into one unit. Control messages may be larger: all members of
    // the view that they belong to get them from the beginning.
    limits.control_bytes_max = limits.message_bytes_max;
    limits.message_bytes_max = message_bytes_max(settings);
  }
  return limits;
}

io::Waiting waiting_of(const Settings& settings) {
  switch (needs_of(settings).polls) {
    case order::Needs::Polls::always: return io::Waiting::polling;
    case order::Needs::Polls::never: return io::Waiting::sleeping;
    case order::Needs::Polls::adaptive: break;
  }
  return io::Waiting::adaptive;
}

std::string state_file(const Settings& settings) {
  if (settings.state_dir.empty()) return {};
  return settings.state_dir + "/" + settings.name + ".epoch";
}

std::uint32_t frame_bytes(const Settings& settings) {
  constexpr std::uint32_t kPlain = (wire::kPacketBytesMax + 63U) & ~63U;
  constexpr std::uint32_t kSealed = (wire::kPacketBytesMax - seal::overhead(Lane::control)) & ~63U;
  return settings.keys ? kSealed : kPlain;
}

std::uint32_t engine_packet_bytes(const Settings& settings) {
  const std::uint32_t datagram = packet_bytes(settings);
  if (!settings.keys) return datagram;
  return std::min(datagram - sealed_data_longer(*settings.order), frame_bytes(settings));
}

std::uint32_t unit_message_bytes(const Settings& settings) {
  const std::uint32_t around = needs_of(settings).around_unit + node::kMessageInUnitBytes;
  return engine_packet_bytes(settings) - around;
}

std::uint32_t message_bytes_max(const Settings& settings) {
  const std::uint32_t most = settings.limits.message_bytes_max;
  return settings.order->traits.genuine ? std::min(most, unit_message_bytes(settings)) : most;
}

std::string message_too_large_text(const Settings& settings) {
  const std::uint32_t most = message_bytes_max(settings);
  const std::string text = "the message is larger than " + std::to_string(most) + " bytes, ";
  if (most == settings.limits.message_bytes_max) return text + "limits.message_bytes_max";
  return text + "what fits into one packet with network.packet_bytes = " +
         std::to_string(packet_bytes(settings));
}

std::uint64_t seal_cluster_id(const Settings& settings) {
  return digest_of(as_bytes_view(settings.cluster));
}

trace::Names names_of(const Settings& settings) {
  trace::Names names;
  for (const NodeEntry& node : settings.nodes) names.set(node.number, node.name);
  return names;
}

}  // namespace peal::config
