// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace peal {
namespace {

constexpr std::uint32_t kSlabBytes = 256;
constexpr std::uint32_t kSlabCount = 4;

std::vector<BufferRef> take_all(BufferPool& pool) {
  std::vector<BufferRef> all;
  while (BufferRef buffer = pool.take()) all.push_back(std::move(buffer));
  return all;
}

TEST(BufferPool, GivesEachSlabOnceAndThenNothing) {
  BufferPool pool(kSlabBytes, kSlabCount);
  EXPECT_EQ(pool.slab_bytes(), kSlabBytes);
  EXPECT_EQ(pool.slab_count(), kSlabCount);
  EXPECT_EQ(pool.free_count(), kSlabCount);
  std::vector<BufferRef> all = take_all(pool);
  ASSERT_EQ(all.size(), kSlabCount);
  EXPECT_EQ(pool.free_count(), 0U);
  std::set<std::byte*> starts;
  for (const BufferRef& buffer : all) {
    EXPECT_EQ(buffer.size(), kSlabBytes);
    starts.insert(buffer.data());
  }
  EXPECT_EQ(starts.size(), kSlabCount);
  for (auto next = std::next(starts.begin()); next != starts.end(); ++next) {
    EXPECT_GE(*next - *std::prev(next), std::ptrdiff_t{kSlabBytes}) << "slabs overlap";
  }
}

TEST(BufferPool, ReleasedSlabsCanBeTakenAgain) {
  BufferPool pool(kSlabBytes, kSlabCount);
  for (int round = 0; round < 10; ++round) {
    std::vector<BufferRef> all = take_all(pool);
    ASSERT_EQ(all.size(), kSlabCount) << round;
    all.erase(all.begin() + 1);
    EXPECT_EQ(pool.free_count(), 1U);
    EXPECT_TRUE(pool.take());
    EXPECT_EQ(pool.free_count(), 1U);
  }
  EXPECT_EQ(pool.free_count(), kSlabCount);
}

TEST(BufferPool, LeavesTheHeadroomAskedFor) {
  BufferPool pool(kSlabBytes, 1);
  std::byte* slab = pool.take().data();
  BufferRef buffer = pool.take(100, 50);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(buffer.size(), 50U);
  EXPECT_EQ(buffer.data(), slab + 100);
  buffer.grow_front(60);
  EXPECT_EQ(buffer.size(), 110U);
  EXPECT_EQ(buffer.data(), slab + 40);
}

TEST(BufferPool, TakesAWholeSlabWithHeadroomAndNoMore) {
  BufferPool pool(kSlabBytes, 1);
  EXPECT_TRUE(pool.take(56, 200));
  EXPECT_TRUE(pool.take(256, 0));
  EXPECT_DEATH(static_cast<void>(pool.take(57, 200)), "assertion failed");
  EXPECT_DEATH(static_cast<void>(pool.take(0xffff'ffff, 1)), "assertion failed");
  EXPECT_DEATH(static_cast<void>(pool.take(1, 0xffff'ffff)), "assertion failed");
}

TEST(BufferRef, EmptyOneRefersToNothing) {
  const BufferRef empty;
  EXPECT_FALSE(empty);
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_TRUE(empty.view().empty());
  EXPECT_FALSE(empty.unique());
}

TEST(BufferRef, CopiesShareTheSlabUntilTheLastIsGone) {
  BufferPool pool(kSlabBytes, 1);
  BufferRef first = pool.take();
  EXPECT_TRUE(first.unique());
  {
    const BufferRef second = first;
    EXPECT_EQ(second.data(), first.data());
    EXPECT_FALSE(first.unique());
    first.reset();
    EXPECT_FALSE(first);
    EXPECT_EQ(first.size(), 0U);
    EXPECT_TRUE(second.unique());
    EXPECT_EQ(pool.free_count(), 0U);
  }
  EXPECT_EQ(pool.free_count(), 1U);
}

TEST(BufferRef, MovesLeaveNothingBehind) {
  BufferPool pool(kSlabBytes, 2);
  BufferRef first = pool.take(10, 20);
  std::byte* const bytes = first.data();
  BufferRef second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: that a moved-from reference is empty is what is tested
  EXPECT_EQ(first.size(), 0U);
  EXPECT_EQ(second.data(), bytes);
  EXPECT_EQ(second.size(), 20U);
  EXPECT_TRUE(second.unique());
  BufferRef third = pool.take();
  third = std::move(second);
  EXPECT_EQ(third.data(), bytes);
  EXPECT_EQ(pool.free_count(), 1U) << "the slab that was overwritten is free again";
}

TEST(BufferRef, AssignmentToItselfKeepsTheSlab) {
  BufferPool pool(kSlabBytes, 1);
  BufferRef buffer = pool.take();
  BufferRef& same = buffer;
  buffer = same;
  EXPECT_TRUE(buffer.unique());
  EXPECT_EQ(buffer.size(), kSlabBytes);
  buffer = std::move(same);
  EXPECT_TRUE(buffer.unique());
  EXPECT_EQ(buffer.size(), kSlabBytes);
}

TEST(BufferRef, SlicesShareTheBytes) {
  BufferPool pool(kSlabBytes, 1);
  BufferRef whole = pool.take();
  std::memset(whole.data(), 0, kSlabBytes);
  whole.data()[7] = std::byte{77};
  const BufferRef part = whole.slice(5, 10);
  EXPECT_EQ(part.size(), 10U);
  EXPECT_EQ(part.view()[2], std::byte{77});
  EXPECT_EQ(part.slice(2, 1).view()[0], std::byte{77});
  EXPECT_EQ(part.slice(10, 0).size(), 0U);
  whole.reset();
  EXPECT_EQ(pool.free_count(), 0U);
  EXPECT_DEATH(static_cast<void>(part.slice(5, 6)), "assertion failed");
  EXPECT_DEATH(static_cast<void>(part.slice(11, 0)), "assertion failed");
  EXPECT_DEATH(static_cast<void>(part.slice(1, 0xffff'ffff)), "assertion failed");
}

TEST(BufferRef, RangesOnlyShrinkAtTheEndAndOnlyGrowIntoHeadroom) {
  BufferPool pool(kSlabBytes, 1);
  BufferRef buffer = pool.take(8, 100);
  buffer.truncate(60);
  EXPECT_EQ(buffer.size(), 60U);
  buffer.truncate(60);
  EXPECT_DEATH(buffer.truncate(61), "assertion failed");
  EXPECT_DEATH(buffer.grow_front(9), "assertion failed");
  buffer.grow_front(8);
  EXPECT_EQ(buffer.size(), 68U);
  EXPECT_DEATH(buffer.grow_front(1), "assertion failed");
}

TEST(BufferPool, TakesFirstWhatCameBackLast) {
  BufferPool pool(kSlabBytes, 8);
  BufferRef first = pool.take();
  BufferRef second = pool.take();
  const std::byte* const warm = first.data();
  second.reset();
  first.reset();
  EXPECT_EQ(pool.free_count(), 8U);
  EXPECT_EQ(pool.take().data(), warm);
}

}  // namespace
}  // namespace peal
