// SPDX-License-Identifier: Apache-2.0
#include "config/file/text.h"

#include <optional>

namespace peal::config {
namespace {

/// The length of the longest list that any key accepts. No key accepts an empty list.
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

std::optional<Texts> texts_in(const toml::array& list) {
  Texts texts;
  for (const auto& each : list) {
    const auto* text = each.as_string();
    if (text == nullptr) return std::nullopt;
    texts.push_back(text->get());
  }
  return texts;
}

}  // namespace

Unexpected<std::string> refuse(const Place& place, const std::string& what) {
  std::string text(place.file);
  if (place.line != 0) text += ":" + std::to_string(place.line);
  return unexpected(text + ": " + what);
}

std::uint32_t line_of(const toml::source_region& source) { return source.begin.line; }

Value value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* truth = node.as_boolean()) return truth->get();
  if (node.is_table()) return OtherValue{"a table"};
  if (const auto* list = node.as_array()) {
    if (auto numbers = numbers_in(*list)) return std::move(*numbers);
    if (auto texts = texts_in(*list)) return std::move(*texts);
    return OtherValue{"a list"};
  }
  return OtherValue{"a date or time"};
}

Result<std::vector<const toml::table*>, std::string> tables_of(
    const Place& place, std::string_view name, const toml::node& node, const std::string& accepted,
    std::size_t least, std::size_t most) {
  const auto* list = node.as_array();
  if (list == nullptr || (!list->empty() && !list->is_homogeneous<toml::table>())) {
    return refuse(place,
                  std::string(name) + " = " + shown(value_of(node)) + ": accepted is " + accepted);
  }
  if (list->size() > most) {
    return refuse(place, std::string(name) + " has " + std::to_string(list->size()) +
                             " entries: accepted are " + std::to_string(least) + " to " +
                             std::to_string(most));
  }
  std::vector<const toml::table*> tables;
  for (const auto& entry : *list) tables.push_back(entry.as_table());
  return tables;
}

}  // namespace peal::config
