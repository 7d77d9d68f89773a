// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "seal/key.h"

// Reads and writes key files: texts with an explanation, the same on every node of a cluster. An
// error is one line with the file, the line, the value and the remedy. It never shows a secret.

namespace peal::seal {

inline constexpr std::size_t kKeyFileBytesMax = 16'384;

/// Parses the text of a key file. `text` may be any bytes. `name` is the file's name in errors.
Result<Keys, std::string> parse_keys(std::string_view text, std::string_view name);
/// The text of a key file with these keys, as parse_keys() reads it.
std::string format_keys(const Keys& keys);

/// Reads a key file. Fails if users other than its owner have rights on it.
Result<Keys, std::string> load_keys(const std::string& path);
/// Writes a new key file; fails if the file exists.
Result<void, std::string> create_key_file(const std::string& path, const Keys& keys);
/// Replaces a key file atomically: readers see either all of the old file or all of the new one.
/// The file keeps its owner and group.
Result<void, std::string> replace_key_file(const std::string& path, const Keys& keys);

}  // namespace peal::seal
