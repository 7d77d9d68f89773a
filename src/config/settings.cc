// SPDX-License-Identifier: Apache-2.0
#include "config/settings.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/assert.h"
#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "io/address_book.h"
#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"
#include "seal/key_file.h"
#include "seal/packet.h"
#include "wire/frames.h"
#include "wire/paxos.h"

namespace peal::config {
namespace {

constexpr std::string_view kAcceptedName = "1 to 255 letters, digits, '.', '_' or '-'";

std::string complain(const std::string& key, const std::string& value,
                     const std::string& accepted) {
  return key + " = \"" + value + "\" is not accepted: it must be " + accepted;
}

std::string validate_numbers(const Settings& settings) {
  std::map<NodeId, std::string> names;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const NodeEntry& node = settings.nodes[i];
    const std::string number =
        "nodes[" + std::to_string(i) + "].number = " + std::to_string(node.number.value);
    if (node.number.value < 1 || node.number.value > wire::kNodeMax) {
      return number + " is not accepted: it must be 1 to " + std::to_string(wire::kNodeMax);
    }
    const auto [known, fresh] = names.emplace(node.number, node.name);
    if (!fresh) {
      return number + " is not accepted: \"" + known->second + "\" and \"" + node.name +
             "\" must have different numbers; a node without one has its place in the list";
    }
  }
  return {};
}

std::string validate_nodes(const Settings& settings) {
  const std::string key = "nodes has " + std::to_string(settings.nodes.size()) + " entries: ";
  if (settings.nodes.empty() || settings.nodes.size() > wire::kMembersMax) {
    return key + "it must have 1 to " + std::to_string(wire::kMembersMax);
  }
  if (settings.nodes_max < 1 || settings.nodes_max > wire::kMembersMax) {
    return "nodes_max is " + std::to_string(settings.nodes_max) + "; accepted is 1 to " +
           std::to_string(wire::kMembersMax);
  }
  if (settings.nodes.size() > settings.nodes_max) {
    return key + "accepted are up to nodes_max, which is " + std::to_string(settings.nodes_max) +
           " and the same on all nodes";
  }
  std::set<std::string> names;
  std::string list;
  for (std::size_t i = 0; i < settings.nodes.size(); ++i) {
    const NodeEntry& node = settings.nodes[i];
    const std::string name = "nodes[" + std::to_string(i) + "].name";
    if (!trace::Names::valid(node.name))
      return complain(name, node.name, std::string(kAcceptedName));
    if (!names.insert(node.name).second) {
      return complain(name, node.name, "different from the names before it");
    }
    list += (list.empty() ? "" : ", ") + node.name;
  }
  if (std::string wrong = validate_numbers(settings); !wrong.empty()) return wrong;
  if (settings.self() == NodeId{}) {
    return complain("name", settings.name, "one of the names in nodes: " + list);
  }
  return {};
}

std::string validate_keys(const Settings& settings) {
  if (settings.insecure && settings.keys) {
    return "insecure = true and key_file = \"" + settings.key_file +
           "\" are not accepted together: leave out one of them";
  }
  if (settings.insecure) return {};
  if (!settings.keys) {
    return "key_file is missing: it must be a file of `peal keygen`, the same on all nodes, or "
           "insecure must be true, and then whoever reaches the network can read and forge "
           "everything";
  }
  const std::uint32_t longer = sealed_data_longer(*settings.order);
  const std::uint32_t least = 256 + longer;
  if (settings.ring.packet_bytes_max >= least) return {};
  return "packet_bytes_max = " + std::to_string(settings.ring.packet_bytes_max) +
         " is not accepted with a key_file: it must be at least " + std::to_string(least) +
         ", as a sealed packet is longer by " + std::to_string(longer);
}

std::string validate_acceptors(const Settings& settings) {
  const std::vector<NodeId>& acceptors = settings.acceptors;
  if (acceptors.empty()) return {};
  std::string list;
  std::set<NodeId> seen;
  for (const NodeId node : acceptors) {
    list += (list.empty() ? "" : ", ") + std::to_string(node.value);
    if (find(settings.nodes, node) == nullptr) {
      return "acceptors has " + std::to_string(node.value) +
             ", which is not accepted: it must be the number of one of nodes";
    }
    if (!seen.insert(node).second) {
      return "acceptors has " + std::to_string(node.value) +
             " twice, which is not accepted: each node votes once";
    }
  }
  if (acceptors.size() > settings.order->traits.acceptors_most) {
    return "acceptors has " + std::to_string(acceptors.size()) +
           " nodes, which is not accepted with order = \"" + std::string(settings.order->name) +
           "\": it must be at most " + std::to_string(settings.order->traits.acceptors_most);
  }
  if (acceptors.size() % 2 == 1) return {};
  return "acceptors = [" + list +
         "] is not accepted: it must be an odd number of nodes, since one more that makes it even "
         "survives no more failures";
}

/// What only ridge has.
std::string validate_ridge(const Settings& settings) {
  const std::string ensembles = "ensembles = " + std::to_string(settings.ensembles);
  if (settings.ensembles < 1 || settings.ensembles > order::ridge::kEnsemblesMax) {
    return ensembles + " is not accepted: it must be 1 to " +
           std::to_string(order::ridge::kEnsemblesMax);
  }
  if (settings.optimistic && settings.ensembles > 1) {
    return "optimistic = true is not accepted with " + ensembles +
           ": leave one of the two out, since several ensembles make no guess";
  }
  if (settings.order->traits.ensembles) return {};
  const std::string end = " is not accepted with order = \"" + std::string(settings.order->name) +
                          "\": leave it out, or set order = \"ridge\"";
  if (settings.dissemination != Dissemination::distributors) {
    return "dissemination = \"" + std::string(dissemination_name(settings.dissemination)) + "\"" +
           end;
  }
  if (settings.optimistic) return "optimistic = true" + end;
  if (settings.merging == Merging::rotation) return "merge = \"rotation\"" + end;
  return settings.ensembles == 1 ? std::string() : ensembles + end;
}

/// Votes in memory need no folder, and one ensemble.
std::string validate_storage(const Settings& settings) {
  if (settings.storage == Storage::disk) return {};
  if (!settings.order->traits.quorum) {
    return "storage = \"memory\" is not accepted with order = \"ring\", which has no acceptors: "
           "leave it out, or set order = \"paxos\" or \"ridge\"";
  }
  if (settings.ensembles > 1) {
    return "ensembles = " + std::to_string(settings.ensembles) +
           " is not accepted with storage = \"memory\": leave out one of them";
  }
  if (!settings.domains.empty()) {
    return "domains are not accepted with storage = \"memory\": leave out one of them";
  }
  if (settings.data_dir.empty()) return {};
  return "data_dir is not accepted with storage = \"memory\", which keeps no log: leave out one of "
         "them";
}

/// What only one of the engines has must not be set for another.
std::string validate_order(const Settings& settings) {
  if (std::string wrong = validate_ridge(settings); !wrong.empty()) return wrong;
  if (std::string wrong = validate_domains(settings); !wrong.empty()) return wrong;
  if (settings.order->traits.ensembles) {
    const std::string wrong =
        order::ridge::validate(layout_of(settings), list_of(settings.nodes).nodes);
    if (!wrong.empty()) return wrong;
  }
  if (std::string wrong = validate_storage(settings); !wrong.empty()) return wrong;
  if (!settings.order->traits.quorum) {
    if (settings.streams) {
      return "data = \"streams\" is not accepted with order = \"ring\", which lives from "
             "multicast: leave it out, or set order = \"paxos\" or \"ridge\"";
    }
    const char* key = !settings.acceptors.empty()  ? "acceptors"
                      : !settings.data_dir.empty() ? "data_dir"
                                                   : nullptr;
    if (key == nullptr) return {};
    return std::string(key) +
           " is not accepted with order = \"ring\", which has no acceptors: "
           "leave it out, or set order = \"paxos\" or \"ridge\"";
  }
  const std::string name(settings.order->name);
  if (settings.ring.primary != order::ring::PrimaryRule::none) {
    return "primary = \"majority\" is not accepted with order = \"" + name +
           "\", whose views all have most of the nodes: leave it out";
  }
  if (std::string wrong = validate_acceptors(settings); !wrong.empty()) return wrong;
  if (!votes(settings) || may_vote(settings)) return {};
  return "data_dir is missing: with order = \"" + name + "\", " + settings.name +
         " is one of the acceptors, and must keep what it votes for in a folder of its own (or, on "
         "all nodes, storage = \"memory\")";
}

}  // namespace

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

