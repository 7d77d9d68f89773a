// SPDX-License-Identifier: Apache-2.0
#include "config/schema.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/option_keys.h"
#include "wire/frames.h"

namespace peal::config {
namespace {

using order::Traits;
using Keys = std::vector<Key<Settings>>;

constexpr std::size_t kPathMax = 4'000;
constexpr std::string_view kDatas[] = {"datagrams", "streams"};

/// Marks a key whose value must be the same on all nodes while any of them runs.
Key<Settings> cluster_wide(Key<Settings> key) {
  key.cluster_wide = true;
  key.changes = Changes::never;
  return key;
}

Key<Settings> never_changes(Key<Settings> key) {
  key.changes = Changes::never;
  return key;
}

Key<Settings> name_key(KeyText text, std::string example, std::string Settings::*member) {
  return text_key<Settings>(
      std::move(text), std::string(kAcceptedName), std::move(example),
      [](const std::string& typed) { return is_name(typed); },
      [member](auto& settings) -> auto& { return settings.*member; });
}

Key<Settings> settings_path(KeyText text, std::string example, std::string Settings::*member) {
  return path_key<Settings>(
      std::move(text), kPathMax,
      std::move(example), [member](auto& settings) -> auto& { return settings.*member; });
}

void add_seal(Keys& keys) {
  Key<Settings> key_file = settings_path(
      {"", "key_file",
       "the file with the keys that packets between nodes are sealed with, readable by its owner "
       "only: `peal keygen FILE` makes it. After a change of it, `peal "
       "reload` on each node, which then goes on with the new keys"},
      "peal.key", &Settings::key_file);
  key_file.cluster_wide = true;
  key_file.changes = Changes::at_reload;
  key_file.needed = true;
  key_file.absent = "`insecure = true` is needed";
  keys.push_back(std::move(key_file));
  keys.push_back(cluster_wide(flag_key<Settings>(
      {"", "insecure",
       "with true, and no key_file, packets between nodes are neither encrypted nor "
       "authenticated: whoever reaches the network can read and forge everything"},
      [](auto& settings) -> auto& { return settings.insecure; })));
}

Key<Settings> order_key() {
  Key<Settings> key;
  key.name = "order";
  key.accepted = order::engine_names();
  key.normal = quote(order::default_engine().name);
  key.help = "the protocol that orders";
  for (const order::Descriptor* engine : order::engines()) {
    key.help += ". " + quote(engine->name) + ": " + std::string(engine->summary);
  }
  key.help += ". Keys of another protocol's table are refused";
  key.set = [](const Value& value, Settings& to) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && order::take_engine(*text, to.order);
  };
  key.get = [](const Settings& from) { return quote(from.order->name); };
  return cluster_wide(std::move(key));
}

Key<Settings> data_dir_key() {
  Key<Settings> key = never_changes(settings_path(
      {"", "data_dir",
       "on acceptors and nodes that may become one: a folder that is there, belongs to the user "
       "who runs this node, and that others cannot write to (chmod 700), on a disk that keeps what "
       "it has synced. The node keeps its log in data_dir/NAME, and no other cluster or node is "
       "let in there"},
      "/var/lib/peal", &Settings::data_dir));
  key.engines = engines_with(&order::Traits::has_acceptors);
  key.absent = "needed on acceptors, unless votes are in memory";
  return key;
}

void add_top_level(Keys& keys) {
  keys.push_back(cluster_wide(name_key(
      {"", "cluster",
       "name of the cluster. Nodes with another cluster name are ignored, and that is reported"},
      "demo", &Settings::cluster)));
  keys.back().needed = true;
  keys.back().absent = "needed";
  keys.push_back(never_changes(
      name_key({"", "node",
                "which of the [[nodes]] this one is. Leave it out of a file that all nodes share, "
                "and say `peal node --config FILE --name NAME`"},
               "a", &Settings::name)));
  keys.back().absent = "needed, or `--name`";
  add_seal(keys);
  keys.push_back(order_key());
  keys.push_back(data_dir_key());
  keys.push_back(settings_path({"", "trace",
                                "write what the application sees as JSON lines, for `peal check`; "
                                "`--trace` on the command line overrides it"},
                               "/var/tmp/a.trace", &Settings::trace));
  keys.back().absent = "no trace";
  keys.push_back(settings_path(
      {"", "state_dir",
       "a folder in which the node remembers its last start. Needed only where the clock may step "
       "back while the node is down"},
      "/var/lib/peal", &Settings::state_dir));
  keys.back().absent = "the clock alone tells starts apart";
}

bool set_multicast(const Value& value, Settings& to) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  if (*text == "auto" || *text == "off") {
    to.multicast = *text == "auto" ? io::MulticastMode::automatic : io::MulticastMode::off;
    return true;
  }
  const io::Endpoint group = io::parse_endpoint(*text, 0).value_or(io::Endpoint{});
  const bool link_local = group.ip[12] == 224 && group.ip[13] == 0 && group.ip[14] == 0;
  if (group.port == 0 || !group.is_v4() || !group.is_multicast() || link_local) return false;
  to.multicast = io::MulticastMode::group;
  to.group = group;
  return true;
}

