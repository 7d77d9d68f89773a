// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "wire/frames.h"

namespace peal::order::toto {

/// Index of a member in its view.
using Index = std::uint16_t;

/// A set of members of one view, by index.
class MemberBits {
 public:
  static MemberBits first(std::size_t count) {
    MemberBits bits;
    for (std::size_t i = 0; i < count; ++i) bits.set(static_cast<Index>(i));
    return bits;
  }

  void set(Index i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void reset(Index i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  void clear() { words_.fill(0); }
  bool test(Index i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  bool any() const { return (words_[0] | words_[1]) != 0; }
  std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(words_[0]) + std::popcount(words_[1]));
  }
  /// The lowest member; requires any().
  Index lowest() const {
    return static_cast<Index>(words_[0] != 0 ? std::countr_zero(words_[0])
                                             : 64 + std::countr_zero(words_[1]));
  }
  MemberBits operator|(const MemberBits& other) const {
    MemberBits both;
    for (std::size_t w = 0; w < 2; ++w) both.words_[w] = words_[w] | other.words_[w];
    return both;
  }
  MemberBits without(const MemberBits& other) const {
    MemberBits rest;
    for (std::size_t w = 0; w < 2; ++w) rest.words_[w] = words_[w] & ~other.words_[w];
    return rest;
  }
  /// Calls `use(index)` for each member of the set, in ascending order.
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t w = 0; w < 2; ++w) {
      for (std::uint64_t bits = words_[w]; bits != 0; bits &= bits - 1) {
        use(static_cast<Index>(64 * w + static_cast<unsigned>(std::countr_zero(bits))));
      }
    }
  }
  friend bool operator==(const MemberBits&, const MemberBits&) = default;

 private:
  static_assert(wire::kMembersMax == 128);
  std::array<std::uint64_t, 2> words_{};
};

}  // namespace peal::order::toto
