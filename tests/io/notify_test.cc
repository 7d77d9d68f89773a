// SPDX-License-Identifier: Apache-2.0
#include "io/notify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "io/fd.h"
#include "temp_dir.h"

namespace peal::io {
namespace {

using testing::HasSubstr;

/// The socket of the service manager, systemd.
class Manager {
 public:
  explicit Manager(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  std::string hear() const {
    std::array<char, 4'096> text{};
    const ssize_t got = ::recv(fd_.get(), text.data(), text.size(), 0);
    return got < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(got));
  }

 private:
  Fd fd_;
};

Notifier open_notifier(const NotifyVariables& variables) {
  const auto notifier = Notifier::open(variables);
  EXPECT_TRUE(notifier.has_value()) << (notifier ? "" : notifier.error().message);
  return *notifier;
}

TEST(Notifier, SaysEverythingInSystemdsWords) {
  const TempDir dir;
  for (const std::string& name :
       {dir / "notify", "@peal-notify-test-" + std::to_string(::getpid())}) {
    const Manager manager(name);
    const Notifier notifier = open_notifier({name, "", ""});
    EXPECT_TRUE(notifier.is_on());
    EXPECT_TRUE(notifier.ready("3 of 3 nodes").has_value());
    EXPECT_EQ(manager.hear(), "READY=1\nSTATUS=3 of 3 nodes\n");
    EXPECT_TRUE(notifier.status("2 of 3 nodes").has_value());
    EXPECT_EQ(manager.hear(), "STATUS=2 of 3 nodes\n");
    EXPECT_TRUE(notifier.reloading(Instant{12'345'678}).has_value());
    EXPECT_EQ(manager.hear(), "RELOADING=1\nMONOTONIC_USEC=12345\n");
    EXPECT_TRUE(notifier.watchdog().has_value());
    EXPECT_EQ(manager.hear(), "WATCHDOG=1\n");
    EXPECT_TRUE(notifier.stopping("on request").has_value());
    EXPECT_EQ(manager.hear(), "STOPPING=1\nSTATUS=on request\n");
    EXPECT_EQ(manager.hear(), "nothing");
  }
}

TEST(Notifier, LetsNoStatusBecomeAnotherMessage) {
  const TempDir dir;
  const Manager manager(dir / "notify");
  const Notifier notifier = open_notifier({dir / "notify", "", ""});
  EXPECT_TRUE(notifier.status("a\nMAINPID=1\r\n").has_value());
  EXPECT_EQ(manager.hear(), "STATUS=a MAINPID=1  \n");
  EXPECT_TRUE(notifier.status(std::string(100'000, 'x')).has_value());
  EXPECT_EQ(manager.hear(), "STATUS=" + std::string(1'000, 'x') + "\n");
}

TEST(Notifier, SaysNothingWhereNobodyListens) {
  const Notifier notifier = open_notifier({});
  EXPECT_FALSE(notifier.is_on());
  EXPECT_TRUE(notifier.ready("x").has_value());
  EXPECT_EQ(notifier.watchdog_interval(), std::nullopt);
}

TEST(Notifier, SaysWhyNobodyHears) {
  const TempDir dir;
  const Notifier notifier = open_notifier({dir / "none", "", ""});
  const auto sent = notifier.ready("x");
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, Errc::closed);
  EXPECT_THAT(sent.error().message, HasSubstr("notify systemd at "));
}

TEST(Notifier, DoesNotWaitForAManagerThatDoesNotRead) {
  const TempDir dir;
  const Manager manager(dir / "notify");
  const Notifier notifier = open_notifier({dir / "notify", "", ""});
  Result<void, IoError> sent;
  for (int i = 0; i < 100'000 && sent; ++i) sent = notifier.watchdog();
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, Errc::would_block);
}

TEST(Notifier, KnowsItsWatchdog) {
  const std::string own = std::to_string(::getpid());
  EXPECT_EQ(open_notifier({"/x", "30000000", ""}).watchdog_interval(), seconds(30));
  EXPECT_EQ(open_notifier({"/x", "1", own}).watchdog_interval(), microseconds(1));
  EXPECT_EQ(open_notifier({"/x", "30000000", "1"}).watchdog_interval(), std::nullopt);
}

TEST(Notifier, RefusesVariablesThatMakeNoSense) {
  const std::pair<NotifyVariables, std::string> cases[] = {
      {{"relative", "", ""}, "NOTIFY_SOCKET = \"relative\""},
      {{"/", "", ""}, "NOTIFY_SOCKET"},
      {{"@", "", ""}, "NOTIFY_SOCKET"},
      {{"vsock:2:1234", "", ""}, "NOTIFY_SOCKET"},
      {{"/" + std::string(107, 'x'), "", ""}, "up to 107 bytes"},
      {{"/x", "0", ""}, "WATCHDOG_USEC = \"0\""},
      {{"/x", "-1", ""}, "WATCHDOG_USEC"},
      {{"/x", "1s", ""}, "WATCHDOG_USEC"},
      {{"/x", "99999999999999999999", ""}, "WATCHDOG_USEC"},
      {{"/x", "1", "me"}, "WATCHDOG_PID = \"me\""},
      {{"/x", "1", "0"}, "WATCHDOG_PID"},
  };
  for (const auto& [variables, text] : cases) {
    const auto notifier = Notifier::open(variables);
    ASSERT_FALSE(notifier.has_value()) << text;
    EXPECT_EQ(notifier.error().code, Errc::invalid_option);
    EXPECT_THAT(notifier.error().message, HasSubstr(text));
  }
}

TEST(NotifyVariables, AreThoseOfTheProcess) {
  ASSERT_EQ(::setenv("NOTIFY_SOCKET", "/run/x", 1), 0);
  EXPECT_EQ(NotifyVariables::of_process().socket, "/run/x");
  ASSERT_EQ(::unsetenv("NOTIFY_SOCKET"), 0);
  EXPECT_EQ(NotifyVariables::of_process().socket, "");
}

}  // namespace
}  // namespace peal::io
