// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "cli/config_domains.h"
#include "cli/config_keys.h"
#include "cli/config_nodes.h"
#include "cli/config_rules.h"
#include "cli/config_text.h"
#include "cli/text.h"

namespace peal::cli {
namespace {

std::vector<std::string> names_in(std::string_view table) {
  std::vector<std::string> names;
  for (const Key& key : keys()) {
    if (key.table == table) names.push_back(key.name);
  }
  return names;
}

const Key* find_key(std::string_view table, std::string_view name) {
  for (const Key& key : keys()) {
    if (key.table == table && key.name == name) return &key;
  }
  return nullptr;
}

/// What somebody wants to know who has taken a node out of the file before it was stopped.
constexpr const char* kRemoved =
    " (a node that is removed is stopped, and the others are reloaded)";

/// Turns a document into a NodeConfig, remembering the lines that later checks point to.
class Loader {
 public:
  Loader(std::string_view file, NodeConfig& out) : file_(file), out_(out) {}

  Status load(const toml::table& document) {
    for (auto&& [name, node] : document) {
      auto done = top_level(name, node);
      if (!done) return done;
    }
    return {};
  }

  Status finish(std::string_view name) {
    if (out_.cluster.empty()) {
      return refuse({file_}, "cluster is missing: accepted is a name, " +
                                 std::string(kAcceptedName) + ", such as cluster = \"demo\"");
    }
    if (out_.nodes.empty()) {
      return refuse({file_},
                    "nodes is missing: accepted are 1 to 128 tables [[nodes]], each with "
                    "name and address");
    }
    if (auto numbers = number_nodes(file_, out_); !numbers) return numbers;
    if (out_.nodes.size() > out_.nodes_max) {
      return refuse({file_, out_.lines["limits.nodes_max"]},
                    "nodes has " + std::to_string(out_.nodes.size()) +
                        " entries: accepted are up to limits.nodes_max = " +
                        std::to_string(out_.nodes_max) + ", the same on all nodes");
    }
    auto known = check_own_name(name);
    if (!known) return known;
    if (auto order = check_order(); !order) return order;
    if (auto domains = check_domains(out_); !domains) return domains;
    const std::string wrong = order::ring::validate(out_.ring);
    if (!wrong.empty()) return refuse_together(wrong);
    if (out_.submit_bytes_max < out_.message_bytes_max) {
      return refuse_together("limits.submit_bytes_max = " + std::to_string(out_.submit_bytes_max) +
                             " is not accepted: it must be at least limits.message_bytes_max = " +
                             std::to_string(out_.message_bytes_max));
    }
    const std::string wrong_clients = validate(out_.clients);
    if (!wrong_clients.empty()) return refuse_together(wrong_clients);
    return check_seal();
  }

 private:
  Status top_level(const toml::key& name, const toml::node& node) {
    const Place place{file_, line_of(name.source())};
    if (name == "nodes") return read_nodes(file_, name, node, out_);
    if (name == "domain") return read_domains(file_, name, node, out_);
    if (name == "client" || name == "group") {
      return read_rules(file_, name, node, out_.clients.sessions);
    }
    if (name == "network" || name == "ring" || name == "paxos" || name == "ridge" ||
        name == "limits" || name == "clients") {
      const auto* table = node.as_table();
      if (table == nullptr) {
        return refuse(place, not_accepted(std::string(name.str()), node,
                                          "a table, such as [" + std::string(name.str()) + "]"));
      }
      for (auto&& [inner, value] : *table) {
        auto done = set(name.str(), inner, value);
        if (!done) return done;
      }
      return {};
    }
    return set("", name, node);
  }

  Status set(std::string_view table, const toml::key& name, const toml::node& node) {
    const Place place{file_, line_of(name.source())};
    const Key* key = find_key(table, name.str());
    if (key == nullptr) {
      auto known = names_in(table);
      if (table.empty()) {
        known.insert(known.end(), {"nodes", "network", "ring", "paxos", "ridge", "limits",
                                   "clients", "client", "group", "domain"});
      }
      const std::string prefix = table.empty() ? "" : std::string(table) + ".";
      return refuse(place, unknown_key(prefix, name.str(), node, known));
    }
    if (!key->set(value_of(node), out_)) {
      return refuse(place, not_accepted(key->path(), node, key->accepted));
    }
    out_.lines[key->path()] = place.line;
    values_[key->path()] = shown(value_of(node));
    return {};
  }

  /// A rule between keys, as in "ring.max_gap = 4096 is not accepted: it must be at least
  /// (request_lag + 3) * global_window = 4100". The person who reads this has set one of the keys,
  /// perhaps not the first: the message begins with the ones that the file sets, and their lines.
  Status refuse_together(const std::string& wrong) {
    std::vector<std::pair<std::uint32_t, std::string>> found;  // line, "key = value"
    bool subject_is_set = false;
    for (const auto& [path, line] : out_.lines) {
      const std::string name = path.substr(path.find('.') + 1);
      if (line == 0 || path == name || !has_word(wrong, name)) continue;
      found.emplace_back(line, path + " = " + values_[path]);
      subject_is_set = subject_is_set || wrong.starts_with(path + " ");
    }
    std::sort(found.begin(), found.end());
    if (found.empty()) return refuse({file_}, wrong);
    if (found.size() == 1 && subject_is_set) return refuse({file_, found[0].first}, wrong);
    std::string text;
    for (const auto& [line, key] : found) {
      if (!text.empty()) text += " with " + key + " (line " + std::to_string(line) + ")";
      if (text.empty()) text = key + " is not accepted";
    }
    // "it" is the first key of the rule.
    std::string rule = wrong;
    constexpr std::string_view kIt = " is not accepted: it must";
    if (const auto at = rule.find(kIt); at != std::string::npos) {
      rule.replace(at, kIt.size(), subject_is_set ? " must" : ", its default, must");
    }
    return refuse({file_, found[0].first}, text + ": " + rule);
  }

