// SPDX-License-Identifier: Apache-2.0
// The tool on the command line, with real processes and sockets. PEAL_PROGRAM is the tool's path.
#include "tool.h"

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/node/report.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;

TEST_F(Tool, HelpAndVersion) {
  EXPECT_THAT(run("peal").out, HasSubstr("Usage: peal COMMAND"));
  EXPECT_THAT(run("peal version").out, testing::MatchesRegex("peal [0-9.]+\n"));
  const Ran help = run("peal up --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Examples:"));
  EXPECT_EQ(help.err, "");
}

TEST_F(Tool, WhatIsWrongIsOneLineAndStatus2) {
  const std::string node = "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:";
  write("good.toml", "cluster = \"t\"\n" + node + "4801\"\n");
  write("bad.toml", "cluster = \"t\"\n" + node + "4801\"\n[ring]\nmax_gap = 9\n");
  const std::pair<const char*, const char*> rows[] = {
      {"peal bogus", "unknown command \"bogus\""},
      {"peal up --nodes 0", "--nodes = \"0\": accepted is a whole number from 1 to 32"},
      {"peal node", "--config is missing"},
      {"peal node --config $DIR/none.toml", "cannot be read"},
      {"peal node --config $DIR", "cannot be read"},
      {"peal node --config $DIR/good.toml", "node is missing"},
      {"peal node --config $DIR/good.toml --name b", "accepted is a node of"},
      {"peal node --config $DIR/bad.toml --name a", "bad.toml:6: ring.max_gap = 9: accepted is a"},
      {"peal check $DIR/none.trace", "none.trace"},
      {"peal check $DIR/good.toml", "good.toml:1"},
      {"peal up --dir /nonexistent/x", "--dir \"/nonexistent/x\""},
      {"peal up --dir /tmp", "a folder that belongs to you"},
  };
  for (const auto& [command, what] : rows) {
    SCOPED_TRACE(command);
    const Ran ran = run(command);
    expect_refused(ran.status, ran.err, what);
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(Tool, SaysThatNothingRuns) {
  for (const char* command : {"echo x | peal send --to $DIR", "peal recv --to $DIR",
                              "peal status --to $DIR", "peal recv --to $DIR/a.sock"}) {
    SCOPED_TRACE(command);
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, testing::StartsWith("peal: "));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(Tool, AddressInUseNamesIt) {
  const auto ports = free_port_pairs(1);
  ASSERT_EQ(ports.size(), 1U);
  const std::string address = "127.0.0.1:" + std::to_string(ports[0]);
  write("p.toml",
        "cluster = \"t\"\nnode = \"a\"\ninsecure = true\n[[nodes]]\nname = \"a\"\naddress = \"" +
            address + "\"\n");
  start({"node", "--config", dir_ + "/p.toml"}, "node.log");
  wait_for("members=1");
  write("q.toml", "socket = \"q.sock\"\n" + content(dir_ + "/p.toml"));
  const Ran second = run("peal node --config $DIR/q.toml");
  expect_refused(second.status, second.err, address);
}

TEST_F(Tool, MessagesGoToSeveralGroupsAndToOneClient) {
  up({"--nodes", "2"});
  wait_for("members=2");
  start({"recv", "--to", dir_ + "/n1.sock", "--name", "x", "--group", "a", "--group", "b",
         "--views", "--count", "3"},
        "received");
  for (const char* group : {"a", "b"}) {
    const std::string line = "'group=" + std::string(group) + " members=#x#n1 '";
    ASSERT_EQ(run("timeout 20 tail -n +1 -F $DIR/received | grep -q -m 1 " + line).status, 0);
  }
  const Ran sent =
      run("to=\"--to $DIR/n2.sock\"; echo both | peal send $to --group a --group b &&"
          "echo nobody | peal send $to --group c &&"
          "echo private | peal send $to --group '#x#n1' && echo b | peal send $to --group b");
  EXPECT_EQ(sent.status, 0) << sent.err;
  children_.back().wait();
  EXPECT_EQ(children_.back().status(), 0);
  EXPECT_EQ(run("grep -v '^# ' $DIR/received").out, "both\nprivate\nb\n");
  const Ran same = run("peal recv --to $DIR/n1.sock --group a --group a");
  EXPECT_EQ(same.status, 1);
  EXPECT_THAT(same.err, HasSubstr("group \"a\" cannot be joined: "));
}

// The default engine delivers fifo and causal messages as agreed ones, with places.
TEST_F(Tool, EveryServiceIsSentAndReceived) {
  up({"--nodes", "2", "--trace"});
  wait_for("members=2");
  start({"recv", "--to", dir_ + "/n1.sock", "--json", "--views", "--count", "4"}, "received");
  ASSERT_EQ(run("timeout 20 tail -n +1 -F $DIR/received | grep -q -m 1 members").status, 0);
  const Ran sent =
      run("for s in fifo causal agreed safe; do "
          "echo $s | peal send --to $DIR/n2.sock --service $s || exit 1; done");
  EXPECT_EQ(sent.status, 0) << sent.err;
  children_.back().wait();
  EXPECT_EQ(children_.back().status(), 0);
  std::vector<std::string> services;
  std::istringstream lines(run("grep '\"message\"' $DIR/received").out);
  for (std::string line; std::getline(lines, line);) {
    const auto message = nlohmann::json::parse(line);
    services.push_back(message["service"]);
    EXPECT_EQ(message["text"], message["service"]);
    EXPECT_GT(message["place"]["position"], 0);
    EXPECT_FALSE(message.contains("number"));
  }
  EXPECT_THAT(services, testing::ElementsAre("fifo", "causal", "agreed", "safe"));
  children_.front().signal(SIGTERM);
  children_.front().wait();
  const Ran check = run("peal check $DIR/n1.trace $DIR/n2.trace");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
}

// Each of two members delivers its own causal message first.
TEST_F(Tool, CheckKnowsWhichEngineGivesCausalMessagesNoPlace) {
  const auto trace = [](const std::string& node, const std::string& other,
                        const std::string& engine) {
    const auto line = [&](const std::string& rest) {
      return R"({"at":1,"layer":"order","node":")" + node + R"(",)" + rest + "}\n";
    };
    const std::string sent = R"("service":"causal")";
    const std::string got = sent + R"(,"hash":"00000000000000aa")";
    const std::string place = R"("view":"1@a.1","seq":0,)";
    const std::string own = R"("msg":")" + node + R"(:1",)";
    return line(R"("ev":"start","order":")" + engine + "\"") +
           line(R"("ev":"view","view":"1@a.1","kind":"regular","members":["a.1","b.1"])") +
           line(R"("ev":"submit",)" + own + got + R"(,"bytes":3)") +
           line(R"("ev":"originate",)" + own + place + sent) +
           line(R"("ev":"deliver",)" + own + place + got) +
           line(R"("ev":"deliver","msg":")" + other + R"(:1",)" + place + got);
  };
  for (const std::string engine : {"toto", "ring"}) {
    write(engine + "-a.trace", trace("a.1", "b.1", engine));
    write(engine + "-b.trace", trace("b.1", "a.1", engine));
    const Ran check = run("peal check $DIR/" + engine + "-*.trace");
    EXPECT_EQ(check.status, engine == "toto" ? 0 : 1) << check.out << check.err;
    EXPECT_THAT(check.out, HasSubstr(engine == "toto" ? "all promises kept" : "violation"));
  }
}

TEST_F(Tool, PealdIsPealNode) {
  const Ran ran = run(PEAL_PROGRAM "d --print-config");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, run("peal node --print-config").out);
  const Ran missing = run(PEAL_PROGRAM "d");
  expect_refused(missing.status, missing.err, "node: --config is missing");
}

TEST_F(Tool, PrintedConfigRuns) {
  EXPECT_EQ(run("peal node --print-config > $DIR/p.toml").status, 0);
  EXPECT_THAT(content(dir_ + "/p.toml"), HasSubstr("token_loss_ms"));
}

/// Tests of `peal up` that run once with each order engine. The parameter is the engine's name.
class ToolOrder : public Tool, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, ToolOrder, testing::Values("ring", "paxos"),
                         [](const auto& engine) { return std::string(engine.param); });

