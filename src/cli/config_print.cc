// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"
#include "cli/config_domains.h"
#include "cli/config_keys.h"
#include "cli/config_rules.h"

namespace peal::cli {
namespace {

constexpr std::size_t kColumns = 96;

/// `text` as comment lines of at most kColumns columns.
std::string comment(std::string_view text) {
  std::string out;
  std::string line = "#";
  while (!text.empty()) {
    const auto space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (line.size() + 1 + word.size() > kColumns && line.size() > 1) {
      out += line + "\n";
      line = "#";
    }
    line += ' ';
    line += word;
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return out + line + "\n";
}

std::string entry(const Key& key) {
  std::string out = comment(key.help) + comment("Accepted: " + key.accepted + ".");
  if (key.table.empty() && (key.name == "cluster" || key.name == "key_file")) {
    return out + key.name + " = " + key.example + "\n\n";
  }
  // Defaults stand there as comments: taking the mark away changes nothing until the value does.
  return out + "#" + key.name + " = " + (key.normal.empty() ? key.example : key.normal) + "\n\n";
}

std::string entries(std::string_view table) {
  std::string out;
  for (const Key& key : keys()) {
    if (key.table == table) out += entry(key);
  }
  return out;
}

}  // namespace

std::string annotated_config() {
  std::string out =
      "# Configuration of a Peal node. All nodes of a cluster can share this file:\n"
      "#   peal node --config peal.toml --name a\n"
      "# Lines that start with #key show the default; every key but cluster, key_file and the\n"
      "# nodes may be left out.\n\n";
  out += entries("");
  out +=
      "# The nodes of the cluster, up to limits.nodes_max, with the same names and numbers on all\n"
      "# nodes. Those that do not run yet are waited for by nobody: they join when they start. "
      "Nodes\n"
      "# are added and removed while the others run: write the list into all files, run\n"
      "# `peal reload` on each, and `peal status` says what it waits for.\n"
      "# name: " +
      std::string(kAcceptedName) + ".\n" +
      comment("address: " + std::string(kAcceptedAddress) + ".") +
      comment(
          "number: 1 to 65535, different for each node and the same for it as long as it is in the "
          "list; without it, the place in this file, from 1.");
  int port = 4801;
  for (const char* name : {"a", "b", "c"}) {
    out += "[[nodes]]\nname = \"" + std::string(name) +
           "\"\naddress = \"127.0.0.1:" + std::to_string(port) + "\"\n\n";
    port += 2;
  }
  out += "[network]\n" + entries("network");
  out +=
      "# The ring. The defaults suit a data centre; none needs to be set.\n"
      "[ring]\n" +
      entries("ring");
  out += "# With order = \"paxos\" or \"ridge\", and only then.\n[paxos]\n" + entries("paxos");
  out += "# With order = \"ridge\", and only then.\n[ridge]\n" + entries("ridge");
  out += "# Bounds of this node's memory.\n[limits]\n" + entries("limits");
  out +=
      "# Programs that connect to this node: what waits for them, and for how long.\n"
      "[clients]\n" +
      entries("clients");
  out += domains_help();
  out += rules_help();
  out.pop_back();
  return out;
}

}  // namespace peal::cli