  static bool has_word(std::string_view text, std::string_view word) {
    const auto inside = [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); };
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const auto end = at + word.size();
      const bool starts = at == 0 || !inside(text[at - 1]);
      if (starts && (end == text.size() || !inside(text[end]))) return true;
    }
    return false;
  }

  /// Keys of one engine say nothing to another: whoever sets one believes that they do.
  Status check_order() {
    for (const auto& [path, line] : out_.lines) {
      const std::string clash = order_clash(path, out_);
      if (clash.empty()) continue;
      return refuse({file_, line},
                    path + " = " + values_[path] + " does not go with order = " + clash);
    }
    if (out_.merging == Merging::rotation && out_.ensembles == 1) {
      return refuse(
          {file_, out_.lines["ridge.merge"]},
          "ridge.merge = \"rotation\" does not go with ridge.ensembles = 1: leave it out, "
          "or set ridge.ensembles = 2 or more");
    }
    if (out_.optimistic && out_.ensembles > 1) {
      return refuse({file_, out_.lines["ridge.optimistic"]},
                    "ridge.optimistic = true does not go with ridge.ensembles = " +
                        std::to_string(out_.ensembles) + ": leave one of the two out");
    }
    std::vector<std::string> numbers;
    for (const NodeEntry& each : out_.nodes) numbers.push_back(std::to_string(each.number));
    for (const std::uint32_t acceptor : out_.acceptors) {
      const std::string number = std::to_string(acceptor);
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) continue;
      return refuse({file_, out_.lines["paxos.acceptors"]},
                    "paxos.acceptors has " + number +
                        ", which is no number of [[nodes]]: accepted are " + joined(numbers));
    }
    return {};
  }

  Status check_seal() {
    if (out_.insecure && !out_.key_file.empty()) {
      return refuse({file_, out_.lines["insecure"]},
                    "insecure = true together with key_file = " + quote(out_.key_file) +
                        ": accepted is one of the two");
    }
    if (!out_.insecure && out_.key_file.empty()) {
      return refuse(
          {file_},
          "key_file is missing: accepted is a file of `peal keygen`, such as key_file = "
          "\"peal.key\", or insecure = true, and then whoever reaches the network can read "
          "and forge everything");
    }
    return {};
  }

  Status check_own_name(std::string_view name) {
    std::vector<std::string> known;
    for (const NodeEntry& entry : out_.nodes) known.push_back(entry.name);
    const auto is_known = [&](std::string_view text) {
      return std::find(known.begin(), known.end(), text) != known.end();
    };
    if (!name.empty()) {
      if (!is_known(name)) {
        return tl::unexpected("--name " + quote(name) + ": accepted is a node of " +
                              std::string(file_) + ": " + joined(known) + kRemoved);
      }
      out_.node = name;
    } else if (out_.node.empty()) {
      return refuse({file_}, "node is missing: say which node this is, with node = \"" +
                                 known.front() + "\" in the file or with --name; accepted is " +
                                 joined(known));
    } else if (!is_known(out_.node)) {
      return refuse({file_, out_.lines["node"]},
                    "node = " + quote(out_.node) +
                        ": accepted is a name of [[nodes]]: " + joined(known) + kRemoved);
    }
    return {};
  }

  std::string_view file_;
  NodeConfig& out_;
  std::map<std::string, std::string> values_;  ///< as the file has them
};

}  // namespace

Result<NodeConfig, std::string> parse_config(std::string_view text, std::string_view file,
                                             std::string_view name) {
  if (text.size() > kConfigBytesMax) {
    return refuse({file}, "has " + std::to_string(text.size()) + " bytes: accepted are up to " +
                              std::to_string(kConfigBytesMax));
  }
  const auto document = parse_toml(text, file);
  if (!document) return refuse({file, document.error().line}, "not TOML: " + document.error().what);
  NodeConfig config;
  config.file = file;
  Loader loader(file, config);
  auto done = loader.load(*document).and_then([&] { return loader.finish(name); });
  if (!done) return tl::unexpected(std::move(done.error()));
  return config;
}

Result<NodeConfig, std::string> read_config(const std::string& path, std::string_view name) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kConfigBytesMax + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof() && text.size() <= kConfigBytesMax) {
    return tl::unexpected("--config " + quote(path) + ": cannot be read (" + std::strerror(errno) +
                          "): accepted is a configuration file in TOML "
                          "(`peal node --print-config` writes one)");
  }
  auto config = parse_config(text, path, name);
  if (!config) return config;
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  if (config->socket.empty()) config->socket = config->node + ".sock";
  for (std::string* each : {&config->socket, &config->key_file, &config->data_dir}) {
    if (!each->empty() && each->front() != '/') *each = folder + *each;
  }
  return config;
}

}  // namespace peal::cli
