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
/// Maximum number of keys that a node holds at once. A change of keys needs two keys; the others
/// are for unfinished changes.
inline constexpr std::size_t kKeysMax = 4;

/// 32 secret bytes. The destructor wipes them from memory.
struct Secret {
  std::array<std::byte, kSecretBytes> bytes{};
  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();
};

/// The id of a key. It is derived from the key's secret, so that keys from different machines have
/// different ids with high probability.
struct KeyId {
  std::uint32_t value{};
  friend constexpr auto operator<=>(KeyId, KeyId) = default;
};
KeyId key_id_of(const Secret& secret);
/// Eight hexadecimal digits, for people.
std::string to_text(KeyId id);
std::optional<KeyId> parse_key_id(std::string_view text);

/// Converts bytes to lower-case hexadecimal digits and back. from_hex() fails unless `text`
/// consists of two such digits for each byte of `out`.
std::string to_hex(ByteView bytes);
bool from_hex(std::string_view text, ByteSpan out);

struct Key {
  KeyId id{};
  std::string created;  ///< for people: a time like 2026-11-22T09:00:00Z
  Secret secret;
};
/// The key with this secret.
Key make_key(const Secret& secret, std::string created);

/// The keys of a node, 1 to kKeysMax, each id once. The node opens packets with all keys and seals
/// with the key `sending`.
struct Keys {
  std::vector<Key> all;
  KeyId sending{};

  /// Null if no key has this id.
  const Key* find(KeyId id) const;
  /// The key to send with, which must be in `all`.
  const Key& to_send() const;
};

}  // namespace peal::seal