TEST_P(ToolOrder, ThreeNodesDeliverInOneOrder) {
  up({"--trace", "--order", GetParam()});
  wait_for("members=3");
  for (const char* node : {"n1", "n2", "n3"}) {
    start({"recv", "--to", dir_ + "/" + node + ".sock", "--count", "900", "--views"},
          std::string(node) + ".received");
  }
  // A receiver prints the view that it joined first. It gets all messages sent after this line.
  for (int i = 0; i < 3; ++i) {
    const std::string file = dir_ + "/n" + std::to_string(i + 1) + ".received";
    ASSERT_EQ(run("timeout 20 tail -n +1 -F " + file + " | head -n 1").status, 0);
  }
  const Ran sent =
      run("seq -f 'a%g' 300 | peal send --to $DIR/n1.sock & a=$!\n"
          "seq -f 'b%g' 300 | peal send --to $DIR/n2.sock --service safe & b=$!\n"
          "seq -f 'c%g' 300 > $DIR/c; peal send --to $DIR/n3.sock $DIR/c && wait $a && wait $b");
  EXPECT_EQ(sent.status, 0) << sent.err;
  for (std::size_t i = 1; i < children_.size(); ++i) {
    children_[i].wait();
    EXPECT_EQ(children_[i].status(), 0);
  }
  const auto messages = [&](const char* node) {
    return run("grep -v '^# ' $DIR/" + std::string(node) + ".received").out;
  };
  const std::string first = messages("n1");
  EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 900);
  EXPECT_TRUE(first == messages("n2"));
  EXPECT_TRUE(first == messages("n3"));

  wait_for("delivered=900");
  const Ran status = run("peal status --to $DIR --json");
  EXPECT_EQ(status.status, 0);
  EXPECT_THAT(status.out, HasSubstr("\"node\": \"n1\""));
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/n1.sock"));
  const Ran check = run("peal check $DIR/n1.trace $DIR/n2.trace $DIR/n3.trace");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("all promises kept"));
  EXPECT_THAT(run("peal check --json $DIR/*.trace").out, HasSubstr("\"ok\": true"));
}

