// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Parses text that people type, and formats text for messages to people.

namespace peal {

/// The whole of `text` as a number from `minimum` to `maximum`; nothing if `text` is no such
/// number.
template <class T>
std::optional<T> number_in(std::string_view text, T minimum, T maximum) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc{} && stop == end && value >= minimum && value <= maximum;
  return good ? std::optional<T>(value) : std::nullopt;
}

/// Formats text for a one-line message: in quotes, escaped, and cut after `shown` characters.
std::string quote(std::string_view text, std::size_t shown = 60);

/// The entry of `known` that a person most likely meant by `typed`; empty if none is similar.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// Joins words to one text: "a, b, c".
std::string joined(const std::vector<std::string>& words);

/// Joins words to one text without spaces: "a,b,c".
std::string comma_separated(const std::vector<std::string>& words);

/// `value` as 16 hexadecimal digits. Digests are printed in this form.
std::string hex_digits(std::uint64_t value);

/// The name of a view or member without its incarnation: "12@a" of "12@a.210987654321".
std::string_view short_id(std::string_view id);

/// Formats a number for a person: 8 or 0.5, never 8.000000.
std::string decimal(double value);

}  // namespace peal
