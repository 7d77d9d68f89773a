// SPDX-License-Identifier: Apache-2.0
// `peal node` as a process: what it refuses, its signals, and its messages to a service manager.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "io/fd.h"
#include "tool.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class ToolNode : public Tool {
 protected:
  ToolNode() {
    const auto ports = free_port_pairs(1);
    EXPECT_EQ(ports.size(), 1U);
    top_ = "cluster = \"t\"\nnode = \"a\"\ninsecure = true\n";
    nodes_ = "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:" + std::to_string(ports[0]) + "\"\n";
  }
  void config(const std::string& more) const { write("c.toml", top_ + nodes_ + more); }

  /// Waits until the log contains `what`.
  void wait_for_line(const std::string& what) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (content(dir_ + "/log").find(what) == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << what << "\n" << content(dir_ + "/log");
      ::poll(nullptr, 0, 5);
    }
  }
  /// Starts the node, and waits until it has a view.
  void start_node() {
    start({"node", "--config", dir_ + "/c.toml"}, "log");
    wait_for_line("event=view_installed");
  }

  std::string top_;
  std::string nodes_;
};

TEST_F(ToolNode, FilesThatCannotBeUsedAreNamed) {
  write("secret", "0123456789abcdef\n");
  ASSERT_EQ(::chmod((dir_ + "/secret").c_str(), 0644), 0);
  const std::string tls = "[clients]\nlisten = \"127.0.0.1:4900\"\nkey = \"/nonexistent/k\"\n";
  const std::pair<std::string, std::string> rows[] = {
      {"[clients]\nspool_dir = \"/nonexistent\"\n",
       "clients.spool_dir = \"/nonexistent\" (No such"},
      {tls + "certificate = \"/nonexistent/c\"\n", "/nonexistent/c"},
      {"[[client]]\nwho = \"secret:" + dir_ + "/secret\"\n", "`chmod 600` it"},
      {"[[client]]\nwho = \"secret:/nonexistent\"\n", "cannot be read (No such file"},
      {"[[client]]\nwho = \"user:no such user\"\n", "c.toml:8: client.who"},
      {"[clients]\nslow = \"never\"\n", "c.toml:8: clients.slow = \"never\""},
  };
  for (const auto& [more, what] : rows) {
    SCOPED_TRACE(more);
    config(more);
    const Ran ran = run("peal node --config $DIR/c.toml");
    expect_refused(ran.status, ran.err, what);
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/a.sock"));
  }
}

TEST_F(ToolNode, EndsInGoodOrder) {
  config("");
  start_node();
  EXPECT_TRUE(std::filesystem::is_socket(dir_ + "/a.sock"));
  const Ran second = run("peal node --config $DIR/c.toml");
  expect_refused(second.status, second.err, "a.sock");
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
  EXPECT_THAT(content(dir_ + "/log"), HasSubstr("event=left"));
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/a.sock"));
}

TEST_F(ToolNode, ReadsItsRulesAgain) {
  config("");
  start_node();
  config("[[client]]\nwho = \"everyone\"\n");
  children_[0].signal(SIGHUP);
  wait_for_line("event=reloaded");
  config("[clients]\nslow = \"never\"\n");
  children_[0].signal(SIGHUP);
  wait_for_line("clients.slow = ");
  config("[limits]\nnodes_max = 7\n");
  children_[0].signal(SIGHUP);
  wait_for_line("limits.nodes_max cannot change while the node runs");
  children_[0].signal(SIGINT);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
}

TEST_F(ToolNode, GoesOverToAnotherListOfNodes) {
  config("");
  start_node();
  const std::string alone = nodes_;
  nodes_ += "number = 4\n";
  config("");
  const Ran other = run("peal reload --to $DIR/a.sock");
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("c.toml: nodes: node \"a\" has number 1 and would get 4: write "
                                   "number = 1 into its [[nodes]]"));
  nodes_ = "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.9:4801\"\nnumber = 7\n" + alone;
  config("");
  EXPECT_THAT(run("peal reload --to $DIR/a.sock").err, HasSubstr("number = 1"));
  nodes_ += "number = 1\n";
  config("");
  const Ran added = run("peal reload --to $DIR");
  EXPECT_EQ(added.status, 0);
  EXPECT_THAT(added.out, HasSubstr("a.sock: reloaded"));
  EXPECT_THAT(added.out, HasSubstr("the nodes a,b become active"));
  wait_for_line("event=nodes_given nodes=a,b");
  wait_for_line("event=nodes_adopted nodes=a,b");
  const Ran status = run("peal status --json --to $DIR");
  EXPECT_THAT(status.out, HasSubstr("\"list\""));
  EXPECT_THAT(status.out, HasSubstr("\"number\": 7"));
  const Ran again = run("peal reload --to $DIR");
  EXPECT_THAT(again.out, Not(HasSubstr("become active"))) << "nothing is left to go over to";
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
  EXPECT_EQ(run("peal reload --to $DIR/a.sock").status, 1);
}

