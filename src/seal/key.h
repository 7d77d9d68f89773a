// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace peal::seal {

inline constexpr std::size_t kSecretBytes = 32;
/// Keys that a node has at once. A rotation needs two; the rest is for rotations that were not
/// finished.
inline constexpr std::size_t kKeysMax = 4;

/// 32 secret bytes, which do not stay in memory when the object goes.
struct Secret {
  std::array<std::byte, kSecretBytes> bytes{};
  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();
};

/// Follows from the secret, so that one id never means two keys, whoever made them and wherever.
struct KeyId {
  std::uint32_t value{};
  friend constexpr auto operator<=>(KeyId, KeyId) = default;
};
KeyId key_id_of(const Secret& secret);
/// Eight hexadecimal digits, as people type and read it.
std::string to_text(KeyId id);
std::optional<KeyId> parse_key_id(std::string_view text);

/// Bytes as lower-case hexadecimal digits, and back; nothing unless `text` is exactly those of
/// `out`.
std::string to_hex(ByteView bytes);
bool from_hex(std::string_view text, ByteSpan out);

struct Key {
  KeyId id{};
  std::string created;  ///< for people: 2026-11-22T09:00:00Z
  Secret secret;
};
/// A key of `secret`.
Key make_key(const Secret& secret, std::string created);

/// The keys of a node: all are accepted, one is used to send. 1 to kKeysMax, each id once.
struct Keys {
  std::vector<Key> all;
  KeyId sending{};

  /// Null if there is none.
  const Key* find(KeyId id) const;
  /// The key to send with, which must be among them.
  const Key& to_send() const;
};

}  // namespace peal::seal
