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

/// What came on a connection.
class FrameTaker {
 public:
  virtual ~FrameTaker() = default;
  enum class Verdict : std::uint8_t {
    taken,    ///< and packets are not sealed, so that nobody knows whose it is
    of_node,  ///< `node` sealed it
    dropped,  ///< it is of no use now, which says nothing about the connection
    forged,   ///< whoever sends on this connection does not have the key
  };
  struct Outcome {
    Verdict verdict = Verdict::taken;
    NodeId node{};
  };
  /// One packet from the machine of `likely`. The reference may be kept.
  virtual Outcome on_frame(Instant now, NodeId likely, const BufferRef& packet) = 0;
};

/// The connections on which other nodes write to this one. Who comes from no configured node's
/// machine is turned away; of each machine there are at most two for each node there, of which
/// those give way first that nobody with the key has written on, then those that have been silent
/// for longest; and a node's newest one, once it has shown itself, replaces the one before.
/// Thread: the loop's.
class IncomingStreams {
 public:
  /// Nodes on one machine share its places.
  static constexpr std::size_t kPlacesPerNode = 2;
  static constexpr std::uint32_t kAcceptsPerTurn = 16;
  static constexpr std::uint32_t kTurnBytes = 1U << 20;  ///< a turn may end one read later
  static constexpr Duration kPoolRetry = milliseconds(1);

  IncomingStreams(std::unique_ptr<StreamListener> listener, const PeerTable& peers,
                  BufferPool& pool, PeerStreamCounters& counters);
  ~IncomingStreams();

  Result<void, IoError> attach(Loop& loop);
  /// True: there is more to read.
  bool receive(Instant now, FrameTaker& taker);
  std::optional<Instant> next_deadline() const;
  /// The nodes, or where they are, have changed: closes the connections of others.
  void check_sources();
  std::size_t count() const { return connections_.size(); }
  /// Machines of configured nodes that have connected since this was last asked.
  std::vector<Endpoint> take_arrivals() { return std::exchange(arrivals_, {}); }

 private:
  struct Connection {
    Connection(std::unique_ptr<Stream> with, BufferPool& pool)
        : stream(std::move(with)), reader(pool, kStreamPacketMax) {}
    std::unique_ptr<Stream> stream;
    FrameReader reader;
    std::optional<NodeId> node;  ///< who has shown itself
    std::uint64_t heard = 0;     ///< the count of all reads, when something last came
    bool readable = true;
    bool hung_up = false;
    bool starved = false;  ///< not read for want of a slab
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
  std::optional<Instant> accept_again_;  ///< when the machine had no room for another connection
  std::optional<Instant> pool_retry_;
  Instant now_{};
  std::uint64_t reads_ = 0;
  std::size_t next_ = 0;  ///< whose turn it is
  bool has_closed_ = false;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Endpoint> arrivals_;
};

}  // namespace peal::io
