// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peal {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Version, IsThreeNumbersForAPerson) {
  EXPECT_EQ(version_text(0), "0.0.0");
  EXPECT_EQ(version_text(1'000), "0.1.0");
  EXPECT_EQ(version_text(12'034'056), "12.34.56");
}

TEST(Version, ALibraryOfTheSameVersionOrALaterPatchIsTaken) {
  EXPECT_THAT(version_problem(1'000, 1'000), IsEmpty());
  EXPECT_THAT(version_problem(1'002, 1'003), IsEmpty());
  EXPECT_THAT(version_problem(1'002'003, 1'002'003), IsEmpty());
  EXPECT_THAT(version_problem(1'002'003, 1'003'000), IsEmpty());
}

TEST(Version, AnOlderLibraryIsRefusedByBothNumbers) {
  EXPECT_THAT(version_problem(1'001, 1'000),
              AllOf(HasSubstr("0.1.1"), HasSubstr("0.1.0"), HasSubstr("older")));
  EXPECT_THAT(version_problem(1'003'000, 1'002'999),
              AllOf(HasSubstr("1.3.0"), HasSubstr("1.2.999"), HasSubstr("older")));
  EXPECT_THAT(version_problem(2'000'000, 1'999'999), HasSubstr("older"));
}

TEST(Version, AnotherMinorVersionIsRefusedWhileTheMajorOneIsZero) {
  EXPECT_THAT(version_problem(1'000, 2'000),
              AllOf(HasSubstr("0.1.0"), HasSubstr("0.2.0"), HasSubstr("not compatible")));
  EXPECT_THAT(version_problem(999'999, 1'000'000), HasSubstr("not compatible"));
}

TEST(Version, AnotherMajorVersionIsRefused) {
  EXPECT_THAT(version_problem(1'000'000, 2'000'000),
              AllOf(HasSubstr("1.0.0"), HasSubstr("2.0.0"), HasSubstr("not compatible")));
}

}  // namespace
}  // namespace peal