std::string multicast_text(const Settings& from) {
  switch (from.multicast) {
    case io::MulticastMode::automatic: return "\"auto\"";
    case io::MulticastMode::off: return "\"off\"";
    case io::MulticastMode::group: break;
  }
  return quote(io::to_string(from.group));
}

Key<Settings> packet_bytes_key() {
  Key<Settings> key = number_key<Settings>(
      {"network", "packet_bytes",
       "largest datagram in bytes, without IP and UDP headers. 1472 fits Ethernet, 8972 fits jumbo "
       "frames; more than the network carries in one piece costs speed. With data = \"streams\" "
       "the default is 16384: there it is the largest packet of a stream"},
      kPacketBytesLeast, wire::kPacketBytesMax,
      [](auto& settings) -> auto& { return settings.packet_bytes; });
  key.normal = std::to_string(packet_bytes(Settings{}));
  key.get = [](const Settings& from) {
    return from.packet_bytes == 0 ? std::string() : std::to_string(from.packet_bytes);
  };
  return key;
}

void add_network(Keys& keys) {
  Key<Settings> multicast;
  multicast.table = "network";
  multicast.name = "multicast";
  multicast.accepted =
      "\"auto\", \"off\" or a group and port such as \"239.192.7.1:4800\", group 224.0.1.0 to "
      "239.255.255.255, port 1 to 65535";
  multicast.normal = "\"auto\"";
  multicast.help =
      "how data reach the other nodes. \"auto\": by IP multicast to a group that follows from the "
      "cluster's name, to the nodes for which probes show that it works; the others are each sent "
      "a copy. A group does the same with that group. \"off\": a copy to each node. It says how "
      "this node sends: nodes with another value are understood, and are sent copies";
  multicast.set = &set_multicast;
  multicast.get = &multicast_text;
  keys.push_back(std::move(multicast));
  Key<Settings> data = cluster_wide(word_key<Settings>(
      {"network", "data",
       "how data travel. \"streams\": over a TCP connection from each node to each other one, to "
       "the port above its own, sealed as datagrams are; there is no multicast then. It takes less "
       "processor time for large messages"},
      kDatas, [](auto& settings) -> auto& { return settings.streams; }));
  data.engines = engines_with(&Traits::streams);
  keys.push_back(std::move(data));
  keys.push_back(packet_bytes_key());
}

void add_limits(Keys& keys) {
  keys.push_back(cluster_wide(number_key<Settings>(
      {"limits", "nodes_max",
       "the most nodes that the cluster may have, with those that are added while it runs. Members "
       "of groups have so much less room: three quarters of message_bytes_max, divided by this, "
       "are what the members at one node may take"},
      1, kNodesMax, [](auto& settings) -> auto& { return settings.nodes_max; })));
  keys.push_back(cluster_wide(number_key<Settings>(
      {"limits", "message_bytes_max",
       "the largest message, in bytes; one of a client is 16384 bytes shorter, for names and the "
       "like"},
      kClientsMessageBytesLeast, 1U << 30,
      [](auto& settings) -> auto& { return settings.limits.message_bytes_max; })));
  keys.push_back(number_key<Settings>(
      {"limits", "submit_bytes_max",
       "bytes of messages that may wait to be ordered, at least message_bytes_max; then senders "
       "are not read until there is room"},
      65'536, 1'000'000'000'000,
      [](auto& settings) -> auto& { return settings.limits.submit_bytes_max; }));
  keys.push_back(number_key<Settings>(
      {"limits", "submit_messages_max",
       "messages that may wait to be ordered; then senders are not read until there is room"},
      1, 1U << 24, [](auto& settings) -> auto& { return settings.limits.submit_messages_max; }));
  keys.push_back(number_key<Settings>(
      {"limits", "receive_bytes_max",
       "bytes of delivered messages that may wait for this node's own work; as they fill up, the "
       "cluster slows down"},
      kReceiveBytesLeast, 1'000'000'000'000,
      [](auto& settings) -> auto& { return settings.receive_bytes_max; }));
}

