// SPDX-License-Identifier: Apache-2.0
// The keys of [clients].

#include <array>
#include <cmath>
#include <utility>

#include "cli/config_keys.h"
#include "cli/policies.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

constexpr std::int64_t kBytesMax = 1'000'000'000'000'000;
constexpr std::int64_t kDayMs = 86'400'000;

/// A whole number; `field` finds where it goes.
template <class Field>
Key number_key(std::string name, std::int64_t minimum, std::int64_t maximum, std::string help,
               Field field) {
  NodeConfig normal;
  Key key;
  key.table = "clients";
  key.name = std::move(name);
  key.accepted =
      "a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
  key.normal = std::to_string(field(normal));
  key.help = std::move(help);
  key.set = [minimum, maximum, field](const Value& value, NodeConfig& config) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < minimum || *number > maximum) return false;
    auto& target = field(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(*number);
    return true;
  };
  return key;
}

Key time_key(std::string name, std::int64_t minimum_ms, std::int64_t maximum_ms, std::string help,
             Duration session::Options::*field) {
  Key key;
  key.table = "clients";
  key.name = std::move(name);
  key.accepted = "a whole number from " + std::to_string(minimum_ms) + " to " +
                 std::to_string(maximum_ms) + " (milliseconds)";
  key.normal = std::to_string((session::Options{}.*field).ns / 1'000'000);
  key.help = std::move(help);
  key.set = [=](const Value& value, NodeConfig& config) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < minimum_ms || *number > maximum_ms) return false;
    config.clients.sessions.*field = milliseconds(*number);
    return true;
  };
  return key;
}

Key path_key(std::string name, std::string normal, std::string example, std::string help,
             std::string ClientsConfig::*field) {
  Key key;
  key.table = "clients";
  key.name = std::move(name);
  key.accepted = "a path of 1 to 4000 bytes";
  key.normal = std::move(normal);
  key.example = std::move(example);
  key.help = std::move(help);
  key.set = [field](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    const bool good = text != nullptr && !text->empty() && text->size() <= 4'000 &&
                      text->find('\0') == std::string::npos;
    if (good) config.clients.*field = *text;
    return good;
  };
  return key;
}

Key policy_key() {
  return text_key(
      "clients", "slow", kAcceptedPolicy, "\"spill\"",
      "What happens to a client that does not take what it is sent, if it does not ask for "
      "something else when it joins: everybody who sends waits for it (block), what is too much "
      "goes to this machine's disk and comes back in order (spill), what is too much is left out "
      "and the client is told so (drop), or its session ends (evict).",
      [](const std::string& text, NodeConfig& config) {
        return take_named(parse_policy(text), config.clients.sessions.slow.policy);
      });
}

void add_doors(std::vector<Key>& rows) {
  Key listen;
  listen.table = "clients";
  listen.name = "listen";
  listen.accepted =
      "an IP address and a port, such as \"10.0.0.1:4900\" or \"[::]:4900\", port 1 to 65535";
  listen.example = "\"10.0.0.1:4900\"";
  listen.help =
      "Where clients of other machines connect, with TLS 1.3 over TCP; needs certificate and key. "
      "Without it: only the Unix socket.";
  listen.set = [](const Value& value, NodeConfig& config) {
    const auto* text = std::get_if<std::string>(&value);
    const io::Endpoint at =
        text == nullptr ? io::Endpoint{} : io::parse_endpoint(*text, 0).value_or(io::Endpoint{});
    if (at.port == 0 || at.is_multicast()) return false;
    config.clients.listen = at;
    return true;
  };
  rows.push_back(std::move(listen));
  rows.push_back(path_key("certificate", "", "\"/etc/peal/node.crt\"",
                          "This node's certificate, and those between it and its authority, in "
                          "PEM.",
                          &ClientsConfig::certificate));
  rows.push_back(path_key("key", "", "\"/etc/peal/node.key\"",
                          "The private key of the certificate, in PEM; nobody but its owner may "
                          "read it.",
                          &ClientsConfig::key));
  rows.push_back(path_key("ca", "", "\"/etc/peal/clients-ca.crt\"",
                          "The authorities whose certificates identify clients, in PEM. Without "
                          "it: clients of other machines are known by a secret only.",
                          &ClientsConfig::ca));
  rows.push_back(path_key("spool_dir", quote(kSpoolDir), "",
                          "The folder on whose disk messages wait for slow clients. Its files have "
                          "no names, and are gone when the node ends.",
                          &ClientsConfig::spool_dir));
}

