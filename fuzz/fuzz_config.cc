// SPDX-License-Identifier: Apache-2.0
// Any bytes, to the parser of configuration files. What is accepted must be a configuration that a
// node can be made from; what is not gets one line.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/config.h"
#include "cli/config_keys.h"
#include "cli/config_rules.h"

namespace {

namespace cli = peal::cli;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "the parser broke its promise: %s\n", what);
  std::abort();
}

void check_accepted(const cli::NodeConfig& config) {
  require(cli::is_name(config.cluster), "cluster is a name");
  require(!config.nodes.empty() && config.nodes.size() <= cli::kNodesMax, "1 to 128 nodes");
  bool self = false;
  for (const cli::NodeEntry& entry : config.nodes) {
    require(cli::is_name(entry.name), "node names are names");
    require(cli::is_node_address(entry.address), "addresses are those of nodes");
    require(peal::io::parse_host_port(peal::io::to_string(entry.address), 0) == entry.address,
            "an address reads back as itself");
    self = self || entry.name == config.node;
  }
  require(self, "this node is one of the nodes");
  require(peal::order::ring::validate(config.ring).empty(), "tunables obey their rules");
  require(config.message_bytes_max >= 1, "messages have room");
  require(config.submit_bytes_max >= config.message_bytes_max, "one message fits the queue");
  require(config.socket.size() <= 100, "the socket's path is bounded");
  require(cli::validate(config.clients).empty(), "limits of clients obey their rules");
  const auto& rules = config.clients.sessions;
  require(rules.clients.size() <= cli::kRulesMax && rules.groups.size() <= cli::kRulesMax,
          "rules are bounded");
  for (const auto& rule : rules.groups) require(!rule.groups.empty(), "a rule names groups");
}

void check_refused(std::string_view line) {
  require(!line.empty(), "an error says something");
  require(line.size() < 16'384, "an error is bounded");
  require(std::all_of(line.begin(), line.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= 0x20; }),
          "an error is one line");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name : {"", "a"}) {
    const auto config = cli::parse_config(text, "f.toml", name);
    if (config)
      check_accepted(*config);
    else
      check_refused(config.error());
  }
  return 0;
}
