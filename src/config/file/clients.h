// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "io/endpoint.h"
#include "session/options.h"

namespace peal::config {

/// What the configuration says of clients: [clients], [[client]] and [[group]].
struct Clients {
  io::Endpoint listen;      ///< TLS over TCP; port 0: not at all
  std::string certificate;  ///< files in PEM
  std::string key;
  std::string ca;                      ///< empty: clients show no certificate
  std::string spool_dir = "/var/tmp";  ///< where spilled messages wait
  session::Options sessions;           ///< limits and rules; the rest comes from other keys
};

/// The rules between keys of [clients]. The error is one line that names the key, the value and
/// what is accepted.
Result<void, std::string> validate(const Clients& clients);

/// Puts the first line of its file in the place of each secret: until then a rule has the path.
/// Only its owner may be able to read such a file. The error is one line.
Result<void, std::string> load_secrets(session::Options& options);

/// Adds, behind the rules of the file, that the user who runs the daemon and root may do everything
/// on the Unix socket.
void add_own_rules(session::Options& options, std::uint32_t own_uid);

}  // namespace peal::config
