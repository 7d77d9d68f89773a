// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include "base/text.h"

namespace peal::config {
namespace {

template <class T, class Show>
std::string list_of(const std::vector<T>& list, Show show) {
  std::string text;
  for (const T& each : list) text += (text.empty() ? "" : ", ") + show(each);
  return "[" + text + "]";
}

}  // namespace

std::string shown(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return decimal(*real);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* numbers = std::get_if<Numbers>(&value)) {
    return list_of(*numbers, [](std::int64_t number) { return std::to_string(number); });
  }
  // Not shown in full, because a list may have many long texts.
  if (std::holds_alternative<Texts>(value)) return "a list";
  return std::string(std::get<OtherValue>(value).what);
}

}  // namespace peal::config
