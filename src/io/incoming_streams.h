// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "io/endpoint.h"
#include "io/frame_reader.h"
#include "io/loop.h"
#include "io/peer_stream_counters.h"
#include "io/peers.h"
#include "io/stream.h"
#include "io/stream_listener.h"

namespace peal::io {

/// Takes the packets that arrive on connections.
class FrameTaker {
 public:
  virtual ~FrameTaker() = default;
  enum class Verdict : std::uint8_t {
    taken,    ///< packets are not sealed, so the sending node is unknown
    of_node,  ///< the node Outcome::node sealed the packet
    dropped,  ///< the packet is of no use now; the connection stays open
    forged,   ///< the sender on this connection does not have the key
  };
  struct Outcome {
    Verdict verdict = Verdict::taken;
    NodeId node{};
  };
  /// Takes one packet. `likely` is a node on the sender's machine. The callee may keep the
  /// reference.
  virtual Outcome on_frame(Instant now, NodeId likely, const BufferRef& packet) = 0;
};

/// The connections on which other nodes send to this node. A connection is refused if its source
/// address does not belong to a configured node. Each machine may have two connections per node on
/// it. At that limit, a new connection replaces one of the machine's connections without an
/// authenticated packet: the connection that has been silent for longest. If all have authenticated
/// packets, the new connection is refused. When a packet of a node is authenticated on a new
/// connection, the node's older connection is closed.
///
/// Thread: the loop's.
class IncomingStreams {
 public:
  /// Connections per node; the nodes of one machine share the sum of their limits.
  static constexpr std::size_t kPlacesPerNode = 2;
  static constexpr std::uint32_t kAcceptsPerTurn = 16;
  /// Bytes read per turn; the last read may exceed this limit.
  static constexpr std::uint32_t kTurnBytes = 1U << 20;
  static constexpr Duration kPoolRetry = milliseconds(1);

  IncomingStreams(std::unique_ptr<StreamListener> listener, const PeerTable& peers,
                  BufferPool& pool, PeerStreamCounters& counters);
  ~IncomingStreams();

  Result<void, IoError> attach(Loop& loop);
  /// Reads from the connections, about kTurnBytes at most. True if there is more to read.
  bool receive(Instant now, FrameTaker& taker);
  std::optional<Instant> next_deadline() const;
  /// Call it when the list of nodes or an address has changed. Closes the connections of nodes that
  /// are no longer configured, and connections from addresses that no configured node has.
  void check_sources();
  std::size_t count() const { return connections_.size(); }
  /// Addresses (with port 0) of the machines that connected after the last call.
  std::vector<Endpoint> take_arrivals() { return std::exchange(arrivals_, {}); }

 private:
  struct Connection {
    Connection(std::unique_ptr<Stream> with, BufferPool& pool)
        : stream(std::move(with)), reader(pool, kStreamPacketMax) {}
    std::unique_ptr<Stream> stream;
    FrameReader reader;
    std::optional<NodeId> node;  ///< the sender; known once a packet that it sealed has arrived
    std::uint64_t heard = 0;     ///< value of reads_ at the last packet taken, or at the accept()
    bool readable = true;
    bool hung_up = false;
    bool starved = false;  ///< not read because no slab was free
    bool closed = false;   ///< freed at the end of the turn
  };

  void accept_some();
  void take_in(std::unique_ptr<Stream> stream);
  bool make_place(const Endpoint& machine);
  std::size_t nodes_at(const Endpoint& machine) const;
  std::uint32_t read(Instant now, Connection& connection, FrameTaker& taker);
  void take_out(Instant now, Connection& connection, FrameTaker& taker);
  void show(Connection& connection, NodeId node);
  void close(Connection& connection, std::uint64_t& counter);
  void sweep();

  std::unique_ptr<StreamListener> listener_;
  const PeerTable& peers_;
  BufferPool& pool_;
  PeerStreamCounters& counters_;
  Loop* loop_ = nullptr;
  bool knocked_ = true;
  std::optional<Instant> accept_again_;  ///< no accept() before this time; set if resources ran out
  std::optional<Instant> pool_retry_;
  Instant now_{};
  std::uint64_t reads_ = 0;
  std::size_t next_ = 0;  ///< index of the connection to read first in the next turn
  bool has_closed_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Endpoint> arrivals_;
};

}  // namespace peal::io
