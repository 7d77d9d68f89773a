// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/time.h"

namespace peal {
namespace {

TEST(Ids, MembersAreOrderedByNodeThenEpoch) {
  EXPECT_LT((MemberId{{1}, 900}), (MemberId{{2}, 1}));
  EXPECT_LT((MemberId{{2}, 1}), (MemberId{{2}, 2}));
  EXPECT_EQ((MemberId{{2}, 1}), (MemberId{{2}, 1}));
  EXPECT_NE((MemberId{{2}, 1}), (MemberId{{2}, 2}));
}

TEST(Ids, ViewsAreOrderedByNumberThenRepresentative) {
  EXPECT_LT((ViewId{1, {{9}, 9}}), (ViewId{2, {{1}, 1}}));
  EXPECT_LT((ViewId{2, {{1}, 1}}), (ViewId{2, {{1}, 2}}));
  EXPECT_LT((ViewId{2, {{1}, 2}}), (ViewId{2, {{2}, 1}}));
}

TEST(Ids, OnlySafeIsSafe) {
  EXPECT_TRUE(is_safe(Service::safe));
  EXPECT_TRUE(is_ordered(Service::safe));
  for (const Service service : {Service::fifo, Service::causal, Service::agreed}) {
    EXPECT_FALSE(is_safe(service));
    EXPECT_EQ(is_ordered(service), service == Service::agreed);
  }
}

TEST(Time, UnitsAreWhatTheirNamesSay) {
  EXPECT_EQ(nanoseconds(7).ns, 7);
  EXPECT_EQ(microseconds(7).ns, 7'000);
  EXPECT_EQ(milliseconds(7), microseconds(7'000));
  EXPECT_EQ(seconds(7), milliseconds(7'000));
}

TEST(Time, InstantsAndDurationsAdd) {
  const Instant start{100};
  EXPECT_EQ((start + nanoseconds(5)).ns, 105);
  EXPECT_EQ((start - nanoseconds(5)).ns, 95);
  EXPECT_EQ(start + seconds(3) - start, seconds(3));
  EXPECT_LT(start, start + nanoseconds(1));
  EXPECT_EQ(milliseconds(10) * 3, milliseconds(30));
  EXPECT_EQ(milliseconds(10) / 4, microseconds(2'500));
  EXPECT_EQ(milliseconds(3) - milliseconds(10), milliseconds(-7));
}

TEST(Bytes, TextAndBytesAreTheSameMemory) {
  const std::string_view text("peal");
  const ByteView bytes = as_bytes_view(text);
  ASSERT_EQ(bytes.size(), 4U);
  EXPECT_EQ(bytes[0], std::byte{'p'});
  EXPECT_EQ(as_text(bytes), text);
  EXPECT_EQ(as_text(bytes).data(), text.data());
  EXPECT_EQ(as_text({}), "");
}

}  // namespace
}  // namespace peal
