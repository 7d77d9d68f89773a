// SPDX-License-Identifier: Apache-2.0
#include "config/file/clients.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "io/fd.h"

namespace peal::config {
namespace {

using Checked = Result<void, std::string>;

Checked together(const std::string& key, const std::string& value, const std::string& rule) {
  return unexpected("clients." + key + " = " + value + " is not accepted: it must " + rule);
}

Checked at_most(const std::string& key, std::uint64_t value, const std::string& other,
                std::uint64_t bound) {
  if (value <= bound) return {};
  return together(key, std::to_string(value),
                  "be at most clients." + other + " = " + std::to_string(bound));
}

/// Reads the secret in a file. The error says why the file is refused.
Result<std::string, std::string> read_secret(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return unexpected("who = " + quote("secret:" + path) + ": " + why);
  };
  const io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    return refuse("cannot be read (" + std::string(std::strerror(errno)) +
                  "): accepted is a file with the secret in its first line");
  }
  if (!S_ISREG(status.st_mode)) return refuse("it is not a file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return refuse("it belongs to user " + std::to_string(status.st_uid) +
                  ", who could change it: `chown " + std::to_string(::geteuid()) + "` it");
  }
  if ((status.st_mode & 077U) != 0) {
    return refuse("others may read or change it: `chmod 600` it");
  }
  std::array<char, wire::kSecretBytesMax + 2> space{};
  const ssize_t bytes = ::read(file.get(), space.data(), space.size());
  if (bytes < 0) return refuse("cannot be read (" + std::string(std::strerror(errno)) + ")");
  std::string secret(space.data(), static_cast<std::size_t>(bytes));
  secret.resize(std::min(secret.find('\n'), secret.size()));
  constexpr std::size_t kSecretBytesMin = 16;
  if (secret.size() < kSecretBytesMin || secret.size() > wire::kSecretBytesMax) {
    return refuse("its first line has " + std::to_string(secret.size()) + " bytes: accepted are " +
                  std::to_string(kSecretBytesMin) + " to " + std::to_string(wire::kSecretBytesMax) +
                  " (`head -c 24 /dev/urandom | base64` makes one)");
  }
  return secret;
}

}  // namespace

Result<void, std::string> validate(const Clients& config) {
  if (config.listen.port != 0 && (config.certificate.empty() || config.key.empty())) {
    return together("listen", quote(io::to_string(config.listen)),
                    std::string("come with clients.") +
                        (config.certificate.empty() ? "certificate" : "key") +
                        ", since clients of other machines use TLS");
  }
  for (const auto& [name, value] : {std::pair{"certificate", &config.certificate},
                                    std::pair{"key", &config.key}, std::pair{"ca", &config.ca}}) {
    if (config.listen.port == 0 && !value->empty()) {
      return together(name, quote(*value), "come with clients.listen");
    }
  }
  const session::Options& limits = config.sessions;
  for (const Checked& checked : {at_most("slow_memory_bytes", limits.slow.memory_bytes,
                                         "slow_memory_bytes_max", limits.slow_max.memory_bytes),
                                 at_most("slow_disk_bytes", limits.slow.disk_bytes,
                                         "slow_disk_bytes_max", limits.slow_max.disk_bytes),
                                 at_most("slow_memory_bytes_max", limits.slow_max.memory_bytes,
                                         "memory_bytes_max", limits.memory_bytes_max),
                                 at_most("slow_disk_bytes_max", limits.slow_max.disk_bytes,
                                         "disk_bytes_max", limits.disk_bytes_max)}) {
    if (!checked) return checked;
  }
  constexpr std::uint32_t kSharedBytesMin = 1U << 20;
  if (limits.shared_bytes > 0 && limits.shared_bytes < kSharedBytesMin) {
    return together("shared_memory_bytes", std::to_string(limits.shared_bytes),
                    "be 0, or at least " + std::to_string(kSharedBytesMin));
  }
  if (limits.slow_max.age_ms != 0 && limits.slow.age_ms == 0) {
    return together("slow_age_ms_max", std::to_string(limits.slow_max.age_ms),
                    "come with clients.slow_age_ms, since 0 there stands for any time");
  }
  if (limits.slow_max.age_ms == 0) return {};
  return at_most("slow_age_ms", limits.slow.age_ms, "slow_age_ms_max", limits.slow_max.age_ms);
}

Result<void, std::string> load_secrets(session::Options& options) {
  const auto load = [](session::Who& who) -> Result<void, std::string> {
    if (who.kind != session::Who::Kind::secret) return {};
    auto secret = read_secret(who.text);
    if (!secret) return unexpected(secret.error());
    who.text = std::move(*secret);
    return {};
  };
  for (session::ClientRule& rule : options.clients) {
    if (auto done = load(rule.who); !done) return done;
  }
  for (session::GroupRule& rule : options.groups) {
    if (auto done = load(rule.who); !done) return done;
  }
  return {};
}

void add_own_rules(session::Options& options, std::uint32_t own_uid) {
  for (const std::uint32_t uid : {own_uid, 0U}) {
    session::ClientRule client;
    client.who = {session::Who::Kind::uid, uid, ""};
    client.sessions_max = options.sessions_max;
    client.groups_max = 1'000'000;
    client.admin = true;
    options.clients.push_back(client);
    session::GroupRule group;
    group.who = client.who;
    group.join = group.send = group.block = true;
    options.groups.push_back(group);
  }
}

}  // namespace peal::config