TEST_F(ToolNode, WithPaxosGoesOverToAListWithItsAcceptors) {
  ASSERT_EQ(run("mkdir -m 700 $DIR/data $DIR/other").status, 0);
  top_ += "order = \"paxos\"\ndata_dir = \"data\"\n";
  config("");
  start_node();
  EXPECT_EQ(run("peal reload --to $DIR/a.sock").status, 0) << "nothing has changed";
  EXPECT_THAT(run("peal status --json --to $DIR/a.sock").out, HasSubstr("\"order\": \"paxos\""));
  const std::string two = top_ + nodes_ + "[[nodes]]\nname = \"b\"\naddress = \"127.0.0.9:4801\"\n";
  const std::pair<std::string, std::string> rows[] = {
      {two + "[paxos]\nacceptors = [2]\n",
       "c.toml: nodes: 1 of 1 acceptors would be new: add one node at a time"},
      {"data_dir = \"other\"\norder = \"paxos\"\ncluster = \"t\"\nnode = \"a\"\ninsecure = true\n" +
           nodes_,
       "data_dir cannot change while the node runs"},
      {"cluster = \"t\"\nnode = \"a\"\ninsecure = true\n" + nodes_,
       "order cannot change while the node runs"},
  };
  for (const auto& [text, what] : rows) {
    SCOPED_TRACE(what);
    write("c.toml", text);
    const Ran reload = run("peal reload --to $DIR/a.sock");
    EXPECT_EQ(reload.status, 1);
    EXPECT_THAT(reload.err, HasSubstr(what));
  }
  write("c.toml", two);
  EXPECT_THAT(run("peal reload --to $DIR/a.sock").out, HasSubstr("the nodes a,b become active"));
  EXPECT_THAT(run("peal status --to $DIR/a.sock").out,
              HasSubstr("next=a,b waits_for=\"b, an acceptor of this list, which is not heard"));
  write("c.toml", two + "[paxos]\nacceptors = [1]\n");
  EXPECT_EQ(run("peal reload --to $DIR/a.sock").status, 0);
  EXPECT_THAT(run("peal status --to $DIR/a.sock").out,
              HasSubstr("waits_for=\"a view with most of the nodes of both lists"));
  config("");
  EXPECT_EQ(run("peal reload --to $DIR/a.sock").status, 0) << "the wish is taken back";
  EXPECT_THAT(run("peal status --to $DIR/a.sock").out, Not(HasSubstr("next=")));
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
}

TEST_F(ToolNode, WithRidgeStatusSaysWhatItsWaysAreAndTheyAreFixed) {
  ASSERT_EQ(run("mkdir -m 700 $DIR/data").status, 0);
  top_ += "order = \"ridge\"\ndata_dir = \"data\"\n";
  const std::string other = top_ + "ridge.ensembles = 2\n" + nodes_;
  top_ +=
      "ridge.dissemination = \"ring\"\nridge.ensembles = 2\n"
      "ridge.merge = \"rotation\"\n";
  config("");
  start_node();
  EXPECT_THAT(run("peal status --json --to $DIR/a.sock").out,
              AllOf(HasSubstr("\"dissemination\": \"ring\""), HasSubstr("\"ensembles\": 2"),
                    HasSubstr("\"merge\": \"rotation\"")));
  write("c.toml", other);
  const Ran reload = run("peal reload --to $DIR/a.sock");
  EXPECT_EQ(reload.status, 1);
  EXPECT_THAT(reload.err, HasSubstr("ridge.dissemination cannot change while the node runs"));
  write("c.toml", top_.substr(0, top_.find("ridge.ensembles")) + nodes_);
  EXPECT_THAT(run("peal reload --to $DIR/a.sock").err,
              HasSubstr("ridge.ensembles cannot change while the node runs"));
  write("c.toml", top_.substr(0, top_.find("ridge.merge")) + nodes_);
  EXPECT_THAT(run("peal reload --to $DIR/a.sock").err,
              HasSubstr("ridge.merge cannot change while the node runs"));
  write("c.toml", top_ + nodes_ + "[network]\ndata = \"streams\"\n");
  EXPECT_THAT(run("peal reload --to $DIR/a.sock").err,
              HasSubstr("network.data cannot change while the node runs"));
  children_[0].signal(SIGTERM);
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
}

