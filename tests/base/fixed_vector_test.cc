// SPDX-License-Identifier: Apache-2.0
#include "base/fixed_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace peal {
namespace {

using Four = FixedVector<int, 4>;

Four of(std::initializer_list<int> values) {
  Four vector;
  for (const int value : values) vector.push_back(value);
  return vector;
}

std::vector<int> contents(const Four& vector) { return {vector.begin(), vector.end()}; }

TEST(FixedVector, GrowsToItsMaximum) {
  Four vector;
  EXPECT_EQ(Four::max_size(), 4U);
  EXPECT_TRUE(vector.empty());
  EXPECT_FALSE(vector.full());
  for (int i = 1; i <= 4; ++i) {
    vector.push_back(i * 10);
    EXPECT_EQ(vector.size(), static_cast<std::size_t>(i));
    EXPECT_EQ(vector.back(), i * 10);
  }
  EXPECT_TRUE(vector.full());
  EXPECT_FALSE(vector.empty());
  EXPECT_EQ(contents(vector), (std::vector<int>{10, 20, 30, 40}));
  EXPECT_DEATH(vector.push_back(50), "assertion failed");
}

TEST(FixedVector, GivesOnlyElementsThatAreThere) {
  Four vector = of({1, 2});
  vector[1] = 7;
  const Four& constant = vector;
  EXPECT_EQ(constant[0], 1);
  EXPECT_EQ(constant[1], 7);
  EXPECT_EQ(constant.back(), 7);
  EXPECT_DEATH(static_cast<void>(vector[2]), "assertion failed");
  EXPECT_DEATH(static_cast<void>(constant[2]), "assertion failed");
  EXPECT_DEATH(static_cast<void>(Four().back()), "assertion failed");
}

TEST(FixedVector, ErasesInOrder) {
  Four vector = of({1, 2, 3, 4});
  vector.erase_at(1);
  EXPECT_EQ(contents(vector), (std::vector<int>{1, 3, 4}));
  vector.erase_at(2);
  EXPECT_EQ(contents(vector), (std::vector<int>{1, 3}));
  vector.erase_at(0);
  EXPECT_EQ(contents(vector), (std::vector<int>{3}));
  EXPECT_DEATH(vector.erase_at(1), "assertion failed");
  vector.erase_at(0);
  EXPECT_TRUE(vector.empty());
}

TEST(FixedVector, TruncatesAndClears) {
  Four vector = of({1, 2, 3});
  vector.truncate(3);
  EXPECT_EQ(vector.size(), 3U);
  EXPECT_DEATH(vector.truncate(4), "assertion failed");
  vector.truncate(1);
  EXPECT_EQ(contents(vector), (std::vector<int>{1}));
  vector.clear();
  EXPECT_TRUE(vector.empty());
  vector.push_back(9);
  EXPECT_EQ(contents(vector), (std::vector<int>{9}));
}

TEST(FixedVector, ComparesWhatItHoldsAndNotWhatItHeld) {
  Four once_longer = of({1, 2, 3});
  once_longer.truncate(2);
  EXPECT_EQ(once_longer, of({1, 2}));
  EXPECT_FALSE(of({1, 2}) == of({1, 2, 3}));
  EXPECT_FALSE(of({1, 2}) == of({1, 3}));
  EXPECT_EQ(Four(), of({}));
}

TEST(FixedVector, WorksWithAlgorithms) {
  Four vector = of({1, 2, 3});
  EXPECT_EQ(std::accumulate(vector.begin(), vector.end(), 0), 6);
  for (int& value : vector) value *= 2;
  EXPECT_EQ(contents(vector), (std::vector<int>{2, 4, 6}));
}

}  // namespace
}  // namespace peal
