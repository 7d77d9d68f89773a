// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "io/error.h"

namespace peal::io {

/// An IP address and a UDP or TCP port.
struct Endpoint {
  std::array<std::uint8_t, 16> ip{};  ///< IPv6, or IPv4 mapped into it (::ffff:a.b.c.d)
  std::uint16_t port{};

  static Endpoint v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                     std::uint16_t port);
  bool is_v4() const;
  bool is_multicast() const;
  bool is_unspecified() const;
  bool is_loopback() const;
  Endpoint with_port(std::uint16_t other) const { return {ip, other}; }
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// Formats an endpoint: "10.0.0.1:4800" or "[fd00::1]:4800".
std::string to_string(const Endpoint& endpoint);

/// Convert an endpoint to the operating system's form, and back. `from_sockaddr` returns a zero
/// endpoint for an address family other than IPv4 and IPv6.
socklen_t to_sockaddr(const Endpoint& endpoint, sockaddr_storage& out);
Endpoint from_sockaddr(const sockaddr_storage& in);

/// A network interface that has an address of this machine.
struct Interface {
  int index{};
  std::uint32_t mtu{};
  std::string name;
};

/// Errors: invalid_option (no interface has this address; the message says so), system.
Result<Interface, IoError> interface_of(const Endpoint& address);

/// True if `address` belongs to this machine, as all of 127/8 does.
bool is_local(const Endpoint& address);

/// The largest datagram that leaves the interface of `self` in one piece: the interface's MTU
/// without the IP and UDP headers, at most 65507. Errors: as interface_of.
Result<std::uint32_t, IoError> packet_bytes_limit(const Endpoint& self);

}  // namespace peal::io
