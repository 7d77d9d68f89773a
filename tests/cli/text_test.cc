// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peal::cli {
namespace {

TEST(Text, NearestFindsSlips) {
  const std::vector<std::string> known = {"token_loss_ms", "token_retransmit_ms", "hold_ms"};
  EXPECT_EQ(nearest("token_los_ms", known), "token_loss_ms");
  EXPECT_EQ(nearest("token_retransmit", known), "token_retransmit_ms");
  EXPECT_EQ(nearest("hodl_ms", known), "hold_ms");
  EXPECT_EQ(nearest("window", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'x'), known), "");
}

TEST(Text, QuoteIsOneShortLine) {
  EXPECT_EQ(quote("a"), "\"a\"");
  EXPECT_EQ(quote("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(quote("a\nb\x7f"), "\"a\\x0ab\\x7f\"");
  EXPECT_EQ(quote(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(quote(std::string(61, 'x')), "\"" + std::string(60, 'x') + "…\"");
}

TEST(Text, Numbers) {
  EXPECT_EQ(decimal(8), "8");
  EXPECT_EQ(decimal(0.5), "0.5");
  EXPECT_EQ(decimal(60000), "60000");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(counted(1, "delivery"), "1 delivery");
  EXPECT_EQ(counted(1200, "delivery"), "1,200 deliveries");
  EXPECT_EQ(counted(2, "node"), "2 nodes");
}

TEST(Text, WordsOfAShellAreQuotedIfTheyMustBe) {
  EXPECT_EQ(shell_word("/tmp/c-1"), "/tmp/c-1");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $x"), "'it'\\''s $x'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Text, ShortIds) {
  EXPECT_EQ(short_id("12@a-1.210987654321"), "12@a-1");
  EXPECT_EQ(short_id("a.7"), "a");
  EXPECT_EQ(short_id("a"), "a");
  EXPECT_EQ(short_id(""), "");
}

TEST(Text, Joined) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b"}), "a, b");
}

TEST(Text, FoldedLinesAreNoWiderThanWanted) {
  using testing::ElementsAre;
  EXPECT_THAT(folded("", 80), ElementsAre(""));
  EXPECT_THAT(folded("n1  1@a  nothing", 16), ElementsAre("n1  1@a  nothing"));
  EXPECT_THAT(folded("n1  1@a  c to vote for position 1", 20),
              ElementsAre("n1  1@a  c to vote", "      for position 1"));
  EXPECT_THAT(folded("no_space_in_all_of_it", 14), ElementsAre("no_space_in_al", "      l_of_it"));
  EXPECT_THAT(folded("abcdefgh ijklmnop", 0), ElementsAre("abcdefgh", "      ijklmn", "      op"));
}

}  // namespace
}  // namespace peal::cli