TEST_F(Tool, ANodeThatDiesComesBackAsANewMember) {
  up();
  wait_for("members=3");
  const Ran pid = run("peal status --to $DIR/n3.sock --json");
  const auto report = parse_report(std::string_view(pid.out).substr(
      pid.out.find('{'), pid.out.rfind('}') - pid.out.find('{') + 1));
  ASSERT_TRUE(report);
  ASSERT_GT(report->pid, 1);
  ::kill(static_cast<pid_t>(report->pid), SIGKILL);
  wait_for("members=2");
  const Ran lost = run("echo x | peal send --to $DIR/n3.sock");
  EXPECT_EQ(lost.status, 1);
  EXPECT_THAT(lost.err, HasSubstr("no node runs at"));
  start({"node", "--config", dir_ + "/peal.toml", "--name", "n3"}, "n3.again.log");
  wait_for("members=3");
  EXPECT_EQ(run("echo back | peal send --to $DIR/n3.sock").status, 0);
  const Ran views = run("peal status --to $DIR/n1.sock --views");
  EXPECT_THAT(views.out, HasSubstr("members=n1,n2 "));
}

TEST_F(Tool, UpLeavesNoSocketOfANodeThatWasKilled) {
  up({"--nodes", "2"});
  wait_for("members=2");
  EXPECT_THAT(content(dir_ + "/up.out"),
              HasSubstr("peal node --config " + dir_ + "/peal.toml --name NAME\n"));
  ASSERT_EQ(run("kill -9 $(peal status --to $DIR/n2.sock | awk '$1 == \"n2\" { print $2; exit }')")
                .status,
            0);
  wait_for("members=1");
  EXPECT_TRUE(std::filesystem::exists(dir_ + "/n2.sock"));
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/n2.sock"));
}

TEST_F(Tool, SendTellsAPersonWhereToLookWhenNothingMoves) {
  up({"--order", "paxos"});
  wait_for("members=3");
  ASSERT_EQ(run("for n in n2 n3; do kill -9 $(peal status --to $DIR/$n.sock | "
                "awk -v n=$n '$1 == n { print $2; exit }'); done; echo x > $DIR/line")
                .status,
            0);
  const std::string send = PEAL_PROGRAM " send --to " + dir_ + "/n1.sock " + dir_ + "/line";
  auto terminal = Child::start(find_program("script"), {"-qfc", send, "/dev/null"}, dir_ + "/told");
  ASSERT_TRUE(terminal) << terminal.error();
  children_.push_back(std::move(*terminal));
  ASSERT_EQ(run("timeout 20 tail -n +1 -F $DIR/told | grep -q -m 1 says").status, 0);
  EXPECT_THAT(content(dir_ + "/told"),
              HasSubstr("1 message is not acknowledged yet: `peal status --to " + dir_ +
                        "/n1.sock` says what"));
}

TEST_F(Tool, WhatUpSaysCanBePasted) {
  start({"up", "--dir", dir_ + "/a b", "--nodes", "1"}, "up.out");
  ASSERT_EQ(run("peal status --to \"$DIR/a b\" --timeout 30 --wait members=1").status, 0);
  EXPECT_THAT(content(dir_ + "/up.out"), HasSubstr("peal recv --views --to '" + dir_ + "/a b' "));
}

TEST_F(Tool, OnlyOneUpInAFolder) {
  up({"--nodes", "1"});
  wait_for("members=1");
  const Ran second = run("peal up --dir $DIR");
  expect_refused(second.status, second.err, "is in use by another `peal up`");
}

}  // namespace
}  // namespace peal::cli
