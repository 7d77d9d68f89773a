// SPDX-License-Identifier: Apache-2.0
#include "cli/local_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "cli/local_protocol.h"

namespace peal::cli {
namespace {

constexpr std::size_t kInputKeptBytes = 1U << 20;  // a buffer that grew larger is given back

}  // namespace

LocalConnection::Arrival LocalConnection::read(std::vector<std::byte>& scratch) {
  const ssize_t got = ::recv(fd_, scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Arrival::nothing : Arrival::broken;
  if (got == 0) {
    input_over = true;
    return Arrival::nothing;
  }
  // What a client that was told to go still says does not matter; its end does.
  if (stage_ != Stage::closing) {
    input_.insert(input_.end(), scratch.begin(), scratch.begin() + got);
    input_bytes_ += static_cast<std::uint64_t>(got);
  }
  return Arrival::bytes;
}

void LocalConnection::trim_input() {
  const std::size_t used = std::exchange(input_used_, 0);
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(used));
  input_bytes_ -= used;
  if (input_.empty() && input_.capacity() > kInputKeptBytes) input_ = {};
}

void LocalConnection::forget_input() {
  input_bytes_ -= input_.size();
  input_ = {};
  input_used_ = 0;
}

void LocalConnection::push(std::vector<std::byte> record) {
  output_.push(std::make_shared<const std::vector<std::byte>>(std::move(record)));
}

void LocalConnection::refuse(std::string_view reason) {
  if (!talks()) return;
  stage_ = Stage::closing;
  subscribed = false;
  blocked = false;
  forget_input();
  output_.forget_unsent();
  std::vector<std::byte> record;
  append_record(record, RecordKind::closing, as_bytes_view(reason));
  push(std::move(record));
}

bool LocalConnection::is_done() const {
  if (is_dead() || !output_.empty()) return false;
  if (stage_ == Stage::closing) return true;
  return input_over && !blocked &&
         (subscribed || (submitted == ordered && ordered == ordered_told));
}

std::uint32_t LocalConnection::wanted_events() const {
  std::uint32_t wanted = 0;
  if (!input_over && !blocked) wanted |= EPOLLIN;
  if (!output_.empty()) wanted |= EPOLLOUT;
  return wanted;
}

void LocalConnection::close() {
  if (is_dead()) return;
  stage_ = Stage::dead;
  blocked = false;
  subscribed = false;
  ::close(fd_);
  fd_ = -1;
  forget_input();
  output_.clear();
}

}  // namespace peal::cli
