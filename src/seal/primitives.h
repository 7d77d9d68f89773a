// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "seal/key.h"

struct evp_cipher_ctx_st;

// All cryptography comes from libraries. HKDF and the short MAC come from OpenSSL. AES-GCM comes
// from libipsec-mb, which needs far less time per packet, or from OpenSSL on processors that
// libipsec-mb does not support. Contexts are made once and used for every packet. After
// construction, only hkdf_sha256() allocates.

namespace peal::seal {

inline constexpr std::size_t kNonceBytes = 12;
inline constexpr std::size_t kTagBytes = 16;
using Nonce = std::array<std::byte, kNonceBytes>;

/// HKDF with SHA-256 (RFC 5869): extract with `salt`, expand with `info` to fill `out`, of 1 to
/// 8,160 bytes.
void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, ByteSpan out);

struct FreeCipher {
  void operator()(evp_cipher_ctx_st* context) const;
};
using Cipher = std::unique_ptr<evp_cipher_ctx_st, FreeCipher>;

/// An expanded AES-GCM key; each gcm_*.cc file has its own definition.
struct GcmKey;
struct FreeGcmKey {
  void operator()(GcmKey* key) const;
};
using GcmKeyPtr = std::unique_ptr<GcmKey, FreeGcmKey>;

/// Encrypts with AES-256-GCM under one key.
class GcmSealer {
 public:
  explicit GcmSealer(const Secret& key);
  /// `out` is as long as `plain`, and is either the same memory or does not overlap it.
  void seal(const Nonce& nonce, ByteView header, ByteView plain, ByteSpan out, ByteSpan tag);

 private:
  GcmKeyPtr key_;
};

/// Decrypts with AES-256-GCM under one key.
class GcmOpener {
 public:
  explicit GcmOpener(const Secret& key);
  /// Decrypts `text` in place. False if any argument differs from the sealed packet; `text` is then
  /// all zeros.
  [[nodiscard]] bool open(const Nonce& nonce, ByteView header, ByteSpan text, ByteView tag);

 private:
  GcmKeyPtr key_;
};

/// The first 8 bytes of the CBC-MAC with AES-256 over 32 bytes. It is a pseudorandom function only
/// because all inputs have the same length: never use it for another length.
class ShortMac {
 public:
  static constexpr std::size_t kInputBytes = 32;
  explicit ShortMac(const Secret& key);
  std::uint64_t of(std::span<const std::byte, kInputBytes> input);

 private:
  Cipher cipher_;
};

}  // namespace peal::seal
