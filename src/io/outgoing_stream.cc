// SPDX-License-Identifier: Apache-2.0
#include "io/outgoing_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"

namespace peal::io {
namespace {

/// Maximum number of unsent bytes in the kernel, enough to send large pieces. The rest stays in the
/// queue, where it is counted.
constexpr int kUnsentMax = 512 << 10;

void set_tcp(int fd, int name, int value) {
  ignore(::setsockopt(fd, IPPROTO_TCP, name, &value, sizeof value), "slower without, not wrong");
}

/// True if `fd` is connected to itself. That can happen to a TCP connection from an address to a
/// free port of the same machine.
bool is_to_itself(int fd) {
  sockaddr_storage near{};
  sockaddr_storage far{};
  socklen_t near_bytes = sizeof near;
  socklen_t far_bytes = sizeof far;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&near), &near_bytes) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&far), &far_bytes) == 0 &&
         from_sockaddr(near) == from_sockaddr(far);
}

}  // namespace

OutgoingStream::OutgoingStream(const OutgoingLimits& limits, PeerStreamCounters& counters,
                               const Endpoint& own, const Endpoint& to)
    : limits_(limits), counters_(counters), own_(own), to_(to), retry_(limits.retry_first) {}

OutgoingStream::~OutgoingStream() {
  if (stream_ != nullptr && loop_ != nullptr) loop_->unwatch(stream_->fd());
}

void OutgoingStream::attach(Loop& loop) {
  PEAL_ASSERT(stream_ == nullptr);
  loop_ = &loop;
}

void OutgoingStream::set_address(Instant now, const Endpoint& to) {
  if (to == to_) return;
  to_ = to;
  if (stream_ != nullptr) end(now, "it has another address");
  retry_ = limits_.retry_first;
  retry_at_ = now;
}

bool OutgoingStream::push(const BufferRef& frame) {
  PEAL_ASSERT(open_);
  const bool other_slab = queue_.empty() || !queue_.back().shares_slab_with(frame);
  if (queued_bytes_ + frame.size() > limits_.queue_bytes_max ||
      (other_slab && slabs_ >= limits_.queue_slabs_max)) {
    ++dropped_;
    ++counters_.drop_queue_full;
    return false;
  }
  if (other_slab) ++slabs_;
  if (queue_.empty()) moved_at_ = Instant{};  // no bytes waited until now; write() sets the time
  queue_.push_back(frame);
  queued_bytes_ += frame.size();
  return true;
}

void OutgoingStream::write(Instant now) {
  if (stream_ == nullptr) return;
  if (loop_ == nullptr) readable_ = writable_ = true;  // no loop reports when the stream is ready
  if (!open_ || readable_) advance(now);
  if (moved_at_ == Instant{}) moved_at_ = now;
  while (open_ && writable_ && !queue_.empty()) {
    std::array<ByteView, Stream::kChunksMax> chunks;
    std::size_t count = 0;
    std::size_t skip = front_done_;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const ByteView frame = queue_[i].view().subspan(std::exchange(skip, 0));
      // Frames that are adjacent in memory form one chunk.
      if (count > 0 && chunks[count - 1].data() + chunks[count - 1].size() == frame.data()) {
        chunks[count - 1] = {chunks[count - 1].data(), chunks[count - 1].size() + frame.size()};
        continue;
      }
      if (count == chunks.size()) break;
      chunks[count++] = frame;
    }
    ++counters_.write_calls;
    const Transfer put = stream_->write(std::span(chunks).first(count));
    if (put.outcome == StreamOutcome::broken) return end(now, stream_->error().message);
    if (put.bytes > 0) moved_at_ = now;
    pop(put.bytes);
    writable_ = put.outcome == StreamOutcome::ok;
  }
}

void OutgoingStream::pop(std::size_t bytes) {
  queued_bytes_ -= static_cast<std::uint32_t>(bytes);
  counters_.bytes_out += bytes;
  while (bytes > 0) {
    if (front_done_ == 0) ++counters_.packets_out;
    const std::size_t left = queue_.front().size() - front_done_;
    if (bytes < left) {
      front_done_ += static_cast<std::uint32_t>(bytes);
      return;
    }
    bytes -= left;
    front_done_ = 0;
    const BufferRef done = std::exchange(queue_.front(), {});
    queue_.pop_front();
    if (queue_.empty() || !queue_.front().shares_slab_with(done)) --slabs_;
  }
}

