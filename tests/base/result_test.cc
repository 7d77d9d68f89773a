// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace peal {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return unexpected(Errc::invalid_option);
  return value / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(6).value(), 3);
  ASSERT_FALSE(half(5).has_value());
  EXPECT_EQ(half(5).error(), Errc::invalid_option);
}

TEST(Result, ErrorsHaveDistinctNames) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Errc::system); ++code) {
    const std::string_view name = errc_name(static_cast<Errc>(code));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(errc_name(Errc::would_block), "would_block");
  EXPECT_EQ(errc_name(Errc::system), "system");
  EXPECT_DEATH(static_cast<void>(errc_name(static_cast<Errc>(200))), "unknown error code");
}

}  // namespace
}  // namespace peal
