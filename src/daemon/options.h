// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "config/settings.h"
#include "io/endpoint.h"
#include "io/tls.h"
#include "session/options.h"

namespace peal::daemon {

/// The TLS port for clients on other machines.
struct TlsDoor {
  io::Endpoint at;
  io::TlsServerOptions tls;
};

/// The configuration of a daemon.
struct Options {
  config::Settings member;    ///< the node; `own_thread` is ignored here
  session::Options sessions;  ///< `domains`, `cluster` to `message_bytes_max`: as in `member`
  std::string socket;         ///< path of the Unix socket
  mode_t socket_mode = 0600;  ///< users with write permission may connect
  std::optional<TlsDoor> tls;
  std::string spool_dir;  ///< an existing folder
};

}  // namespace peal::daemon
