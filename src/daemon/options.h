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

/// Where clients of other machines come in.
struct TlsDoor {
  io::Endpoint at;
  io::TlsServerOptions tls;
};

/// What a daemon is made from.
struct Options {
  config::Settings member;    ///< the node; `own_thread` means nothing here
  session::Options sessions;  ///< `cluster` to `message_bytes_max` are taken from `member`
  std::string socket;         ///< path of the Unix socket
  mode_t socket_mode = 0600;  ///< who may write may connect
  std::optional<TlsDoor> tls;
  std::string spool_dir;  ///< a folder that exists
};

}  // namespace peal::daemon
