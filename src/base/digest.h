// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      add(load<std::uint64_t>(bytes));
    }
    // The rest in pieces of known sizes: a word that was put together in memory is slow to read.
    std::uint64_t tail = 0;
    unsigned bits = 0;
    if ((bytes.size() & 4) != 0) {
      tail = load<std::uint32_t>(bytes);
      bits = 32;
      bytes = bytes.subspan(4);
    }
    if ((bytes.size() & 2) != 0) {
      tail |= std::uint64_t{load<std::uint16_t>(bytes)} << bits;
      bits += 16;
      bytes = bytes.subspan(2);
    }
    if (!bytes.empty()) tail |= std::uint64_t{load<std::uint8_t>(bytes)} << bits;
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