void OutgoingStream::hint(Instant now) {
  if (stream_ != nullptr) return;
  // Attempts stay at least retry_first apart, so that another process at that address cannot keep
  // this node busy.
  retry_ = limits_.retry_first;
  retry_at_ = std::min(retry_at_, std::max(now, tried_at_ + retry_));
}

std::optional<Instant> OutgoingStream::next_deadline() const {
  if (to_.is_unspecified() || open_) return std::nullopt;
  return retry_at_;
}

void OutgoingStream::on_timer(Instant now) {
  if (to_.is_unspecified() || open_) return;
  if (stream_ != nullptr) advance(now);
  if (open_ || retry_at_ > now) return;
  if (stream_ != nullptr) return end(now, "no answer");
  connect(now);
}

void OutgoingStream::connect(Instant now) {
  ++counters_.connects;
  tried_at_ = now;
  auto fd = connect_tcp(to_, own_);
  if (!fd) return fail(now, fd.error().message);
  set_tcp(fd->get(), TCP_NOTSENT_LOWAT, kUnsentMax);
  // The kernel ends the connection if the peer acknowledges nothing during `patience`. Otherwise,
  // after a partition, the kernel would retransmit less and less often.
  set_tcp(fd->get(), TCP_USER_TIMEOUT, static_cast<int>(limits_.patience.ns / 1'000'000));
  if (loop_ != nullptr) {
    const auto on_events = [this](std::uint32_t events) {
      constexpr std::uint32_t kOver = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
      if ((events & (EPOLLIN | kOver)) != 0) readable_ = true;
      if ((events & (EPOLLOUT | kOver)) != 0) writable_ = true;
    };
    const auto watched =
        loop_->watch(fd->get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, on_events);
    if (!watched) return fail(now, watched.error().message);
  }
  StreamPeer peer;
  peer.text = to_string(to_);
  stream_ = make_plain_stream(std::move(*fd), std::move(peer));
  readable_ = false;
  retry_at_ = now + limits_.patience;
  advance(now);
}

/// Continues connecting. On an open connection, handles an event, which can only be the
/// connection's end.
void OutgoingStream::advance(Instant now) {
  if (open_) return look(now);
  switch (stream_->advance()) {
    case StreamOutcome::blocked: return;
    case StreamOutcome::ok: break;
    default: return end(now, stream_->error().message);
  }
  if (is_to_itself(stream_->fd())) return end(now, "nobody listens there");
  ++counters_.connected;
  open_ = writable_ = true;
  opened_at_ = now;
  moved_at_ = now;
  problem_.clear();
}

void OutgoingStream::look(Instant now) {
  std::array<std::byte, 16> nothing;
  const Transfer got = stream_->read(nothing);
  readable_ = false;
  if (got.outcome == StreamOutcome::blocked && got.bytes == 0) return;
  end(now, got.outcome == StreamOutcome::broken ? stream_->error().message
                                                : std::string("the other side ended it"));
}

void OutgoingStream::end(Instant now, const std::string& why) {
  if (loop_ != nullptr) loop_->unwatch(stream_->fd());
  if (open_) ++counters_.broken;
  // A connection that ends soon after it opened does not reset the pause.
  if (open_ && now - opened_at_ > limits_.retry_max) retry_ = limits_.retry_first;
  open_ = writable_ = readable_ = false;
  forget_queue();
  const std::string text = why;  // `why` may belong to the stream
  stream_.reset();
  fail(now, text);
}

void OutgoingStream::fail(Instant now, const std::string& why) {
  problem_ = why;
  retry_at_ = now + retry_;
  retry_ = std::min(retry_ * 2, limits_.retry_max);
}

void OutgoingStream::forget_queue() {
  counters_.drop_broken += queue_.size();
  dropped_ += queue_.size();
  queue_.clear();
  queued_bytes_ = front_done_ = slabs_ = 0;
}

}  // namespace peal::io
