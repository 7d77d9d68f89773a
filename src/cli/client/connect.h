// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "peal/client.h"

namespace peal::cli {

/// Why there is no client.
struct NoClient {
  bool absent = false;  ///< no process listens there
  std::string text;     ///< one line
};

/// The message about a node that listens at a socket but does not answer.
std::string silent_text(const std::string& socket);

/// A client of the node at a socket, with these options. Its session ends with its connection: a
/// connection to a socket breaks only if the node is gone, and the session with it.
Result<v0::Client, NoClient> connect_to(const std::string& socket, v0::ClientOptions options);

/// A client of any of the nodes that `to` names (see find_sockets()): the first one that answers.
/// The error is one line, with what to do about it.
Result<v0::Client, std::string> connect_any(const std::string& to,
                                            const v0::ClientOptions& options);

}  // namespace peal::cli
