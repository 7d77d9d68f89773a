// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

#include "sim/baselines/registry.h"
#include "sim/run/runner.h"
#include "sim/scenario/scenario.h"

// RamCast as published: with all of its errors mended nothing goes wrong, and errors are noticed.

namespace peal::sim {
namespace {

enum class Failures : std::uint8_t { none, of_processes };

RunResult run_literal(const std::string& published, Failures failures, std::uint64_t seed) {
  SeedOptions options;
  options.swarm.engine = EngineOptions(*find_engine("literal"));
  options.swarm.domains = 3;
  options.swarm.faults = failures != Failures::none;
  options.swarm.overrides = {"published=" + published};
  options.replay_check = false;
  return run_seed(seed, options);
}

TEST(Literal, IsRightWithAllErrorsMended) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const Failures failures : {Failures::none, Failures::of_processes}) {
      const RunResult result = run_literal("none", failures, seed);
      EXPECT_EQ(result.property, "") << "seed " << seed << ": " << result.text;
      EXPECT_GT(result.figures.deliveries_checked, 0U) << "seed " << seed;
    }
  }
}

/// An error, and a seed that notices it.
struct Noticed {
  const char* error;
  Failures failures;
  std::uint64_t seed;
  const char* property;
};
void PrintTo(const Noticed& noticed, std::ostream* out) { *out << noticed.error; }

class LiteralErrors : public testing::TestWithParam<Noticed> {};

TEST_P(LiteralErrors, AreNoticed) {
  const Noticed& noticed = GetParam();
  const RunResult right = run_literal("none", noticed.failures, noticed.seed);
  EXPECT_EQ(right.property, "") << right.text;
  const RunResult wrong = run_literal(noticed.error, noticed.failures, noticed.seed);
  EXPECT_EQ(wrong.property, noticed.property) << wrong.text;
}

INSTANTIATE_TEST_SUITE_P(All, LiteralErrors,
                         testing::Values(Noticed{"x1", Failures::none, 1, "E7"},
                                         Noticed{"x2", Failures::none, 1, "E7"},
                                         Noticed{"x4", Failures::none, 1, "E7"},
                                         Noticed{"x6", Failures::of_processes, 7, "E7"},
                                         Noticed{"x8", Failures::of_processes, 2, "E7"},
                                         Noticed{"x9", Failures::of_processes, 1, "E3"},
                                         Noticed{"x12", Failures::of_processes, 18, "E7"}));

/// The problem that the scenario has with this error; empty if none.
std::string problem_with(const std::string& published, const std::string& cluster,
                         const char* lines) {
  const std::string text = "cluster order=literal nodes=7 " + cluster +
                           " domain1=n1-n3 domain2=n4-n6 published=" + published + "\n" + lines;
  const Outcome outcome = run_script(parse_script(published, text));
  EXPECT_EQ(outcome.error, "");
  return outcome.property();
}

// The clock of domain 2 is far ahead. The leader of domain 1 sleeps while a message to both gets
// its key. It delivers that message before it hears that another server leads, which gives lower
// stamps.
TEST(LiteralScenarios, X5GivesStampsBelowAKey) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n4 agreed size=20 count=200 domain=2\n"
      "run until idle\n"
      "submit n7 agreed \"both\" domain=1,2\n"
      "run 900us\n"
      "pause n1 200ms\n"
      "submit n2 agreed size=20 count=20 domain=1\n"
      "run 2s\n"
      "settle\n";
  EXPECT_EQ(problem_with("x5", "seed=3 write=1ms", kLines), "E7");
  EXPECT_EQ(problem_with("none", "seed=3 write=1ms", kLines), "");
}

// The client wrote its message to the leader alone, which delivers it. Then both end.
TEST(LiteralScenarios, X10DeliversWhatNobodyElseHas) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n7 agreed \"first\" domain=1\n"
      "run until idle\n"
      "cut n7 from n2,n3\n"
      "submit n7 agreed \"only\" domain=1\n"
      "run 5ms\n"
      "crash n7\n"
      "crash n1\n"
      "heal\n"
      "run 1s\n"
      "settle\n";
  EXPECT_EQ(problem_with("x10", "seed=1", kLines), "E7");
  EXPECT_EQ(problem_with("none", "seed=1", kLines), "");
}

