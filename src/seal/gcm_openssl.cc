// SPDX-License-Identifier: Apache-2.0
// AES-GCM from OpenSSL, for processors that libipsec-mb does not support.
#include <openssl/evp.h>

#include <algorithm>

#include "base/assert.h"
#include "seal/primitives.h"

namespace peal::seal {

struct GcmKey {
  Cipher cipher;
};

void FreeGcmKey::operator()(GcmKey* key) const { delete key; }

namespace {

const unsigned char* raw(ByteView bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(ByteSpan bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }
int length_of(ByteView bytes) { return static_cast<int>(bytes.size()); }

GcmKeyPtr new_key() {
  GcmKeyPtr key(new GcmKey{Cipher(::EVP_CIPHER_CTX_new())});
  PEAL_ASSERT(key->cipher != nullptr);
  return key;
}

}  // namespace

GcmSealer::GcmSealer(const Secret& key) : key_(new_key()) {
  PEAL_ASSERT(::EVP_EncryptInit_ex(key_->cipher.get(), ::EVP_aes_256_gcm(), nullptr, raw(key.bytes),
                                   nullptr) == 1);
}

void GcmSealer::seal(const Nonce& nonce, ByteView header, ByteView plain, ByteSpan out,
                     ByteSpan tag) {
  PEAL_ASSERT(out.size() == plain.size() && tag.size() == kTagBytes);
  evp_cipher_ctx_st* const cipher = key_->cipher.get();
  int written = 0;
  bool good = ::EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, raw(nonce)) == 1 &&
              ::EVP_EncryptUpdate(cipher, nullptr, &written, raw(header), length_of(header)) == 1;
  if (!plain.empty()) {
    good =
        good && ::EVP_EncryptUpdate(cipher, raw(out), &written, raw(plain), length_of(plain)) == 1;
  }
  std::array<unsigned char, kTagBytes> rest{};
  good = good && ::EVP_EncryptFinal_ex(cipher, rest.data(), &written) == 1 &&
         ::EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag.data()) == 1;
  PEAL_ASSERT(good);
}

GcmOpener::GcmOpener(const Secret& key) : key_(new_key()) {
  PEAL_ASSERT(::EVP_DecryptInit_ex(key_->cipher.get(), ::EVP_aes_256_gcm(), nullptr, raw(key.bytes),
                                   nullptr) == 1);
}

bool GcmOpener::open(const Nonce& nonce, ByteView header, ByteSpan text, ByteView tag) {
  PEAL_ASSERT(tag.size() == kTagBytes);
  evp_cipher_ctx_st* const cipher = key_->cipher.get();
  std::array<std::byte, kTagBytes> expected;
  std::copy(tag.begin(), tag.end(), expected.begin());
  int written = 0;
  bool good = ::EVP_DecryptInit_ex(cipher, nullptr, nullptr, nullptr, raw(nonce)) == 1 &&
              ::EVP_DecryptUpdate(cipher, nullptr, &written, raw(header), length_of(header)) == 1;
  if (!text.empty()) {
    good =
        good && ::EVP_DecryptUpdate(cipher, raw(text), &written, raw(text), length_of(text)) == 1;
  }
  good =
      good && ::EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, kTagBytes, expected.data()) == 1;
  PEAL_ASSERT(good);
  std::array<unsigned char, kTagBytes> rest{};
  if (::EVP_DecryptFinal_ex(cipher, rest.data(), &written) == 1) return true;
  // The bytes were decrypted before the tag was checked. Zeroes them, so that no caller uses them.
  std::fill(text.begin(), text.end(), std::byte{0});
  return false;
}

}  // namespace peal::seal
