// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace peal::seal {

/// Records which of the latest packets of one sender in one lane were opened. The packets' counters
/// begin at 1. Each counter has a bit in a circular array of words. The word of the highest counter
/// also has the bits of higher counters, so the window is one word narrower than the array (as in
/// RFC 6479).
class ReplayWindow {
 public:
  static constexpr std::size_t kWords = 256;
  static constexpr std::size_t kWordBits = 64;
  /// A counter this far or farther below the highest one is too old. The width exceeds the number
  /// of small packets that can wait in the largest receive buffer while another socket is read
  /// first.
  static constexpr std::uint64_t kWidth = (kWords - 1) * kWordBits;

  enum class Verdict : std::uint8_t { fresh, replayed, too_old };
  /// Judges a packet's counter, before its tag is checked.
  Verdict judge(std::uint64_t counter) const {
    if (counter > highest_) return Verdict::fresh;
    if (highest_ - counter >= kWidth) return Verdict::too_old;
    return (word_of(counter) & bit_of(counter)) != 0 ? Verdict::replayed : Verdict::fresh;
  }
  /// Records the counter of a packet that judge() called fresh and whose tag was right.
  void note(std::uint64_t counter) {
    if (counter > highest_) {
      const std::uint64_t from = highest_ / kWordBits;
      const std::uint64_t steps = std::min<std::uint64_t>(counter / kWordBits - from, kWords);
      for (std::uint64_t i = 1; i <= steps; ++i) words_[(from + i) % kWords] = 0;
      highest_ = counter;
    }
    words_[counter / kWordBits % kWords] |= bit_of(counter);
  }

 private:
  static std::uint64_t bit_of(std::uint64_t counter) { return 1ULL << (counter % kWordBits); }
  const std::uint64_t& word_of(std::uint64_t counter) const {
    return words_[counter / kWordBits % kWords];
  }

  std::uint64_t highest_ = 0;
  /// The bits of the counters. Counter 0 counts as opened, because no packet has it.
  std::array<std::uint64_t, kWords> words_{1};
};

}  // namespace peal::seal
