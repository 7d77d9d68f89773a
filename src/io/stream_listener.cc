// SPDX-License-Identifier: Apache-2.0
#include "io/stream_listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/descriptors.h"

namespace peal::io {
namespace {

constexpr int kBacklog = 1'024;

Fd spare_descriptor() { return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

/// The supplementary groups of the process at the other end; nothing if the system cannot tell.
std::optional<std::vector<std::uint32_t>> groups_of(int fd) {
  static_assert(sizeof(gid_t) == sizeof(std::uint32_t));
  std::vector<std::uint32_t> groups(64);
  // Two rounds suffice, because the groups of a connection do not change after its connect().
  for (int round = 0; round < 2; ++round) {
    auto size = static_cast<socklen_t>(groups.size() * sizeof(std::uint32_t));
    const int done = ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size);
    const int number = errno;
    groups.resize(size / sizeof(std::uint32_t));
    if (done == 0) return groups;
    if (number != ERANGE) break;
  }
  return std::nullopt;
}

}  // namespace

StreamListener::StreamListener(UnixSocket socket, std::string text, Wrap wrap)
    : socket_(std::move(socket)),
      text_(std::move(text)),
      wrap_(std::move(wrap)),
      spare_(spare_descriptor()) {}

Result<std::unique_ptr<StreamListener>, IoError> StreamListener::unix_socket(
    const std::string& path, mode_t mode) {
  auto socket = listen_unix(path, mode);
  if (!socket) return unexpected(socket.error());
  return std::unique_ptr<StreamListener>(
      new StreamListener(std::move(*socket), path, make_plain_stream));
}

Result<std::unique_ptr<StreamListener>, IoError> StreamListener::tcp(const Endpoint& at,
                                                                     Wrap wrap) {
  sockaddr_storage address{};
  const socklen_t size = to_sockaddr(at, address);
  UnixSocket socket;
  socket.fd = Fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.fd) return unexpected(system_error("open a TCP socket", errno));
  const int fd = socket.fd.get();
  const int on = 1;
  const int off = 0;
  ignore(::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "bind says it if it matters");
  if (!at.is_v4()) {
    ignore(::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), "IPv6 works without");
  }
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(fd, kBacklog) != 0) {
    return unexpected(system_error("listen at " + to_string(at), errno));
  }
  sockaddr_storage bound{};
  socklen_t bound_size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bound_size) != 0) {
    return unexpected(system_error("listen at " + to_string(at), errno));
  }
  const Endpoint endpoint = from_sockaddr(bound);
  std::unique_ptr<StreamListener> listener(
      new StreamListener(std::move(socket), to_string(endpoint), std::move(wrap)));
  listener->local_ = false;
  listener->endpoint_ = endpoint;
  return listener;
}

StreamListener::~StreamListener() {
  if (local_) remove_unix_socket(text_, socket_);
}

StreamListener::Accepted StreamListener::accept() {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  Fd fd(::accept4(socket_.fd.get(), reinterpret_cast<sockaddr*>(&from), &size,
                  SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd) {
    const int number = errno;
    return {answer_of(number), nullptr, number == EMFILE || number == ENFILE ? number : 0};
  }
  if (spares_reserve_ && is_of_reserve(fd.get())) return {Answer::refused, nullptr, EMFILE};
  if (!local_) tune_tcp(fd.get());
  auto peer = peer_of(fd.get(), from_sockaddr(from));
  if (!peer) return {Answer::refused, nullptr, 0};  // a connection from an unknown user is refused
  return {Answer::taken, wrap_(std::move(fd), std::move(*peer)), 0};
}

StreamListener::Answer StreamListener::answer_of(int number) {
  switch (number) {
    case EAGAIN: return Answer::nothing;
    case ENOBUFS:
    case ENOMEM: return Answer::exhausted;
    case EMFILE:
    case ENFILE: {
      if (!spare_) spare_ = spare_descriptor();
      if (!spare_) return Answer::exhausted;
      spare_.reset();
      const Fd turned_away(::accept4(socket_.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
      return turned_away ? Answer::refused : Answer::exhausted;
    }
    default: return Answer::refused;  // the connection is gone, whatever error accept(2) gave
  }
}

std::optional<StreamPeer> StreamListener::peer_of(int fd, const Endpoint& from) const {
  StreamPeer peer;
  if (!local_) {
    peer.at = from;
    peer.text = to_string(from);
    return peer;
  }
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
  auto groups = groups_of(fd);
  if (!groups) return std::nullopt;
  peer.kind = StreamPeer::Kind::unix_user;
  peer.local = true;
  peer.uid = credentials.uid;
  peer.gid = credentials.gid;
  peer.pid = credentials.pid;
  peer.groups = std::move(*groups);
  peer.groups.push_back(peer.gid);
  std::sort(peer.groups.begin(), peer.groups.end());
  peer.groups.erase(std::unique(peer.groups.begin(), peer.groups.end()), peer.groups.end());
  peer.text = "uid " + std::to_string(peer.uid) + ", pid " + std::to_string(peer.pid);
  return peer;
}

}  // namespace peal::io
