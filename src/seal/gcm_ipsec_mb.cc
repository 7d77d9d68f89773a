// SPDX-License-Identifier: Apache-2.0
// AES-GCM from libipsec-mb. It seals a whole packet with one call; OpenSSL 3.0 has no such call.
#include <intel-ipsec-mb.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "seal/primitives.h"

namespace peal::seal {

struct GcmKey {
  gcm_key_data data;  // aligned as the library's type demands
};

void FreeGcmKey::operator()(GcmKey* key) const {
  ::OPENSSL_cleanse(key, sizeof *key);
  delete key;
}

namespace {

const std::uint8_t* raw(ByteView bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}
std::uint8_t* raw(ByteSpan bytes) { return reinterpret_cast<std::uint8_t*>(bytes.data()); }

/// The functions of libipsec-mb for this processor. They keep no state between calls, so threads
/// share them.
const IMB_MGR& functions() {
  static const IMB_MGR* const chosen = [] {
    IMB_MGR* manager = ::alloc_mb_mgr(0);
    PEAL_ASSERT(manager != nullptr);
    ::init_mb_mgr_auto(manager, nullptr);
    PEAL_ASSERT(::imb_get_errno(manager) == 0);
    return manager;
  }();
  return *chosen;
}

GcmKeyPtr new_key(const Secret& key) {
  GcmKeyPtr expanded(new GcmKey);
  functions().gcm256_pre(key.bytes.data(), &expanded->data);
  return expanded;
}

}  // namespace

GcmSealer::GcmSealer(const Secret& key) : key_(new_key(key)) {}

void GcmSealer::seal(const Nonce& nonce, ByteView header, ByteView plain, ByteSpan out,
                     ByteSpan tag) {
  PEAL_ASSERT(out.size() == plain.size() && tag.size() == kTagBytes);
  gcm_context_data context;
  functions().gcm256_enc(&key_->data, &context, raw(out), raw(plain), plain.size(), raw(nonce),
                         raw(header), header.size(), raw(tag), kTagBytes);
}

GcmOpener::GcmOpener(const Secret& key) : key_(new_key(key)) {}

bool GcmOpener::open(const Nonce& nonce, ByteView header, ByteSpan text, ByteView tag) {
  PEAL_ASSERT(tag.size() == kTagBytes);
  gcm_context_data context;
  std::array<std::byte, kTagBytes> expected;
  functions().gcm256_dec(&key_->data, &context, raw(text), raw(text), text.size(), raw(nonce),
                         raw(header), header.size(), raw(ByteSpan(expected)), kTagBytes);
  // Compares in constant time, because the time must not reveal how many bytes are right.
  if (::CRYPTO_memcmp(expected.data(), tag.data(), kTagBytes) == 0) return true;
  // The bytes were decrypted before the tag was checked. Zeroes them, so that no caller uses them.
  std::fill(text.begin(), text.end(), std::byte{0});
  return false;
}

}  // namespace peal::seal
