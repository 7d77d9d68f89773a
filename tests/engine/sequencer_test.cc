// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "../cli/tool.h"

// Tests of the tool with another engine. This folder has the engine and its own list of engines.
// All other code is that of the released programs.

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const kTop = "cluster = \"t\"\nnode = \"a\"\ninsecure = true\norder = \"sequencer\"\n";
const char* const kNodes = "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:4801\"\n";

using Sequencer = Tool;

TEST_F(Sequencer, IsConfiguredInATableOfItsOwn) {
  const std::string table = "[sequencer]\nwindow = 65\n";
  write("c.toml", kTop + table + kNodes);
  const Ran wrong = run("peal node --config $DIR/c.toml");
  expect_refused(wrong.status, wrong.err, "c.toml:6: sequencer.window = 65");
  EXPECT_THAT(wrong.err, HasSubstr("1 to 64"));

  write("c.toml", "cluster = \"t\"\nnode = \"a\"\ninsecure = true\n[sequencer]\nwindow = 4\n" +
                      std::string(kNodes));
  const Ran other = run("peal node --config $DIR/c.toml");
  expect_refused(other.status, other.err, "sequencer.window = 4 does not go with order = \"ring\"");

  write("c.toml", kTop + std::string("[sequencer]\nwindows = 4\n") + kNodes);
  const Ran close = run("peal node --config $DIR/c.toml");
  expect_refused(close.status, close.err, "sequencer.windows");
  EXPECT_THAT(close.err, HasSubstr("did you mean sequencer.window?"));
}

TEST_F(Sequencer, IsInThePrintedConfiguration) {
  const Ran printed = run("peal node --print-config");
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("\"ridge\" or \"sequencer\""));
  EXPECT_THAT(printed.out, HasSubstr("[sequencer]"));
  EXPECT_THAT(printed.out, HasSubstr("#window = 8"));
  EXPECT_THAT(printed.out, HasSubstr("#tick_ms = 5"));
  // The option max_gap is internal: only tests set it.
  EXPECT_THAT(printed.out, Not(HasSubstr("max_gap = 1024")));
}

TEST_F(Sequencer, OrdersForRealNodesWhichSayHowTheyAre) {
  up({"--order", "sequencer", "--trace"});
  wait_for("members=3");
  const Ran sent = run("seq 1 50 | peal send --to $DIR");
  EXPECT_EQ(sent.status, 0) << sent.err;
  const Ran text = run("peal status --to $DIR");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("order=sequencer"));
  const Ran json = run("peal status --to $DIR --json");
  EXPECT_THAT(json.out, HasSubstr("\"order\": \"sequencer\""));
  EXPECT_THAT(json.out, HasSubstr("\"window\": 8"));
  EXPECT_THAT(json.out, HasSubstr("\"sequencer_granted\": "));
  stop_all(children_, 10'000);
  children_.clear();
  // The oracle reads from the traces what the engine promises.
  const Ran judged = run("peal check $DIR/*.trace");
  EXPECT_EQ(judged.status, 0) << judged.out << judged.err;
}

TEST_F(Sequencer, IsSimulatedAndJudged) {
  const Ran seeds = run(PEAL_SIM_PROGRAM " --order sequencer --seeds 1-20 --json");
  EXPECT_EQ(seeds.status, 0) << seeds.out << seeds.err;
  const Ran groups = run(PEAL_SIM_PROGRAM " --order sequencer --seeds 1-5 --groups");
  EXPECT_EQ(groups.status, 0) << groups.out << groups.err;
  const Ran story = run(PEAL_SIM_PROGRAM " --order sequencer --seed 3 --set window=4 --print");
  EXPECT_THAT(story.out, HasSubstr("cluster order=sequencer"));
  EXPECT_THAT(story.out, HasSubstr(" window=4"));
  // When a node has crashed, the engine orders nothing, and the simulator reports this.
  write(
      "crash.txt",
      "cluster order=sequencer nodes=3 seed=1\nstart all\nrun 1s\ncrash n3\nload rate=100\nrun 1s\n"
      "settle n1,n2\n");
  const Ran crash = run(PEAL_SIM_PROGRAM " --scenario $DIR/crash.txt");
  EXPECT_EQ(crash.status, 1) << crash.out;
  EXPECT_THAT(crash.out + crash.err, HasSubstr("E10"));
}

}  // namespace
}  // namespace peal::cli
