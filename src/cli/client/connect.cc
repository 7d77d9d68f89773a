// SPDX-License-Identifier: Apache-2.0
#include "cli/client/connect.h"

#include "cli/node/cluster_dir.h"

namespace peal::cli {

std::string silent_text(const std::string& socket) {
  return "the node at " + socket +
         " does not answer: it is stopped (then `kill -CONT` it), or has too much to do";
}

Result<v0::Client, NoClient> connect_to(const std::string& socket, v0::ClientOptions options) {
  options.daemon = "unix:" + socket;
  options.keep = std::chrono::milliseconds(0);
  auto client = v0::Client::connect(options);
  if (client) return std::move(*client);
  const v0::Error& why = client.error();
  switch (why.code) {
    case v0::ErrorCode::unreachable: return unexpected(NoClient{true, "no node runs at " + socket});
    case v0::ErrorCode::timed_out: return unexpected(NoClient{false, silent_text(socket)});
    case v0::ErrorCode::not_permitted:
      return unexpected(NoClient{false, why.message +
                                            ": accepted are the user who runs the node, root, and "
                                            "whom a [[client]] of its configuration lets in"});
    default: return unexpected(NoClient{false, why.message});
  }
}

Result<v0::Client, std::string> connect_any(const std::string& to,
                                            const v0::ClientOptions& options) {
  const auto sockets = find_sockets(to);
  if (!sockets) return unexpected(sockets.error());
  NoClient first;
  for (const std::string& path : *sockets) {
    auto client = connect_to(path, options);
    if (client) return std::move(*client);
    if (first.text.empty()) first = std::move(client.error());
  }
  if (first.absent) {
    first.text +=
        ": start it with `peal node --config FILE --name NAME`, or a cluster with `peal up`";
  }
  return unexpected(std::move(first.text));
}

}  // namespace peal::cli
