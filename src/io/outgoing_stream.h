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

/// How much may wait for one peer, and how long for it.
struct OutgoingLimits {
  std::uint32_t queue_bytes_max = 8U << 20;  ///< more is dropped
  std::uint32_t queue_slabs_max = 48;        ///< that the queue keeps in use, however little
  std::uint32_t full_bytes = 1U << 20;       ///< new units should wait from here on
  Duration stalled = milliseconds(200);      ///< who takes nothing for so long holds up nobody
  Duration retry_first = milliseconds(50);   ///< between two attempts to connect; doubles
  Duration retry_max = seconds(1);
  Duration patience = seconds(1);  ///< with an attempt; and with a peer that confirms nothing
};

/// The connection to one peer, on which this node only writes, and what waits for it. It connects
/// by itself, again and again. Thread: the loop's.
class OutgoingStream {
 public:
  OutgoingStream(const OutgoingLimits& limits, PeerStreamCounters& counters, const Endpoint& own,
                 const Endpoint& to);
  ~OutgoingStream();
  OutgoingStream(const OutgoingStream&) = delete;
  OutgoingStream& operator=(const OutgoingStream&) = delete;

  /// From now on `loop` says when the connection has room. It must outlive this.
  void attach(Loop& loop);
  /// The peer is there now; unspecified: nobody knows where it is.
  void set_address(Instant now, const Endpoint& to);

  bool is_open() const { return open_; }
  /// Queues a frame, its length included. False: there is no room, and it is dropped and counted.
  /// Only if is_open().
  bool push(const BufferRef& frame);
  /// Writes what the kernel takes.
  void write(Instant now);

  /// The peer has connected to here: it may be worth another attempt.
  void hint(Instant now);
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// More waits than should, and the peer has taken some of it of late.
  bool is_full(Instant now) const {
    return queued_bytes_ >= limits_.full_bytes && now < moved_at_ + limits_.stalled;
  }
  std::uint32_t queued_bytes() const { return queued_bytes_; }
  std::uint64_t dropped() const { return dropped_; }
  /// Why there is no connection, for a person; empty if there is one, or was no attempt yet.
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
  std::unique_ptr<Stream> stream_;  ///< null: waits until retry_at_
  bool open_ = false;
  bool writable_ = false;
  bool readable_ = false;  ///< which can only be its end
  Instant retry_at_{};     ///< or, while connecting, the end of the attempt
  Instant tried_at_{};
  Instant opened_at_{};
  Duration retry_{};
  std::string problem_;

  RingQueue<BufferRef> queue_;
  std::uint32_t queued_bytes_ = 0;  ///< what of them was not written
  std::uint32_t front_done_ = 0;    ///< bytes of the first that were
  std::uint32_t slabs_ = 0;         ///< how often the slab changes along the queue, plus one
  Instant moved_at_{};              ///< when the kernel took something, or could have
  std::uint64_t dropped_ = 0;
};

}  // namespace peal::io
