// SPDX-License-Identifier: Apache-2.0
#include "seal/key.h"

#include <openssl/crypto.h>

#include <utility>

#include "base/assert.h"
#include "seal/primitives.h"

namespace peal::seal {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

/// The value of a lower-case hexadecimal digit; 16 if `digit` is not one.
std::size_t value_of(char digit) {
  const auto found = kDigits.find(digit);
  return found == std::string_view::npos ? 16 : found;
}

}  // namespace

Secret::~Secret() { OPENSSL_cleanse(bytes.data(), bytes.size()); }

KeyId key_id_of(const Secret& secret) {
  std::array<std::byte, sizeof(std::uint32_t)> id{};
  hkdf_sha256(secret.bytes, {}, as_bytes_view("peal seal 1 key id"), id);
  return {load<std::uint32_t>(id)};
}

std::string to_text(KeyId id) {
  std::string text(8, '0');
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = kDigits[(id.value >> (28 - 4 * i)) & 15];
  }
  return text;
}

std::optional<KeyId> parse_key_id(std::string_view text) {
  if (text.size() != 8) return std::nullopt;
  KeyId id;
  for (const char digit : text) {
    const std::size_t value = value_of(digit);
    if (value > 15) return std::nullopt;
    id.value = id.value << 4 | static_cast<std::uint32_t>(value);
  }
  return id;
}

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte each : bytes) {
    const auto value = std::to_integer<unsigned>(each);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

bool from_hex(std::string_view text, ByteSpan out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t high = value_of(text[2 * i]);
    const std::size_t low = value_of(text[2 * i + 1]);
    if (high > 15 || low > 15) return false;
    out[i] = static_cast<std::byte>(high << 4 | low);
  }
  return true;
}

Key make_key(const Secret& secret, std::string created) {
  return {key_id_of(secret), std::move(created), secret};
}

const Key* Keys::find(KeyId id) const {
  for (const Key& key : all) {
    if (key.id == id) return &key;
  }
  return nullptr;
}

const Key& Keys::to_send() const {
  const Key* key = find(sending);
  PEAL_ASSERT(key != nullptr);
  return *key;
}

}  // namespace peal::seal
