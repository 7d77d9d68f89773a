// SPDX-License-Identifier: Apache-2.0
#include "cli/node/process.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/fd.h"

namespace peal::cli {
namespace {

io::Fd taken(std::uint16_t port, int type) {
  io::Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(::listen(fd.get(), 1), 0);
  }
  return fd;
}

TEST(FreePorts, NobodyHasThemOrTheOnesAboveByUdpOrTcp) {
  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    for (const int above : {0, 1}) {
      const auto first = free_port_pairs(1);
      ASSERT_EQ(first.size(), 1U);
      const io::Fd other = taken(static_cast<std::uint16_t>(first[0] + above), type);
      const auto second = free_port_pairs(1);
      ASSERT_EQ(second.size(), 1U);
      EXPECT_NE(first[0], second[0]) << "type " << type << ", the port and " << above;
    }
  }
}

}  // namespace
}  // namespace peal::cli
