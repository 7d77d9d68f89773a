// SPDX-License-Identifier: Apache-2.0
#include "base/raw_array.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace peal {
namespace {

TEST(RawArray, GrowsAndNeverShrinks) {
  RawArray<std::uint64_t> array;
  EXPECT_EQ(array.size(), 0U);
  array.grow(4);
  for (std::size_t i = 0; i < 4; ++i) array[i] = 10 + i;
  array.grow(3);
  array.grow(4);
  EXPECT_EQ(array.size(), 4U);
  EXPECT_EQ(array[3], 13U) << "the elements stay if the array is long enough";
  array.grow(1'000);
  EXPECT_EQ(array.size(), 1'000U);
  array[999] = 1;
  EXPECT_EQ(array[999], 1U);
}

TEST(RawArray, CopiesHaveElementsOfTheirOwn) {
  RawArray<std::uint32_t> one;
  one.grow(2);
  one[0] = 1;
  one[1] = 2;
  RawArray<std::uint32_t> other = one;
  other[0] = 5;
  EXPECT_EQ(one[0], 1U);
  EXPECT_EQ(other[1], 2U);
  one = other;
  EXPECT_EQ(one[0], 5U);
  one = RawArray<std::uint32_t>();
  EXPECT_EQ(one[1], 2U) << "no array ever shrinks";
}

}  // namespace
}  // namespace peal
