// SPDX-License-Identifier: Apache-2.0
// The worked example of the conference paper (Fig. 1): three participants send twenty messages,
// five per visit, in the original and in the accelerated ring, message for message.
#include <gtest/gtest.h>

#include "cluster.h"

namespace peal::order::test {
namespace {

std::vector<std::string> run_example(std::uint32_t accelerated_window) {
  ring::Options options;
  options.personal_window = 5;
  options.global_window = 160;
  options.accelerated_window = accelerated_window;
  Cluster cluster(3, options);
  cluster.start_all();
  EXPECT_TRUE(cluster.run_until([&] { return cluster.in_view_of(3); }, seconds(5)));
  // Waits until the token of the idle view rests at participant A.
  const std::uint64_t rests = cluster.counter(0, "tokens_held");
  EXPECT_TRUE(
      cluster.run_until([&] { return cluster.counter(0, "tokens_held") > rests; }, seconds(1)));
  for (int i = 0; i < 10; ++i) cluster.preload(0, "a");
  for (int i = 0; i < 5; ++i) cluster.preload(1, "b");
  for (int i = 0; i < 5; ++i) cluster.preload(2, "c");

  std::vector<std::string> transcript;
  bool done = false;
  cluster.on_sent = [&](const Flight& flight) {
    const std::string who(1, static_cast<char>('A' + flight.from));
    if (flight.kind == wire::FrameKind::token && !done) {
      wire::Token token;
      ASSERT_EQ(wire::decode_token(flight.bytes, token), wire::Drop::none);
      transcript.push_back(who + " token " + std::to_string(token.seq));
      EXPECT_TRUE(token.sections.empty()) << "a message was asked for that was not lost";
    }
    // A multicast is one message: count the copy for the next participant only.
    if (flight.kind == wire::FrameKind::data && flight.to == (flight.from + 1) % 3) {
      wire::Data data;
      ASSERT_EQ(wire::decode_data(flight.bytes, data), wire::Drop::none);
      transcript.push_back(who + " data " + std::to_string(data.seq));
      done = data.seq == 20;
    }
  };
  cluster.poke(0);
  EXPECT_TRUE(cluster.run_until([&] { return done; }, seconds(1)));
  cluster.run(milliseconds(50));
  EXPECT_EQ(cluster.log(0).size(), 21U);  // the view and twenty messages
  EXPECT_EQ(cluster.log(0), cluster.log(1));
  EXPECT_EQ(cluster.log(0), cluster.log(2));
  return transcript;
}

std::vector<std::string> expected(const std::vector<std::string>& visits) {
  std::vector<std::string> result;
  for (const std::string& visit : visits) {
    // Example: "A 1 2 T5 3 4 5". A sends messages 1 and 2, the token with seq 5, then 3 to 5.
    std::string word;
    const std::string who = visit.substr(0, 1);
    for (std::size_t i = 2; i <= visit.size(); ++i) {
      if (i < visit.size() && visit[i] != ' ') {
        word += visit[i];
        continue;
      }
      result.push_back(word[0] == 'T' ? who + " token " + word.substr(1) : who + " data " + word);
      word.clear();
    }
  }
  return result;
}

TEST(WorkedExample, OriginalRing) {
  EXPECT_EQ(run_example(0), expected({"A 1 2 3 4 5 T5", "B 6 7 8 9 10 T10", "C 11 12 13 14 15 T15",
                                      "A 16 17 18 19 20"}));
}

TEST(WorkedExample, AcceleratedRing) {
  EXPECT_EQ(run_example(3), expected({"A 1 2 T5 3 4 5", "B 6 7 T10 8 9 10", "C 11 12 T15 13 14 15",
                                      "A 16 17 T20 18 19 20"}));
}

}  // namespace
}  // namespace peal::order::test
