// SPDX-License-Identifier: Apache-2.0
#include "io/endpoint.h"

#include <gtest/gtest.h>

#include "io/resolve.h"

namespace peal::io {
namespace {

TEST(Endpoint, IsReadAndWritten) {
  for (const char* text : {"10.0.0.1:4800", "255.255.255.255:65535", "[fd00::1]:4800", "[::1]:1"}) {
    const auto endpoint = parse_endpoint(text, 0);
    ASSERT_TRUE(endpoint.has_value()) << text << ": " << endpoint.error().message;
    EXPECT_EQ(to_string(*endpoint), text);
  }
}

TEST(Endpoint, TakesTheDefaultPort) {
  EXPECT_EQ(to_string(*parse_endpoint("10.0.0.1", 4'800)), "10.0.0.1:4800");
  EXPECT_EQ(to_string(*parse_endpoint("[fd00::1]", 4'800)), "[fd00::1]:4800");
  EXPECT_EQ(to_string(*parse_endpoint("10.0.0.1:9", 4'800)), "10.0.0.1:9");
}

TEST(Endpoint, RefusesNonsenseAndNamesIt) {
  for (const char* text :
       {"", ":", ":4800", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:48x",
        "10.0.0.1:-1", "[fd00::1", "[fd00::1]4800", "[]:1", "[fd00::1]:", "[10.0.0.1]:4800",
        "10.0.0.1", "localhost:4800", "fd00::1"}) {
    const auto endpoint = parse_endpoint(text, 0);
    ASSERT_FALSE(endpoint.has_value()) << text;
    EXPECT_EQ(endpoint.error().code, Errc::invalid_option);
    EXPECT_NE(endpoint.error().message.find("\"" + std::string(text) + "\""), std::string::npos);
  }
}

TEST(Endpoint, SurvivesTheSystemsForm) {
  for (const char* text : {"10.0.0.1:4800", "[fd00::1]:4800"}) {
    const Endpoint endpoint = *parse_endpoint(text, 0);
    sockaddr_storage storage;
    EXPECT_GT(to_sockaddr(endpoint, storage), 0U);
    EXPECT_EQ(from_sockaddr(storage), endpoint);
  }
  const sockaddr_storage other{};
  EXPECT_EQ(from_sockaddr(other), Endpoint{});
}

TEST(Endpoint, KnowsItsKind) {
  EXPECT_TRUE(Endpoint::v4(239, 1, 2, 3, 1).is_multicast());
  EXPECT_TRUE(Endpoint::v4(224, 0, 0, 1, 1).is_multicast());
  EXPECT_FALSE(Endpoint::v4(223, 0, 0, 1, 1).is_multicast());
  EXPECT_FALSE(Endpoint::v4(240, 0, 0, 1, 1).is_multicast());
  EXPECT_TRUE(parse_endpoint("[ff02::1]:1", 0)->is_multicast());
  EXPECT_TRUE(Endpoint::v4(0, 0, 0, 0, 1).is_unspecified());
  EXPECT_TRUE(parse_endpoint("[::]:1", 0)->is_unspecified());
  EXPECT_FALSE(Endpoint::v4(0, 0, 0, 1, 1).is_unspecified());
  EXPECT_TRUE(Endpoint::v4(127, 0, 1, 1, 1).is_loopback());
  EXPECT_TRUE(parse_endpoint("[::1]:1", 0)->is_loopback());
  EXPECT_FALSE(Endpoint::v4(128, 0, 0, 1, 1).is_loopback());
  EXPECT_FALSE(parse_endpoint("[fd00::1]:1", 0)->is_loopback());
  EXPECT_FALSE(parse_endpoint("[::]:1", 0)->is_loopback());
}

TEST(Endpoint, FindsTheInterfaceOfThisMachine) {
  const auto loopback = interface_of(Endpoint::v4(127, 3, 2, 1, 0));
  ASSERT_TRUE(loopback.has_value()) << loopback.error().message;
  EXPECT_EQ(loopback->name, "lo");
  EXPECT_GT(loopback->index, 0);
  EXPECT_EQ(*packet_bytes_limit(Endpoint::v4(127, 0, 0, 1, 0)),
            std::min(loopback->mtu - 28, 65'507U));
  // An address of TEST-NET-3, which is reserved for documentation, so no machine has it.
  const auto foreign = interface_of(Endpoint::v4(203, 0, 113, 7, 4'800));
  ASSERT_FALSE(foreign.has_value());
  EXPECT_EQ(foreign.error().code, Errc::invalid_option);
  EXPECT_NE(foreign.error().message.find("203.0.113.7"), std::string::npos);
  EXPECT_FALSE(is_local(Endpoint::v4(203, 0, 113, 7, 4'800)));
}

}  // namespace
}  // namespace peal::io
