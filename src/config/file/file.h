// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/file/clients.h"
#include "config/settings.h"

// The configuration file of a node: TOML, one file for the whole cluster, or one file for each
// node. Each key is one row (config/key.h, config/file/keys.h).

namespace peal::config {

/// The contents of a configuration file. Ranges, names and the rules between keys have been
/// checked.
struct File {
  Settings settings;  ///< without its `keys`: see load_keys()
  Clients clients;
  std::string socket;  ///< path of the Unix socket for clients
  std::string path;    ///< the path of the file
  /// Line numbers of keys, by path; 0: set on the command line. Line numbers of addresses, by
  /// address_line().
  std::map<std::string, std::uint32_t> lines;

  /// "peal.toml:12: socket"; "peal.toml: socket" if the file does not have the key; "--trace" if
  /// the command line sets the key.
  std::string place_of(const std::string& key) const;
  /// The line of the key; 0 if the file does not have the key, or if the command line sets the key.
  std::uint32_t line_of(const std::string& key) const;
};

/// The key in File::lines under which the line of a node's address is stored.
std::string address_line(std::string_view node);

/// The maximum size of a configuration file, in bytes.
inline constexpr std::size_t kFileBytesMax = 1U << 20;

/// Reads one configuration. `path` is only for messages; a `name` that is not empty overrides the
/// key `node`. Any bytes are legal as `text`. The error is one line that names the key, the value
/// and what is accepted, and the line if the file has the key.
Result<File, std::string> parse_file(std::string_view text, std::string_view path,
                                     std::string_view name);

/// Like parse_file(), but reads the file at `path`. Relative paths in `socket`, `key_file` and
/// `data_dir` are resolved against the folder of the file.
Result<File, std::string> read_file(const std::string& path, std::string_view name);

/// Checks that the configured files and folders can be used. The error is one line, like the error
/// of parse_file().
Result<void, std::string> check_paths(const File& file);
/// Reads the configuration of a node that is about to start, and checks its paths. `trace`, if not
/// empty, replaces the file's `trace`. The error is one line.
Result<File, std::string> read_usable_file(const std::string& path, const std::string& name,
                                           const std::string& trace);

/// The path of a key, or "[[domain]]", that differs between the files although this key cannot
/// change while a node runs; empty if there is no such key.
std::string fixed_difference(const File& now, const File& other);

}  // namespace peal::config
