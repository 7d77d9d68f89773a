// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <variant>

namespace peal {
namespace {

Result<int, Errc> half(int value) {
  if (value % 2 != 0) return unexpected(Errc::invalid_option);
  return value / 2;
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(6).value(), 3);
  ASSERT_FALSE(half(5).has_value());
  EXPECT_EQ(half(5).error(), Errc::invalid_option);
}

Result<std::string, std::string> text_or_text(bool good) {
  if (good) return "a value";
  return unexpected("an error");
}

TEST(Result, ValueAndErrorMayHaveOneType) {
  EXPECT_EQ(*text_or_text(true), "a value");
  EXPECT_EQ(text_or_text(true)->size(), 7U);
  ASSERT_FALSE(text_or_text(false));
  EXPECT_EQ(text_or_text(false).error(), "an error");
  EXPECT_NE(text_or_text(true), text_or_text(false));
  EXPECT_EQ(text_or_text(false).value_or("another"), "another");
}

TEST(Result, MovesItsValueAndItsError) {
  Result<std::unique_ptr<int>, std::unique_ptr<int>> value = std::make_unique<int>(3);
  const std::unique_ptr<int> taken = *std::move(value);
  EXPECT_EQ(*taken, 3);
  Result<std::unique_ptr<int>, std::unique_ptr<int>> error = unexpected(std::make_unique<int>(4));
  EXPECT_EQ(*std::move(error).error(), 4);
}

TEST(Result, WithoutAValueIsSuccessOrAnError) {
  Result<void, std::string> result;
  EXPECT_TRUE(result.ok());
  result = unexpected("an error");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "an error");
  EXPECT_NE(result, (Result<void, std::string>()));
}

TEST(Result, AWrongAccessThrows) {
  EXPECT_THROW(static_cast<void>(half(5).value()), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(half(6).error()), std::bad_variant_access);
}

TEST(Result, OnThePathOfAMessageIsPassedInRegisters) {
  static_assert(std::is_trivially_copyable_v<Result<std::uint64_t, Errc>>);
  static_assert(sizeof(Result<std::uint64_t, Errc>) == 16);
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
