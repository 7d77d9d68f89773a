// SPDX-License-Identifier: Apache-2.0
#include "client/dialer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/fd.h"

namespace peal::client::test {
namespace {

TEST(Address, PathsAndTls) {
  EXPECT_EQ(parse_address("/run/peal.sock")->path, "/run/peal.sock");
  EXPECT_EQ(parse_address("unix:peal.sock")->path, "peal.sock");
  const auto name = parse_address("tls://daemon.example:4810");
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->tls);
  EXPECT_EQ(name->host, "daemon.example");
  EXPECT_EQ(name->port, "4810");
  const auto six = parse_address("tls://[fd00::1]:1");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->host, "fd00::1");
}

TEST(Address, EachWrongOneIsNamed) {
  for (const std::string text :
       {"", "unix:", "tls://", "tls://host", "tls://host:", "tls://:1", "tls://host:0",
        "tls://host:65536", "tls://host:http", "tls://fd00::1:4810", "tls://[]:1", "tcp://host:1",
        "http://host", "tls://host:123456789012345678901234567890"}) {
    const auto address = parse_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, v0::ErrorCode::invalid_option);
    EXPECT_NE(address.error().message.find('"' + text + '"'), std::string::npos) << text;
  }
}

v0::ClientOptions options_for(const std::string& daemon) {
  v0::ClientOptions options;
  options.daemon = daemon;
  return options;
}

io::Fd listen_v6(std::uint16_t& port) {
  io::Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(fd.get(), generic, size), 0);
  EXPECT_EQ(::listen(fd.get(), 1), 0);
  EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
  port = ntohs(address.sin6_port);
  return fd;
}

TEST(Dialer, WhoIsToldToStopDoesNotWaitForNameServers) {
  std::promise<void> asked;
  std::promise<void> release;
  auto dialer = Dialer::make(
      options_for("tls://slow.example:4810"),
      [&asked, released = release.get_future().share()](const io::HostPort&) -> io::LookUp::Answer {
        asked.set_value();
        released.wait();
        return std::vector<io::Endpoint>{};
      });
  ASSERT_TRUE(dialer) << dialer.error().message;
  Signal wake;
  std::atomic<bool> stop{false};
  std::thread stopper([&] {
    asked.get_future().wait();
    stop.store(true);
    wake.set();
  });
  const auto stream = dialer->dial(io::Clock::now() + seconds(3'600), wake, stop);
  stopper.join();
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, v0::ErrorCode::closed);
  stop.store(false);
  const auto late = dialer->dial(io::Clock::now(), wake, stop);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, v0::ErrorCode::timed_out);
  EXPECT_THAT(late.error().message, testing::HasSubstr("slow.example"));
  release.set_value();
}

TEST(Dialer, TriesEachAddressOfAName) {
  std::uint16_t port = 0;
  const io::Fd listener = listen_v6(port);
  // The daemon accepts one connection, and closes it before TLS begins.
  std::thread daemon([&] { const io::Fd came(::accept(listener.get(), nullptr, nullptr)); });
  auto dialer = Dialer::make(
      options_for("tls://both.example:" + std::to_string(port)),
      [](const io::HostPort& name) -> io::LookUp::Answer {
        io::Endpoint six;
        six.ip[15] = 1;
        six.port = name.port;
        return std::vector<io::Endpoint>{io::Endpoint::v4(127, 0, 0, 1, name.port), six};
      });
  ASSERT_TRUE(dialer) << dialer.error().message;
  Signal wake;
  const std::atomic<bool> stop{false};
  const auto stream = dialer->dial(io::Clock::now() + seconds(60), wake, stop);
  EXPECT_FALSE(stream);
  daemon.join();  // the client tried the second address: nobody listens at the first
}

}  // namespace
}  // namespace peal::client::test
