// SPDX-License-Identifier: Apache-2.0
#include "io/incoming_streams.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace peal::io {
namespace {

constexpr Duration kAcceptRetry = milliseconds(100);

Endpoint machine_of(const Stream& stream) { return stream.peer().at.with_port(0); }

}  // namespace

IncomingStreams::IncomingStreams(std::unique_ptr<StreamListener> listener, const PeerTable& peers,
                                 BufferPool& pool, PeerStreamCounters& counters)
    : listener_(std::move(listener)), peers_(peers), pool_(pool), counters_(counters) {}

IncomingStreams::~IncomingStreams() {
  if (loop_ == nullptr) return;
  loop_->unwatch(listener_->fd());
  for (const auto& each : connections_) loop_->unwatch(each->stream->fd());
}

Result<void, IoError> IncomingStreams::attach(Loop& loop) {
  const auto watched =
      loop.watch(listener_->fd(), EPOLLIN | EPOLLET, [this](std::uint32_t) { knocked_ = true; });
  if (watched) loop_ = &loop;
  return watched;
}

bool IncomingStreams::receive(Instant now, FrameTaker& taker) {
  now_ = now;
  if (loop_ == nullptr) {  // no loop reports which socket is readable
    knocked_ = true;
    for (const auto& each : connections_) each->readable = true;
  }
  accept_some();
  if (pool_retry_ && *pool_retry_ <= now) {
    pool_retry_.reset();
    for (const auto& each : connections_) each->starved = false;
  }
  std::uint32_t left = kTurnBytes;
  bool more = false;
  // One read per connection, starting at next_, so that a busy connection does not delay the
  // others.
  const std::size_t count = connections_.size();
  for (std::size_t i = 0; i < count; ++i) {
    Connection& connection = *connections_[(next_ + i) % count];
    if (connection.closed || !connection.readable || connection.starved) continue;
    if (left == 0) {
      next_ = (next_ + i) % count;
      more = true;
      break;
    }
    left -= std::min(left, read(now, connection, taker));
    more = more || (!connection.closed && connection.readable && !connection.starved);
  }
  sweep();
  return more || (knocked_ && !accept_again_);
}

std::optional<Instant> IncomingStreams::next_deadline() const {
  if (!accept_again_ || !pool_retry_) return accept_again_ ? accept_again_ : pool_retry_;
  return std::min(*accept_again_, *pool_retry_);
}

void IncomingStreams::accept_some() {
  if (accept_again_ && *accept_again_ > now_) return;
  accept_again_.reset();
  for (std::uint32_t i = 0; knocked_ && i < kAcceptsPerTurn; ++i) {
    auto accepted = listener_->accept();
    switch (accepted.answer) {
      case StreamListener::Answer::taken: take_in(std::move(accepted.stream)); break;
      case StreamListener::Answer::nothing: knocked_ = false; break;
      case StreamListener::Answer::refused: break;
      case StreamListener::Answer::exhausted: accept_again_ = now_ + kAcceptRetry; return;
    }
  }
}

void IncomingStreams::take_in(std::unique_ptr<Stream> stream) {
  const Endpoint machine = machine_of(*stream);
  if (nodes_at(machine) == 0) {
    ++counters_.close_unknown_source;
    return;
  }
  if (!make_place(machine)) {
    ++counters_.close_replaced;
    return;
  }
  auto connection = std::make_unique<Connection>(std::move(stream), pool_);
  if (loop_ != nullptr) {
    const auto on_events = [connection = connection.get()](std::uint32_t events) {
      connection->readable = true;
      if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) connection->hung_up = true;
    };
    if (!loop_->watch(connection->stream->fd(), EPOLLIN | EPOLLRDHUP | EPOLLET, on_events)) return;
  }
  ++counters_.accepted;
  connection->heard = ++reads_;
  if (std::find(arrivals_.begin(), arrivals_.end(), machine) == arrivals_.end()) {
    arrivals_.push_back(machine);
  }
  connections_.push_back(std::move(connection));
}

