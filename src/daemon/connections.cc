// SPDX-License-Identifier: Apache-2.0
#include "daemon/connections.h"

#include <utility>

namespace peal::daemon {
namespace {

/// Limits of bytes written: to one connection at a time, and to all connections in one turn.
constexpr std::size_t kWriteBytesPerTurn = 1U << 20;
constexpr std::size_t kWriteBytesPerTurnAll = 8U << 20;
/// Limit of rounds of writes in one turn: writing may cause sessions to request more writes.
constexpr int kRoundsPerTurn = 4;

session::Identity identity_of(const io::StreamPeer& peer) {
  session::Identity identity;
  switch (peer.kind) {
    case io::StreamPeer::Kind::unix_user: identity.kind = session::Identity::Kind::unix_user; break;
    case io::StreamPeer::Kind::certificate:
      identity.kind = session::Identity::Kind::certificate;
      break;
    case io::StreamPeer::Kind::unknown: break;
  }
  identity.uid = peer.uid;
  identity.groups = peer.groups;
  identity.name = peer.name;
  identity.local = peer.local;
  return identity;
}

}  // namespace

Connections::Connections(const io::StreamsOptions& options, io::Loop& loop,
                         session::Sessions& sessions, const Regions& regions, Refused refused)
    : sessions_(sessions),
      regions_(regions),
      refused_(std::move(refused)),
      streams_(options, loop, *this),
      buffer_(options.read_bytes_max) {}

void Connections::stop_reading() {
  reading_ = false;
  for (const auto& [id, connection] : connections_) streams_.want_read(id, false);
}

bool Connections::work(Instant now) {
  now_ = now;
  return streams_.work(now);
}

bool Connections::carry_out(Instant now) {
  now_ = now;
  std::size_t left = kWriteBytesPerTurnAll;
  for (int round = 0; round < kRoundsPerTurn && left > 0; ++round) {
    sessions_.take_wanted(wanted_);
    for (const io::StreamId id : wanted_.write) {
      const auto found = connections_.find(id);
      if (found == connections_.end() || std::exchange(found->second.due, true)) continue;
      to_write_.push_back(id);
    }
    if (wanted_.read.empty() && to_write_.empty() && wanted_.close.empty()) return false;
    for (const io::StreamId id : wanted_.read) take_rest(id);
    for (; !to_write_.empty() && left > 0; to_write_.pop_front()) {
      const auto found = connections_.find(to_write_.front());
      if (found == connections_.end()) continue;
      found->second.due = false;
      // on_writable() continues a connection that waits for space.
      if (!found->second.writing) left -= std::min(left, write(found->first));
    }
    for (const io::StreamId id : wanted_.close) {
      if (connections_.count(id) == 0) continue;
      forget(id);
      streams_.finish(id);
    }
  }
  return true;
}

void Connections::on_stream(io::StreamId id, const io::StreamPeer& peer) {
  connections_.try_emplace(id);
  silent_.insert(id);
  sessions_.accepted(now_, id, identity_of(peer));
  streams_.want_read(id, reading_);
}

void Connections::on_readable(io::StreamId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  const io::Transfer got = streams_.read(id, buffer_);
  connection.ended = got.outcome == io::StreamOutcome::end;
  if (got.bytes > 0) take(id, connection, ByteView(buffer_).first(got.bytes));
  const bool over = connection.ended && connection.rest.empty();
  if (over || got.outcome == io::StreamOutcome::broken) lose(id);
}

void Connections::take(io::StreamId id, Connection& connection, ByteView bytes) {
  if (connection.silent) {
    connection.silent = false;
    silent_.erase(id);
  }
  const std::size_t taken = sessions_.received(now_, id, bytes);
  if (taken == bytes.size()) return;
  const ByteView left = bytes.subspan(taken);
  connection.rest.assign(left.begin(), left.end());
  streams_.want_read(id, false);
}

void Connections::take_rest(io::StreamId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  // Call received() even if `rest` is empty: the session may hold a whole record that it could not
  // process before.
  const std::size_t taken = sessions_.received(now_, id, connection.rest);
  connection.rest.erase(connection.rest.begin(),
                        connection.rest.begin() + static_cast<std::ptrdiff_t>(taken));
  if (!connection.rest.empty()) return;
  if (connection.ended) return lose(id);
  streams_.want_read(id, reading_);
}

void Connections::on_writable(io::StreamId id) { write(id); }

std::size_t Connections::write(io::StreamId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return 0;
  std::size_t written = 0;
  bool blocked = false;
  auto chunks = sessions_.output(id);
  if (!chunks.empty() && !std::exchange(found->second.greeted, true)) {
    const int region = regions_.fd(sessions_.region_of(id));
    if (region >= 0) streams_.attach(id, region);
  }
  while (!chunks.empty() && written < kWriteBytesPerTurn && !blocked) {
    const io::Transfer put = streams_.write(id, chunks);
    if (put.bytes > 0) sessions_.written(now_, id, put.bytes);
    written += put.bytes;
    if (put.outcome == io::StreamOutcome::broken) {
      lose(id);
      return written;
    }
    blocked = put.outcome == io::StreamOutcome::blocked;
    chunks = sessions_.output(id);
  }
  const bool more = !chunks.empty();
  if (more != found->second.writing) {
    found->second.writing = more;
    streams_.want_write(id, more);
  }
  return written;
}

void Connections::on_broken(io::StreamId id, const io::IoError& /*why*/) {
  if (connections_.count(id) == 0) return;
  forget(id);
  sessions_.closed(now_, id);
}

void Connections::on_refused(const io::StreamPeer& peer, const io::IoError& why) {
  refused_(peer.text, why);
}

void Connections::on_exhausted(const io::IoError& why) { refused_("clients", why); }

bool Connections::make_place() {
  if (silent_.empty()) return false;
  lose(*silent_.begin());
  return true;
}

void Connections::lose(io::StreamId id) {
  forget(id);
  streams_.close(id);
  sessions_.closed(now_, id);
}

void Connections::forget(io::StreamId id) {
  silent_.erase(id);
  connections_.erase(id);
}

}  // namespace peal::daemon