std::string validate(const Settings& settings) {
  if (!trace::Names::valid(settings.cluster)) {
    return complain("cluster", settings.cluster, std::string(kAcceptedName));
  }
  if (std::string wrong = validate_nodes(settings); !wrong.empty()) return wrong;
  if (std::string wrong = order::ring::validate(settings.ring); !wrong.empty()) return wrong;
  if (std::string wrong = validate_order(settings); !wrong.empty()) return wrong;
  if (std::string wrong = validate_keys(settings); !wrong.empty()) return wrong;
  constexpr std::uint64_t kReceiveBytesMin = 1U << 20;
  if (settings.receive_bytes_max < kReceiveBytesMin) {
    return "receive_bytes_max is " + std::to_string(settings.receive_bytes_max) +
           "; accepted is at least " + std::to_string(kReceiveBytesMin);
  }
  return node::validate(settings.limits, settings.nodes_max);
}

std::string_view dissemination_name(Dissemination dissemination) {
  return dissemination == Dissemination::ring ? "ring" : "distributors";
}

std::string_view merging_name(Merging merging) {
  return merging == Merging::rotation ? "rotation" : "keys";
}

std::vector<NodeId> acceptors_of(const Settings& settings) {
  std::vector<NodeId> acceptors = settings.acceptors;
  if (acceptors.empty()) {
    acceptors = order::paxos::default_acceptors(list_of(settings.nodes).nodes);
  }
  std::sort(acceptors.begin(), acceptors.end());
  return acceptors;
}

