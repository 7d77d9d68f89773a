// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/channel.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"

namespace peal::io::fabric {

Channel::Channel(std::unique_ptr<Stream> stream, Kind kind, std::size_t frame_bytes_max)
    : stream_(std::move(stream)), kind_(kind), frame_bytes_max_(frame_bytes_max) {}

Channel::~Channel() {
  if (loop_ != nullptr) loop_->unwatch(stream_->fd());
}

Result<void, IoError> Channel::attach(Loop& loop) {
  PEAL_ASSERT(loop_ == nullptr);
  const auto on_events = [this](std::uint32_t events) {
    constexpr std::uint32_t kOver = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if ((events & (EPOLLIN | kOver)) != 0) readable_ = true;
    if ((events & (EPOLLOUT | kOver)) != 0) writable_ = true;
    if ((events & kOver) != 0) hung_up_ = true;
  };
  const auto watched =
      loop.watch(stream_->fd(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, on_events);
  if (watched) loop_ = &loop;
  return watched;
}

void Channel::use(const seal::ChannelSecrets& secrets, Side side) {
  const bool calls = side == Side::caller;
  sealer_.emplace(calls ? secrets.from_caller : secrets.to_caller);
  opener_.emplace(calls ? secrets.to_caller : secrets.from_caller);
}

void Channel::give_up(std::string problem, bool is_bad_input) {
  if (broken_) return;
  broken_ = true;
  bad_input_ = is_bad_input;
  problem_ = std::move(problem);
}

// ---- reading ----

std::size_t Channel::read() {
  if (broken_) return 0;
  in_.pop(std::exchange(handed_out_, 0));
  const std::size_t whole = kLengthBytes + frame_bytes_max_ + tag_bytes();
  if (in_.size() >= whole) return 0;  // the caller has not taken out a frame yet
  if (kind_ == Kind::shm) stream_->expect_descriptor();
  const Transfer got = stream_->read(in_.room(whole - in_.size()));
  in_.commit(got.bytes);
  if (kind_ == Kind::shm) {
    if (Fd fd = stream_->take_descriptor()) descriptors_.push_back(std::move(fd));
    if (descriptors_.size() > kDescriptorsMax) give_up("descriptors without frames", true);
  }
  switch (got.outcome) {
    case StreamOutcome::ok: break;
    // The loop reports the end only once, perhaps before the last bytes were read.
    case StreamOutcome::blocked: readable_ = loop_ == nullptr || (hung_up_ && got.bytes > 0); break;
    case StreamOutcome::end: give_up("the other side ended the connection", false); break;
    case StreamOutcome::broken: give_up(stream_->error().message, false); break;
  }
  return got.bytes;
}

std::optional<ByteView> Channel::next() {
  if (bad_input_) return std::nullopt;
  in_.pop(std::exchange(handed_out_, 0));
  if (in_.size() < kLengthBytes) return std::nullopt;
  const ByteSpan all = in_.span();
  const std::size_t length = peal::load<std::uint32_t>(all);
  const std::size_t tag = tag_bytes();
  if (length <= tag || length > frame_bytes_max_ + tag) {
    broken_ = false;  // bad input matters more than the end of the connection
    give_up("a frame of " + std::to_string(length) + " bytes", true);
    return std::nullopt;
  }
  if (all.size() - kLengthBytes < length) return std::nullopt;
  const ByteSpan text = all.subspan(kLengthBytes, length - tag);
  if (opener_ &&
      !opener_->open(all.first(kLengthBytes), text, all.subspan(kLengthBytes + text.size(), tag))) {
    broken_ = false;
    give_up("a frame that was not sealed with the cluster's key", true);
    return std::nullopt;
  }
  handed_out_ = kLengthBytes + length;
  return text;
}

Fd Channel::take_descriptor() {
  if (descriptors_.empty()) return {};
  Fd fd = std::move(descriptors_.front());
  descriptors_.pop_front();
  return fd;
}

// ---- writing ----

ByteSpan Channel::begin_frame(std::size_t bytes_max) {
  return out_.room(kLengthBytes + bytes_max + tag_bytes()).subspan(kLengthBytes, bytes_max);
}

void Channel::end_frame(std::size_t bytes, int fd) {
  PEAL_ASSERT(bytes > 0);
  const std::size_t tag = tag_bytes();
  const ByteSpan frame = out_.room(kLengthBytes + bytes + tag);
  store(frame, static_cast<std::uint32_t>(bytes + tag));
  if (sealer_) {
    sealer_->seal(frame.first(kLengthBytes), frame.subspan(kLengthBytes, bytes), frame.last(tag));
  }
  if (fd >= 0) {
    // A copy, since the caller may close its own before the frame leaves.
    Mark mark{written_ + out_.size(), Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0))};
    if (!mark.fd) return give_up("no descriptor is left", false);
    if (marks_.size() >= kDescriptorsUnsentMax) return give_up("it reads nothing", false);
    marks_.push_back(std::move(mark));
  }
  out_.commit(frame.size());
}

/// The bytes of one system call: a frame with a descriptor begins a new one.
std::size_t Channel::bytes_to_write() const {
  if (marks_.empty()) return out_.size();
  if (marks_.front().at > written_) return marks_.front().at - written_;
  return marks_.size() == 1 ? out_.size() : marks_[1].at - written_;
}

void Channel::write() {
  if (loop_ == nullptr) writable_ = true;
  while (!broken_ && writable_ && !out_.empty()) {
    const std::array<ByteView, 1> chunks{out_.view().first(bytes_to_write())};
    const bool with_descriptor = !marks_.empty() && marks_.front().at == written_;
    if (with_descriptor) stream_->attach(marks_.front().fd.get());
    const Transfer put = stream_->write(chunks);
    if (put.outcome == StreamOutcome::broken) return give_up(stream_->error().message, false);
    if (with_descriptor && put.bytes > 0) marks_.pop_front();
    written_ += put.bytes;
    out_.pop(put.bytes);
    writable_ = put.outcome == StreamOutcome::ok;
  }
}

}  // namespace peal::io::fabric
