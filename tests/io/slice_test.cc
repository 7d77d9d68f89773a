// SPDX-License-Identifier: Apache-2.0
#include "io/slice.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace peal::io {
namespace {

TEST(Slice, IsShortInTheThreadThatAsksAndNowhereElse) {
  const Duration usual = current_slice();
  if (usual == Duration{}) {
    GTEST_SKIP() << "this kernel knows no slices of single threads (Linux 6.12 does)";
  }
  Duration asked{};
  std::thread([&] {
    ask_for_short_slices();
    asked = current_slice();
  }).join();
  EXPECT_EQ(asked, kShortSlice);
  EXPECT_EQ(current_slice(), usual);
}

TEST(Slice, OfABatchThreadStaysAsItIs) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    const Duration before = current_slice();
    ask_for_short_slices();
    EXPECT_EQ(current_slice(), before);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace peal::io
