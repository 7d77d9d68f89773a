// SPDX-License-Identifier: Apache-2.0
#include "io/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "io/unix_path.h"

namespace peal::io {
namespace {

bool is_transient(int number) { return number == EAGAIN || number == EINTR; }

/// Ancillary data for exactly one descriptor: the system closes any others.
class OneDescriptor {
 public:
  void put(msghdr& header, int fd) {
    attach(header);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
  }
  void attach(msghdr& header) {
    header.msg_control = bytes_.data();
    header.msg_controllen = CMSG_LEN(sizeof(int));  // CMSG_SPACE would allow two descriptors
  }
  static Fd take(msghdr& header) {
    const cmsghdr* part = CMSG_FIRSTHDR(&header);
    if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
        part->cmsg_len < CMSG_LEN(sizeof(int))) {
      return {};
    }
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
    return Fd(fd);
  }

 private:
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> bytes_{};
};

class PlainStream final : public Stream {
 public:
  PlainStream(Fd fd, StreamPeer peer) : Stream(std::move(fd), std::move(peer)) {}

  StreamOutcome advance() override {
    if (connected_) return StreamOutcome::ok;
    const StreamOutcome outcome = finish_connecting();
    connected_ = outcome == StreamOutcome::ok;
    return outcome;
  }

  Transfer read(ByteSpan into) override { return receive(into); }

  Transfer write(std::span<const ByteView> chunks) override {
    std::array<iovec, kChunksMax> parts;
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const ByteView chunk : chunks.first(std::min(chunks.size(), kChunksMax))) {
      // sendmsg() only reads through this pointer.
      parts[count++] = {const_cast<std::byte*>(chunk.data()), chunk.size()};
      bytes += chunk.size();
    }
    if (bytes == 0) return {};
    msghdr header{};
    header.msg_iov = parts.data();
    header.msg_iovlen = count;
    OneDescriptor descriptor;
    if (attached_ >= 0) descriptor.put(header, attached_);
    const ssize_t put = ::sendmsg(fd(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && is_transient(errno)) return {0, StreamOutcome::blocked};
    attached_ = -1;
    if (put < 0) return {0, fail(lost("write", errno))};
    const auto taken = static_cast<std::size_t>(put);
    return {taken, taken < bytes ? StreamOutcome::blocked : StreamOutcome::ok};
  }

  StreamOutcome flush() override { return StreamOutcome::ok; }

  StreamOutcome finish_writing() override {
    if (::shutdown(fd(), SHUT_WR) == 0) return StreamOutcome::ok;
    return fail(lost("end of writing", errno));
  }

  bool has_handshake() const override { return false; }
  short waits_for() const override { return POLLOUT; }
  bool has_unsent() const override { return false; }

 private:
  bool connected_ = false;
};

void set_option(int fd, int level, int name, int value) {
  ignore(::setsockopt(fd, level, name, &value, sizeof value), "slower without, not wrong");
}

}  // namespace

IoError Stream::lost(const char* doing, int number) {
  IoError error = system_error(doing, number);
  if (number == EPIPE || number == ECONNRESET || number == ETIMEDOUT) error.code = Errc::closed;
  return error;
}

StreamOutcome Stream::finish_connecting() {
  pollfd poll{fd(), POLLOUT, 0};
  if (::poll(&poll, 1, 0) <= 0) return StreamOutcome::blocked;
  int number = 0;
  socklen_t size = sizeof number;
  if (::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &number, &size) != 0) number = errno;
  if (number != 0) return fail(system_error("connect to " + peer_.text, number));
  return StreamOutcome::ok;
}

Transfer Stream::receive(ByteSpan into) {
  if (into.empty()) return {};
  // recv() offers no space for descriptors, so the system closes unexpected ones.
  const ssize_t got = expects_ ? receive_with_descriptor(into)
                               : ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
  if (got == 0) return {0, StreamOutcome::end};
  if (got < 0 && is_transient(errno)) return {0, StreamOutcome::blocked};
  if (got < 0) return {0, fail(lost("read", errno))};
  const auto bytes = static_cast<std::size_t>(got);
  // A call that takes descriptors ends where bytes with another descriptor begin.
  const bool all = bytes < into.size() && !expects_;
  return {bytes, all ? StreamOutcome::blocked : StreamOutcome::ok};
}

ssize_t Stream::receive_with_descriptor(ByteSpan into) {
  iovec part{into.data(), into.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  OneDescriptor descriptor;
  descriptor.attach(header);
  const ssize_t got = ::recvmsg(fd(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  if (Fd came = OneDescriptor::take(header); came && !descriptor_) descriptor_ = std::move(came);
  return got;
}

std::unique_ptr<Stream> make_plain_stream(Fd fd, StreamPeer peer) {
  return std::make_unique<PlainStream>(std::move(fd), std::move(peer));
}

void tune_tcp(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 3);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 20'000);
}

Result<Fd, IoError> connect_unix(const std::string& path) {
  const auto address = unix_address(path);
  if (!address) return unexpected(address.error());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return unexpected(system_error("open a Unix socket", errno));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (::connect(fd.get(), generic, sizeof *address) == 0) return fd;
  const int number = errno;
  if (number == ECONNREFUSED || number == ENOENT) {
    return unexpected(IoError{Errc::closed, "nobody listens at " + quote(path)});
  }
  if (number == EAGAIN) {
    return unexpected(IoError{Errc::would_block, quote(path) + ": too many others wait there"});
  }
  return unexpected(system_error("connect to " + quote(path), number));
}

Result<Fd, IoError> connect_tcp(const Endpoint& to, const Endpoint& from) {
  sockaddr_storage address{};
  const socklen_t size = to_sockaddr(to, address);
  Fd fd(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return unexpected(system_error("open a TCP socket", errno));
  tune_tcp(fd.get());
  if (!from.is_unspecified()) {
    // connect() chooses the port, so that one port can serve several peers.
    set_option(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    sockaddr_storage own{};
    const socklen_t own_size = to_sockaddr(from.with_port(0), own);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), own_size) != 0) {
      return unexpected(system_error("connect from " + to_string(from), errno));
    }
  }
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(fd.get(), generic, size) == 0 || errno == EINPROGRESS) return fd;
  return unexpected(system_error("connect to " + to_string(to), errno));
}

}  // namespace peal::io
