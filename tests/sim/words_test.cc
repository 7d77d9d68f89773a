// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "sim/scenario/tokenizer.h"

namespace peal::sim {
namespace {

using Nodes = std::vector<NodeId>;

Nodes nodes(std::initializer_list<std::uint32_t> numbers) {
  Nodes out;
  for (const std::uint32_t n : numbers) out.push_back(NodeId{n});
  return out;
}

TEST(Tokenizer, SplitsAtBlanksAndStopsAtComments) {
  Tokenizer words("  cut n1\tfrom n2  # and then?", 3);
  EXPECT_EQ(words.take("a word"), "cut");
  EXPECT_EQ(words.node(), NodeId{1});
  words.expect("from");
  EXPECT_EQ(words.node(), NodeId{2});
  EXPECT_TRUE(words.finish()) << words.problem();
}

TEST(Tokenizer, KeepsQuotedTextTogether) {
  Tokenizer words(R"(submit "a # b  c" "")", 1);
  words.expect("submit");
  EXPECT_EQ(words.text(), "a # b  c");
  EXPECT_EQ(words.text(), "");
  EXPECT_TRUE(words.finish()) << words.problem();
}

TEST(Tokenizer, ReadsListsOfNodesSortedAndOnce) {
  EXPECT_EQ(Tokenizer("n3,n1,n3", 3).nodes(), nodes({1, 3}));
  EXPECT_EQ(Tokenizer("n2-n4,n1", 4).nodes(), nodes({1, 2, 3, 4}));
  EXPECT_EQ(Tokenizer("all", 2).nodes(), nodes({1, 2}));
}

TEST(Tokenizer, ReadsDurations) {
  EXPECT_EQ(Tokenizer("20ms", 0).duration(), milliseconds(20));
  EXPECT_EQ(Tokenizer("1.5s", 0).duration(), milliseconds(1'500));
  EXPECT_EQ(Tokenizer("300us", 0).duration(), microseconds(300));
  EXPECT_EQ(Tokenizer("0", 0).duration(), Duration{});
  EXPECT_EQ(Tokenizer("0-30ms", 0).duration_range(), std::pair(Duration{}, milliseconds(30)));
  EXPECT_EQ(Tokenizer("5-30ms", 0).duration_range(), std::pair(milliseconds(5), milliseconds(30)));
  EXPECT_EQ(Tokenizer("7ms", 0).duration_range(), std::pair(milliseconds(7), milliseconds(7)));
}

TEST(Tokenizer, WritesDurationsThatItReadsBack) {
  for (const std::int64_t ns :
       {0LL, 1LL, 999LL, 1'000LL, 1'500LL, 2'000'000LL, 3'000'000'000LL, 4'000'000'001LL}) {
    const std::string text = duration_text(Duration{ns});
    EXPECT_EQ(Tokenizer(text, 0).duration(), Duration{ns}) << text;
  }
}

TEST(Tokenizer, TakesKeysFromAnywhere) {
  Tokenizer words("kind=token from n1 count=3", 3);
  words.take_keys();
  words.expect("from");
  EXPECT_EQ(words.node(), NodeId{1});
  EXPECT_EQ(words.value("kind"), "token");
  EXPECT_EQ(words.number("count", 1, 1, 10), 3U);
  EXPECT_EQ(words.number("absent", 7, 1, 10), 7U);
  EXPECT_TRUE(words.finish()) << words.problem();
}

TEST(Tokenizer, DoesNotTakeComparisonsForKeys) {
  Tokenizer words("views <= 2", 3);
  words.expect("views");
  words.take_keys();
  EXPECT_EQ(words.take("a comparison"), "<=");
  EXPECT_EQ(words.number(0, 9), 2U);
  EXPECT_TRUE(words.finish()) << words.problem();
}

struct Mistake {
  const char* line;
  const char* problem;
};

std::string problem_of(const char* line) {
  Tokenizer words(line, 3);
  static_cast<void>(words.take("a command"));
  words.take_keys();
  static_cast<void>(words.nodes());
  static_cast<void>(words.duration("for", Duration{}));
  static_cast<void>(words.fraction("p", 0));
  static_cast<void>(words.number("count", 1, 1, 10));
  static_cast<void>(words.yes_no("post"));
  static_cast<void>(words.finish());
  return words.problem();
}

TEST(Tokenizer, NamesMistakes) {
  const Mistake mistakes[] = {
      {"x", "the line ends where a node is expected"},
      {"x m1", "'m1' is no node; nodes are n1, n2, ... and lists of them are n1,n3 or n1-n4"},
      {"x n0", "'n0' is not in this cluster of 3 nodes"},
      {"x n4", "'n4' is not in this cluster of 3 nodes"},
      {"x n3-n2", "'n3-n2' is not in this cluster of 3 nodes"},
      {"x n1 n2", "'n2' is one word too many"},
      {"x n1 for=3", "for=3: accepted is a duration such as 20ms or 1.5s"},
      {"x n1 p=2", "p=2: accepted is a number from 0 to 1.000000"},
      {"x n1 count=11", "count=11: accepted is a number from 1 to 10"},
      {"x n1 count=-1", "count=-1: accepted is a number from 1 to 10"},
      {"x n1 post=maybe", "post=maybe: accepted is yes or no"},
      {"x n1 color=red", "'color' means nothing here"},
      {"x n1 p=0 p=0", "'p' is given twice"},
      {"x \"n1", "a quote is not closed"},
  };
  for (const Mistake& mistake : mistakes) EXPECT_EQ(problem_of(mistake.line), mistake.problem);
}

}  // namespace
}  // namespace peal::sim
