// SPDX-License-Identifier: Apache-2.0
#include "cli/local_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "cli/node_report.h"
#include "fake_node.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;

/// A server that turns in a thread of its own.
class Running {
 public:
  explicit Running(TestServer& server)
      : server_(server), thread_([this] {
          while (!stop_.load()) {
            server_.loop->turn(server_.host, milliseconds(20));
            server_.server->on_ordered(server_.node.messages.size());
            server_.server->flush();
          }
        }) {}
  ~Running() {
    stop_.store(true);
    server_.loop->wake();
    thread_.join();
  }

 private:
  TestServer& server_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST(LocalClient, ConnectsAndSends) {
  TestServer server;
  const Running running(server);
  auto client = LocalClient::connect(server.options.path);
  ASSERT_TRUE(client) << client.error();
  EXPECT_EQ(client->welcome().cluster, "demo");
  EXPECT_EQ(client->welcome().node, "a");
  append_send(client->output(), Service::agreed, as_bytes_view("x"));
  const auto answer = client->receive(5'000);
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(answer->kind, RecordKind::ordered);
  EXPECT_EQ(parse_ordered(answer->body), 1U);
}

TEST(LocalClient, GivesTheReasonOfTheNode) {
  TestServer server;
  const Running running(server);
  auto client = LocalClient::connect(server.options.path);
  ASSERT_TRUE(client);
  append_record(client->output(), static_cast<RecordKind>(99), {});
  const auto answer = client->receive(5'000);
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error(), HasSubstr("closed the connection: a request that makes no sense"));
}

TEST(LocalClient, SaysThatNoNodeRuns) {
  const auto client = LocalClient::connect("/tmp/peal-no-such.sock");
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error(), "no node runs at /tmp/peal-no-such.sock");
}

TEST(LocalClient, DoesNotWaitForeverForASilentNode) {
  TestServer server;  // never turns
  const auto client = LocalClient::connect(server.options.path, 20);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error(), HasSubstr("does not answer"));
}

TEST(LocalClient, FindsSocketsInAFolder) {
  TestServer server;
  const Running running(server);
  {
    const auto stale = listen_local(server.dir + "/0.sock");
    ASSERT_TRUE(stale);
    ::close(*stale);
  }
  std::ofstream(server.dir + "/peal.toml") << "x";
  const auto sockets = find_sockets(server.dir);
  ASSERT_TRUE(sockets);
  EXPECT_THAT(*sockets, testing::ElementsAre(server.dir + "/0.sock", server.dir + "/a.sock"));
  const auto client = connect_any(server.dir);
  ASSERT_TRUE(client) << client.error();
  EXPECT_EQ(client->path(), server.dir + "/a.sock");

  const auto nothing = find_sockets("/nonexistent");
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error(), HasSubstr("--to \"/nonexistent\": no node runs there: accepted"));
}

TEST(NodePoller, KeepsAskingAcrossARestart) {
  auto server = std::make_unique<TestServer>();
  const std::string path = server->options.path;
  NodePoller poller;
  poller.set_sockets({path});
  {
    const Running running(*server);
    EXPECT_EQ(poller.ask(5'000).at(0).name, "a");
    EXPECT_EQ(poller.ask(5'000).at(0).problem, "");
  }
  server->server.reset();
  EXPECT_EQ(poller.ask(100).at(0).problem, "no node runs at " + path);
  auto again = LocalServer::open(server->options, *server->loop, server->node);
  ASSERT_TRUE(again);
  server->server = std::move(*again);
  const Running running(*server);
  EXPECT_EQ(poller.ask(5'000).at(0).problem, "");
}

}  // namespace
}  // namespace peal::cli
