// SPDX-License-Identifier: Apache-2.0
#include "io/udp_sockets.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace peal::io {
namespace {

template <class T>
bool set_option(int fd, int level, int name, const T& value) {
  return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

const Endpoint& own_endpoint(const UdpConfig& config) {
  const auto own = std::find_if(config.nodes.begin(), config.nodes.end(),
                                [&](const Peer& peer) { return peer.node == config.self; });
  PEAL_ASSERT(own != config.nodes.end());
  return own->at;
}

// Sets the size of a socket's buffer: above the system's limit if this process is privileged, else
// within the limit.
void set_buffer(int fd, int forced, int plain, std::uint32_t bytes) {
  const auto size = static_cast<int>(std::min<std::uint32_t>(bytes, 1U << 30));
  if (!set_option(fd, SOL_SOCKET, forced, size)) {
    ignore(set_option(fd, SOL_SOCKET, plain, size), "the default size works, with more loss");
  }
}

std::uint32_t receive_buffer_of(int fd) {
  int doubled = 0;  // the kernel reports twice the requested size
  socklen_t length = sizeof doubled;
  if (::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &doubled, &length) != 0) return 0;
  return static_cast<std::uint32_t>(doubled) / 2;
}

IoError bind_error(const Endpoint& at, int number) {
  IoError error = system_error("cannot listen on " + to_string(at), number);
  if (number == EADDRINUSE) {
    error.message +=
        " (another node or program has it: stop that one, or give this node another"
        " port; a node uses its port and the one above)";
  } else if (number == EADDRNOTAVAIL) {
    error.message += " (it is not an address of this machine: give this node one that is)";
  } else if (number == EACCES) {
    error.message += " (ports below 1024 are reserved: choose a higher one)";
  }
  return error;
}

Result<Fd, IoError> open_socket(const Endpoint& at, const UdpConfig& config, bool shared) {
  const int family = at.is_v4() ? AF_INET : AF_INET6;
  Fd fd(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return unexpected(system_error("cannot open a UDP socket", errno));
  const int on = 1;
  if (shared) ignore(set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, on), "bind says it");
  if (family == AF_INET6) {
    ignore(set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, on), "a given address is v6 anyway");
  } else {
    // With this option on, packets of groups that other processes joined would arrive, too.
    const int off = 0;
    ignore(set_option(fd.get(), IPPROTO_IP, IP_MULTICAST_ALL, off), "sources are checked as well");
  }
  ignore(set_option(fd.get(), SOL_SOCKET, SO_RXQ_OVFL, on), "only the count of losses is lost");
  set_buffer(fd.get(), SO_RCVBUFFORCE, SO_RCVBUF, config.receive_buffer_bytes);
  set_buffer(fd.get(), SO_SNDBUFFORCE, SO_SNDBUF, config.send_buffer_bytes);
  sockaddr_storage address;
  const socklen_t length = to_sockaddr(at, address);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    return unexpected(bind_error(at, errno));
  }
  return fd;
}

// Data packets fit the interface's MTU, so they are never fragmented: a router with a smaller MTU
// must report an error. Control packets may be larger than the MTU, so IP may fragment them.
void set_fragmentation(int token, int data, bool v4) {
  const int never = v4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
  const int allowed = v4 ? IP_PMTUDISC_DONT : IPV6_PMTUDISC_DONT;
  const int level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
  const int name = v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER;
  ignore(set_option(data, level, name, never), "then IP cuts what is too large");
  ignore(set_option(token, level, name, allowed), "the system's default cuts as well");
}

bool shares_machine(const UdpConfig& config) {
  return std::any_of(config.nodes.begin(), config.nodes.end(), [&](const Peer& peer) {
    return peer.node != config.self && !peer.at.is_unspecified() && is_local(peer.at);
  });
}

ip_mreqn group_request(const Endpoint& group, int interface_index) {
  ip_mreqn request{};
  std::memcpy(&request.imr_multiaddr, group.ip.data() + 12, 4);
  // An index names one interface, while several interfaces may have the same address.
  request.imr_ifindex = interface_index;
  return request;
}

// Makes the kernel drop this node's own multicasts that come back to the group socket. On a shared
// machine, each such copy would cost as much as a packet of a peer. The filter sees the UDP header
// at offset 0.
bool filter_own(int fd, const Endpoint& own_data) {
  const auto& ip = own_data.ip;
  const std::uint32_t address = static_cast<std::uint32_t>(ip[12]) << 24 |
                                static_cast<std::uint32_t>(ip[13]) << 16 |
                                static_cast<std::uint32_t>(ip[14]) << 8 | ip[15];
  constexpr auto kSourceAddress = static_cast<std::uint32_t>(SKF_NET_OFF + 12);
  constexpr std::uint32_t kAll = 0xffff'ffff;
  std::array<sock_filter, 6> program{{
      {BPF_LD | BPF_H | BPF_ABS, 0, 0, 0},  // source port
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, own_data.port},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, kSourceAddress},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, address},
      {BPF_RET | BPF_K, 0, 0, 0},
      {BPF_RET | BPF_K, 0, 0, kAll},
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return set_option(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter);
}

