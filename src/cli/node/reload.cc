// SPDX-License-Identifier: Apache-2.0
// `peal reload`: nodes read their configuration files again.
#include <chrono>
#include <cstdio>

#include "cli/client/connect.h"
#include "cli/commands.h"
#include "cli/node/cluster_dir.h"

namespace peal::cli {
namespace {

/// Time limit of a reload. The node reads files with rules, keys and certificates, but does not
/// wait for lookups of names.
constexpr std::chrono::milliseconds kPatience(5'000);

/// The answer of the node at `socket`, or the reason why there is no answer.
Result<std::string, std::string> reload_one(const std::string& socket) {
  v0::ClientOptions options;
  options.connect_timeout = kPatience;
  auto client = connect_to(socket, options);
  if (!client) return unexpected(client.error().text);
  auto answer = client->ask("reload", kPatience);
  if (answer) return answer.value();
  const bool silent = answer.error().code == v0::ErrorCode::timed_out;
  return unexpected(silent ? silent_text(socket) : socket + ": " + answer.error().message);
}

}  // namespace

int run_reload(const ReloadCommand& command) {
  const auto sockets = find_sockets(command.to);
  if (!sockets) return fail(1, "reload: " + sockets.error());
  int status = 0;
  for (const std::string& socket : *sockets) {
    const auto done = reload_one(socket);
    if (done) {
      std::printf("%s: %s\n", socket.c_str(), done->c_str());
    } else {
      status = fail(1, "reload: " + done.error());
    }
  }
  return status;
}

}  // namespace peal::cli
