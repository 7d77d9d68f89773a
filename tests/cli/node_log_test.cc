// SPDX-License-Identifier: Apache-2.0
#include "cli/node_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peal::cli {
namespace {

TEST(NodeLog, WritesKeysAndValues) {
  EXPECT_EQ(NodeLog::line(false, "view_installed", {{"view", "12@a"}, {"members", "a,b"}}),
            "event=view_installed view=12@a members=a,b");
  EXPECT_EQ(NodeLog::line(true, "x", {{"view", "12@a"}}), R"({"event":"x","view":"12@a"})");
}

TEST(NodeLog, ValuesCannotForgeALine) {
  EXPECT_EQ(NodeLog::line(false, "warning", {{"text", "a b\nevent=forged \"x\""}}),
            R"(event=warning text="a b\nevent=forged \"x\"")");
  EXPECT_EQ(NodeLog::line(false, "warning", {{"text", ""}}), "event=warning text=\"\"");
  EXPECT_THAT(NodeLog::line(false, "w", {{"text", "\xff\x01"}}),
              testing::Not(testing::HasSubstr("\x01")));
}

TEST(NodeLog, LimitsWhatOthersCanCause) {
  NodeLog log(false);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) log.limited(1'000, "warning", {{"text", "x"}});
  log.limited(10'000'000'000, "warning", {{"text", "later"}});
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 22);
  EXPECT_THAT(out, testing::HasSubstr("event=lines_left_out count=30"));
}

}  // namespace
}  // namespace peal::cli
