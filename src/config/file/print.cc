// SPDX-License-Identifier: Apache-2.0
#include "config/file/print.h"

#include <algorithm>
#include <cctype>

#include "config/file/keys.h"
#include "config/file/lists.h"
#include "config/schema.h"

namespace peal::config {
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

std::string sentence(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

/// Which engines have the key, as text that follows the help text; usually empty.
template <class T>
std::string engines_of(const Key<T>& key) {
  if (key.engines.empty() || !(key.table.empty() || key.table == "network")) return {};
  const bool has_default = !key.normal.empty() && key.refused_elsewhere.empty();
  return std::string(has_default ? ". Another value than the default only" : ". Only") +
         " with order = " + order::engine_names(key.engines);
}

/// The help text of a key, with its default and accepted values.
std::string help_of(const Key<File>& key) {
  std::string text = sentence(key.help + engines_of(key));
  if (key.cluster_wide) text += " The same on all nodes.";
  if (key.absent.empty() || key.needed) return text;
  const bool needed = key.absent.starts_with("needed");
  return text + " " + (needed ? sentence(key.absent) : "Without it: " + key.absent + ".");
}

std::string entry(const Key<File>& key) {
  std::string out = comment(help_of(key)) + comment("Accepted: " + key.accepted + ".");
  // A default is written as a comment: removing the comment mark alone changes nothing.
  const char* mark = key.needed ? "" : "#";
  return out + mark + key.name + " = " + (key.normal.empty() ? key.example : key.normal) + "\n\n";
}

std::string entries(std::string_view table) {
  std::string out;
  for (const Key<File>& key : file_keys()) {
    if (key.table == table) out += entry(key);
  }
  return out;
}

/// The help text of a table.
std::string table_help(std::string_view table) {
  if (table == "limits") return "Bounds of this node's memory.";
  if (table == "clients") {
    return "Programs that connect to this node: what waits for them, and for how long.";
  }
  const auto first = std::find_if(file_keys().begin(), file_keys().end(),
                                  [&](const Key<File>& key) { return key.table == table; });
  if (first->engines.empty() || table == "network") return {};
  // All keys of one table have the same engines: the first key names these engines.
  return "With order = " + order::engine_names(first->engines) +
         ", and only then. None needs to be set.";
}

std::string tables_help() {
  std::string out;
  std::string_view before;
  for (const Key<File>& key : file_keys()) {
    if (key.table == before) continue;
    before = key.table;
    const std::string help = table_help(key.table);
    if (!help.empty()) out += comment(help);
    out += "[" + key.table + "]\n" + entries(key.table);
  }
  return out;
}

/// The help text of an array of tables as comments, and an example table, commented out.
template <class T>
std::string list_help(const List<T>& list) {
  std::string out = comment(std::string(list.help) + ".");
  std::string example = "#[[" + std::string(list.name) + "]]\n";
  for (const Key<T>& key : list.keys) {
    std::string text = key.name + ": " + key.help + ". Accepted: " + key.accepted + ".";
    if (!key.normal.empty()) text += " Default: " + key.normal + ".";
    if (key.normal.empty() && !key.needed) text += " Without it: " + key.absent + ".";
    out += comment(text);
    example += "#" + key.name + " = " + (key.example.empty() ? key.normal : key.example) + "\n";
  }
  return out + example + "\n";
}

std::string nodes_help() {
  std::string out = list_help(node_list());
  out.resize(out.find("#[[nodes]]"));
  int port = 4801;
  for (const char* name : {"a", "b", "c"}) {
    out += "[[nodes]]\nname = \"" + std::string(name) +
           "\"\naddress = \"127.0.0.1:" + std::to_string(port) + "\"\n\n";
    port += 2;
  }
  return out;
}

/// A cell of a Markdown table. Text in quotes or double brackets becomes code; `|`, which would end
/// the cell, becomes `/`.
std::string cell(std::string_view text) {
  std::string out;
  bool code = false, quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') code = !code;
    if (c == '"' && !code && !quoted) out += '`';
    if (text.substr(i, 2) == "[[" && !code && !quoted) out += '`';
    out += c == '|' ? '/' : c;
    if (c == '"' && !code) {
      if (quoted) out += '`';
      quoted = !quoted;
    }
    if (i > 0 && text.substr(i - 1, 2) == "]]" && !code && !quoted) out += '`';
  }
  return out;
}

template <class T>
std::string row(const Key<T>& key) {
  const std::string normal = key.normal.empty() ? cell(key.absent) : "`" + key.normal + "`";
  return "| `" + key.name + "`" + (key.cluster_wide ? " **=**" : "") + " | " + cell(key.accepted) +
         " | " + normal + " | " + cell(key.help + engines_of(key)) + " |\n";
}

template <class T>
std::string rows(std::span<const Key<T>> keys, std::string_view table) {
  std::string out;
  for (const Key<T>& key : keys) {
    if (key.table == table) out += row(key);
  }
  return out;
}

}  // namespace

std::string annotated_file() {
  std::string out =
      "# Configuration of a Peal node. All nodes of a cluster can share this file:\n"
      "#   peal node --config peal.toml --name a\n"
      "# Lines that start with #key show the default; every key but cluster, key_file and the\n"
      "# nodes may be left out.\n\n";
  out += entries("") + nodes_help() + tables_help();
  out += list_help(domain_list()) + list_help(client_list()) + list_help(group_list());
  out.pop_back();
  return out;
}

std::string page_rows(std::string_view table) {
  constexpr std::string_view kHead =
      "| key | accepted | default | meaning |\n| --- | --- | --- | --- |\n";
  std::string text;
  if (table == "[nodes]") text = rows(node_list().keys, "nodes");
  if (table == "[domain]") text = rows(domain_list().keys, "domain");
  if (table == "[client]") text = rows(client_list().keys, "client");
  if (table == "[group]") text = rows(group_list().keys, "group");
  if (text.empty()) text = rows(file_keys(), table);
  return text.empty() ? text : std::string(kHead) + text;
}

}  // namespace peal::config
