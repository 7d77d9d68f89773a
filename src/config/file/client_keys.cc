// SPDX-License-Identifier: Apache-2.0
// The keys of [clients].

#include <array>
#include <utility>

#include "config/file/keys.h"
#include "config/file/policies.h"

namespace peal::config {
namespace {

using Keys = std::vector<Key<File>>;

constexpr std::int64_t kBytesMax = 1'000'000'000'000'000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kPathMax = 4'000;

/// The key of a whole number; `field` returns the member that stores the number.
template <class Field>
Key<File> client_number(std::string name, std::int64_t least, std::int64_t most, std::string help,
                        Field field) {
  return number_key<File>({"clients", std::move(name), std::move(help)}, least, most, field);
}

Key<File> time_key(std::string name, std::int64_t least_ms, std::int64_t most_ms, std::string help,
                   Duration session::Options::*field) {
  constexpr std::int64_t kMs = 1'000'000;
  Key<File> key{"clients", std::move(name), std::move(help)};
  key.accepted = "a whole number from " + std::to_string(least_ms) + " to " +
                 std::to_string(most_ms) + " (milliseconds)";
  key.set = [=](const Value& value, File& file) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < least_ms || *number > most_ms) return false;
    file.clients.sessions.*field = milliseconds(*number);
    return true;
  };
  key.get = [=](const File& file) {
    return std::to_string((file.clients.sessions.*field).ns / kMs);
  };
  key.normal = key.get(File{});
  return key;
}

Key<File> client_path(std::string name, std::string example, std::string help,
                      std::string Clients::*field) {
  return path_key<File>(
      {"clients", std::move(name), std::move(help)}, kPathMax,
      std::move(example), [field](auto& file) -> auto& { return file.clients.*field; });
}

Key<File> policy_key() {
  Key<File> key{
      "clients", "slow",
      "what happens when a client reads too slowly, unless it asks for another policy when it "
      "joins. \"block\": all senders wait for it. \"spill\": messages beyond the limits go to this "
      "machine's disk and come back in order. \"drop\": messages beyond the limits are dropped, "
      "and the client is told how many. \"evict\": its session ends"};
  key.accepted = kAcceptedPolicy;
  key.set = [](const Value& value, File& file) {
    const auto* text = std::get_if<std::string>(&value);
    const auto policy = text == nullptr ? std::nullopt : parse_policy(*text);
    if (policy) file.clients.sessions.slow.policy = *policy;
    return policy.has_value();
  };
  key.get = [](const File& file) { return quote(policy_name(file.clients.sessions.slow.policy)); };
  key.normal = key.get(File{});
  return key;
}

Key<File> listen_key() {
  Key<File> key{"clients", "listen",
                "where clients of other machines connect, with TLS 1.3 over TCP; needs certificate "
                "and key"};
  key.accepted =
      "an IP address and a port, such as \"10.0.0.1:4900\" or \"[::]:4900\", port 1 to 65535";
  key.example = "\"10.0.0.1:4900\"";
  key.absent = "only the Unix socket";
  key.changes = Changes::never;
  key.set = [](const Value& value, File& file) {
    const auto* text = std::get_if<std::string>(&value);
    const io::Endpoint at =
        text == nullptr ? io::Endpoint{} : io::parse_endpoint(*text, 0).value_or(io::Endpoint{});
    if (at.port == 0 || at.is_multicast()) return false;
    file.clients.listen = at;
    return true;
  };
  key.get = [](const File& file) {
    return file.clients.listen.port == 0 ? std::string()
                                         : quote(io::to_string(file.clients.listen));
  };
  return key;
}

void add_doors(Keys& keys) {
  keys.push_back(listen_key());
  keys.push_back(client_path("certificate", "/etc/peal/node.crt",
                             "this node's certificate, and the intermediate ones, in PEM",
                             &Clients::certificate));
  keys.back().absent = "none";
  keys.push_back(
      client_path("key", "/etc/peal/node.key",
                  "the private key of the certificate, in PEM; nobody but its owner may read it",
                  &Clients::key));
  keys.back().absent = "none";
  keys.push_back(client_path("ca", "/etc/peal/clients-ca.crt",
                             "the authorities whose certificates identify clients, in PEM",
                             &Clients::ca));
  keys.back().absent = "clients of other machines are known by a secret only";
  keys.push_back(client_path("spool_dir", "",
                             "the folder on whose disk messages wait for slow clients. Its files "
                             "have no names, and are gone when the node ends",
                             &Clients::spool_dir));
}

