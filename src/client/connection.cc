// SPDX-License-Identifier: Apache-2.0
#include "client/connection.h"

#include <utility>

#include "base/assert.h"
#include "base/time.h"
#include "io/clock.h"
#include "io/fd.h"
#include "io/shared_memory.h"
#include "io/stream.h"

namespace peal::client {
namespace {

/// A message is written at once if the last write was at least this long ago. Messages that are
/// sent at shorter intervals share system calls.
constexpr Duration kWriteApart = microseconds(20);
/// Once messages of this many bytes wait, they are written at once, even if the last write was just
/// before.
constexpr std::size_t kUnwrittenBytesMax = 64U << 10;
/// Events are reported as seen together with other output. Without other output, they are reported
/// once they have this many bytes, or when the client's thread writes.
constexpr std::size_t kUnsaidBytesMax = 64U << 10;
/// Events in shared memory are reported as seen once they have this many bytes. This limit is far
/// below kSharedUnseenMax, at which the daemon stops using the shared memory.
constexpr std::uint64_t kUnsaidSharedBytesMax = wire::kSharedUnseenMax / 8;

}  // namespace

void Connection::open(std::unique_ptr<io::Stream> stream) {
  stream_ = std::move(stream);
  read_blocked_ = write_blocked_ = unsent_ = false;
}

void Connection::begin_write(Session& session) {
  flush_first_ = unsent_;
  chunks_.clear();
  if (!flush_first_) session.gather(chunks_, io::Stream::kChunksMax);
  unwritten_bytes_ = 0;
}

Connection::Moved Connection::write() {
  Moved moved;
  if (flush_first_) {
    moved.transfer.outcome = stream_->flush();
  } else if (!chunks_.empty()) {
    moved.transfer = stream_->write(chunks_);
  }
  moved.unsent = stream_->has_unsent();
  moved.now = io::Clock::now();
  return moved;
}

void Connection::end_write(Session& session, const Moved& moved) {
  unsent_ = moved.unsent;
  written_ = moved.now;
  if (moved.transfer.bytes > 0) unsaid_bytes_ = 0;
  write_blocked_ = moved.transfer.outcome == io::StreamOutcome::blocked;
  session.written(moved.transfer.bytes);
}

Connection::Moved Connection::read() {
  Moved moved;
  moved.transfer = stream_->read(buffer_);
  moved.unsent = stream_->has_unsent();
  moved.now = moved.transfer.bytes > 0 ? io::Clock::now() : Instant{};
  return moved;
}

void Connection::end_read(Session& session, const Moved& moved) {
  read_blocked_ = moved.transfer.outcome == io::StreamOutcome::blocked;
  unsent_ = moved.unsent;
  unsaid_bytes_ += moved.transfer.bytes;
  if (moved.transfer.bytes == 0 || !stream_->expects_descriptor()) return;
  const io::Fd came = stream_->take_descriptor();
  if (!came) return;
  auto mapped = io::map_shared_memory(came);
  if (!mapped) return;
  memory_ = std::move(*mapped);
  session.share(memory_.view());
}

bool Connection::may_leave_output() const {
  return unwritten_bytes_ < kUnwrittenBytesMax && io::Clock::now() < written_ + kWriteApart;
}

bool Connection::has_much_unsaid(const Session& session) const {
  return unsaid_bytes_ >= kUnsaidBytesMax || session.inbox().taken_bytes() >= kUnsaidSharedBytesMax;
}

}  // namespace peal::client
