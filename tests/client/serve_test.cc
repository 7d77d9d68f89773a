// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fake_daemon.h"

// The application's threads serve the connection during their calls. Otherwise the client's own
// thread serves the connection. The tests check that all work is done in both cases.

namespace peal::client::test {
namespace {

using std::chrono_literals::operator""ms;

struct Serve : testing::Test {
  void start(v0::ClientOptions options) {
    auto made = v0::Client::connect(options);
    ASSERT_TRUE(made) << made.error().message;
    client = std::make_unique<v0::Client>(std::move(*made));
  }
  /// From now on the application's thread serves the connection, until the application makes no
  /// call for too long.
  void come() { EXPECT_FALSE(client->next()); }
  std::string text_of_next() {
    auto event = client->wait(v0::kForever);
    auto* message = event ? std::get_if<v0::GroupMessage>(&*event) : nullptr;
    return message == nullptr ? "no message" : std::string(message->text());
  }
  /// Allows as many unsettled messages as a test sends.
  void allow_messages() {
    daemon.with([](ModelDaemon& model) {
      model.limits.unsettled_messages_max = 1U << 20;
      model.limits.unsettled_bytes_max = 1U << 30;
    });
  }
  void tell(std::vector<std::string> texts) {
    daemon.with([&](ModelDaemon& model) {
      for (const std::string& text : texts) model.tell(text);
    });
  }

  FakeDaemon daemon;
  std::unique_ptr<v0::Client> client;
};

TEST_F(Serve, AnEventThatIsLeftKeepsTheDescriptorReadable) {
  start(daemon.options());
  const int fd = client->fd();
  come();
  tell({"a", "b", "c"});
  EXPECT_EQ(text_of_next(), "a");
  EXPECT_TRUE(readable(fd, -1));
  EXPECT_EQ(text_of_next(), "b");
  EXPECT_TRUE(readable(fd, -1));
  EXPECT_EQ(text_of_next(), "c");
  EXPECT_FALSE(client->next());
  EXPECT_FALSE(readable(fd));
}

TEST_F(Serve, TheDescriptorIsAskedForAfterTheEventCame) {
  start(daemon.options());
  come();
  tell({"a", "b"});
  EXPECT_EQ(text_of_next(), "a");
  EXPECT_TRUE(readable(client->fd(), -1));
  EXPECT_EQ(text_of_next(), "b");
}

TEST_F(Serve, WhatIsNoEventDoesNotKeepTheDescriptorReadable) {
  daemon.with([](ModelDaemon& model) { model.echoes = false; });
  start(daemon.options());
  const int fd = client->fd();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(client->send({"chat"}, "x"));
    daemon.wait_for([&](ModelDaemon& model) { return model.messages.size() == i; });
    come();
    daemon.with([&](ModelDaemon& model) { model.acknowledge(i); });
    while (client->status().settled < i) EXPECT_FALSE(client->next());
    EXPECT_FALSE(readable(fd));
  }
}

TEST_F(Serve, WhoSendsAndDoesNothingElseIsHeardToTheLastMessage) {
  constexpr std::size_t kMessages = 700;  // more than one system call writes
  allow_messages();
  start(daemon.options());
  come();
  for (std::size_t i = 0; i < kMessages; ++i) ASSERT_TRUE(client->send({"chat"}, "x"));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == kMessages; });
}

TEST_F(Serve, WhoAlwaysCameBackIsHeardToTheLastMessageToo) {
  constexpr int kRounds = 50;
  allow_messages();
  start(daemon.options());
  for (int i = 0; i < kRounds; ++i) {
    for (const char* text : {"x", "y", "z"}) ASSERT_TRUE(client->send({"chat"}, text));
    for (const char* text : {"x", "y", "z"}) EXPECT_EQ(text_of_next(), text);
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client->send({"chat"}, "last"));
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == 3 * (kRounds + 1); });
}

