// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/node.h"

namespace peal::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Limits, DefaultsSuitEightNodes) {
  EXPECT_EQ(validate(Limits{}, 8), "");
  EXPECT_THAT(validate(Limits{}, 9), AllOf(HasSubstr("reassembly_bytes_max"),
                                           HasSubstr("536870912"), HasSubstr("603979776")));
}

TEST(Limits, EachBadValueNamesItsKeyTheValueAndWhatIsAccepted) {
  Limits limits;
  limits.message_bytes_max = 0;
  EXPECT_THAT(validate(limits, 1), AllOf(HasSubstr("message_bytes_max is 0"), HasSubstr("1 to ")));
  limits = {};
  limits.submit_messages_max = 0;
  EXPECT_THAT(validate(limits, 1), HasSubstr("submit_messages_max is 0"));
  limits = {};
  limits.submit_bytes_max = limits.message_bytes_max - 1;
  EXPECT_THAT(validate(limits, 1), AllOf(HasSubstr("submit_bytes_max is 67108863"),
                                         HasSubstr("at least message_bytes_max")));
  limits = {};
  limits.submit_small_bytes_max = 4'095;
  EXPECT_THAT(validate(limits, 1), HasSubstr("submit_small_bytes_max is 4095"));
}

}  // namespace
}  // namespace peal::node