void add_slow(std::vector<Key>& rows) {
  const auto add = [&](const char* name, std::int64_t minimum, std::int64_t maximum,
                       const char* help, auto field) {
    rows.push_back(number_key(name, minimum, maximum, help, field));
  };
  rows.push_back(policy_key());
  add(
      "slow_memory_bytes", 65'536, kBytesMax,
      "Bytes that may wait in memory for one client in one group, if it does not ask for something "
      "else. The same limits hold for clients that are away for a while.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow.memory_bytes; });
  add(
      "slow_disk_bytes", 0, kBytesMax, "And on disk, with \"spill\".",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow.disk_bytes; });
  add(
      "slow_age_ms", 0, kDayMs,
      "How long the oldest of these may wait, in milliseconds; 0: as long as it takes.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow.age_ms; });
  add(
      "slow_memory_bytes_max", 65'536, kBytesMax,
      "The most that a client may ask for instead of slow_memory_bytes.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow_max.memory_bytes; });
  add(
      "slow_disk_bytes_max", 0, kBytesMax,
      "The most that a client may ask for instead of slow_disk_bytes.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow_max.disk_bytes; });
  add(
      "slow_age_ms_max", 0, kDayMs,
      "The most that a client may ask for instead of slow_age_ms; 0: no bound.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.slow_max.age_ms; });
  add(
      "memory_bytes_max", 1 << 20, kBytesMax, "Bytes that may wait in memory for all clients.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.memory_bytes_max; });
  add(
      "shared_memory_bytes", 0, 0xffff'ffff,
      "Bytes of memory in which the local clients of one user read what they are told, so that it "
      "is written once for all of them; 0: none, else at least 1048576. A reload holds for users "
      "who have none yet.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.shared_bytes; });
  add(
      "disk_bytes_max", 0, kBytesMax, "And on disk.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.disk_bytes_max; });
}

void add_bounds(std::vector<Key>& rows) {
  const auto add = [&](const char* name, std::int64_t minimum, std::int64_t maximum,
                       const char* help, auto field) {
    rows.push_back(number_key(name, minimum, maximum, help, field));
  };
  add(
      "sessions_max", 1, 65'536, "Clients at one time; those that are away for a while count too.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.sessions_max; });
  add(
      "input_bytes_max", 1 << 20, kBytesMax,
      "Bytes of messages that clients have begun to send and not ended.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.input_bytes_max; });
  add(
      "unsettled_messages_max", 1, 1 << 24,
      "Messages that one client may have sent and not heard of again.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.unsettled_messages_max; });
  add(
      "unsettled_bytes_max", 65'536, kBytesMax, "The same in bytes.",
      [](NodeConfig & config) -> auto& { return config.clients.sessions.unsettled_bytes_max; });
  rows.push_back(time_key("keep_ms", 0, kDayMs,
                          "How long a client that lost its connection may stay away before its "
                          "session ends; it may ask for less.",
                          &session::Options::keep_max));
  rows.push_back(time_key("hello_ms", 10, 600'000,
                          "How long a new connection may take to say who it is.",
                          &session::Options::hello_patience));
  rows.push_back(time_key("ping_ms", 100, 600'000,
                          "How often clients of other machines say that they are there; one that "
                          "is silent for some times as long is given up.",
                          &session::Options::ping));
}

}  // namespace

void add_client_keys(std::vector<Key>& rows) {
  add_doors(rows);
  add_slow(rows);
  add_bounds(rows);
}

}  // namespace peal::cli
