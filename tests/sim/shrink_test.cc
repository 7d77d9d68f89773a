// SPDX-License-Identifier: Apache-2.0
#include "sim/run/shrink.h"

#include <gtest/gtest.h>

#include "sim/generator/swarm.h"

namespace peal::sim {
namespace {

constexpr const char* kLongStory =
    "cluster nodes=5 seed=3 drift=100 max_gap=700\n"
    "load rate=2000 size=10-100 burst=4\n"
    "run 5ms\n"
    "pause n4 3ms\n"
    "run 5ms\n"
    "cut n5 > n4\n"
    "run 20ms\n"
    "heal\n"
    "split n1,n2,n4 | n3,n5\n"
    "run 30ms\n"
    "heal\n"
    "run 10ms\n";

TEST(Shrink, LeavesWhatTheFailureNeeds) {
  ShrinkOptions options;
  options.mutant = sim_hooks::Mutant::pack_wrong_order;
  options.tries_max = 150;
  const Shrunk shrunk = shrink(parse_script("story", kLongStory), options);
  EXPECT_EQ(shrunk.property, "E7");
  EXPECT_LE(shrunk.script.lines.size(), 4U) << shrunk.script.text();
  EXPECT_NE(shrunk.script.text().find("load"), std::string::npos) << shrunk.script.text();
  EXPECT_EQ(shrunk.script.text().find("nodes=5"), std::string::npos) << shrunk.script.text();
  RunOptions run;
  run.mutant = options.mutant;
  EXPECT_EQ(run_script(shrunk.script, run).property(), "E7");
}

TEST(Shrink, SaysThatAStoryDoesNotFail) {
  const Shrunk shrunk = shrink(parse_script("story", "cluster nodes=1\nrun 1ms\n"), {});
  EXPECT_EQ(shrunk.property, "");
  EXPECT_EQ(shrunk.tries, 0U);
}

TEST(Shrink, WritesFaultsThatChoseTheirMomentAsPlainLines) {
  const Script story = parse_script("story",
                                    "cluster nodes=3 seed=5\n"
                                    "target kinds=commit p=1 actions=crash most=2\n"
                                    "crash n1\n"
                                    "run 900ms\n");
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  RunOptions options;
  options.plain = file;
  const Outcome targeted = run_script(story, options);
  std::rewind(file);
  std::string text(4'096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  EXPECT_EQ(text.find("target"), std::string::npos) << text;
  EXPECT_GE(targeted.faults.of(Fault::targeted_crash), 1U);
  const Outcome plain = run_script(parse_script("plain", text));
  EXPECT_TRUE(plain.ok()) << plain.problem();
  EXPECT_EQ(plain.figures.events - plain.figures.events % 100,
            targeted.figures.events - targeted.figures.events % 100)
      << text;
}

}  // namespace
}  // namespace peal::sim
