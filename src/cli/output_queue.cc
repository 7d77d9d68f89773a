// SPDX-License-Identifier: Apache-2.0
#include "cli/output_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

namespace peal::cli {

void OutputQueue::push(Chunk chunk) {
  bytes_ += chunk->size();
  chunks_.push_back(std::move(chunk));
}

void OutputQueue::forget_unsent() {
  chunks_.resize(used_ > 0 ? 1 : 0);
  bytes_ = chunks_.empty() ? 0 : chunks_.front()->size();
}

void OutputQueue::clear() {
  chunks_.clear();
  used_ = 0;
  bytes_ = 0;
}

OutputQueue::Outcome OutputQueue::write(int fd) {
  constexpr std::size_t kVectorsMax = 64;
  while (!chunks_.empty()) {
    std::array<iovec, kVectorsMax> vectors;
    std::size_t count = 0;
    std::size_t skip = used_;
    for (const Chunk& chunk : chunks_) {
      if (count == kVectorsMax) break;
      // sendmsg only reads, but its interface has no const.
      vectors[count++] = {const_cast<std::byte*>(chunk->data()) + skip, chunk->size() - skip};
      skip = 0;
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? Outcome::full : Outcome::broken;
    }
    used_ += static_cast<std::size_t>(sent);
    while (!chunks_.empty() && used_ >= chunks_.front()->size()) {
      used_ -= chunks_.front()->size();
      bytes_ -= chunks_.front()->size();
      chunks_.pop_front();
    }
  }
  return Outcome::done;
}

}  // namespace peal::cli
