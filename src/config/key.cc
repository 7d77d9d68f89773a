// SPDX-License-Identifier: Apache-2.0
#include "config/key.h"

#include <algorithm>

namespace peal::config {

std::string unknown_key(const std::string& prefix, std::string_view name, const Value& value,
                        const std::vector<std::string>& known,
                        const std::vector<std::string>& elsewhere) {
  // A bare key of TOML needs no quotes.
  const bool bare = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  std::string text =
      "unknown key " + prefix +
      (bare && !name.empty() && name.size() <= 60 ? std::string(name) : quote(name)) + " = " +
      shown(value) + ": ";
  std::string near = nearest(name, known);
  if (!near.empty()) near = prefix + near;
  if (near.empty() && !elsewhere.empty()) near = elsewhere.front();
  if (!near.empty()) text += "did you mean " + near + "? ";
  return text + "accepted keys are " + joined(known);
}

bool is_path(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && text.find('\0') == std::string_view::npos;
}

}  // namespace peal::config
