// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "io/resolve.h"
#include "io/udp.h"
#include "stations.h"

namespace peal::io {
namespace {

using testing::HasSubstr;

struct BadOption {
  std::string name;
  std::function<void(UdpConfig&)> spoil;
  std::string message;
};

class UdpRefuses : public testing::TestWithParam<BadOption> {};

TEST_P(UdpRefuses, AndSaysWhy) {
  UdpConfig config = test_config(1, 3);
  GetParam().spoil(config);
  BufferPool pool(UdpTransport::kSlabBytesMin, 4);
  const auto opened = UdpTransport::open(config, pool);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, Errc::invalid_option);
  EXPECT_THAT(opened.error().message, HasSubstr(GetParam().message));
}

const std::vector<BadOption> kBadOptions{
    {"NoNodes", [](UdpConfig& c) { c.nodes.clear(); }, "1 to 128"},
    {"TooManyNodes", [](UdpConfig& c) { c.nodes.resize(129, c.nodes.back()); }, "not 129"},
    {"NotAmongThem", [](UdpConfig& c) { c.self = NodeId{9}; }, "node 9 is not among"},
    {"NodeZero", [](UdpConfig& c) { c.nodes[1].node = NodeId{0}; }, "1 to 65535"},
    {"NodeTooLarge", [](UdpConfig& c) { c.nodes[1].node = NodeId{65'536}; }, "node 65536"},
    {"NodeTwice", [](UdpConfig& c) { c.nodes[2].node = NodeId{2}; }, "node 2 is configured twice"},
    {"AddressTwice", [](UdpConfig& c) { c.nodes[2].at = c.nodes[1].at; }, "at least 2 apart"},
    {"PortsTooClose", [](UdpConfig& c) { c.nodes[2].at.port = 5'005; }, "at least 2 apart"},
    {"PortZero", [](UdpConfig& c) { c.nodes[1].at.port = 0; }, "1 to 65534"},
    {"LastPort", [](UdpConfig& c) { c.nodes[1].at.port = 65'535; }, "1 to 65534"},
    {"AnyAddress", [](UdpConfig& c) { c.nodes[1].at = Endpoint::v4(0, 0, 0, 0, 5'000); },
     "0.0.0.0:5000"},
    {"GroupAddress", [](UdpConfig& c) { c.nodes[1].at = Endpoint::v4(239, 0, 0, 1, 5'000); },
     "one interface"},
    {"TwoFamilies", [](UdpConfig& c) { c.nodes[1].at = *parse_endpoint("[::1]:5000", 0); },
     "all IPv6"},
    {"GroupMissing", [](UdpConfig& c) { c.multicast = MulticastMode::group; }, "IPv4 group"},
    {"GroupNotMulticast",
     [](UdpConfig& c) {
       c.multicast = MulticastMode::group;
       c.group = Endpoint::v4(10, 0, 0, 1, 4'700);
     },
     "10.0.0.1:4700"},
    {"Ttl", [](UdpConfig& c) { c.multicast_ttl = 0; }, "multicast_ttl"},
    {"PacketTooSmall", [](UdpConfig& c) { c.packet_bytes_max = 255; }, "packet_bytes_max 255"},
    {"PacketTooLarge", [](UdpConfig& c) { c.packet_bytes_max = 65'508; }, "packet_bytes_max 65508"},
    {"QueueTooSmall", [](UdpConfig& c) { c.send_queue_packets = 255; }, "send_queue_packets 255"},
    {"Budget", [](UdpConfig& c) { c.receive_budget = 0; }, "receive_budget"},
    {"ForeignAddress", [](UdpConfig& c) { c.nodes[0].at = Endpoint::v4(203, 0, 113, 7, 5'000); },
     "203.0.113.7:5000"},
};
INSTANTIATE_TEST_SUITE_P(Each, UdpRefuses, testing::ValuesIn(kBadOptions),
                         [](const auto& one) { return one.param.name; });

TEST(UdpOpen, RefusesAPoolThatIsTooSmall) {
  BufferPool few(UdpTransport::kSlabBytesMin, 3);
  BufferPool small(UdpTransport::kSlabBytesMin - 1, 4);
  for (BufferPool* pool : {&few, &small}) {
    const auto opened = UdpTransport::open(test_config(1, 2), *pool);
    ASSERT_FALSE(opened.has_value());
    EXPECT_THAT(opened.error().message, HasSubstr("receive pool"));
  }
}

TEST(UdpOpen, NamesAnAddressInUse) {
  Station first(test_config(1, 2));
  BufferPool pool(UdpTransport::kSlabBytesMin, 4);
  const auto second = UdpTransport::open(test_config(1, 2), pool);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::address_in_use);
  EXPECT_THAT(second.error().message, HasSubstr(to_string(node_endpoint(1))));
  EXPECT_THAT(second.error().message, HasSubstr("another port"));
}

TEST(UdpOpen, NamesTheSecondPortInUse) {
  Station first(test_config(1, 2));
  UdpConfig config = test_config(2, 2);
  config.nodes.pop_back();
  config.nodes[0].node = NodeId{2};
  --config.nodes[0].at.port;
  BufferPool pool(UdpTransport::kSlabBytesMin, 4);
  const auto second = UdpTransport::open(config, pool);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::address_in_use);
}

TEST(UdpOpen, ReportsTheReceiveBuffer) {
  UdpConfig config = test_config(1, 2);
  config.receive_buffer_bytes = 65'536;
  Station node(config);
  EXPECT_EQ(node.transport->receive_buffer_bytes(), 65'536U);
}

TEST(UdpOpen, GivesTheAddressBack) {
  for (int i = 0; i < 3; ++i) Station node(test_config(1, 2));
  Station last(test_config(1, 2));
  EXPECT_NE(last.transport, nullptr);
}

}  // namespace
}  // namespace peal::io
