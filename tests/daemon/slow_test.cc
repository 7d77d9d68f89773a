// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "site.h"

// The daemon treats a client that stops reading by the policy that this client chose. Other clients
// continue.

namespace peal::daemon::test {
namespace {

using wire::ClientCode;
using wire::RecordKind;
using wire::SlowPolicy;

constexpr int kMessages = 400;
constexpr std::size_t kBytes = 50'000;  // 20 MB in all: more than sockets and limits hold

/// One client that reads nothing, one that reads everything, and one that sends to both.
class Slow : public testing::Test {
 protected:
  void start(SlowPolicy policy) {
    wire::SlowLimits limits;
    limits.policy = policy;
    limits.memory_bytes = 200'000;
    limits.disk_bytes = policy == SlowPolicy::spill ? 100'000'000 : 0;
    slow_.join("g", limits);
    good_.join("g");
    sending_ = std::thread([this] {
      for (int i = 0; i < kMessages; ++i) sender_.send("g", text(i));
    });
  }
  void TearDown() override {
    if (sending_.joinable()) sending_.join();
  }
  static std::string text(int i) {
    return std::to_string(i) + ":" + std::string(kBytes, static_cast<char>('a' + i % 26));
  }
  void expect_all(Client& client) {
    for (int i = 0; i < kMessages; ++i) ASSERT_EQ(client.message(), text(i)) << i;
  }

  static Options options(const Folder& folder) {
    Options options = options_of(folder, 1, 1);
    options.sessions.slow.memory_bytes = 50'000'000;  // the limit for good_
    return options;
  }
  Folder folder_;
  Site site_{options(folder_)};
  Client slow_{site_.socket(), hello_as("slow")};
  Client good_{site_.socket(), hello_as("good")};
  Client sender_{site_.socket(), hello_as("sender")};
  std::thread sending_;
};

TEST_F(Slow, SpillsToDiskAndComesBackInOrder) {
  start(SlowPolicy::spill);
  expect_all(good_);
  expect_all(slow_);
}

TEST_F(Slow, DropsAndSaysWhatIsMissing) {
  start(SlowPolicy::drop);
  expect_all(good_);
  // Received messages must be in order, and gaps must count the missing messages.
  std::uint64_t seen = 0;
  std::uint64_t missing = 0;
  while (seen + missing < kMessages) {
    const auto got = slow_.next();
    ASSERT_TRUE(got);
    ASSERT_NE(got->kind, RecordKind::closing);
    if (got->kind == RecordKind::gap) missing += got->as<wire::GapEvent>().messages;
    if (got->kind != RecordKind::message) continue;
    ASSERT_EQ(as_text(got->as<wire::MessageEvent>().payload),
              text(static_cast<int>(seen + missing)));
    ++seen;
  }
  EXPECT_GT(missing, 0U);
  EXPECT_EQ(seen + missing, static_cast<std::uint64_t>(kMessages));
}

TEST_F(Slow, IsEvictedAndItsGroupIsTold) {
  start(SlowPolicy::evict);
  int i = 0;
  bool told = false;
  while (i < kMessages || !told) {
    const auto got = good_.next();
    ASSERT_TRUE(got);
    if (got->kind == RecordKind::message) {
      ASSERT_EQ(as_text(got->as<wire::MessageEvent>().payload), text(i++));
    }
    if (got->kind != RecordKind::group_view) continue;
    const auto view = got->as<wire::GroupViewEvent>();
    if (view.changed != "#slow#n1" || view.cause != wire::ViewCause::disconnect) continue;
    EXPECT_EQ(view.reason, ClientCode::slow);
    told = true;
  }
}

TEST_F(Slow, BlocksWhoSendsAndLosesNothing) {
  start(SlowPolicy::block);
  expect_all(slow_);
  expect_all(good_);
}

}  // namespace
}  // namespace peal::daemon::test
