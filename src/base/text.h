// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What people type, and how it is shown to them again.

namespace peal {

/// The whole of `text` as a number, if it is one and within the range.
template <class T>
std::optional<T> number_in(std::string_view text, T minimum, T maximum) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc{} && stop == end && value >= minimum && value <= maximum;
  return good ? std::optional<T>(value) : std::nullopt;
}

/// Text as it may stand in a one-line message: in quotes, escaped, and cut after 60 characters.
std::string quote(std::string_view text);

/// The name of `known` that a person most likely meant by `typed`; empty if none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);

/// A number for a person: 8 or 0.5, never 8.000000.
std::string decimal(double value);

}  // namespace peal
