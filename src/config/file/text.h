// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/file/toml.h"
#include "config/key.h"

// Shared by the readers of the configuration file: places, values, arrays of tables, and the form
// of errors.

namespace peal::config {

using Status = Result<void, std::string>;

/// The place of an error.
struct Place {
  std::string_view file;
  std::uint32_t line = 0;  ///< 0: the file as a whole
};

/// Makes an error: "peal.toml:12: …".
Unexpected<std::string> refuse(const Place& place, const std::string& what);

std::uint32_t line_of(const toml::source_region& source);
Value value_of(const toml::node& node);

/// An array of tables with the same keys, for example [[domain]].
template <class T>
struct List {
  std::string_view name;
  std::size_t least = 0, most = 0;  ///< limits of the number of entries
  std::span<const Key<T>> keys;
  std::string_view help{};  ///< sentences; the last sentence has no full stop
};

/// The line numbers of one table's keys, by the keys' names; the line of the table itself is at "".
using Lines = std::map<std::string, std::uint32_t, std::less<>>;

/// The tables of `node`, which must be an array of tables. Fails if `node` is something else, or
/// has more than `most` tables; the error is one line.
Result<std::vector<const toml::table*>, std::string> tables_of(const Place& place,
                                                               std::string_view name,
                                                               const toml::node& node,
                                                               const std::string& accepted,
                                                               std::size_t least, std::size_t most);

/// The accepted form of a list, such as "tables [[domain]], each with name and nodes".
template <class T>
std::string accepted_tables(const List<T>& list) {
  std::vector<std::string> needed;
  for (const Key<T>& key : list.keys) {
    if (key.needed) needed.push_back(key.name);
  }
  std::string text = list.least > 0 ? std::to_string(list.least) + " to " +
                                          std::to_string(list.most) + " tables [["
                                    : "tables [[";
  text += std::string(list.name) + "]], each with ";
  for (std::size_t i = 0; i < needed.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == needed.size() ? " and " : ", ") + needed[i];
  }
  return text;
}

/// Reads one table of `list` into `out`. `named` returns a text that identifies the table in an
/// error, for example " of a".
template <class T, class Named>
Status read_table(std::string_view file, const List<T>& list, const toml::table& table, T& out,
                  Lines& lines, Named named) {
  const std::string prefix = std::string(list.name) + ".";
  lines[""] = line_of(table.source());
  for (auto&& [name, node] : table) {
    const Place place{file, line_of(name.source())};
    const Value value = value_of(node);
    const Key<T>* key = find_key<T>(list.keys, list.name, name.str());
    if (key == nullptr) {
      return refuse(place,
                    unknown_key(prefix, name.str(), value, names_in<T>(list.keys, list.name)));
    }
    if (!key->set(value, out)) return refuse(place, key->refusal(value));
    lines[key->name] = place.line;
  }
  for (const Key<T>& key : list.keys) {
    if (!key.needed || lines.contains(key.name)) continue;
    return refuse({file, lines[""]}, key.path() + named(out) + " is missing: accepted is " +
                                         std::string(key.accepted));
  }
  return {};
}

}  // namespace peal::config
