// SPDX-License-Identifier: Apache-2.0
#include "client/dialer.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace peal::client::test
