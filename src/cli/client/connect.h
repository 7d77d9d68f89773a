// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "peal/client.h"

namespace peal::cli {

/// Why a client could not connect.
struct NoClient {
  bool absent = false;  ///< no process listens at the socket
  std::string text;     ///< one line
};

/// The error message if a node listens at the socket but does not answer.
std::string silent_text(const std::string& socket);

/// Connects a client to the node at `socket`. This function sets `options.daemon` and
/// `options.keep`. The session ends with its connection. Keeping the session would be useless: a
/// connection to a Unix socket breaks only if the node ends, and then the session is lost anyway.
Result<v0::Client, NoClient> connect_to(const std::string& socket, v0::ClientOptions options);

/// Connects to the first node that answers among the nodes that `to` names (see find_sockets()).
/// The error is one line that names the remedy.
Result<v0::Client, std::string> connect_any(const std::string& to,
                                            const v0::ClientOptions& options);

}  // namespace peal::cli