void add_slow(Keys& keys) {
  const auto add = [&](const char* name, std::int64_t least, std::int64_t most, const char* help,
                       auto field) {
    keys.push_back(client_number(name, least, most, help, field));
  };
  keys.push_back(policy_key());
  add(
      "slow_memory_bytes", 65'536, kBytesMax,
      "bytes that may wait in memory for one client in one group, if it does not ask for something "
      "else. The same limits hold for clients that are away for a while",
      [](auto& file) -> auto& { return file.clients.sessions.slow.memory_bytes; });
  add(
      "slow_disk_bytes", 0, kBytesMax, "the same on disk, with \"spill\"",
      [](auto& file) -> auto& { return file.clients.sessions.slow.disk_bytes; });
  add(
      "slow_age_ms", 0, kDayMs,
      "how long the oldest of these may wait, in milliseconds; 0: as long as it takes",
      [](auto& file) -> auto& { return file.clients.sessions.slow.age_ms; });
  add(
      "slow_memory_bytes_max", 65'536, kBytesMax,
      "the most that a client may ask for instead of slow_memory_bytes",
      [](auto& file) -> auto& { return file.clients.sessions.slow_max.memory_bytes; });
  add(
      "slow_disk_bytes_max", 0, kBytesMax,
      "the most that a client may ask for instead of slow_disk_bytes",
      [](auto& file) -> auto& { return file.clients.sessions.slow_max.disk_bytes; });
  add(
      "slow_age_ms_max", 0, kDayMs,
      "the most that a client may ask for instead of slow_age_ms; 0: no bound",
      [](auto& file) -> auto& { return file.clients.sessions.slow_max.age_ms; });
  add(
      "memory_bytes_max", 1 << 20, kBytesMax, "bytes that may wait in memory for all clients",
      [](auto& file) -> auto& { return file.clients.sessions.memory_bytes_max; });
  add(
      "shared_memory_bytes", 0, 0xffff'ffff,
      "bytes of memory in which the local clients of one user read what they are told, so that it "
      "is written once for all of them; 0: none, else at least 1048576. A reload holds for users "
      "who have none yet",
      [](auto& file) -> auto& { return file.clients.sessions.shared_bytes; });
  add(
      "disk_bytes_max", 0, kBytesMax, "and on disk",
      [](auto& file) -> auto& { return file.clients.sessions.disk_bytes_max; });
}

void add_bounds(Keys& keys) {
  const auto add = [&](const char* name, std::int64_t least, std::int64_t most, const char* help,
                       auto field) {
    keys.push_back(client_number(name, least, most, help, field));
  };
  add(
      "sessions_max", 1, 65'536, "clients at one time; those that are away for a while count too",
      [](auto& file) -> auto& { return file.clients.sessions.sessions_max; });
  add(
      "input_bytes_max", 1 << 20, kBytesMax,
      "bytes of messages that clients have begun to send and not ended",
      [](auto& file) -> auto& { return file.clients.sessions.input_bytes_max; });
  add(
      "unsettled_messages_max", 1, 1 << 24, "messages of one client that may be unacknowledged",
      [](auto& file) -> auto& { return file.clients.sessions.unsettled_messages_max; });
  add(
      "unsettled_bytes_max", 65'536, kBytesMax, "the same in bytes",
      [](auto& file) -> auto& { return file.clients.sessions.unsettled_bytes_max; });
  keys.push_back(time_key("keep_ms", 0, kDayMs,
                          "how long a client that lost its connection may stay away before its "
                          "session ends; it may ask for less",
                          &session::Options::keep_max));
  keys.push_back(time_key("hello_ms", 10, 600'000,
                          "how long a new connection may take to say who it is",
                          &session::Options::hello_patience));
  keys.push_back(time_key("ping_ms", 100, 600'000,
                          "how often clients of other machines send a sign of life; one that is "
                          "silent for several times as long is disconnected",
                          &session::Options::ping));
}

}  // namespace

void add_client_keys(Keys& keys) {
  add_doors(keys);
  add_slow(keys);
  add_bounds(keys);
}

}  // namespace peal::config
