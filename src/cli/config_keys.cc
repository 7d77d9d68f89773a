// SPDX-License-Identifier: Apache-2.0
#include "cli/config_keys.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "cli/text.h"

namespace peal::cli {
namespace {

using order::Option;
using order::ring::Options;
using order::ring::PrimaryRule;

std::optional<double> as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value); real != nullptr && std::isfinite(*real)) {
    return *real;
  }
  return std::nullopt;
}

/// The help of an option as a sentence.
std::string sentence(const Option& option) {
  std::string text(option.help);
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  // In a file the tuning value has a name.
  const std::string number = std::to_string(Options::kAutoWindow);
  if (const auto at = text.find(number); at != std::string::npos) {
    text.replace(at, number.size(), "\"auto\"");
  }
  return text + ".";
}

/// The number that a file means; nothing if it is none, or not of the option's kind.
std::optional<std::int64_t> number_of(const Option& option, const Value& value) {
  if (option.kind == Option::Kind::duration) {
    const auto number = as_number(value);
    if (!number) return std::nullopt;
    const double exact = *number * static_cast<double>(option.unit());
    // Before it is rounded: what is just outside stays there.
    if (exact < static_cast<double>(option.least) || exact > static_cast<double>(option.most)) {
      return std::nullopt;
    }
    return std::llround(exact);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text == "auto" ? option.automatic : std::nullopt;
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr || *number == option.automatic) return std::nullopt;
  return *number;
}

Key option_key(const order::Field<Options>& field) {
  const Option& option = field.option;
  Key key;
  key.table = option.key.substr(0, option.key.find('.'));
  key.name = option.name();
  key.accepted = order::accepted_by(option);
  key.normal = order::text_of(option, option.normal);
  key.help = sentence(option);
  key.set = [field](const Value& value, NodeConfig& config) {
    const auto number = number_of(field.option, value);
    if (!number || !field.option.accepts(*number)) return false;
    field.set(config.ring, *number);
    return true;
  };
  return key;
}

template <class T>
Key limit_key(std::string name, std::int64_t minimum, std::int64_t maximum, T normal,
              std::string help, std::function<void(NodeConfig&, T)> store) {
  Key key;
  key.table = "limits";
  key.name = std::move(name);
  key.accepted =
      "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
  key.normal = std::to_string(normal);
  key.help = std::move(help);
  key.set = [minimum, maximum, store = std::move(store)](const Value& value, NodeConfig& config) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < minimum || *number > maximum) return false;
    store(config, static_cast<T>(*number));
    return true;
  };
  return key;
}

bool is_path(const std::string& text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && text.find('\0') == std::string::npos;
}

void add_seal(std::vector<Key>& rows) {
  rows.push_back(text_key(
      "", "key_file", "a path of 1 to 4000 bytes", "",
      "The file with the keys that packets between nodes are sealed with, the same on all nodes, "
      "readable by its owner only: `peal keygen FILE` makes it. After a change of it, `kill -HUP` "
      "the "
      "node, which then goes on with the new keys.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_path(text, 4'000)) return false;
        config.key_file = text;
        return true;
      }));
  rows.back().example = "\"peal.key\"";
  rows.push_back(truth_key(
      "", "insecure",
      "With true, and no key_file, packets between nodes are neither encrypted nor authenticated: "
      "whoever reaches the network can read and forge everything. The same on all nodes.",
      &NodeConfig::insecure));
}

void add_top_level(std::vector<Key>& rows) {
  rows.push_back(text_key(
      "", "cluster", std::string(kAcceptedName), "",
      "Name of the cluster. Nodes with another cluster name are ignored, and that is reported.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_name(text)) return false;
        config.cluster = text;
        return true;
      }));
  rows.back().example = "\"demo\"";
  rows.push_back(text_key(
      "", "node", std::string(kAcceptedName), "",
      "Which of the [[nodes]] this one is. Leave it out of a file that all nodes share, and say "
      "`peal node --config FILE --name NAME`.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_name(text)) return false;
        config.node = text;
        return true;
      }));
  rows.back().example = "\"a\"";
  add_seal(rows);
  rows.push_back(text_key(
      "", "primary", "\"none\" or \"majority\"", "\"none\"",
      "With \"majority\", each view says whether it may act for the whole cluster: at most one "
      "view at a time holds more than half of the nodes. The same on all nodes.",
      [](const std::string& text, NodeConfig& config) {
        if (text != "none" && text != "majority") return false;
        config.ring.primary = text == "none" ? PrimaryRule::none : PrimaryRule::majority;
        return true;
      }));
  rows.push_back(text_key(
      "", "socket", "a path of 1 to 100 bytes", "",
      "The Unix socket that `peal send`, `peal recv` and `peal status` use. Without it: NAME.sock "
      "beside this file.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_path(text, 100)) return false;
        config.socket = text;
        return true;
      }));
  rows.back().example = "\"/run/peal/a.sock\"";
  rows.push_back(text_key(
      "", "trace", "a path of 1 to 4000 bytes", "",
      "Write what the application sees as JSON lines, for `peal check`. Without it: no trace.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_path(text, 4'000)) return false;
        config.trace = text;
        return true;
      }));
  rows.back().example = "\"/var/tmp/a.trace\"";
  rows.push_back(text_key(
      "", "state_dir", "a path of 1 to 4000 bytes", "",
      "A folder in which the node remembers its last start. Needed only where the clock may step "
      "back while the node is down. Without it: the clock alone tells starts apart.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_path(text, 4'000)) return false;
        config.state_dir = text;
        return true;
      }));
  rows.back().example = "\"/var/lib/peal\"";
}