TEST_F(ToolNode, TellsItsServiceManager) {
  const io::Fd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = dir_ + "/notify";
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto hear = [&] {
    pollfd each{manager.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&each, 1, 60'000), 1) << content(dir_ + "/log");
    std::string text(4'096, '\0');
    const ssize_t got = ::recv(manager.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  };
  config("");
  ASSERT_EQ(::setenv("NOTIFY_SOCKET", path.c_str(), 1), 0);
  start({"node", "--config", dir_ + "/c.toml"}, "log");
  ASSERT_EQ(::unsetenv("NOTIFY_SOCKET"), 0);
  EXPECT_THAT(hear(), HasSubstr("READY=1"));
  children_[0].signal(SIGHUP);
  EXPECT_THAT(hear(), HasSubstr("RELOADING=1"));
  EXPECT_THAT(hear(), HasSubstr("READY=1"));
  children_[0].signal(SIGTERM);
  EXPECT_THAT(hear(), HasSubstr("STOPPING=1"));
  children_[0].wait();
  EXPECT_EQ(children_[0].status(), 0);
}

// Two of the three nodes are missing, so node a never has a view. It gets SIGTERM at many points
// of its start.
TEST_F(ToolNode, StopsInGoodOrderWhereverItIs) {
  ASSERT_EQ(::mkdir((dir_ + "/data").c_str(), 0700), 0);
  const auto ports = free_port_pairs(3);  // the first pair belongs to node a
  ASSERT_EQ(ports.size(), 3U);
  top_ += "order = \"paxos\"\ndata_dir = \"data\"\n";
  for (const char* name : {"b", "c"}) {
    nodes_ += std::string("[[nodes]]\nname = \"") + name +
              "\"\naddress = \"127.0.0.1:" + std::to_string(ports[*name == 'b' ? 1 : 2]) + "\"\n";
  }
  config("");
  for (const int after_ms : {0, 1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 300}) {
    const std::string log = "log" + std::to_string(after_ms);
    start({"node", "--config", dir_ + "/c.toml"}, log);
    ::poll(nullptr, 0, after_ms);
    children_.back().signal(SIGTERM);
    children_.back().wait();
    const std::string said = content(dir_ + "/" + log);
    if (children_.back().status() == -1) {
      // The signal came before the program began, so the program printed and created nothing.
      EXPECT_EQ(said, "") << after_ms;
      EXPECT_LT(after_ms, 300);
    } else {
      EXPECT_EQ(children_.back().status(), 0) << after_ms << " ms after the start: " << said;
      EXPECT_THAT(said, HasSubstr("event=left")) << after_ms;
    }
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/a.sock")) << after_ms;
  }
}

// The reader of the node's log has exited. The node still serves and counts the lost lines.
TEST_F(ToolNode, GoesOnWhenNobodyReadsItsLog) {
  config("");
  const std::string node = "peal node --config $DIR/c.toml --name a";
  const Ran gone = run("{ " + node +
                       "; echo $? >$DIR/ended; } 2>&1 | head -n 1 & "
                       "peal status --to $DIR/a.sock --timeout 30 --wait members=1 && "
                       "for i in 1 2 3; do peal reload --to $DIR/a.sock || exit 9; done; "
                       "peal status --to $DIR/a.sock; peal status --json --to $DIR/a.sock");
  EXPECT_EQ(gone.status, 0) << gone.err;
  EXPECT_THAT(gone.out,
              HasSubstr(" log lines (nobody read them, or the disk or pipe was full; last "));
  const std::size_t pid = gone.out.find("\"pid\": ");
  ASSERT_NE(pid, std::string::npos) << gone.out;
  ASSERT_EQ(::kill(std::stoi(gone.out.substr(pid + 7)), SIGTERM), 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (content(dir_ + "/ended").empty() && std::chrono::steady_clock::now() < end) {
    ::poll(nullptr, 0, 10);
  }
  EXPECT_EQ(content(dir_ + "/ended"), "0\n") << "it ended as it was told to";
}

}  // namespace
}  // namespace peal::cli
