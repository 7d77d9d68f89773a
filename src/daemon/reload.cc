// SPDX-License-Identifier: Apache-2.0
#include "daemon/reload.h"

#include <unistd.h>

#include "base/text.h"
#include "config/nodes.h"
#include "daemon/daemon.h"
#include "seal/key.h"

namespace peal::daemon {
namespace {

/// The file's rules for clients, with their secrets loaded, and the rules that always apply.
Result<session::Options, std::string> client_rules(const config::File& file) {
  session::Options options = file.clients.sessions;
  if (auto loaded = config::load_secrets(options); !loaded) {
    return unexpected(file.path + ": " + loaded.error());
  }
  config::add_own_rules(options, ::geteuid());
  return options;
}

}  // namespace

Result<Options, std::string> options_of(const config::File& file) {
  Options options;
  options.member = file.settings;
  if (auto keys = config::load_keys(options.member); !keys) {
    return unexpected(file.path + ": " + keys.error());
  }
  auto rules = client_rules(file);
  if (!rules) return unexpected(rules.error());
  options.sessions = std::move(*rules);
  options.socket = file.socket;
  // Rules in the file decide who may connect; without rules, only the owner and root may.
  const config::Clients& clients = file.clients;
  options.socket_mode = clients.sessions.clients.empty() ? 0600 : 0666;
  options.spool_dir = clients.spool_dir;
  if (clients.listen.port != 0) {
    TlsDoor door;
    door.at = clients.listen;
    door.tls.certificate = clients.certificate;
    door.tls.key = clients.key;
    door.tls.client_ca = clients.ca;
    door.tls.clients =
        clients.ca.empty() ? io::ClientCertificates::none : io::ClientCertificates::optional;
    options.tls = std::move(door);
  }
  return options;
}

Result<std::string, std::string> RunningFile::reload(Daemon& daemon) {
  auto file = config::read_file(path_, name_);
  if (!file) return unexpected(file.error());
  if (std::string fixed = config::fixed_difference(file_, *file); !fixed.empty()) {
    return unexpected(file->path + ": " + fixed +
                      " cannot change while the node runs: restart the node, or undo the change");
  }
  auto options = options_of(*file);
  if (!options) return unexpected(options.error());
  auto taken = daemon.reconfigure(*options);
  if (!taken) return unexpected(file->path + ": " + taken.error().message);
  file_.clients = file->clients;
  file_.settings = with(file_.settings, config::listing_of(file->settings));
  const auto& keys = options->member.keys;
  return keys ? "key " + seal::to_text(keys->sending) : std::string("insecure");
}

std::string RunningFile::placed(const std::string& problem) const {
  const std::string key = problem.substr(0, problem.find(": "));
  if (key == "nodes.address") {
    const config::Settings& settings = file_.settings;
    return file_.path + ":" + std::to_string(file_.line_of(config::address_line(settings.name))) +
           ": nodes.address = " + quote(io::to_string(settings.own().address)) +
           problem.substr(key.size());
  }
  if (file_.lines.count(key) == 0) return file_.path + ": " + problem;
  return file_.place_of(key) + problem.substr(key.size());
}

}  // namespace peal::daemon