// Joins the group, and prepares the data socket to send to the group. On failure the sockets stay
// usable for unicast.
Result<Fd, IoError> open_group(const UdpConfig& config, const Endpoint& group, int data,
                               const Interface& interface, bool shared_machine) {
  auto fd = open_socket(group, config, true);  // nodes on one machine share group and port
  if (!fd) return fd;
  const ip_mreqn request = group_request(group, interface.index);
  const std::string what = "cannot join " + to_string(group) + " on " + interface.name;
  if (!set_option(fd->get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, request)) {
    return unexpected(system_error(what, errno));
  }
  // Loops multicasts back only if another node is on this machine: each copy comes back to this
  // node too, and costs time.
  const int loop = shared_machine ? 1 : 0;
  const int ttl = config.multicast_ttl;
  if (!set_option(data, IPPROTO_IP, IP_MULTICAST_IF, request) ||
      !set_option(data, IPPROTO_IP, IP_MULTICAST_LOOP, loop) ||
      !set_option(data, IPPROTO_IP, IP_MULTICAST_TTL, ttl)) {
    return unexpected(system_error(what, errno));
  }
  return fd;
}

Result<void, IoError> add_multicast(const UdpConfig& config, const Endpoint& own,
                                    UdpSockets& sockets) {
  if (config.multicast == MulticastMode::off) {
    sockets.multicast_status = "off";
    return {};
  }
  if (!own.is_v4()) {
    sockets.multicast_status = "off: needs IPv4";
    return {};
  }
  const bool given = config.multicast == MulticastMode::group;
  const Endpoint group = given ? config.group : derived_group(config.cluster);
  const auto interface = interface_of(own);
  if (!interface) return unexpected(interface.error());
  const bool shared = sockets.shared_machine = shares_machine(config);
  auto fd = open_group(config, group, sockets.data.get(), *interface, shared);
  if (!fd) {
    if (given) return unexpected(fd.error());
    sockets.multicast_status = "off: " + fd.error().message;
    return {};
  }
  sockets.group = std::move(*fd);
  sockets.group_at = group;
  sockets.own_data = own.with_port(static_cast<std::uint16_t>(own.port + 1));
  sockets.own_filtered = shared && filter_own(sockets.group.get(), sockets.own_data);
  sockets.multicast_status = to_string(group) + " on " + interface->name;
  return {};
}

void add_offloads(const UdpConfig& config, UdpSockets& sockets) {
  const int zero = 0;
  const int on = 1;
  if (config.segmentation == Offload::automatic) {
    // Setting a segment size of 0 (off) succeeds exactly if the kernel knows the option.
    sockets.segmentation = set_option(sockets.data.get(), IPPROTO_UDP, UDP_SEGMENT, zero);
  }
  if (config.coalescing == Offload::automatic) {
    sockets.coalescing = set_option(sockets.data.get(), IPPROTO_UDP, UDP_GRO, on);
    if (sockets.coalescing && sockets.group) {
      sockets.coalescing = set_option(sockets.group.get(), IPPROTO_UDP, UDP_GRO, on);
    }
  }
}

}  // namespace

void share_machine(UdpSockets& sockets, OwnCopies& own) {
  if (!sockets.group || sockets.shared_machine) return;
  sockets.shared_machine = true;
  const int on = 1;
  ignore(set_option(sockets.data.get(), IPPROTO_IP, IP_MULTICAST_LOOP, on),
         "then the probe finds that multicast does not reach that node");
  own.filtered = filter_own(sockets.group.get(), sockets.own_data);
  own.count = 0;  // no copy came back before
}

Endpoint derived_group(std::uint64_t cluster) {
  const std::uint64_t mixed = cluster * 0x9e3779b97f4a7c15ULL;
  const auto port = static_cast<std::uint16_t>(20'000 + (mixed >> 16) % 10'000);
  return Endpoint::v4(239, 192, static_cast<std::uint8_t>(mixed >> 56),
                      static_cast<std::uint8_t>(mixed >> 48), port);
}

Result<UdpSockets, IoError> open_udp_sockets(const UdpConfig& config) {
  const Endpoint& own = own_endpoint(config);
  UdpSockets sockets;
  auto token = open_socket(own, config, false);
  if (!token) return unexpected(token.error());
  auto data = open_socket(own.with_port(static_cast<std::uint16_t>(own.port + 1)), config, false);
  if (!data) return unexpected(data.error());
  sockets.token = std::move(*token);
  sockets.data = std::move(*data);

  const auto limit = packet_bytes_limit(own);
  if (!limit) return unexpected(limit.error());
  sockets.datagram_bytes_max = std::min(*limit, config.datagram_bytes_max);
  if (!config.streams && config.packet_bytes_max > *limit) {
    return unexpected(IoError{Errc::invalid_option,
                              "packet_bytes_max " + std::to_string(config.packet_bytes_max) +
                                  ": the interface of " + to_string(own) + " takes at most " +
                                  std::to_string(*limit)});
  }
  set_fragmentation(sockets.token.get(), sockets.data.get(), own.is_v4());
  const auto multicast = add_multicast(config, own, sockets);
  if (!multicast) return unexpected(multicast.error());
  add_offloads(config, sockets);
  sockets.receive_buffer_bytes = receive_buffer_of(sockets.data.get());
  return sockets;
}

}  // namespace peal::io
