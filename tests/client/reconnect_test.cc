// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fake_daemon.h"

namespace peal::client::test {
namespace {

using v0::Reason;
using std::chrono_literals::operator""ms;

struct Reconnect : testing::Test {
  void start(v0::ClientOptions options) {
    auto made = v0::Client::connect(options);
    ASSERT_TRUE(made) << made.error().message;
    client = std::make_unique<v0::Client>(std::move(*made));
  }
  /// The text of the next message. Counts the notices before this message.
  std::string next_text() {
    while (auto event = client->wait(v0::kForever)) {
      if (auto* message = std::get_if<v0::GroupMessage>(&*event))
        return std::string(message->text());
      if (std::holds_alternative<v0::Disconnected>(*event)) ++disconnected;
      if (std::holds_alternative<v0::Reconnected>(*event)) ++reconnected;
    }
    return "nothing";
  }
  v0::Ended ending() {
    while (auto event = client->wait(v0::kForever)) {
      if (auto* ended = std::get_if<v0::Ended>(&*event)) return *ended;
    }
    return {};
  }

  FakeDaemon daemon;
  std::unique_ptr<v0::Client> client;
  int disconnected = 0;
  int reconnected = 0;
};

TEST_F(Reconnect, GoesOnWhereItWas) {
  start(daemon.options());
  for (int i = 0; i < 20; ++i) {
    const std::string text = "m" + std::to_string(i);
    ASSERT_TRUE(client->send({"chat"}, text));
    daemon.cut();
    EXPECT_EQ(next_text(), text);
  }
  ASSERT_TRUE(client->flush());
  EXPECT_GT(reconnected, 0);
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.messages.size(), 20U); });
}

TEST_F(Reconnect, WaitsForADaemonThatIsAway) {
  start(daemon.options());
  daemon.go_away();
  ASSERT_TRUE(client->send({"chat"}, "while you were out"));
  auto event = client->wait(v0::kForever);
  ASSERT_TRUE(event && std::holds_alternative<v0::Disconnected>(*event));
  EXPECT_FALSE(client->status().connected);
  daemon.come_back();
  EXPECT_EQ(next_text(), "while you were out");
  EXPECT_EQ(reconnected, 1);
}

TEST_F(Reconnect, GivesUpWhenTheSessionCannotBeKeptAnyMore) {
  daemon.with([](ModelDaemon& model) { model.limits.keep_ms = 20; });
  start(daemon.options());
  daemon.go_away();
  const bool sent = bool(client->send({"chat"}, "x"));  // false if the session ended before
  const v0::Ended ended = ending();
  EXPECT_EQ(ended.reason, Reason::session_lost);
  EXPECT_EQ(ended.unsettled_messages, sent ? 1U : 0U);
  EXPECT_NE(ended.message.find("within 20 ms"), std::string::npos) << ended.message;
}

TEST_F(Reconnect, ASessionThatTheDaemonForgotIsLost) {
  daemon.with([](ModelDaemon& model) { model.echoes = false; });
  start(daemon.options());
  ASSERT_TRUE(client->send({"chat"}, "x"));
  daemon.with([](ModelDaemon& model) { model.forget(); });
  daemon.cut();
  const v0::Ended ended = ending();
  EXPECT_EQ(ended.reason, Reason::session_lost);
  EXPECT_EQ(ended.unsettled_first, 1U);
  EXPECT_EQ(client->flush().error().code, v0::ErrorCode::closed);
}

TEST_F(Reconnect, ADaemonThatIsSilentIsLeft) {
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 50; });
  start(daemon.options());
  daemon.with([](ModelDaemon& model) { model.pongs = false; });
  daemon.wait_for([](ModelDaemon& model) { return model.hellos >= 2; });
}

TEST_F(Reconnect, ADaemonIsNotSilentWhileTheApplicationDoesNotRead) {
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 200; });
  auto options = daemon.options();
  options.receive_bytes_max = 1;
  start(options);
  daemon.with([](ModelDaemon& model) { model.tell("a"); });
  // One ping is sent each 100 ms. A daemon that is silent for 600 ms counts as dead.
  daemon.wait_for([](ModelDaemon& model) {
    return std::count(model.kinds.begin(), model.kinds.end(), wire::RecordKind::ping) >= 8;
  });
  EXPECT_EQ(next_text(), "a");
  EXPECT_EQ(*client->ask("status"), "fine");
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.hellos, 1U); });
}

TEST_F(Reconnect, ComesBackAlsoWhileTheApplicationDoesNotRead) {
  auto options = daemon.options();
  options.receive_bytes_max = 1;
  start(options);
  daemon.with([](ModelDaemon& model) { model.tell("a"); });
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
  daemon.cut();
  ASSERT_TRUE(client->send({"chat"}, "b"));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 1; });
  EXPECT_EQ(next_text(), "a");
  EXPECT_EQ(next_text(), "b");
}

TEST_F(Reconnect, NoticesTheEndAlsoWithNothingToWriteAndWithoutReading) {
  auto options = daemon.options();
  options.receive_bytes_max = 1;
  start(options);
  daemon.with([](ModelDaemon& model) {
    model.echoes = false;
    model.tell("a");
  });
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
  ASSERT_TRUE(client->send({"chat"}, "b"));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 1; });
  // The client does not read this acknowledgement, because its inbox is full.
  daemon.with([](ModelDaemon& model) { model.acknowledge(1); });
  daemon.cut();
  daemon.wait_for([](ModelDaemon& model) { return model.hellos == 2; });
  ASSERT_TRUE(client->flush());
  EXPECT_EQ(next_text(), "a");
}

TEST_F(Reconnect, ComesBackAfterADaemonThatHeardNothing) {
  start(daemon.options());
  daemon.with([](ModelDaemon& model) { model.close(wire::ClientCode::silent, "nothing heard"); });
  daemon.wait_for([](ModelDaemon& model) { return model.hellos == 2; });
  ASSERT_TRUE(client->send({"chat"}, "still here"));
  EXPECT_EQ(next_text(), "still here");
  EXPECT_EQ(disconnected, 1);
  EXPECT_EQ(reconnected, 1);
}

TEST_F(Reconnect, WhoCannotWriteAnyMoreReadsFirstWhy) {
  // The first write after the daemon hung up may succeed. Pings cause later writes, which fail.
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 50; });
  auto options = daemon.options();
  options.receive_bytes_max = 1;
  start(options);
  daemon.with([](ModelDaemon& model) { model.tell("a"); });
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
  daemon.with([](ModelDaemon& model) { model.close(wire::ClientCode::slow, "too slow"); });
  daemon.hang_up();
  while (client->status().connected) ignore(client->send({"chat"}, "x"), "until it notices");
  EXPECT_EQ(next_text(), "a");
  EXPECT_EQ(ending().message, "too slow");
  EXPECT_EQ(disconnected, 0);
}

TEST_F(Reconnect, ClosingWhileAwayEnds) {
  start(daemon.options());
  daemon.go_away();
  client->close(5ms);
  EXPECT_TRUE(ending().on_request);
}

TEST_F(Reconnect, RubbishEndsTheSession) {
  start(daemon.options());
  daemon.with([](ModelDaemon& model) {
    model.say_raw({std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}});
  });
  EXPECT_EQ(ending().reason, Reason::bad_record);
}

}  // namespace
}  // namespace peal::client::test
