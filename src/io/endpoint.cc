// SPDX-License-Identifier: Apache-2.0
#include "io/endpoint.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "io/fd.h"

namespace peal::io {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

Endpoint Endpoint::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                      std::uint16_t port) {
  Endpoint endpoint;
  std::copy(kV4Prefix.begin(), kV4Prefix.end(), endpoint.ip.begin());
  endpoint.ip[12] = a;
  endpoint.ip[13] = b;
  endpoint.ip[14] = c;
  endpoint.ip[15] = d;
  endpoint.port = port;
  return endpoint;
}

bool Endpoint::is_v4() const { return std::equal(kV4Prefix.begin(), kV4Prefix.end(), ip.begin()); }

bool Endpoint::is_multicast() const { return is_v4() ? (ip[12] & 0xf0) == 0xe0 : ip[0] == 0xff; }

bool Endpoint::is_unspecified() const {
  const auto first = is_v4() ? ip.begin() + 12 : ip.begin();
  return std::all_of(first, ip.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool Endpoint::is_loopback() const {
  if (is_v4()) return ip[12] == 127;
  return ip[15] == 1 && std::all_of(ip.begin(), ip.end() - 1, [](auto byte) { return byte == 0; });
}

std::string to_string(const Endpoint& endpoint) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (endpoint.is_v4()) {
    ::inet_ntop(AF_INET, endpoint.ip.data() + 12, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(endpoint.port);
  }
  ::inet_ntop(AF_INET6, endpoint.ip.data(), text.data(), text.size());
  return "[" + std::string(text.data()) + "]:" + std::to_string(endpoint.port);
}

socklen_t to_sockaddr(const Endpoint& endpoint, sockaddr_storage& out) {
  std::memset(&out, 0, sizeof out);
  if (endpoint.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    std::memcpy(&v4.sin_addr, endpoint.ip.data() + 12, 4);
    std::memcpy(&out, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(endpoint.port);
  std::memcpy(&v6.sin6_addr, endpoint.ip.data(), 16);
  std::memcpy(&out, &v6, sizeof v6);
  return sizeof v6;
}

Endpoint from_sockaddr(const sockaddr_storage& in) {
  Endpoint endpoint;
  if (in.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &in, sizeof v4);
    std::copy(kV4Prefix.begin(), kV4Prefix.end(), endpoint.ip.begin());
    std::memcpy(endpoint.ip.data() + 12, &v4.sin_addr, 4);
    endpoint.port = ntohs(v4.sin_port);
  } else if (in.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &in, sizeof v6);
    std::memcpy(endpoint.ip.data(), &v6.sin6_addr, 16);
    endpoint.port = ntohs(v6.sin6_port);
  }
  return endpoint;
}

Result<Interface, IoError> interface_of(const Endpoint& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return unexpected(system_error("list of interfaces", errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  const bool loopback = address.is_v4() && address.ip[12] == 127;
  Interface found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, entry->ifa_addr,
                family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const bool same = from_sockaddr(storage).ip == address.ip;
    if (!same && !(loopback && (entry->ifa_flags & IFF_LOOPBACK) != 0)) continue;
    found.name = entry->ifa_name;
    break;
  }
  if (found.name.empty()) {
    return unexpected(
        IoError{Errc::invalid_option,
                "no network interface of this machine has the address of " + to_string(address)});
  }
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  found.name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (!any || ::ioctl(any.get(), SIOCGIFMTU, &request) != 0) {
    return unexpected(system_error("MTU of " + found.name, errno));
  }
  found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  found.index = static_cast<int>(::if_nametoindex(found.name.c_str()));
  return found;
}

bool is_local(const Endpoint& address) { return interface_of(address).has_value(); }

Result<std::uint32_t, IoError> packet_bytes_limit(const Endpoint& self) {
  auto interface = interface_of(self);
  if (!interface) return unexpected(interface.error());
  const std::uint32_t headers = self.is_v4() ? 20 + 8 : 40 + 8;
  constexpr std::uint32_t kUdpMax = 65'507;
  return std::min(interface->mtu - std::min(interface->mtu, headers), kUdpMax);
}

}  // namespace peal::io