constexpr const char* kAcceptedAcceptors =
    "an odd number of numbers of [[nodes]], each once, such as [1, 2, 3]";

void add_order(std::vector<Key>& rows) {
  rows.push_back(text_key(
      "", "order", order::engine_names(), "\"ring\"",
      "The protocol that orders. With \"ring\", the members of each side of a partition go on by "
      "themselves, and nothing is written to disks. With \"paxos\", nothing is ordered without a "
      "majority of acceptors, nodes that keep their votes on disk: what was delivered anywhere "
      "stays ordered, even if all nodes lose power at once. \"ridge\" is the same, but nodes send "
      "messages on from one to the next: for networks without multicast, and many nodes. [ring] "
      "and primary are left out with both. The same on all nodes.",
      [](const std::string& text, NodeConfig& config) {
        return order::take_engine(text, config.order);
      }));
  rows.push_back(text_key(
      "", "data_dir", "a path of 1 to 4000 bytes", "",
      "With \"paxos\" and \"ridge\", on acceptors and nodes that may become one: a folder that is "
      "there, belongs to the user who runs this node, and that others cannot write to (chmod 700), "
      "on a disk that keeps what it has synced. "
      "The node keeps its log in data_dir/NAME, and no other cluster or node is let in there. A "
      "node that has lost its log must not come back with an empty one: it would vote against what "
      "it has promised.",
      [](const std::string& text, NodeConfig& config) {
        if (!is_path(text, 4'000)) return false;
        config.data_dir = text;
        return true;
      }));
  rows.back().example = "\"/var/lib/peal\"";
}

void add_paxos(std::vector<Key>& rows) {
  Key acceptors;
  acceptors.table = "paxos";
  acceptors.name = "acceptors";
  acceptors.accepted = kAcceptedAcceptors;
  acceptors.example = "[1, 2, 3]";
  acceptors.help =
      "Which nodes vote, by their numbers; most of them must be there for anything to be ordered. "
      "The same on all nodes; peal reload changes it, as it changes the list of nodes. Without it: "
      "all of up to two nodes, three of up to four, else the five lowest.";
  acceptors.set = [](const Value& value, NodeConfig& config) {
    const auto* numbers = std::get_if<Numbers>(&value);
    if (numbers == nullptr || numbers->size() % 2 == 0 || numbers->size() > kNodesMax) return false;
    for (const std::int64_t number : *numbers) {
      if (number < 1 || number > kNodeNumberMax) return false;
      if (std::count(numbers->begin(), numbers->end(), number) > 1) return false;
    }
    config.acceptors.assign(numbers->begin(), numbers->end());
    return true;
  };
  rows.push_back(std::move(acceptors));
  rows.push_back(text_key(
      "paxos", "storage", kStorages, "\"disk\"",
      "Where acceptors keep their votes. \"disk\": in data_dir; what was ordered outlives all "
      "crashes. \"memory\": in their processes alone, without data_dir, which is faster. An "
      "acceptor "
      "that restarts has then lost its votes, and is taken in anew by the others, as long as most "
      "of "
      "them kept theirs. If most are lost at once nothing is ordered any more: stop all nodes, "
      "then "
      "start them; they begin anew, and what was ordered is gone. The first start waits for all "
      "acceptors. Never start nodes that were taken out of the list with a file that still has the "
      "old one. The same on all nodes.",
      [](const std::string& text, NodeConfig& config) {
        return take_named(storage_of_name(text), config.storage);
      }));
}

void add_network(std::vector<Key>& rows) {
  rows.push_back(text_key(
      "network", "multicast",
      "\"auto\", \"off\" or a group and port such as \"239.192.7.1:4800\", group 224.0.1.0 to "
      "239.255.255.255, port 1 to 65535",
      "\"auto\"",
      "How data reach the other nodes: by IP multicast to this group, or one copy per node "
      "(\"off\"). \"auto\" picks a group from the cluster's name where multicast works. "
      "Nodes with another value are sent copies.",
      [](const std::string& text, NodeConfig& config) {
        if (text == "auto" || text == "off") {
          config.multicast = text == "auto" ? Multicast::automatic : Multicast::off;
          return true;
        }
        const io::Endpoint group = io::parse_endpoint(text, 0).value_or(io::Endpoint{});
        const bool link_local = group.ip[12] == 224 && group.ip[13] == 0 && group.ip[14] == 0;
        if (group.port == 0 || !group.is_v4() || !group.is_multicast() || link_local) return false;
        config.multicast = Multicast::group;
        config.multicast_group = group;
        return true;
      }));
  rows.push_back(text_key(
      "network", "data", kDatas, "\"datagrams\"",
      "How data travel. \"streams\", with order \"paxos\" and \"ridge\": over a TCP connection "
      "from each node to each other one, to the port above its own, sealed as datagrams are; there "
      "is no multicast then. It takes less processor time for large messages. The same on all "
      "nodes.",
      [](const std::string& text, NodeConfig& config) {
        return take_named(data_of_name(text), config.data);
      }));
  for (const auto& each : order::ring::fields()) {
    if (each.option.key != "packet_bytes_max") continue;
    rows.push_back(option_key(each));
    rows.back().table = "network";
    rows.back().name = "packet_bytes";
    rows.back().help += " With streams, 16384 is the default.";
  }
}

void add_ring(std::vector<Key>& rows) {
  for (const auto& each : order::ring::fields()) {
    if (!each.option.is_tunable()) continue;
    rows.push_back(option_key(each));
    if (each.option.cluster_wide) rows.back().help += " The same on all nodes.";
  }
}

void add_limits(std::vector<Key>& rows) {
  const NodeConfig normal;
  rows.push_back(limit_key<std::uint32_t>(
      "nodes_max", 1, kNodesMax, normal.nodes_max,
      "The most nodes that the cluster may have, with those that are added while it runs. Members "
      "of groups have so much less room: message_bytes_max, divided by this, is what the members "
      "at one node may take. The same on all nodes.",
      [](NodeConfig& config, std::uint32_t value) { config.nodes_max = value; }));
  rows.push_back(limit_key<std::uint32_t>(
      "message_bytes_max", 2 * session::kMessageOverheadMax, 1U << 30, normal.message_bytes_max,
      "The largest message, in bytes. The same on all nodes.",
      [](NodeConfig& config, std::uint32_t value) { config.message_bytes_max = value; }));
  rows.push_back(limit_key<std::uint64_t>(
      "submit_bytes_max", 65'536, 1'000'000'000'000, normal.submit_bytes_max,
      "Bytes of messages that may wait to be ordered; then senders are not read until there is "
      "room.",
      [](NodeConfig& config, std::uint64_t value) { config.submit_bytes_max = value; }));
  rows.push_back(limit_key<std::uint32_t>(
      "submit_messages_max", 1, 1U << 24, normal.submit_messages_max,
      "Messages that may wait to be ordered; then senders are not read until there is room.",
      [](NodeConfig& config, std::uint32_t value) { config.submit_messages_max = value; }));
  rows.push_back(limit_key<std::uint64_t>(
      "receive_bytes_max", 1U << 20, 1'000'000'000'000, normal.receive_bytes_max,
      "Bytes of delivered messages that may wait for this node's own work; as they fill up, the "
      "ring slows down.",
      [](NodeConfig& config, std::uint64_t value) { config.receive_bytes_max = value; }));
}

std::vector<Key> make_keys() {
  std::vector<Key> rows;
  add_top_level(rows);
  add_order(rows);
  add_network(rows);
  add_ring(rows);
  add_paxos(rows);
  add_ridge_keys(rows);
  add_limits(rows);
  add_client_keys(rows);
  return rows;
}

}  // namespace

std::span<const Key> keys() {
  static const std::vector<Key> rows = make_keys();
  return rows;
}

bool is_node_address(const io::HostPort& address) {
  if (address.port < 1 || address.port > 65'534) return false;
  const auto number = io::endpoint_of(address);
  const bool broadcast = number && number->is_v4() && number->ip[12] >= 224;
  return !number || (!number->is_unspecified() && !number->is_multicast() && !broadcast);
}

}  // namespace peal::cli