Keys make_keys() {
  Keys keys;
  add_top_level(keys);
  Keys options;
  add_option_keys(options);
  // The engines' keys of the top level follow the other keys of the top level. The engines' tables
  // follow [network].
  const auto tables = std::find_if(options.begin(), options.end(),
                                   [](const Key<Settings>& key) { return !key.table.empty(); });
  keys.insert(keys.end(), options.begin(), tables);
  add_network(keys);
  keys.insert(keys.end(), tables, options.end());
  add_limits(keys);
  return keys;
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::span<const Key<Settings>> keys() {
  static const Keys kKeys = make_keys();
  return kKeys;
}

const Key<Settings>* find_key(std::string_view path) {
  const auto dot = path.find('.');
  const bool top = dot == std::string_view::npos;
  return find_key<Settings>(keys(), top ? "" : path.substr(0, dot),
                            top ? path : path.substr(dot + 1));
}

std::vector<std::string> paths_of(std::string_view name) {
  std::vector<std::string> paths;
  for (const Key<Settings>& key : keys()) {
    if (key.name == name) paths.push_back(key.path());
  }
  return paths;
}

Result<void, std::string> set(Settings& settings, std::string_view path, const Value& value) {
  const Key<Settings>* key = find_key(path);
  if (key == nullptr) {
    const auto dot = path.find('.');
    const std::string_view table = dot == std::string_view::npos ? "" : path.substr(0, dot);
    const std::size_t prefix = table.empty() ? 0 : dot + 1;
    return unexpected(unknown_key(std::string(path.substr(0, prefix)), path.substr(prefix), value,
                                  names_in<Settings>(keys(), table),
                                  paths_of(path.substr(prefix))));
  }
  if (!key->set(value, settings)) return unexpected(key->refusal(value));
  return {};
}

std::vector<std::string> cluster_wide_texts() {
  constexpr std::ptrdiff_t kMany = 5;
  const auto is_time = [](const Key<Settings>& key) {
    return key.cluster_wide && key.name.ends_with("_ms");
  };
  std::vector<std::string> texts;
  for (const Key<Settings>& key : keys()) {
    if (!key.cluster_wide || key.changes != Changes::never || key.path() == "cluster") continue;
    const auto times = std::count_if(keys().begin(), keys().end(), [&](const auto& each) {
      return each.table == key.table && is_time(each);
    });
    const bool together = is_time(key) && times >= kMany;
    std::string text = together ? "times in [" + key.table + "]" : key.path();
    if (texts.empty() || texts.back() != text) texts.push_back(std::move(text));
  }
  texts.emplace_back("[[domain]]");
  return texts;
}

std::string_view acceptors_key() {
  for (const order::Descriptor* engine : order::engines()) {
    for (const order::Option& option : engine->options()) {
      if (option.kind == order::Option::Kind::acceptors) return option.key;
    }
  }
  return {};
}

std::string for_message(const std::string& text) {
  const bool quoted = text.size() >= 2 && text.front() == '"';
  return quoted ? quote(std::string_view(text).substr(1, text.size() - 2)) : text;
}

namespace {
template <class Test>
std::vector<const order::Descriptor*> engines_where(Test passes) {
  std::vector<const order::Descriptor*> found;
  for (const order::Descriptor* engine : order::engines()) {
    if (passes(*engine)) found.push_back(engine);
  }
  return found;
}
}  // namespace

std::vector<const order::Descriptor*> engines_with(bool Traits::*trait) {
  return engines_where([trait](const order::Descriptor& each) { return each.traits.*trait; });
}

std::vector<const order::Descriptor*> engines_with(bool (order::Traits::*test)() const) {
  return engines_where([test](const order::Descriptor& each) { return (each.traits.*test)(); });
}

std::string clash(const std::string& what, const order::Descriptor& order,
                  std::span<const order::Descriptor* const> engines, std::string_view reason) {
  std::string text = what + " does not go with order = " + quote(order.name);
  if (&order == &order::default_engine()) text += ", the default";
  text += ": leave it out";
  if (!reason.empty()) text += ", " + std::string(reason);
  return text + ", or set order = " + order::engine_names(engines);
}

Result<void, std::string> validate_engines(const Settings& settings) {
  for (const Key<Settings>& key : keys()) {
    if (is_of(key, settings.order)) continue;
    const std::string text = key.get(settings);
    const bool changes_nothing = text == key.normal && key.refused_elsewhere.empty();
    if (text.empty() || changes_nothing) continue;
    return unexpected(clash(key.path() + " = " + for_message(text), *settings.order, key.engines,
                            key.refused_elsewhere));
  }
  return {};
}

}  // namespace peal::config
