// SPDX-License-Identifier: Apache-2.0
// Merging several streams by the keys of their items: the sequence is the same for every order of
// arrival, and each item is output as soon as it is known to be next.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "order/ridge/merge.h"

namespace peal::order::ridge {
namespace {

using Texts = std::vector<char>;

Texts take_all(Merge<char>& merge) {
  Texts out;
  for (auto next = merge.next(); next; next = merge.next()) out.push_back(merge.pop(*next));
  return out;
}

TEST(RidgeMerge, AnItemWaitsForStreamsThatMayStillBringOneBeforeIt) {
  Merge<char> merge(3);
  merge.push(0, 10, 'a');
  merge.push(1, 20, 'b');
  EXPECT_TRUE(take_all(merge).empty());
  EXPECT_EQ(merge.awaited(), std::size_t{2});
  merge.advance(2, 9);  // an item of stream 2 with key 10 would come after that of stream 0
  EXPECT_EQ(take_all(merge), Texts{'a'});
  EXPECT_EQ(merge.awaited(), std::size_t{2});
  merge.advance(2, 19);
  EXPECT_TRUE(take_all(merge).empty());
  EXPECT_EQ(merge.awaited(), std::size_t{0});
  merge.advance(0, 20);
  EXPECT_EQ(take_all(merge), Texts{'b'});
  EXPECT_EQ(merge.awaited(), std::nullopt);
}

// E5: adjusted keys of two ensembles may be equal, so keys alone do not identify items.
TEST(RidgeMerge, OfEqualKeysTheLowerStreamIsFirst) {
  Merge<char> merge(2);
  merge.push(1, 7, 'b');
  EXPECT_TRUE(take_all(merge).empty()) << "stream 0 may bring one with the same key";
  merge.push(0, 7, 'a');
  EXPECT_EQ(take_all(merge), (Texts{'a', 'b'}));
}

TEST(RidgeMerge, WhatIsAlreadyThereNeedNotBeSaidAgain) {
  Merge<char> merge(2);
  merge.push(0, 5, 'a');
  merge.advance(1, 8);
  merge.advance(1, 3);  // an old announcement changes nothing
  EXPECT_EQ(take_all(merge), Texts{'a'});
  EXPECT_EQ(merge.waiting(0), 0U);
}

TEST(RidgeMerge, TheLastItemOfAStreamIsThereUntilItIsTaken) {
  Merge<char> merge(2);
  EXPECT_EQ(merge.last(0, 0), nullptr);
  merge.push(0, 5, 'a');
  merge.push(0, 6, 'b');
  EXPECT_EQ(merge.last(0, 5), nullptr) << "not the last";
  ASSERT_NE(merge.last(0, 6), nullptr);
  EXPECT_EQ(*merge.last(0, 6), 'b');
  EXPECT_EQ(merge.last(1, 6), nullptr);
}

TEST(RidgeMerge, AStreamThatEqualsAnotherInKeyIsNotWaitedForByTheLower) {
  Merge<char> merge(3);
  merge.push(0, 7, 'a');
  merge.advance(1, 6);
  merge.advance(2, 6);
  EXPECT_EQ(merge.awaited(), std::nullopt) << "what they may bring with 7 comes behind it";
  EXPECT_EQ(take_all(merge), Texts{'a'});
  merge.push(1, 9, 'b');
  EXPECT_EQ(merge.awaited(), std::size_t{2});
}

// All orders of arrival give the same sequence: the items sorted by key, and then by stream.
TEST(RidgeMerge, AllOrdersOfArrivalGiveOneSequence) {
  Random random(5);
  for (int round = 0; round < 2'000; ++round) {
    const std::size_t streams = 1 + random.below(5);
    using Entry = std::tuple<std::uint64_t, std::size_t, int>;
    std::vector<std::vector<Entry>> brings(streams);
    std::vector<Entry> sorted;
    int number = 0;
    for (std::size_t i = 0; i < streams; ++i) {
      std::uint64_t key = 0;
      for (std::uint64_t count = random.below(12); count > 0; --count) {
        key += 1 + random.below(3);
        brings[i].push_back({key, i, number++});
        sorted.push_back(brings[i].back());
      }
    }
    std::sort(sorted.begin(), sorted.end());
    Merge<int> merge(streams);
    std::vector<std::size_t> at(streams, 0);
    std::vector<int> merged;
    for (std::size_t left = streams; left > 0;) {
      const std::size_t i = random.below(streams);
      if (at[i] > brings[i].size()) continue;
      if (at[i] == brings[i].size()) {
        merge.advance(i, 1'000);  // stream i has no more items
        --left;
      } else {
        merge.push(i, std::get<0>(brings[i][at[i]]), std::get<2>(brings[i][at[i]]));
      }
      ++at[i];
      for (auto next = merge.next(); next; next = merge.next()) merged.push_back(merge.pop(*next));
    }
    ASSERT_EQ(merged.size(), sorted.size());
    for (std::size_t i = 0; i < merged.size(); ++i) ASSERT_EQ(merged[i], std::get<2>(sorted[i]));
  }
}

}  // namespace
}  // namespace peal::order::ridge
