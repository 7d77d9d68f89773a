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

/// A client of the node at `socket`, with `options`, of which this function sets `daemon` and
/// `keep`. The session ends with its connection. Keeping the session would be useless: a
/// connection to a Unix socket breaks only if the node ends, and then the session is lost anyway.
Result<v0::Client, NoClient> connect_to(const std::string& socket, v0::ClientOptions options);

/// Of the nodes that `to` names (see find_sockets()), connects to the first one that answers. The
/// error is one line, with what to do about it.
Result<v0::Client, std::string> connect_any(const std::string& to,
                                            const v0::ClientOptions& options);

}  // namespace peal::cli
