// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "io/fault_injector.h"
#include "io/incoming_streams.h"
#include "io/loop.h"
#include "io/outgoing_stream.h"
#include "io/peer_stream_counters.h"
#include "io/peers.h"
#include "io/udp.h"
#include "seal/opener.h"
#include "seal/sealer.h"

namespace peal::io {

/// Sends and receives one node's data over TCP. A connection carries a sequence of lengths and
/// packets; each packet is sealed as in a datagram. For each peer there is one connection on which
/// this node writes, and one on which it reads. A broken connection loses the bytes in flight. If a
/// peer is too slow, its queue reaches the limit, and further packets to the peer are dropped.
/// Large packets of other lanes use the same connections. These packets are sealed for the token
/// lane, because engines with streams send no tokens. In a lane that also uses datagrams, a packet
/// from a connection could be too late for the replay window. After construction, Options::limits
/// bound the memory for each peer. Thread: the loop's.
class PeerStreams final : private FrameTaker {
 public:
  struct Options {
    OutgoingLimits limits;
    Endpoint own;  ///< the address on which this node listens, and from which it connects
  };
  /// Opens the listening socket. `peers` must outlive this object. `pool`, as for UdpTransport,
  /// must outlive every packet handed out. `sealer` and `opener` are null if packets are not
  /// sealed. No other Sealer may seal packets of this node. `faults` may be null. Errors:
  /// address_in_use, not_permitted, system.
  static Result<std::unique_ptr<PeerStreams>, IoError> open(const Options& options,
                                                            const PeerTable& peers,
                                                            BufferPool& pool, seal::Sealer* sealer,
                                                            seal::Opener* opener,
                                                            FaultInjector* faults);
  ~PeerStreams() override;

  /// Watches all connections in `loop`, which must outlive this object. Call it first.
  Result<void, IoError> attach(Loop& loop);

  /// Queues a packet for one peer. If the peer is not connected, returns false and counts no drop.
  bool push(PeerIndex peer, Lane lane, const BufferRef& packet);
  bool is_open(PeerIndex peer) const { return outgoing_[peer]->is_open(); }
  void count_not_connected() { ++counters_.drop_not_connected; }
  /// Writes the queued frames to the connections. Call it at the end of a turn.
  void flush(Instant now);
  /// Reads from the connections, up to a limit. True if there is more to read.
  bool receive(Instant now, PacketSink& sink);

  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// Call move_peers() when the peers have new indexes, and update_addresses() when a peer has
  /// another address. Do not call them from within receive().
  void move_peers(Instant now, const PeerMap& map);
  void update_addresses(Instant now);
  /// Call it when the keys or the incarnation change: the last sealed frame must not be used again.
  void forget_sealed() { last_plain_.reset(); }

  /// True if new units should wait for this peer: too many bytes are queued, although the kernel
  /// took bytes of the queue lately.
  bool is_full(PeerIndex peer, Instant now) const { return outgoing_[peer]->is_full(now); }
  const OutgoingStream& to(PeerIndex peer) const { return *outgoing_[peer]; }
  std::size_t incoming_count() const { return incoming_.count(); }
  const PeerStreamCounters& counters() const { return counters_; }

 private:
  static constexpr std::uint32_t kFrameSlabBytes = 256U << 10;
  /// A queue of this many bytes is written without waiting for the end of the turn.
  static constexpr std::uint32_t kWriteAt = 128U << 10;

  PeerStreams(const Options& options, std::unique_ptr<StreamListener> listener,
              const PeerTable& peers, BufferPool& pool, seal::Sealer* sealer, seal::Opener* opener,
              FaultInjector* faults);
  std::unique_ptr<OutgoingStream> make_outgoing(PeerIndex peer);
  BufferRef frame_of(Lane lane, NodeId to, const BufferRef& packet);
  ByteSpan frame_room(std::uint32_t bytes);

  // The function of FrameTaker.
  Outcome on_frame(Instant now, NodeId likely, const BufferRef& packet) override;

  Options options_;
  const PeerTable& peers_;
  PeerStreamCounters counters_;
  seal::Sealer* sealer_;
  seal::Opener* opener_;
  FaultInjector* faults_;
  Loop* loop_ = nullptr;
  PacketSink* sink_ = nullptr;  ///< set only during receive()
  Instant now_{};

  BufferPool frames_;
  BufferRef slab_;  ///< memory for the next frame
  std::uint32_t used_ = 0;
  // The last data packet and its frame, so that data for several peers is sealed once.
  BufferRef last_plain_;
  BufferRef last_frame_;

  IncomingStreams incoming_;
  std::vector<std::unique_ptr<OutgoingStream>> outgoing_;  ///< indexed by PeerIndex
};

}  // namespace peal::io
