// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace peal::cli {

/// The name of `known` that a person most likely meant by `typed`; empty if none is near.
std::string nearest(std::string_view typed, const std::vector<std::string>& known);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);

/// The whole of `text` as a number, if it is one and within the range.
template <class T>
std::optional<T> number_in(std::string_view text, T minimum, T maximum) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool good = error == std::errc{} && stop == end && value >= minimum && value <= maximum;
  return good ? std::optional<T>(value) : std::nullopt;
}

/// A number for a person: 8 or 0.5, never 8.000000.
std::string decimal(double value);

/// Text as it may stand in a one-line message: in quotes, escaped, and cut after 60 characters.
std::string quote(std::string_view text);

/// The name of a view or member without its incarnation: "12@a" of "12@a.210987654321".
std::string_view short_id(std::string_view id);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

/// "1 file", "1,234 deliveries".
std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace peal::cli
