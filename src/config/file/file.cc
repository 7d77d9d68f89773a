// SPDX-License-Identifier: Apache-2.0
#include "config/file/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "config/file/keys.h"
#include "config/file/lists.h"
#include "config/file/placed.h"
#include "config/file/text.h"
#include "config/schema.h"

namespace peal::config {
namespace {

/// Advice if the file no longer has this node, although the node was not stopped.
constexpr const char* kRemoved =
    " (a node that is removed is stopped, and the others are reloaded)";

/// Names and readers of the arrays of tables.
using ReadList = Status (*)(const toml::key&, const toml::node&, File&);
constexpr std::pair<std::string_view, ReadList> kLists[] = {{"nodes", &read_nodes},
                                                            {"domain", &read_domains},
                                                            {"client", &read_clients},
                                                            {"group", &read_groups}};

/// The names of the tables that have keys, each once.
std::vector<std::string> tables() {
  std::vector<std::string> names;
  for (const Key<File>& key : file_keys()) {
    if (key.table.empty() || std::find(names.begin(), names.end(), key.table) != names.end()) {
      continue;
    }
    names.push_back(key.table);
  }
  return names;
}

/// Reads a document into a File, and remembers lines for later checks.
class Loader {
 public:
  explicit Loader(File& out) : out_(out) {}

  Status load(const toml::table& document) {
    const std::vector<std::string> known = tables();
    for (auto&& [name, node] : document) {
      auto done = std::find(known.begin(), known.end(), name.str()) == known.end()
                      ? top_level(name, node, known)
                      : table(name, node);
      if (!done) return done;
    }
    return {};
  }

  Status finish(std::string_view name) {
    Settings& settings = out_.settings;
    if (settings.cluster.empty()) {
      return refuse({out_.path}, "cluster is missing: accepted is a name, " +
                                     std::string(kAcceptedName) + ", such as cluster = \"demo\"");
    }
    if (settings.nodes.empty()) {
      return refuse({out_.path}, "nodes is missing: accepted are " + accepted_tables(node_list()));
    }
    if (auto known = find_own_name(name); !known) return known;
    auto checked = validate(settings);
    if (checked) checked = validate(out_.clients);
    if (!checked) return unexpected(placed(checked.error(), out_));
    return {};
  }

 private:
  Status top_level(const toml::key& name, const toml::node& node,
                   const std::vector<std::string>& known) {
    for (const auto& [list, read] : kLists) {
      if (name == list) return read(name, node, out_);
    }
    return set("", name, node, known);
  }

  Status table(const toml::key& name, const toml::node& node) {
    const auto* table = node.as_table();
    if (table == nullptr) {
      const std::string text(name.str());
      return refuse(
          {out_.path, config::line_of(name.source())},
          text + " = " + shown(value_of(node)) + ": accepted is a table, such as [" + text + "]");
    }
    for (auto&& [inner, value] : *table) {
      auto done = set(name.str(), inner, value, {});
      if (!done) return done;
    }
    return {};
  }

  Status set(std::string_view table, const toml::key& name, const toml::node& node,
             const std::vector<std::string>& tables) {
    const Place place{out_.path, config::line_of(name.source())};
    const Value value = value_of(node);
    const Key<File>* key = find_key<File>(file_keys(), table, name.str());
    if (key == nullptr) {
      auto known = names_in<File>(file_keys(), table);
      known.insert(known.end(), tables.begin(), tables.end());
      if (table.empty()) {
        for (const auto& [list, read] : kLists) known.emplace_back(list);
      }
      const std::string prefix = table.empty() ? "" : std::string(table) + ".";
      return refuse(place, unknown_key(prefix, name.str(), value, known, paths_of(name.str())));
    }
    if (!key->set(value, out_)) return refuse(place, key->refusal(value));
    out_.lines[key->path()] = place.line;
    return {};
  }

  Status find_own_name(std::string_view name) {
    std::vector<std::string> known;
    for (const NodeEntry& entry : out_.settings.nodes) known.push_back(entry.name);
    const auto is_known = [&](std::string_view text) {
      return std::find(known.begin(), known.end(), text) != known.end();
    };
    std::string& own = out_.settings.name;
    if (!name.empty()) {
      if (!is_known(name)) {
        return unexpected("--name " + quote(name) + ": accepted is a node of " + out_.path + ": " +
                          joined(known) + kRemoved);
      }
      own = name;
    } else if (own.empty()) {
      return refuse({out_.path}, "node is missing: say which node this is, with node = \"" +
                                     known.front() + "\" in the file or with --name; accepted is " +
                                     joined(known));
    } else if (!is_known(own)) {
      return refuse({out_.path, out_.lines["node"]},
                    "node = " + quote(own) + ": accepted is a name of [[nodes]]: " + joined(known) +
                        kRemoved);
    }
    return {};
  }

  File& out_;
};

}  // namespace

std::uint32_t File::line_of(const std::string& key) const {
  const auto line = lines.find(key);
  return line == lines.end() ? 0 : line->second;
}

std::string File::place_of(const std::string& key) const {
  const auto line = lines.find(key);
  if (line != lines.end() && line->second == 0) return "--" + key;
  return path + (line == lines.end() ? "" : ":" + std::to_string(line->second)) + ": " + key;
}

std::string address_line(std::string_view node) { return "nodes.address of " + std::string(node); }

Result<File, std::string> parse_file(std::string_view text, std::string_view path,
                                     std::string_view name) {
  if (text.size() > kFileBytesMax) {
    return refuse({path}, "has " + std::to_string(text.size()) + " bytes: accepted are up to " +
                              std::to_string(kFileBytesMax));
  }
  const auto document = parse_toml(text, path);
  if (!document) return refuse({path, document.error().line}, "not TOML: " + document.error().what);
  File file;
  file.path = path;
  Loader loader(file);
  auto done = loader.load(*document);
  if (done) done = loader.finish(name);
  if (!done) return unexpected(std::move(done.error()));
  return file;
}

Result<File, std::string> read_file(const std::string& path, std::string_view name) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    text.resize(kFileBytesMax + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof() && text.size() <= kFileBytesMax) {
    return unexpected("--config " + quote(path) + ": cannot be read (" + std::strerror(errno) +
                      "): accepted is a configuration file in TOML "
                      "(`peal node --print-config` writes one)");
  }
  auto file = parse_file(text, path, name);
  if (!file) return file;
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  Settings& settings = file->settings;
  if (file->socket.empty()) file->socket = settings.name + ".sock";
  for (std::string* each : {&file->socket, &settings.key_file, &settings.data_dir}) {
    if (!each->empty() && each->front() != '/') *each = folder + *each;
  }
  return file;
}

std::string fixed_difference(const File& now, const File& other) {
  for (const Key<File>& key : file_keys()) {
    if (key.changes != Changes::never) continue;
    const std::string before = key.get(now), after = key.get(other);
    // An absent key means its default.
    if ((before.empty() ? key.normal : before) != (after.empty() ? key.normal : after)) {
      return key.path();
    }
  }
  return now.settings.domains == other.settings.domains ? "" : "[[domain]]";
}

}  // namespace peal::config
