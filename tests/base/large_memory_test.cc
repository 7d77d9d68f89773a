// SPDX-License-Identifier: Apache-2.0
#include "base/large_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace peal {
namespace {

TEST(LargeMemory, BeginsWhereBlocksAndPagesDo) {
  for (const Pages pages : {Pages::ordinary, Pages::large}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{5'000}, std::size_t{5} << 20}) {
      LargeMemory memory(bytes, pages);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % LargeMemory::kAlignment, 0U);
      std::memset(memory.data(), 7, bytes);
      const std::byte* const first = memory.data();
      LargeMemory other(1, Pages::ordinary);
      std::swap(memory, other);
      EXPECT_EQ(other.data(), first);
      EXPECT_EQ(other.data()[bytes - 1], std::byte{7});
    }
  }
}

}  // namespace
}  // namespace peal
