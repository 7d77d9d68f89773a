// SPDX-License-Identifier: Apache-2.0
#include "cli/local_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/random.h"
#include "fake_node.h"

namespace peal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

void send_text(RawClient& client, std::string_view text) {
  client.send([&](Bytes& out) { append_send(out, Service::agreed, as_bytes_view(text)); });
}

std::uint64_t last_ordered(RawClient& client) {
  std::uint64_t count = 0;
  for (const auto& got : client.take()) {
    if (got.kind == RecordKind::ordered) count = parse_ordered(got.body).value_or(0);
  }
  return count;
}

TEST(LocalServer, SocketIsForItsOwnerOnly) {
  TestServer server;
  struct stat status {};
  ASSERT_EQ(::stat(server.options.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(LocalServer, RemovesItsSocketFile) {
  auto server = std::make_unique<TestServer>();
  const std::string path = server->options.path;
  server->server.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(LocalServer, ReplacesASocketThatNobodyListensOn) {
  TestServer first;
  const std::string path = first.dir + "/stale.sock";
  {
    const auto fd = listen_local(path);
    ASSERT_TRUE(fd);
    ::close(*fd);  // as after SIGKILL: the file stays
  }
  const auto again = listen_local(path);
  ASSERT_TRUE(again) << again.error().message;
  ::close(*again);
}

TEST(LocalServer, RefusesASocketInUseAndOtherFiles) {
  TestServer first;
  const auto second = listen_local(first.options.path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr(first.options.path));

  const std::string file = first.dir + "/file";
  std::ofstream(file) << "precious";
  const auto other = listen_local(file);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::invalid_option);
  EXPECT_THAT(other.error().message, HasSubstr("is there and is not the socket of a node"));
  EXPECT_EQ(std::filesystem::file_size(file), 8U);

  const auto long_path = listen_local("/tmp/" + std::string(120, 'x'));
  ASSERT_FALSE(long_path);
  EXPECT_EQ(long_path.error().code, Errc::invalid_option);
  EXPECT_THAT(long_path.error().message, HasSubstr("a path of 1 to 107 bytes"));
}

TEST(LocalServer, WelcomesAndSends) {
  TestServer server;
  RawClient client(server);
  client.hello();
  const auto got = client.take();
  ASSERT_EQ(got.size(), 1U);
  const auto welcome = parse_welcome(got[0].body);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->cluster, "demo");

  send_text(client, "one");
  send_text(client, "");
  EXPECT_THAT(server.node.messages, ElementsAre("one", ""));
  EXPECT_EQ(last_ordered(client), 0U);
  server.server->on_ordered(1);
  EXPECT_EQ(last_ordered(client), 1U);
  server.server->on_ordered(2);
  EXPECT_EQ(last_ordered(client), 2U);
}

TEST(LocalServer, CountsForEachConnectionItsOwn) {
  TestServer server;
  RawClient a(server), b(server);
  a.hello();
  b.hello();
  send_text(a, "a1");
  send_text(b, "b1");
  send_text(a, "a2");
  server.server->on_ordered(2);
  EXPECT_EQ(last_ordered(a), 1U);
  EXPECT_EQ(last_ordered(b), 1U);
  server.server->on_ordered(3);
  EXPECT_EQ(last_ordered(a), 2U);
}

TEST(LocalServer, BytesMayComeOneByOne) {
  TestServer server;
  RawClient client(server);
  Bytes bytes;
  append_hello(bytes);
  append_send(bytes, Service::safe, as_bytes_view("slow"));
  for (const std::byte byte : bytes) client.send_bytes({&byte, 1});
  EXPECT_THAT(server.node.messages, ElementsAre("slow"));
  EXPECT_THAT(server.node.services, ElementsAre(Service::safe));
}

TEST(LocalServer, KeepsAConnectionUntilItsLastMessageIsOrdered) {
  TestServer server;
  RawClient client(server);
  client.hello();
  send_text(client, "x");
  client.end_output();
  EXPECT_FALSE(client.ended());
  server.server->on_ordered(1);
  EXPECT_EQ(last_ordered(client), 1U);
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(server.server->connections(), 0U);
}

TEST(LocalServer, ForgetsAClientThatIsGone) {
  TestServer server;
  {
    RawClient client(server);
    client.hello();
    send_text(client, "x");
  }
  server.run();
  EXPECT_THAT(server.node.messages, ElementsAre("x"));
  server.server->on_ordered(1);
  server.run();
  EXPECT_EQ(server.server->connections(), 0U);
}

TEST(LocalServer, DoesNotReadWhileTheRingIsFull) {
  TestServer server;
  server.node.room = 3;
  RawClient client(server);
  client.hello();
  Bytes bytes;
  for (int i = 0; i < 100'000; ++i)
    append_send(bytes, Service::agreed, as_bytes_view("0123456789"));
  client.send_bytes(bytes);  // returns when the socket takes no more
  EXPECT_EQ(server.node.messages.size(), 3U);
  EXPECT_TRUE(server.server->has_blocked_senders());
  const std::uint64_t turns = server.loop->counters().sleeps;
  server.run();
  EXPECT_LE(server.loop->counters().sleeps, turns + 8);

  server.node.room = 2;
  server.server->on_room();
  EXPECT_EQ(server.node.messages.size(), 5U);
  EXPECT_TRUE(server.server->has_blocked_senders());
}

TEST(LocalServer, LosesNothingAcrossBackPressure) {
  TestServer server;
  server.node.room = 1;
  RawClient client(server);
  client.hello();
  for (int i = 0; i < 50; ++i) send_text(client, "m" + std::to_string(i));
  while (server.node.messages.size() < 50) {
    server.node.room = 7;
    const std::size_t before = server.node.messages.size();
    server.server->on_room();
    server.run();
    ASSERT_GT(server.node.messages.size(), before);
  }
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(server.node.messages[i], "m" + std::to_string(i));
  EXPECT_FALSE(server.server->has_blocked_senders());
}

TEST(LocalServer, GivesEachBlockedSenderATurn) {
  TestServer server;
  server.node.room = 0;
  RawClient a(server), b(server), c(server);
  for (RawClient* client : {&a, &b, &c}) {
    client->hello();
    send_text(*client, std::string(1, client == &a ? 'a' : client == &b ? 'b' : 'c'));
  }
  for (int i = 0; i < 3; ++i) {
    server.node.room = 1;
    server.server->on_room();
  }
  EXPECT_THAT(server.node.messages, testing::UnorderedElementsAre("a", "b", "c"));
}

TEST(LocalServer, ABlockedClientThatDiesDoesNotSpin) {
  TestServer server;
  server.node.room = 0;
  {
    RawClient client(server);
    client.hello();
    send_text(client, "x");
  }
  server.run();
  server.node.room = 5;
  server.server->on_room();
  server.run();
  EXPECT_THAT(server.node.messages, ElementsAre("x"));
  server.server->on_ordered(1);
  server.run();
  EXPECT_EQ(server.server->connections(), 0U);
}

ViewRecord view_of(std::uint64_t number) {
  ViewRecord view;
  view.id = std::to_string(number) + "@a.77";
  view.members = {"a.77"};
  return view;
}

MessageRecord message_of(std::uint64_t number, std::string_view text) {
  MessageRecord message;
  message.sender = "a.77";
  message.number = number;
  message.payload = as_bytes_view(text);
  return message;
}

std::vector<std::string> shown(const std::vector<RawClient::Got>& records) {
  std::vector<std::string> out;
  for (const auto& got : records) {
    if (const auto message = parse_message(got.body); got.kind == RecordKind::message) {
      out.emplace_back(as_text(message->payload));
    } else if (const auto view = parse_view(got.body); got.kind == RecordKind::view) {
      out.push_back("view " + view->id);
    } else {
      out.push_back("kind " + std::to_string(static_cast<int>(got.kind)));
    }
  }
  return out;
}

TEST(LocalServer, SubscribersGetTheCurrentViewAndThenEverything) {
  TestServer server;
  RawClient early(server), late(server);
  early.hello();
  early.send([](Bytes& out) { append_record(out, RecordKind::subscribe, {}); });
  EXPECT_THAT(shown(early.take()), ElementsAre("kind 65"));
  server.node.view = view_of(1);
  server.server->publish(view_of(1));
  server.server->publish(message_of(1, "x"));
  // Subscribes in the same turn: what was published before does not come again.
  late.hello();
  late.send([](Bytes& out) { append_record(out, RecordKind::subscribe, {}); });
  server.server->publish(message_of(2, "y"));
  server.server->publish(view_of(2));
  EXPECT_THAT(shown(early.take()), ElementsAre("view 1@a.77", "x", "y", "view 2@a.77"));
  EXPECT_THAT(shown(late.take()), ElementsAre("kind 65", "view 1@a.77", "y", "view 2@a.77"));
}

TEST(LocalServer, DisconnectsASlowReceiverWithTheReason) {
  TestServer server([](LocalServerOptions& options) { options.client_bytes_max = 300'000; });
  RawClient slow(server), quick(server);
  for (RawClient* client : {&slow, &quick}) {
    client->hello();
    client->send([](Bytes& out) { append_record(out, RecordKind::subscribe, {}); });
  }
  const std::string text(10'000, 'x');
  std::size_t quick_messages = 0;
  for (std::uint64_t i = 1; i <= 400; ++i) {
    server.server->publish(message_of(i, text));
    server.server->flush();
    for (const std::string& line : shown(quick.take())) quick_messages += line == text ? 1U : 0U;
  }
  EXPECT_EQ(quick_messages, 400U);
  EXPECT_EQ(server.server->counters().slow_receivers, 1U);
  const auto records = slow.take();
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back().kind, RecordKind::closing);
  EXPECT_THAT(std::string(as_text(records.back().body)), HasSubstr("300000 bytes behind"));
  // What came before the reason is the beginning of the stream, without a gap or a torn record.
  for (std::size_t i = 1; i + 1 < records.size(); ++i) {
    EXPECT_EQ(parse_message(records[i].body)->number, i);
  }
  EXPECT_TRUE(slow.ended());
  EXPECT_FALSE(quick.ended());
}

TEST(LocalServer, AnswersStatus) {
  TestServer server;
  RawClient client(server);
  client.hello();
  client.send([](Bytes& out) { append_record(out, RecordKind::status, {}); });
  const auto got = client.take();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].kind, RecordKind::status_reply);
  EXPECT_EQ(as_text(got[1].body), R"({"node":"a"})");
}

struct Nonsense {
  const char* what;
  std::function<void(Bytes&)> bytes;
  const char* reason;
};

TEST(LocalServer, NonsenseClosesOnlyItsConnection) {
  const auto after_hello = [](std::function<void(Bytes&)> rest) {
    return [rest = std::move(rest)](Bytes& out) {
      append_hello(out);
      rest(out);
    };
  };
  const Nonsense rows[] = {
      {"no hello", [](Bytes& out) { append_record(out, RecordKind::status, {}); }, "hello"},
      {"text",
       [](Bytes& out) {
         const ByteView text = as_bytes_view("GET / HTTP/1.1\r\n\r\n");
         out.assign(text.begin(), text.end());
       },
       "too long"},
      {"zeros", [](Bytes& out) { out.resize(64); }, "too long"},
      {"another version",
       [](Bytes& out) {
         const std::byte version[4] = {std::byte{9}};
         append_record(out, RecordKind::hello, version);
       },
       "version 9"},
      {"second hello", after_hello([](Bytes& out) { append_hello(out); }), "kind 1"},
      {"unknown kind",
       after_hello([](Bytes& out) { append_record(out, static_cast<RecordKind>(99), {}); }),
       "kind 99"},
      {"a reply", after_hello([](Bytes& out) { append_ordered(out, 1); }), "kind 66"},
      {"long status",
       after_hello([](Bytes& out) { append_record(out, RecordKind::status, Bytes(65)); }),
       "too long"},
      {"status with a body",
       after_hello([](Bytes& out) { append_record(out, RecordKind::status, Bytes(1)); }), "kind 4"},
      {"subscribed twice", after_hello([](Bytes& out) {
         append_record(out, RecordKind::subscribe, {});
         append_record(out, RecordKind::subscribe, {});
       }),
       "kind 3"},
      {"fifo", after_hello([](Bytes& out) { append_send(out, Service::fifo, {}); }), "service"},
      {"empty send", after_hello([](Bytes& out) { append_record(out, RecordKind::send, {}); }),
       "service"},
      {"huge send",
       after_hello([](Bytes& out) { append_send(out, Service::agreed, Bytes(100'001)); }),
       "limit of 100000 bytes"},
  };
  TestServer server;
  RawClient good(server);
  good.hello();
  std::uint64_t bad = 0;
  for (const Nonsense& row : rows) {
    SCOPED_TRACE(row.what);
    RawClient client(server);
    client.send(row.bytes);
    EXPECT_THAT(client.reason(), HasSubstr(row.reason));
    EXPECT_TRUE(client.ended());
    EXPECT_EQ(server.server->counters().bad_requests, ++bad);
  }
  EXPECT_TRUE(server.node.messages.empty());
  send_text(good, "still here");
  EXPECT_THAT(server.node.messages, ElementsAre("still here"));
}

TEST(LocalServer, LargestMessageIsTaken) {
  TestServer server;
  RawClient client(server);
  client.hello();
  send_text(client, std::string(100'000, 'x'));
  ASSERT_EQ(server.node.messages.size(), 1U);
  EXPECT_EQ(server.node.messages[0].size(), 100'000U);
}

TEST(LocalServer, UnfinishedMessagesAreBoundedTogether) {
  TestServer server([](LocalServerOptions& options) {
    options.welcome.message_bytes_max = 10'000'000;
    options.input_bytes_max = 1'000'000;
  });
  Bytes start;
  append_hello(start);
  append_send(start, Service::agreed, Bytes(10'000'000));
  start.pop_back();  // never finished
  RawClient client(server), other(server);
  client.send_bytes(start);
  EXPECT_THAT(client.reason(), HasSubstr("no memory for more unfinished messages"));
  EXPECT_TRUE(client.ended());
  other.hello();
  send_text(other, "fine");
  EXPECT_THAT(server.node.messages, ElementsAre("fine"));
}

TEST(LocalServer, TurnsAwayWhatIsTooMuch) {
  TestServer server([](LocalServerOptions& options) { options.clients_max = 2; });
  RawClient a(server), b(server);
  a.hello();
  b.hello();
  RawClient c(server);
  EXPECT_THAT(c.reason(), HasSubstr("2 connections, its limit"));
  EXPECT_TRUE(c.ended());
  EXPECT_EQ(server.server->counters().turned_away, 1U);
  a.close();
  server.run();
  RawClient d(server);
  d.hello();
  EXPECT_EQ(d.take().size(), 1U);
}

TEST(LocalServer, ClosesWithTheReasonWhenTheNodeStops) {
  TestServer server;
  RawClient client(server);
  client.hello();
  client.take();
  server.server->say_goodbye("the node stops");
  EXPECT_EQ(client.reason(), "the node stops");
}

TEST(LocalServer, SaysWhenTheNodeTakesNoMessages) {
  TestServer server;
  server.node.closed = true;
  RawClient client(server);
  client.hello();
  send_text(client, "x");
  EXPECT_THAT(client.reason(), HasSubstr("did not take the message: closed"));
}

TEST(LocalServer, SurvivesRandomBytesAndDeaths) {
  TestServer server([](LocalServerOptions& options) {
    options.clients_max = 6;
    options.client_bytes_max = 70'000;
  });
  Random random(11);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int round = 0; round < 3'000; ++round) {
    server.node.room = random.below(3);
    if (clients.size() < 7 && random.below(3) == 0) {
      clients.push_back(std::make_unique<RawClient>(server));
      if (random.below(4) != 0) clients.back()->hello();
    }
    if (clients.empty()) continue;
    RawClient& client = *clients[random.below(clients.size())];
    Bytes bytes;
    switch (random.below(7)) {
      case 0: append_send(bytes, Service::agreed, Bytes(random.below(2'000))); break;
      case 1: append_record(bytes, RecordKind::subscribe, {}); break;
      case 2: append_record(bytes, RecordKind::status, {}); break;
      case 3:
        bytes.resize(random.below(40));
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
        break;
      case 4:
        append_send(bytes, Service::safe, Bytes(random.below(100)));
        bytes.resize(random.below(bytes.size()));
        break;
      case 5: ignore(client.take(), "only to make room"); break;
      default:
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(random.below(clients.size())));
        continue;
    }
    client.send_bytes(bytes);
    server.server->publish(message_of(1, std::string(random.below(3'000), 'y')));
    server.server->on_ordered(server.node.messages.size());
    server.server->on_room();
    server.run();
    EXPECT_LE(server.server->connections(), 6U);
  }
  clients.clear();
  server.node.room = 1'000'000;
  for (int i = 0; i < 10; ++i) {
    server.server->on_room();
    server.server->on_ordered(server.node.messages.size());
    server.run();
  }
  EXPECT_EQ(server.server->connections(), 0U);
  EXPECT_GT(server.node.messages.size(), 100U);
}

}  // namespace
}  // namespace peal::cli
