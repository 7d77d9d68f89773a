// SPDX-License-Identifier: Apache-2.0
// Parses any bytes as a configuration file. An accepted file must be a configuration that a node
// can use. The error about a refused file must be one line.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "config/file/file.h"
#include "config/file/lists.h"
#include "config/schema.h"

namespace {

namespace config = peal::config;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "the parser broke its promise: %s\n", what);
  std::abort();
}

void check_accepted(const config::File& file) {
  const config::Settings& settings = file.settings;
  require(config::is_name(settings.cluster), "cluster is a name");
  require(!settings.nodes.empty() && settings.nodes.size() <= config::kNodesMax, "1 to 128 nodes");
  bool self = false;
  for (const config::NodeEntry& entry : settings.nodes) {
    require(config::is_name(entry.name), "node names are names");
    const auto address = peal::io::parse_host_port(peal::io::to_string(entry.address), 0);
    require(address && *address == entry.address, "an address reads back as itself");
    self = self || entry.name == settings.name;
  }
  require(self, "this node is one of the nodes");
  require(config::validate(settings).has_value(), "settings obey their rules");
  require(settings.limits.message_bytes_max >= 1, "messages have room");
  require(file.socket.size() <= 100, "the socket's path is bounded");
  require(config::validate(file.clients).has_value(), "limits of clients obey their rules");
  const auto& rules = file.clients.sessions;
  require(rules.clients.size() <= config::kRulesMax && rules.groups.size() <= config::kRulesMax,
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
    const auto file = config::parse_file(text, "f.toml", name);
    if (file)
      check_accepted(*file);
    else
      check_refused(file.error());
  }
  return 0;
}
