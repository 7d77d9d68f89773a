// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace peal {

/// A 64-bit digest for comparing states and orders. It depends on the order of the values and is
/// the same on every machine. Not for cryptography.
class Digest {
 public:
  void add(std::uint64_t value) { state_ = mixed(state_, value); }
  void add(ByteView bytes) {
    add(bytes.size());
    if (bytes.size() >= 2 * kBlockBytes) bytes = add_blocks(bytes);
    for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
      add(load<std::uint64_t>(bytes));
    }
    // Loads the tail in pieces of fixed sizes, because a word assembled in memory is slow to read
    // back.
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
  static constexpr std::size_t kBlockBytes = 4 * sizeof(std::uint64_t);

  static std::uint64_t mixed(std::uint64_t state, std::uint64_t value) {
    state = (state ^ value) * 0x9fb21c651e98df25ULL;
    return state ^ (state >> 32);
  }
  /// Digests a long input in four independent states, which the processor computes in parallel.
  /// With one state, each multiplication would wait for the previous one. Returns the rest of
  /// `bytes`, which is shorter than a block.
  ByteView add_blocks(ByteView bytes) {
    std::uint64_t lanes[] = {state_, state_ + 1, state_ + 2, state_ + 3};
    for (; bytes.size() >= kBlockBytes; bytes = bytes.subspan(kBlockBytes)) {
      lanes[0] = mixed(lanes[0], load<std::uint64_t>(bytes));
      lanes[1] = mixed(lanes[1], load<std::uint64_t>(bytes.subspan(8)));
      lanes[2] = mixed(lanes[2], load<std::uint64_t>(bytes.subspan(16)));
      lanes[3] = mixed(lanes[3], load<std::uint64_t>(bytes.subspan(24)));
    }
    for (const std::uint64_t lane : lanes) add(lane);
    return bytes;
  }

  std::uint64_t state_ = 0x2545f4914f6cdd1dULL;
};

inline std::uint64_t digest_of(ByteView bytes) {
  Digest digest;
  digest.add(bytes);
  return digest.value();
}

}  // namespace peal
