// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "io/endpoint.h"
#include "session/options.h"

namespace peal::config {

/// The part of the configuration that concerns clients: [clients], [[client]] and [[group]].
struct Clients {
  io::Endpoint listen;      ///< TLS over TCP; port 0: off
  std::string certificate;  ///< certificate, key and ca: paths of PEM files
  std::string key;
  std::string ca;                      ///< empty: no certificate of a client is requested
  std::string spool_dir = "/var/tmp";  ///< folder of spilled messages
  /// Limits and rules come from the file; the node's settings determine the other options.
  session::Options sessions;
};

/// Checks the rules between keys of [clients]. The error is one line that names the key, the value
/// and what is accepted.
Result<void, std::string> validate(const Clients& clients);

/// In each rule about a secret, replaces the path of the secret's file by the first line of that
/// file. The file must be readable by its owner only. The error is one line.
Result<void, std::string> load_secrets(session::Options& options);

/// Appends rules after the rules of the file: the user of the daemon, `own_uid`, and root may do
/// everything on the Unix socket.
void add_own_rules(session::Options& options, std::uint32_t own_uid);

}  // namespace peal::config