std::size_t IncomingStreams::nodes_at(const Endpoint& machine) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const PeerTable::Entry& peer = peers_[static_cast<PeerIndex>(i)];
    if (peer.known() && peer.at.ip == machine.ip) ++count;
  }
  return count;
}

bool IncomingStreams::make_place(const Endpoint& machine) {
  std::size_t count = 0;
  Connection* least = nullptr;
  const auto worth = [](const Connection& each) {
    return std::pair(each.node.has_value(), each.heard);
  };
  for (const auto& each : connections_) {
    if (each->closed || machine_of(*each->stream) != machine) continue;
    ++count;
    if (least == nullptr || worth(*each) < worth(*least)) least = each.get();
  }
  if (count < kPlacesPerNode * nodes_at(machine)) return true;
  if (least->node) return false;
  close(*least, counters_.close_replaced);
  return true;
}

void IncomingStreams::check_sources() {
  for (const auto& each : connections_) {
    const bool gone = each->node && !peers_.find(*each->node);
    if (!each->closed && (gone || nodes_at(machine_of(*each->stream)) == 0)) {
      close(*each, counters_.close_unknown_source);
    }
  }
  sweep();
}

std::uint32_t IncomingStreams::read(Instant now, Connection& connection, FrameTaker& taker) {
  const ByteSpan room = connection.reader.room();
  if (room.empty()) {
    ++counters_.pool_exhausted;
    connection.starved = true;
    pool_retry_ = now + kPoolRetry;
    return 0;
  }
  ++counters_.read_calls;
  const Transfer got = connection.stream->read(room);
  if (got.bytes > 0) {
    counters_.bytes_in += got.bytes;
    connection.reader.note(got.bytes);
    take_out(now, connection, taker);
  }
  if (connection.closed) return static_cast<std::uint32_t>(got.bytes);
  switch (got.outcome) {
    case StreamOutcome::ok: break;
    // If the other side hung up, reads once more, because the loop reports the end only once.
    case StreamOutcome::blocked: connection.readable = connection.hung_up && got.bytes > 0; break;
    case StreamOutcome::end:
    case StreamOutcome::broken: close(connection, counters_.close_ended); break;
  }
  return static_cast<std::uint32_t>(got.bytes);
}

void IncomingStreams::take_out(Instant now, Connection& connection, FrameTaker& taker) {
  const Endpoint machine = machine_of(*connection.stream);
  NodeId likely = connection.node.value_or(NodeId{});
  for (std::size_t i = 0; likely == NodeId{} && i < peers_.size(); ++i) {
    const PeerTable::Entry& peer = peers_[static_cast<PeerIndex>(i)];
    if (peer.known() && peer.at.ip == machine.ip) likely = peer.node;
  }
  BufferRef packet;
  while (!connection.closed) {
    const FrameReader::Found found = connection.reader.next(packet);
    if (found == FrameReader::Found::nothing) return;
    if (found == FrameReader::Found::bad_length) {
      return close(connection, counters_.close_bad_length);
    }
    const FrameTaker::Outcome outcome = taker.on_frame(now, likely, packet);
    switch (outcome.verdict) {
      case FrameTaker::Verdict::dropped: break;
      case FrameTaker::Verdict::forged: return close(connection, counters_.close_forged);
      case FrameTaker::Verdict::of_node: show(connection, outcome.node); [[fallthrough]];
      case FrameTaker::Verdict::taken: connection.heard = ++reads_; break;
    }
  }
}

void IncomingStreams::show(Connection& connection, NodeId node) {
  if (connection.node == node) return;
  connection.node = node;
  for (const auto& each : connections_) {
    if (each.get() == &connection || each->closed || each->node != node) continue;
    close(*each, counters_.close_replaced);
  }
}

void IncomingStreams::close(Connection& connection, std::uint64_t& counter) {
  ++counter;
  if (loop_ != nullptr) loop_->unwatch(connection.stream->fd());
  connection.closed = true;
  has_closed_ = true;
}

void IncomingStreams::sweep() {
  if (!std::exchange(has_closed_, false)) return;
  std::erase_if(connections_, [](const auto& each) { return each->closed; });
  next_ = 0;
}

}  // namespace peal::io