bool votes(const Settings& settings) {
  if (!settings.order->traits.quorum) return false;
  const std::vector<NodeId> acceptors = acceptors_of(settings);
  return std::binary_search(acceptors.begin(), acceptors.end(), settings.self()) ||
         votes_in_domain(settings);
}

bool keeps_log(const Settings& settings) {
  return settings.order->traits.quorum && !settings.data_dir.empty();
}

bool may_vote(const Settings& settings) {
  return keeps_log(settings) ||
         (settings.order->traits.quorum && settings.storage == Storage::memory);
}

std::uint32_t default_packet_bytes(bool streams) { return streams ? 16'384 : 1'472; }

std::uint32_t max_gap(const Settings& settings) {
  if (!settings.order->traits.quorum) return settings.ring.max_gap;
  return order::paxos::Options{}.max_gap;
}

Duration pause_of(const Settings& settings) {
  if (!settings.order->traits.quorum) return settings.ring.token_loss / 2;
  return kSuspect / 2;
}

namespace {

void add_ring_rules(const Settings& settings, Digest& rules) {
  for (const auto& each : order::ring::fields()) {
    if (!each.option.cluster_wide) continue;
    if (each.option.kind != order::Option::Kind::word) {
      rules.add(as_bytes_view(each.option.name()));
    }
    rules.add(static_cast<std::uint64_t>(each.get(settings.ring)));
  }
}

void add_quorum_rules(const Settings& settings, Digest& rules) {
  rules.add(as_bytes_view(settings.order->name));
  // Where there is but one, nothing is added: nodes of a release before agree with this one.
  if (settings.dissemination != Dissemination::distributors) {
    rules.add(as_bytes_view(dissemination_name(settings.dissemination)));
  }
  if (settings.ensembles > 1) {
    rules.add(as_bytes_view("ensembles"));
    rules.add(settings.ensembles);
  }
  if (settings.merging == Merging::rotation) rules.add(as_bytes_view("rotation"));
  add_domains(settings, rules);
  if (settings.optimistic) rules.add(as_bytes_view("optimistic"));
  if (settings.storage == Storage::memory) rules.add(as_bytes_view("memory"));
  if (settings.streams) rules.add(as_bytes_view("streams"));
  rules.add(settings.ring.packet_bytes_max);
}

}  // namespace

std::uint64_t cluster_id(const Settings& settings) {
  Digest rules;
  rules.add(settings.nodes_max);
  if (!settings.order->traits.quorum) add_ring_rules(settings, rules);
  if (settings.order->traits.quorum) add_quorum_rules(settings, rules);
  rules.add(settings.limits.message_bytes_max);
  const std::uint64_t name = digest_of(as_bytes_view(settings.cluster));
  return (name << 32U) | (rules.value() & 0xffff'ffffU);
}

std::uint32_t frame_bytes(const Settings& settings) {
  constexpr std::uint32_t kPlain = (wire::kPacketBytesMax + 63U) & ~63U;
  constexpr std::uint32_t kSealed = (wire::kPacketBytesMax - seal::overhead(Lane::control)) & ~63U;
  return settings.keys ? kSealed : kPlain;
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
