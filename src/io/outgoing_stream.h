// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/buffer.h"
#include "base/ring_queue.h"
#include "base/time.h"
#include "io/endpoint.h"
#include "io/loop.h"
#include "io/peer_stream_counters.h"
#include "io/stream.h"

namespace peal::io {

/// Limits of the queue and of the connection to one peer.
struct OutgoingLimits {
  std::uint32_t queue_bytes_max = 8U << 20;  ///< frames beyond this limit are dropped
  std::uint32_t queue_slabs_max = 48;        ///< slabs that the queue may keep in use
  std::uint32_t full_bytes = 1U << 20;       ///< is_full() is true from this queue length on
  Duration stalled = milliseconds(200);  ///< is_full() is false after this time without progress
  /// Pause after the first failed attempt to connect. The pause doubles each time.
  Duration retry_first = milliseconds(50);
  Duration retry_max = seconds(1);
  Duration patience = seconds(1);  ///< timeout of an attempt to connect, and of unacknowledged data
};

/// The connection to one peer, and the queue of frames for this peer. This node only writes on the
/// connection. Connects and reconnects when needed. Thread: the loop's.
class OutgoingStream {
 public:
  OutgoingStream(const OutgoingLimits& limits, PeerStreamCounters& counters, const Endpoint& own,
                 const Endpoint& to);
  ~OutgoingStream();
  OutgoingStream(const OutgoingStream&) = delete;
  OutgoingStream& operator=(const OutgoingStream&) = delete;

  /// From now on, `loop` reports when the connection can take bytes. `loop` must outlive this
  /// object.
  void attach(Loop& loop);
  /// Sets the peer's address; an unspecified address means unknown.
  void set_address(Instant now, const Endpoint& to);

  bool is_open() const { return open_; }
  /// Queues `frame`: the length of a packet, then the packet. False if the queue is full; the frame
  /// is then dropped and counted. Call it only if is_open().
  bool push(const BufferRef& frame);
  /// Writes as many queued bytes as the kernel takes.
  void write(Instant now);

  /// Call it when the peer has connected to this node. A connection to the peer may then succeed
  /// too.
  void hint(Instant now);
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// True if too many bytes are queued, although the kernel took bytes of the queue lately.
  bool is_full(Instant now) const {
    return queued_bytes_ >= limits_.full_bytes && now < moved_at_ + limits_.stalled;
  }
  std::uint32_t queued_bytes() const { return queued_bytes_; }
  std::uint64_t dropped() const { return dropped_; }
  /// A text for users: why there is no connection. Empty if there is a connection, or before the
  /// first attempt.
  const std::string& problem() const { return problem_; }

 private:
  void connect(Instant now);
  void advance(Instant now);
  void look(Instant now);
  void end(Instant now, const std::string& why);
  void fail(Instant now, const std::string& why);
  void forget_queue();
  void pop(std::size_t bytes);

  OutgoingLimits limits_;
  PeerStreamCounters& counters_;
  Endpoint own_;
  Endpoint to_;
  Loop* loop_ = nullptr;
  std::unique_ptr<Stream> stream_;  ///< null between attempts to connect
  bool open_ = false;
  bool writable_ = false;
  bool readable_ = false;  ///< look for the end of the connection; the peer writes nothing
  Instant retry_at_{};     ///< next attempt to connect; during an attempt, its timeout
  Instant tried_at_{};
  Instant opened_at_{};
  Duration retry_{};
  std::string problem_;

  RingQueue<BufferRef> queue_;
  std::uint32_t queued_bytes_ = 0;  ///< unwritten bytes of the queue
  std::uint32_t front_done_ = 0;    ///< written bytes of the first frame
  std::uint32_t slabs_ = 0;         ///< number of runs of queued frames that share a slab
  /// When the kernel last took bytes, or when the queue was last empty.
  Instant moved_at_{};
  std::uint64_t dropped_ = 0;
};

}  // namespace peal::io