// A leader that knows the key before it has copied the other domain's stamp never copies it.
TEST(LiteralScenarios, X3LeavesFollowersWithoutAStamp) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n7 agreed size=20 count=20 domain=1,2\n"
      "settle\n";
  EXPECT_EQ(problem_with("x3", "seed=1 write=1ms", kLines), "E10");
  EXPECT_EQ(problem_with("steps", "seed=1 write=1ms", kLines), "");
}

// A follower lacks the unit of a message that the next leader has delivered.
TEST(LiteralScenarios, X7LeavesAMessageBehind) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n7 agreed \"first\" domain=1\n"
      "submit n2 agreed \"second\" domain=1\n"
      "run until idle\n"
      "cut n7 > n3\n"
      "submit n7 agreed \"some\" domain=1\n"
      "run 3ms\n"
      "crash n7\n"
      "heal\n"
      "pause n1 180ms\n"
      "run 300ms\n"
      "submit n2 agreed \"later\" domain=1\n"
      "run 1s\n"
      "settle\n";
  EXPECT_EQ(problem_with("x7", "seed=1 retry_ms=90 suspect_ms=60", kLines), "E7");
  EXPECT_EQ(problem_with("none", "seed=1 retry_ms=90 suspect_ms=60", kLines), "");
}

/// The client's write to the leader does not arrive, so its message has no stamp until a follower
/// relays it. Meanwhile the leader gives a stamp to a later message.
std::string problem_while_a_stamp_is_missing(const std::string& published,
                                             const std::string& expected) {
  const std::string lines =
      "run 200ms\n"
      "submit n7 agreed \"first\" domain=1\n"
      "submit n2 agreed \"second\" domain=1\n"
      "run until idle\n"
      "cut n7 > n1\n"
      "submit n7 agreed \"unstamped\" domain=1\n"
      "run 3ms\n"
      "submit n2 agreed \"later\" domain=1\n"
      "run 20ms\n"
      "expect n1 delivers \"later\"\n"
      "expect n2,n3 " +
      expected +
      " \"later\"\n"
      "run 500ms\n"
      "expect n1-n3 delivers \"unstamped\"\n"
      "expect n1-n3 delivers \"later\"\n"
      "heal\n"
      "settle\n";
  return problem_with(published, "seed=1 retry_ms=90 suspect_ms=60", lines.c_str());
}

// Nothing is wrong with the order. But who has the message without a stamp waits, and needlessly:
// the stamp that it gets will be above that of the later message.
TEST(LiteralScenarios, X11WaitsForAMessageWithoutAStamp) {
  EXPECT_EQ(problem_while_a_stamp_is_missing("x11", "not delivers"), "");
  EXPECT_EQ(problem_while_a_stamp_is_missing("x11", "delivers"), "expect");
  EXPECT_EQ(problem_while_a_stamp_is_missing("none", "delivers"), "");
}

TEST(LiteralScenarios, X13LetsNoLeaderTellAnother) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n7 agreed \"both\" domain=1,2\n"
      "settle\n";
  EXPECT_EQ(problem_with("x13", "seed=1", kLines), "E10");
  EXPECT_EQ(problem_with("none", "seed=1", kLines), "");
}

// Node 2 leads, drops a message whose unit only node 1 has, and delivers what that message blocked.
// Then it ends. The next leader, with node 1, knows only the round before.
TEST(LiteralScenarios, X14DeliversWhatTheNextLeaderDoesNotKnow) {
  constexpr const char* kLines =
      "run 200ms\n"
      "submit n7 agreed \"first\" domain=1\n"
      "submit n2 agreed \"second\" domain=1\n"
      "run until idle\n"
      "cut n7 from n2,n3\n"
      "submit n7 agreed \"lost\" domain=1\n"
      "run 3ms\n"
      "submit n2 agreed \"later\" domain=1\n"
      "run 3ms\n"
      "pause n1 300ms\n"
      "run until packet kind=part from n3 to n2 within 1s\n"
      "pause n3 200ms\n"
      "cut n2 > n3\n"
      "cut n2 > n1\n"
      "run 20ms\n"
      "crash n2\n"
      "crash n7\n"
      "heal\n"
      "run 1s\n"
      "settle\n";
  EXPECT_EQ(problem_with("x14", "seed=1", kLines), "E7");
  EXPECT_EQ(problem_with("none", "seed=1", kLines), "");
}

}  // namespace
}  // namespace peal::sim
