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
    of_node,  ///< Outcome::node sealed it
    dropped,  ///< of no use now; the connection stays
    forged,   ///< the sender on this connection does not have the key
  };
  struct Outcome {
    Verdict verdict = Verdict::taken;
    NodeId node{};
  };
  /// One packet; `likely` is a node on the sender's machine. The callee may keep the reference.
  virtual Outcome on_frame(Instant now, NodeId likely, const BufferRef& packet) = 0;
};

/// The connections on which other nodes write to this one. A connection is refused if its source
/// address is not that of a configured node. A machine may have at most two connections for each
/// node on it. At that limit, a new connection replaces one of the machine's older connections: of
/// those without an authenticated packet, the one that has been silent for longest. If all have
/// authenticated packets, the new connection is refused. Once a packet of a node was authenticated
/// on a new connection, the older connection of that node is closed.
///
/// Thread: the loop's.
class IncomingStreams {
 public:
  /// Connections per node; the nodes of one machine share the sum of their limits.
  static constexpr std::size_t kPlacesPerNode = 2;
  static constexpr std::uint32_t kAcceptsPerTurn = 16;
  static constexpr std::uint32_t kTurnBytes = 1U << 20;  ///< bytes per turn, plus up to one read
  static constexpr Duration kPoolRetry = milliseconds(1);

  IncomingStreams(std::unique_ptr<StreamListener> listener, const PeerTable& peers,
                  BufferPool& pool, PeerStreamCounters& counters);
  ~IncomingStreams();

  Result<void, IoError> attach(Loop& loop);
  /// Reads connections, up to a limit. True if there is more to read.
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
  std::optional<Instant> accept_again_;  ///< no accept() before; set if resources ran out
  std::optional<Instant> pool_retry_;
  Instant now_{};
  std::uint64_t reads_ = 0;
  std::size_t next_ = 0;  ///< index of the connection to read first in the next turn
  bool has_closed_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Endpoint> arrivals_;
};

}  // namespace peal::io
