// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>

namespace peal {
namespace {

/// Multiplies a polynomial by x, modulo the CRC's polynomial. Bit 0 holds the highest power.
constexpr std::uint32_t times_x(std::uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0);
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
    table[i] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

std::uint32_t crc32c_table(ByteView bytes, std::uint32_t crc) {
  for (std::byte b : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ std::to_integer<std::uint32_t>(b)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
// The CRC instruction takes three cycles, and one can start in each cycle. So three blocks of the
// input are processed in parallel. CRCs are linear: the CRC of two consecutive blocks is the xor of
// two values. One value is the CRC of the second block. The other value is the CRC of the first
// block, carried over as many zero bytes as the second block has. To carry a CRC over zero bytes
// means to multiply it by a power of x.
constexpr std::size_t kWord = 8;
constexpr std::size_t kBlockWordsMin = 8;  // with smaller blocks, carrying costs more than it saves
constexpr std::size_t kBlockWordsMax = 256;  // longer inputs are read in several rounds

// Entry n carries a CRC over a block of n words. It is x^(64n - 33) and not x^(64n), because
// carry_over() multiplies by x^33 too. The product of two 32-bit values has only 63 bits; read as a
// 64-bit word, it is multiplied by x. The CRC instruction multiplies the word by x^32.
using CarryTable = std::array<std::uint32_t, kBlockWordsMax + 1>;

constexpr CarryTable make_carry_table() {
  CarryTable table{};
  std::uint32_t value = 1;  // x^31: bit 0 holds the highest power
  for (std::size_t words = 1; words <= kBlockWordsMax; ++words) {
    table[words] = value;
    for (std::size_t i = 0; i < kWord; ++i) value = (value >> 8) ^ kTable[value & 0xff];
  }
  return table;
}
constexpr CarryTable kCarry = make_carry_table();

std::uint64_t word_at(const std::byte* bytes) { return load<std::uint64_t>({bytes, kWord}); }

using Pair = long long __attribute__((vector_size(16)));

__attribute__((target("sse4.2,pclmul"))) std::uint64_t carry_over(std::uint64_t crc,
                                                                  std::uint32_t power) {
  const Pair left = {static_cast<long long>(crc), 0};
  const Pair right = {static_cast<long long>(power), 0};
  const Pair product = __builtin_ia32_pclmulqdq128(left, right, 0);
  return __builtin_ia32_crc32di(0, static_cast<unsigned long long>(product[0]));
}

__attribute__((target("sse4.2,pclmul"))) std::uint32_t crc32c_instruction(ByteView bytes,
                                                                          std::uint32_t crc) {
  std::uint64_t first = crc;
  while (bytes.size() >= 3 * kWord * kBlockWordsMin) {
    const std::size_t words = std::min(bytes.size() / (3 * kWord), kBlockWordsMax);
    const std::size_t block = words * kWord;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    const std::byte* at = bytes.data();
    for (const std::byte* end = at + block; at != end; at += kWord) {
      first = __builtin_ia32_crc32di(first, word_at(at));
      second = __builtin_ia32_crc32di(second, word_at(at + block));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * block));
    }
    second ^= carry_over(first, kCarry[words]);
    first = third ^ carry_over(second, kCarry[words]);
    bytes = bytes.subspan(3 * block);
  }
  while (bytes.size() >= kWord) {
    first = __builtin_ia32_crc32di(first, word_at(bytes.data()));
    bytes = bytes.subspan(kWord);
  }
  auto narrow = static_cast<std::uint32_t>(first);
  for (std::byte b : bytes)
    narrow = __builtin_ia32_crc32qi(narrow, std::to_integer<unsigned char>(b));
  return narrow;
}
const bool kHaveInstruction =
    __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0;

// Processors with AVX-512 multiply eight words at once. So long inputs are folded: 64 bytes are
// multiplied by a power of x and added to 64 later bytes, which does not change the CRC of the
// input. At the end, the CRC instruction processes the remaining 16 bytes as two words.
constexpr std::size_t kWide = 64;
constexpr std::size_t kFourWide = 4 * kWide;

/// x^n, as a word whose highest bit is x^0.
constexpr std::uint64_t power_of_x(std::size_t n) {
  std::uint32_t value = 0x80000000U;
  for (std::size_t i = 0; i < n; ++i) value = times_x(value);
  return std::uint64_t{value} << 32;
}

/// The factors that carry 16 bytes over a number of later bytes: `first` for the first word of the
/// 16 bytes, `second` for the second word. The first word lies 64 bits earlier, so its exponent is
/// 64 higher. Each exponent is reduced by one, because the product of two words has only 127 bits.
struct Fold {
  std::uint64_t first;
  std::uint64_t second;
};
constexpr Fold fold_over(std::size_t bytes) {
  return {power_of_x(8 * bytes + 63), power_of_x(8 * bytes - 1)};
}
constexpr Fold kOverFourWide = fold_over(kFourWide);
constexpr Fold kOverWide = fold_over(kWide);
constexpr std::array<Fold, 4> kOverLanes{Fold{}, fold_over(16), fold_over(32), fold_over(48)};

#define PEAL_WIDE_TARGET "sse4.2,pclmul,avx512f,avx512dq,vpclmulqdq"

__attribute__((target(PEAL_WIDE_TARGET))) inline __m512i spread(const Fold& fold) {
  const auto first = static_cast<long long>(fold.first);
  const auto second = static_cast<long long>(fold.second);
  return _mm512_set_epi64(second, first, second, first, second, first, second, first);
}

__attribute__((target(PEAL_WIDE_TARGET))) inline __m512i fold_onto(__m512i early, __m512i power,
                                                                   __m512i late) {
  const __m512i first = _mm512_clmulepi64_epi128(early, power, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(early, power, 0x11);
  return _mm512_ternarylogic_epi64(first, second, late, 0x96);  // 0x96: the xor of all three
}

/// Consumes `bytes` in steps of kWide, until fewer than kWide bytes remain. There must be at least
/// kFourWide bytes.
__attribute__((target(PEAL_WIDE_TARGET))) std::uint32_t crc32c_wide(ByteView& bytes,
                                                                    std::uint32_t crc) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size() - kFourWide;
  __m512i a = _mm512_xor_si512(_mm512_loadu_si512(at),
                               _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc))));
  __m512i b = _mm512_loadu_si512(at + kWide);
  __m512i c = _mm512_loadu_si512(at + 2 * kWide);
  __m512i d = _mm512_loadu_si512(at + 3 * kWide);
  at += kFourWide;
  const __m512i over_four = spread(kOverFourWide);
  for (; left >= kFourWide; left -= kFourWide, at += kFourWide) {
    a = fold_onto(a, over_four, _mm512_loadu_si512(at));
    b = fold_onto(b, over_four, _mm512_loadu_si512(at + kWide));
    c = fold_onto(c, over_four, _mm512_loadu_si512(at + 2 * kWide));
    d = fold_onto(d, over_four, _mm512_loadu_si512(at + 3 * kWide));
  }
  const __m512i over_one = spread(kOverWide);
  d = fold_onto(fold_onto(fold_onto(a, over_one, b), over_one, c), over_one, d);
  for (; left >= kWide; left -= kWide, at += kWide)
    d = fold_onto(d, over_one, _mm512_loadu_si512(at));
  bytes = bytes.last(left);

  alignas(kWide) std::array<long long, 8> words;
  _mm512_store_si512(words.data(), d);
  __m128i rest = _mm_set_epi64x(words[7], words[6]);
  for (std::size_t lane = 0; lane < 3; ++lane) {
    const Fold& fold = kOverLanes[3 - lane];
    const __m128i early = _mm_set_epi64x(words[2 * lane + 1], words[2 * lane]);
    const __m128i power =
        _mm_set_epi64x(static_cast<long long>(fold.second), static_cast<long long>(fold.first));
    rest = _mm_xor_si128(rest, _mm_xor_si128(_mm_clmulepi64_si128(early, power, 0x00),
                                             _mm_clmulepi64_si128(early, power, 0x11)));
  }
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(rest));
  const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(rest, 1));
  return static_cast<std::uint32_t>(__builtin_ia32_crc32di(__builtin_ia32_crc32di(0, low), high));
}
const bool kHaveWide = kHaveInstruction && __builtin_cpu_supports("avx512f") != 0 &&
                       __builtin_cpu_supports("avx512dq") != 0 &&
                       __builtin_cpu_supports("vpclmulqdq") != 0;
#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t crc) {
  crc = ~crc;
#if defined(__x86_64__)
  if (kHaveWide && bytes.size() >= kFourWide) crc = crc32c_wide(bytes, crc);
  if (kHaveInstruction) return ~crc32c_instruction(bytes, crc);
#endif
  return ~crc32c_table(bytes, crc);
}

std::uint32_t crc32c_portable(ByteView bytes, std::uint32_t crc) {
  return ~crc32c_table(bytes, ~crc);
}

}  // namespace peal