TEST_F(Serve, MoreThanTheConnectionTakesIsWrittenWithoutTheApplication) {
  constexpr std::size_t kMessages = 3'000;
  allow_messages();
  start(daemon.options());
  come();
  const std::string text(1'000, 'x');
  daemon.with([&](ModelDaemon&) {  // the daemon does not read during with()
    for (std::size_t i = 0; i < kMessages; ++i) ASSERT_TRUE(client->send({"chat"}, text));
  });
  daemon.wait_for([](ModelDaemon& model) { return model.messages.size() == kMessages; });
}

TEST_F(Serve, WhoWaitsForRoomAloneIsToldOfIt) {
  daemon.with([](ModelDaemon& model) {
    model.echoes = false;
    model.limits.unsettled_messages_max = 1;
  });
  start(daemon.options());
  for (std::uint64_t i = 1; i <= 20; ++i) {
    come();
    ASSERT_TRUE(client->send({"chat"}, "a"));
    EXPECT_EQ(client->send({"chat"}, "b").error().code, v0::ErrorCode::would_block);
    daemon.wait_for([&](ModelDaemon& model) { return model.messages.size() == i; });
    daemon.with([&](ModelDaemon& model) { model.acknowledge(i); });
    EXPECT_TRUE(readable(client->room_fd(), -1));
  }
}

TEST_F(Serve, AnApplicationThatGoesAwayIsNotWaitedFor) {
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 200; });
  start(daemon.options());
  come();
  tell({"a"});
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
  EXPECT_EQ(client->status().unread_events, 1U);
  daemon.wait_for([](ModelDaemon& model) {
    return std::count(model.kinds.begin(), model.kinds.end(), wire::RecordKind::ping) >= 3;
  });
  daemon.cut();
  daemon.wait_for([](ModelDaemon& model) { return model.hellos == 2; });
  EXPECT_EQ(text_of_next(), "a");
}

TEST_F(Serve, AnApplicationThatDoesNotReadWhatTheDescriptorSaysIsNotWaitedFor) {
  start(daemon.options());
  const int fd = client->fd();
  for (int i = 0; i < 3; ++i) {
    come();
    tell({"a"});
    EXPECT_TRUE(readable(fd, -1));
    // The application makes no call, so the client's own thread must read the event.
    daemon.wait_for(
        [](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
    EXPECT_EQ(client->status().unread_events, 1U);
    EXPECT_TRUE(readable(fd));
    EXPECT_EQ(text_of_next(), "a");
    daemon.with([](ModelDaemon& model) { model.kinds.push_back(wire::RecordKind::pong); });
  }
}

TEST_F(Serve, TheEndIsNoticedAlsoBehindADescriptorThatNobodyPolls) {
  start(daemon.options());
  client->fd();
  come();
  daemon.cut();
  daemon.wait_for([](ModelDaemon& model) { return model.hellos == 2; });
}

TEST_F(Serve, WhatAnApplicationHasSeenIsSaidAlsoIfItGoesAway) {
  start(daemon.options());
  come();
  tell({"a"});
  EXPECT_EQ(text_of_next(), "a");
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::seen; });
}

TEST_F(Serve, PingsWhileTheApplicationWaits) {
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 100; });
  start(daemon.options());
  std::thread waiter([&] { EXPECT_EQ(text_of_next(), "enough"); });
  daemon.wait_for([](ModelDaemon& model) {
    return std::count(model.kinds.begin(), model.kinds.end(), wire::RecordKind::ping) >= 6;
  });
  tell({"enough"});
  waiter.join();
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.hellos, 1U); });
}

TEST_F(Serve, ADaemonThatIsSilentIsLeftAlsoWhileTheApplicationWaits) {
  daemon.with([](ModelDaemon& model) { model.limits.ping_ms = 50; });
  start(daemon.options());
  daemon.with([](ModelDaemon& model) { model.pongs = false; });
  std::atomic<bool> left{false};
  std::thread waiter([&] {
    while (auto event = client->wait(v0::kForever)) {
      if (std::holds_alternative<v0::Disconnected>(*event)) left.store(true);
      if (std::holds_alternative<v0::Ended>(*event)) return;
    }
  });
  daemon.wait_for([](ModelDaemon& model) { return model.hellos >= 2; });
  client->close();
  waiter.join();
  EXPECT_TRUE(left.load());
}

TEST_F(Serve, WhoPollsBeforeItSleepsGetsTheSame) {
  auto options = daemon.options();
  options.spin = std::chrono::milliseconds(1);
  start(options);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(client->send({"chat"}, std::to_string(i)));
    EXPECT_EQ(text_of_next(), std::to_string(i));
  }
  const auto now = std::chrono::steady_clock::now();
  EXPECT_FALSE(client->wait_until(now + 3ms));
  EXPECT_GE(std::chrono::steady_clock::now(), now + 3ms);
}

TEST_F(Serve, SeveralWaitForDifferentThingsAtOnce) {
  constexpr int kRounds = 50;
  auto options = daemon.options();
  options.spin = std::chrono::microseconds(200);
  start(options);
  std::thread reader([&] {
    for (int i = 0; i < kRounds; ++i) EXPECT_EQ(text_of_next(), "m" + std::to_string(i));
  });
  std::thread asker([&] {
    for (int i = 0; i < kRounds; ++i)
      EXPECT_EQ(client->ask("status", v0::kForever).value(), "fine");
  });
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_TRUE(client->send({"chat"}, "m" + std::to_string(i)));
    EXPECT_TRUE(client->flush());
  }
  reader.join();
  asker.join();
}

}  // namespace
}  // namespace peal::client::test
