// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/fd.h"
#include "stations.h"

// An attacker who can send any packet from any address.

namespace peal::io {

/// A socket of a test that sends any bytes to any address.
class Attacker {
 public:
  explicit Attacker(const Endpoint& from) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage address;
    const socklen_t length = to_sockaddr(from, address);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  void send(const Endpoint& to, ByteView bytes) {
    sockaddr_storage address;
    const socklen_t length = to_sockaddr(to, address);
    EXPECT_EQ(::sendto(fd_.get(), bytes.data(), bytes.size(), 0,
                       reinterpret_cast<const sockaddr*>(&address), length),
              static_cast<ssize_t>(bytes.size()));
  }
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
};

inline Endpoint data_port(std::uint32_t node) {
  const Endpoint at = node_endpoint(node);
  return at.with_port(static_cast<std::uint16_t>(at.port + 1));
}

/// Makes the station read all packets that have arrived.
inline void drain(Station& station) {
  while (station.turn().more) {
  }
}

}  // namespace peal::io
