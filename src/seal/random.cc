// SPDX-License-Identifier: Apache-2.0
#include "seal/random.h"

#include <openssl/rand.h>

#include "base/assert.h"

namespace peal::seal {
namespace {

void fill(ByteSpan out) {
  PEAL_ASSERT(::RAND_priv_bytes(reinterpret_cast<unsigned char*>(out.data()),
                                static_cast<int>(out.size())) == 1);
}

}  // namespace

Secret random_secret() {
  Secret secret;
  fill(secret.bytes);
  return secret;
}

Salt random_salt() {
  Salt salt{};
  fill(salt);
  return salt;
}

}  // namespace peal::seal
