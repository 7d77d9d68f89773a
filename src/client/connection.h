// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "client/session.h"
#include "io/error.h"
#include "io/shared_memory.h"
#include "io/stream.h"

namespace peal::client {

/// The current stream to the daemon, and the memory that the daemon shares with the client. Callers
/// hold the lock of the session, except for write() and read(), which only the thread that uses the
/// connection calls. Only the client's own thread, and greet() before that thread exists, open and
/// close the connection.
class Connection {
 public:
  /// The result of one system call.
  struct Moved {
    io::Transfer transfer;
    bool unsent = false;  ///< the stream has accepted bytes that it has not sent yet
    Instant now;          ///< the time after the call; after a read, set only if bytes arrived
    bool is_broken() const { return transfer.outcome == io::StreamOutcome::broken; }
    bool is_end() const { return transfer.outcome == io::StreamOutcome::end; }
  };

  bool is_open() const { return stream_ != nullptr; }
  int fd() const { return stream_->fd(); }
  void open(std::unique_ptr<io::Stream> stream);
  void close() { stream_.reset(); }
  /// Unmaps the shared memory of the closed connection. The session must not read from it any more.
  void drop_memory() { memory_ = {}; }
  const io::IoError& error() const { return stream_->error(); }

  /// Fetches references to the session's output, for write().
  void begin_write(Session& session);
  Moved write();
  /// Records what write() did.
  void end_write(Session& session, const Moved& moved);
  Moved read();
  /// Records what read() did. If a descriptor of shared memory came with the first byte, maps this
  /// memory for the session. If mapping fails, the daemon sends all events on the connection.
  void end_read(Session& session, const Moved& moved);
  ByteView received(const Moved& moved) const {
    return ByteView(buffer_).first(moved.transfer.bytes);
  }

  bool read_blocked() const { return read_blocked_; }
  bool write_blocked() const { return write_blocked_; }
  bool unsent() const { return unsent_; }
  /// Call may_read() when there may be input again, and may_write() when there may be space for
  /// output again.
  void may_read() { read_blocked_ = false; }
  void may_write() { write_blocked_ = false; }

  /// Call when a message of `bytes` bytes was queued.
  void note_output(std::size_t bytes) { unwritten_bytes_ += bytes; }
  /// True if the output may wait for the next write, because little output was added and the last
  /// write was just before.
  bool may_leave_output() const;
  /// True if so many bytes of events are not yet reported as seen that a report is due even without
  /// other output.
  bool has_much_unsaid(const Session& session) const;

 private:
  std::unique_ptr<io::Stream> stream_;
  io::Mapping memory_;  ///< shared by the daemon for the current connection
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kReadBytes);
  std::vector<ByteView> chunks_;  ///< the output that write() writes
  bool flush_first_ = false;      ///< write() only sends what the stream accepted before
  bool read_blocked_ = false;
  bool write_blocked_ = false;
  bool unsent_ = false;
  Instant written_;                  ///< when bytes were last written to the stream
  std::size_t unwritten_bytes_ = 0;  ///< approximate bytes of messages queued since written_
  std::size_t unsaid_bytes_ = 0;     ///< bytes read since written_, not yet reported as seen

  static constexpr std::size_t kReadBytes = 256U << 10;
};

}  // namespace peal::client
