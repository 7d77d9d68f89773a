// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/bench/check.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;

TEST(DeliveryCheck, AcceptsEachSendersMessagesInTheirOrder) {
  DeliveryCheck check;
  for (const auto& [sender, number] :
       {std::pair("a.1", 1), {"b.1", 1}, {"a.1", 2}, {"a.1", 3}, {"b.1", 2}}) {
    check.on_message(sender, static_cast<std::uint64_t>(number));
  }
  EXPECT_EQ(check.problem(), "");
}

TEST(DeliveryCheck, NoticesAMessageThatIsMissing) {
  DeliveryCheck check;
  check.on_message("a.1", 1);
  check.on_message("a.1", 3);
  EXPECT_THAT(check.problem(), HasSubstr("message 3 of a.1 was delivered after message 1"));
}

TEST(DeliveryCheck, NoticesThatTheFirstMessageIsMissing) {
  DeliveryCheck check;
  check.on_message("a.1", 2);
  EXPECT_THAT(check.problem(), HasSubstr("message 2 of a.1"));
}

TEST(DeliveryCheck, NoticesAMessageThatComesTwice) {
  DeliveryCheck check;
  check.on_message("a.1", 1);
  check.on_message("a.1", 1);
  EXPECT_THAT(check.problem(), HasSubstr("message 1 of a.1 was delivered again"));
}

TEST(DeliveryCheck, KeepsWhatWasWrongFirst) {
  DeliveryCheck check;
  check.on_message("a.1", 5);
  check.on_message("a.1", 4);
  check.on_message("b.1", 7);
  EXPECT_THAT(check.problem(), HasSubstr("message 5 of a.1"));
}

}  // namespace
}  // namespace peal::cli
