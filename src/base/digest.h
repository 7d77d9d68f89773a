// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace peal {

/// A 64-bit digest for comparing states and orders; order-sensitive, the same on every machine. Not
/// for cryptography.
class Digest {
 public:
  void add(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9fb21c651e98df25ULL;
    state_ ^= state_ >> 32;
  }
  void add(ByteView bytes) {
    add(bytes.size());
    while (bytes.size() >= sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      add(word);
      bytes = bytes.subspan(sizeof word);
    }
    std::uint64_t tail = 0;
    if (!bytes.empty()) std::memcpy(&tail, bytes.data(), bytes.size());
    add(tail);
  }
  std::uint64_t value() const { return state_ ^ (state_ >> 29); }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

inline std::uint64_t digest_of(ByteView bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

}  // namespace peal
