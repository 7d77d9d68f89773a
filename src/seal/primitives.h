// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "seal/key.h"

struct evp_cipher_ctx_st;

// What this room takes from libraries, and all that it takes from them: HKDF and the short MAC from
// OpenSSL; AES-GCM from libipsec-mb, which needs far less time for a packet, or from OpenSSL on
// processors that libipsec-mb is not made for. Contexts are made once and used for every packet;
// after construction nothing here allocates but hkdf_sha256.

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

/// A key as AES-GCM wants it; each of gcm_*.cc has its own.
struct GcmKey;
struct FreeGcmKey {
  void operator()(GcmKey* key) const;
};
using GcmKeyPtr = std::unique_ptr<GcmKey, FreeGcmKey>;

/// AES-256-GCM with one key, to encrypt.
class GcmSealer {
 public:
  explicit GcmSealer(const Secret& key);
  /// `out` is as long as `plain`, and lies at the same place or apart from it.
  void seal(const Nonce& nonce, ByteView header, ByteView plain, ByteSpan out, ByteSpan tag);

 private:
  GcmKeyPtr key_;
};

/// AES-256-GCM with one key, to decrypt.
class GcmOpener {
 public:
  explicit GcmOpener(const Secret& key);
  /// Decrypts `text` where it is. False if anything is not as it was sealed: then `text` is zero.
  [[nodiscard]] bool open(const Nonce& nonce, ByteView header, ByteSpan text, ByteView tag);

 private:
  GcmKeyPtr key_;
};

/// The CBC-MAC with AES-256 of 32 bytes, the first 8 bytes of it. A pseudorandom function because
/// all its inputs are of one length; never to be used for any other.
class ShortMac {
 public:
  static constexpr std::size_t kInputBytes = 32;
  explicit ShortMac(const Secret& key);
  std::uint64_t of(std::span<const std::byte, kInputBytes> input);

 private:
  Cipher cipher_;
};

}  // namespace peal::seal
