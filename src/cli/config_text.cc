// SPDX-License-Identifier: Apache-2.0
#include "cli/config_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/text.h"

namespace peal::cli {

tl::unexpected<std::string> refuse(const Place& place, const std::string& what) {
  std::string text(place.file);
  if (place.line != 0) text += ":" + std::to_string(place.line);
  return tl::unexpected(text + ": " + what);
}

namespace {

/// Longer ones, and empty ones, are lists of nothing that a key takes.
constexpr std::size_t kNumbersMax = 256;

std::optional<Numbers> numbers_in(const toml::array& list) {
  Numbers numbers;
  if (list.empty() || list.size() > kNumbersMax) return std::nullopt;
  for (const auto& each : list) {
    const auto* number = each.as_integer();
    if (number == nullptr) return std::nullopt;
    numbers.push_back(number->get());
  }
  return numbers;
}

std::string list_of(const Numbers& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[" + text + "]";
}

}  // namespace

std::uint32_t line_of(const toml::source_region& source) { return source.begin.line; }

Value value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  if (node.is_table()) return OtherValue{"a table"};
  if (const auto* list = node.as_array()) {
    if (auto numbers = numbers_in(*list)) return std::move(*numbers);
    return OtherValue{"a list"};
  }
  return OtherValue{"a date or time"};
}

std::string shown(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return decimal(*real);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* numbers = std::get_if<Numbers>(&value)) return list_of(*numbers);
  return std::string(std::get<OtherValue>(value).what);
}

std::string not_accepted(const std::string& path, const toml::node& node,
                         std::string_view accepted) {
  return path + " = " + shown(value_of(node)) + ": accepted is " + std::string(accepted);
}

std::string unknown_key(const std::string& prefix, std::string_view name, const toml::node& node,
                        const std::vector<std::string>& known) {
  // A name from the file may hold any bytes; a bare one is shown as it stands.
  const bool bare = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  std::string text =
      "unknown key " + prefix +
      (bare && !name.empty() && name.size() <= 60 ? std::string(name) : quote(name)) + " = " +
      shown(value_of(node)) + ": ";
  const std::string near = nearest(name, known);
  if (!near.empty()) text += "did you mean " + near + "? ";
  return text + "accepted keys are " + joined(known);
}

}  // namespace peal::cli
