// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace peal {

using ByteView = std::span<const std::byte>;
using ByteSpan = std::span<std::byte>;

inline ByteView as_bytes_view(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace detail {
template <std::unsigned_integral T>
constexpr T little_endian(T value) {
  if constexpr (std::endian::native == std::endian::little) return value;
  T swapped{};
  for (std::size_t i = 0; i < sizeof value; ++i) {
    swapped = static_cast<T>((std::uint64_t{swapped} << 8) | ((value >> (8 * i)) & 0xff));
  }
  return swapped;
}
}  // namespace detail

/// Loads the little-endian integer in the first sizeof(T) bytes, which must exist.
template <std::unsigned_integral T>
T load(ByteView bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return detail::little_endian(value);
}
/// Stores `value` little-endian in the first sizeof(T) bytes, which must exist.
template <std::unsigned_integral T>
void store(ByteSpan bytes, T value) {
  value = detail::little_endian(value);
  std::memcpy(bytes.data(), &value, sizeof value);
}

}  // namespace peal
