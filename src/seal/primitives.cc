// SPDX-License-Identifier: Apache-2.0
#include "seal/primitives.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <span>

#include "base/assert.h"

// OpenSSL fails here for two reasons only. Invalid arguments are a bug of this code. Without free
// memory, no part of Peal can continue.

namespace peal::seal {
namespace {

const unsigned char* raw_bytes(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw_bytes(ByteSpan bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

Cipher new_cipher() {
  Cipher cipher(::EVP_CIPHER_CTX_new());
  PEAL_ASSERT(cipher != nullptr);
  return cipher;
}

OSSL_PARAM octets(const char* name, ByteView bytes) {
  return ::OSSL_PARAM_construct_octet_string(name, const_cast<std::byte*>(bytes.data()),
                                             bytes.size());
}

}  // namespace

void FreeCipher::operator()(evp_cipher_ctx_st* context) const { ::EVP_CIPHER_CTX_free(context); }

void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, ByteSpan out) {
  PEAL_ASSERT(!secret.empty() && !out.empty());
  char digest[] = "SHA256";
  std::array<OSSL_PARAM, 5> params;
  std::size_t count = 0;
  params[count++] = ::OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0);
  params[count++] = octets(OSSL_KDF_PARAM_KEY, secret);
  // Omits an empty parameter, which means the same: an empty view may have a null address, and
  // OpenSSL refuses a null address.
  if (!salt.empty()) params[count++] = octets(OSSL_KDF_PARAM_SALT, salt);
  if (!info.empty()) params[count++] = octets(OSSL_KDF_PARAM_INFO, info);
  params[count] = ::OSSL_PARAM_construct_end();

  EVP_KDF* kdf = ::EVP_KDF_fetch(nullptr, "HKDF", nullptr);
  PEAL_ASSERT(kdf != nullptr);
  EVP_KDF_CTX* context = ::EVP_KDF_CTX_new(kdf);
  ::EVP_KDF_free(kdf);
  PEAL_ASSERT(context != nullptr);
  const int derived = ::EVP_KDF_derive(context, raw_bytes(out), out.size(), params.data());
  ::EVP_KDF_CTX_free(context);
  PEAL_ASSERT(derived == 1);
}

ShortMac::ShortMac(const Secret& key) : cipher_(new_cipher()) {
  PEAL_ASSERT(::EVP_EncryptInit_ex(cipher_.get(), ::EVP_aes_256_cbc(), nullptr,
                                   raw_bytes(key.bytes), nullptr) == 1);
  PEAL_ASSERT(::EVP_CIPHER_CTX_set_padding(cipher_.get(), 0) == 1);
}

std::uint64_t ShortMac::of(std::span<const std::byte, kInputBytes> input) {
  constexpr std::array<unsigned char, 16> kNoVector{};
  std::array<std::byte, kInputBytes> out;
  const ByteSpan blocks(out);
  int written = 0;
  const bool good =
      ::EVP_EncryptInit_ex(cipher_.get(), nullptr, nullptr, nullptr, kNoVector.data()) == 1 &&
      ::EVP_EncryptUpdate(cipher_.get(), raw_bytes(blocks), &written, raw_bytes(input),
                          kInputBytes) == 1;
  PEAL_ASSERT(good && written == kInputBytes);
  return load<std::uint64_t>(blocks.last(16));
}

}  // namespace peal::seal
