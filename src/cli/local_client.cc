// SPDX-License-Identifier: Apache-2.0
#include "cli/local_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "cli/local_socket.h"

namespace peal::cli {
namespace {}  // namespace

Result<LocalClient, std::string> LocalClient::connect(const std::string& path, int timeout_ms) {
  const auto fd = connect_local(path);
  if (!fd) return tl::unexpected(fd.error().message);
  LocalClient client(io::Fd(*fd), path);
  append_hello(client.output_);
  const auto answer = client.receive(timeout_ms);
  if (!answer) return tl::unexpected(answer.error());
  auto welcome = answer->kind == RecordKind::welcome ? parse_welcome(answer->body) : std::nullopt;
  if (!welcome) return tl::unexpected("what listens on " + path + " is not a Peal node");
  client.welcome_ = std::move(*welcome);
  return client;
}

Result<void, std::string> LocalClient::send_some() {
  while (output_used_ < output_.size()) {
    const ssize_t sent = ::send(fd_.get(), output_.data() + output_used_,
                                output_.size() - output_used_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return {};
      if (errno != EPIPE && errno != ECONNRESET) {
        return tl::unexpected("sending to " + path_ + ": " + std::strerror(errno));
      }
      // The node may have said why before it closed: next() finds that.
      break;
    }
    output_used_ += static_cast<std::size_t>(sent);
  }
  output_.clear();
  output_used_ = 0;
  return {};
}

void LocalClient::finish_output() {
  ignore(::shutdown(fd_.get(), SHUT_WR), "a node that is gone shows when reading");
}

Result<LocalClient::Arrival, std::string> LocalClient::next(Record& out) {
  while (true) {
    const ByteView rest = ByteView(input_).subspan(input_used_);
    const Framed framed = next_record(rest, kReplyBodyMax, kReplyBodyMax);
    if (framed.state == Framed::State::too_long) {
      return tl::unexpected("what listens on " + path_ + " is not a Peal node");
    }
    if (framed.state == Framed::State::complete) {
      input_used_ += framed.bytes;
      if (framed.record.kind == RecordKind::closing) {
        return tl::unexpected("the node at " + path_ + " closed the connection: " +
                              std::string(as_text(framed.record.body)));
      }
      out = framed.record;
      return Arrival::record;
    }
    if (input_over_) return Arrival::ended;
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(input_used_));
    input_used_ = 0;
    const ssize_t got = ::recv(fd_.get(), scratch_.data(), scratch_.size(), MSG_DONTWAIT);
    const int error = errno;
    if (got > 0) input_.insert(input_.end(), scratch_.begin(), scratch_.begin() + got);
    if (got < 0) {
      if (error == EINTR) continue;
      if (error == EAGAIN) return Arrival::nothing;
      if (error != ECONNRESET) {
        return tl::unexpected("reading from " + path_ + ": " + std::strerror(error));
      }
    }
    if (got <= 0) input_over_ = true;
  }
}

bool LocalClient::wait(int timeout_ms, int other_fd) {
  std::array<pollfd, 2> fds{};
  fds[0] = {fd_.get(), static_cast<short>(has_output() ? POLLIN | POLLOUT : POLLIN), 0};
  fds[1] = {other_fd, POLLIN, 0};
  const int ready = ::poll(fds.data(), other_fd < 0 ? 1 : 2, timeout_ms);
  return ready > 0 && fds[1].revents != 0;
}

std::string LocalClient::ended() const { return "the node at " + path_ + " is gone"; }

Result<Record, std::string> LocalClient::receive(int timeout_ms) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  Record record;
  while (true) {
    auto sent = send_some();
    if (!sent) return tl::unexpected(std::move(sent.error()));
    const auto arrival = next(record);
    if (!arrival) return tl::unexpected(arrival.error());
    if (*arrival == Arrival::record) return record;
    if (*arrival == Arrival::ended) return tl::unexpected(ended());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (timeout_ms >= 0 && left <= 0) {
      return tl::unexpected("the node at " + path_ + " does not answer");
    }
    wait(timeout_ms < 0 ? -1 : static_cast<int>(left));
  }
}

Result<LocalClient, std::string> connect_any(const std::string& to) {
  const auto sockets = find_sockets(to);
  if (!sockets) return tl::unexpected(sockets.error());
  std::string first_error;
  for (const std::string& path : *sockets) {
    auto client = LocalClient::connect(path);
    if (client) return client;
    if (first_error.empty()) first_error = client.error();
  }
  if (first_error.starts_with("no node runs at")) {
    first_error +=
        ": start it with `peal node --config FILE --name NAME`, or a cluster with `peal up`";
  }
  return tl::unexpected(first_error);
}

}  // namespace peal::cli
