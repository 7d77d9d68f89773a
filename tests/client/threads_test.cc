// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fake_daemon.h"

// One thread sends, a second one reads events, and a third one reads the status. Meanwhile the
// connection breaks again and again.

namespace peal::client::test {
namespace {

constexpr std::uint64_t kAcrossThreads = 5'000;
constexpr std::uint64_t kCutEvery = 500;

TEST(Threads, SendingAndReadingAtOnceAndNothingIsLostDoubledOrMoved) {
  FakeDaemon daemon;
  daemon.with([](ModelDaemon& model) { model.limits.unsettled_messages_max = 64; });
  auto options = daemon.options();
  options.receive_bytes_max = 4'096;
  auto made = v0::Client::connect(options);
  ASSERT_TRUE(made) << made.error().message;
  v0::Client& client = *made;

  std::thread sender([&] {
    const std::vector<std::string_view> targets{"chat"};
    for (std::uint64_t i = 1; i <= kAcrossThreads; ++i) {
      const std::string text = std::to_string(i);
      const auto ticket = client.send_for(targets, as_bytes_view(text), v0::kForever);
      ASSERT_TRUE(ticket) << ticket.error().message;
      ASSERT_EQ(ticket.value().number, i);
    }
  });
  std::atomic<bool> over{false};
  std::thread asker([&] {
    while (!over.load()) {
      const v0::ClientStatus status = client.status();
      ASSERT_LE(status.settled, status.sent);
      std::this_thread::yield();
    }
  });

  std::uint64_t got = 0;
  while (got < kAcrossThreads) {
    const auto event = client.wait(v0::kForever);
    ASSERT_TRUE(event);
    if (const auto* message = std::get_if<v0::GroupMessage>(&*event)) {
      ++got;
      ASSERT_EQ(message->text(), std::to_string(got));
      if (got % kCutEvery == 0) daemon.cut();
    } else {
      ASSERT_FALSE(std::holds_alternative<v0::Ended>(*event));
    }
  }
  sender.join();
  over.store(true);
  asker.join();
  EXPECT_TRUE(client.flush());
  daemon.with([](ModelDaemon& model) { EXPECT_EQ(model.messages.size(), kAcrossThreads); });
  client.close(v0::kForever);
}

TEST(Threads, ClosingEndsWhatWaitsInOthers) {
  FakeDaemon daemon;
  auto made = v0::Client::connect(daemon.options());
  ASSERT_TRUE(made) << made.error().message;
  v0::Client& client = *made;
  daemon.with([](ModelDaemon& model) { model.answers = model.echoes = false; });
  std::thread joiner([&] {
    EXPECT_EQ(client.join("chat", {}, v0::kForever).error().code, v0::ErrorCode::closed);
  });
  std::thread reader([&] {
    const auto event = client.wait(v0::kForever);
    EXPECT_TRUE(event && std::holds_alternative<v0::Ended>(*event));
  });
  daemon.wait_for([](ModelDaemon& model) { return model.kinds.back() == wire::RecordKind::join; });
  std::thread closer([&] { client.close(v0::kForever); });
  client.close(std::chrono::milliseconds(0));
  closer.join();
  joiner.join();
  reader.join();
}

}  // namespace
}  // namespace peal::client::test
