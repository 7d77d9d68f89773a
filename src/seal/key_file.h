// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "seal/key.h"

// Key files: text that explains itself, the same on every node of a cluster. Errors are one line
// that names the file, the line, the value and what to do, and never show a secret.

namespace peal::seal {

inline constexpr std::size_t kKeyFileBytesMax = 16'384;

/// The keys of a key file's text; any bytes. `name` is for errors.
Result<Keys, std::string> parse_keys(std::string_view text, std::string_view name);
/// The text of a key file: parse_keys() gives the same keys back.
std::string format_keys(const Keys& keys);

/// Reads a key file, which nobody but its owner may read.
Result<Keys, std::string> load_keys(const std::string& path);
/// Writes a new one; fails if there is one already.
Result<void, std::string> create_key_file(const std::string& path, const Keys& keys);
/// Writes one that is there anew: whoever reads it sees all of the old or all of the new one. It
/// keeps its owner.
Result<void, std::string> replace_key_file(const std::string& path, const Keys& keys);

}  // namespace peal::seal
