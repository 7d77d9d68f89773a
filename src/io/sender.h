// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "io/fault_injector.h"
#include "io/frame_header.h"
#include "io/peers.h"
#include "io/send_batch.h"
#include "io/udp.h"
#include "seal/sealer.h"

namespace peal::io {

/// The current route of data packets: by multicast to the peers that multicast reaches, by unicast
/// to the peers in `unicast`.
struct DataRoute {
  bool multicast = false;
  std::uint16_t unicast_count = 0;
  std::array<PeerIndex, kPeersMax> unicast{};
};

/// The sending side of a transport: a bounded queue of packets, which go to the kernel in batches.
/// Packets are sent in the order in which they were pushed, whatever their lane and socket, so that
/// a token overtakes no packet. Exception: data packets for different peers may be reordered. Data
/// packets of equal size to the same destination go to the kernel as one message, which the kernel
/// segments (UDP_SEGMENT). Each packet is sealed once for all its destinations, when its batch is
/// built. Allocates nothing after construction.
class Sender {
 public:
  struct Options {
    int token_fd = -1;
    int data_fd = -1;
    Endpoint group;  ///< the destination of DataRoute::multicast
    std::uint32_t queue_packets = 8'192;
    bool segmentation = false;
    SendCall call = &::sendmmsg;
    FrameHeader header;  ///< not sent in sealed data packets
  };
  /// `faults` may be null; `sealer` is null if packets are not sealed. The sender counts its
  /// multicasts in `own`.
  Sender(const Options& options, const PeerTable& peers, UdpCounters& counters, OwnCopies& own,
         FaultInjector* faults, seal::Sealer* sealer);

  /// push_to() queues a packet for one peer. push_to_all() queues a control packet for all peers,
  /// or a data packet for the destinations of the route. If the queue is full, the packet is
  /// dropped and counted.
  void push_to(PeerIndex peer, Lane lane, const BufferRef& packet);
  void push_to_all(Lane lane, const BufferRef& packet);

  /// Call it when the peers have new indexes in their table, and set the route anew afterwards.
  /// Drops packets for nodes that are no longer peers, and the packets of a batch that the kernel
  /// has not taken.
  void move_peers(const PeerMap& map);

  /// Hands the queued packets to the kernel. If a socket's buffer is full, stops and keeps the
  /// rest.
  void flush();
  /// The socket whose buffer was full at the last flush; -1 if all packets were sent.
  int blocked_fd() const { return blocked_fd_; }
  std::size_t queued() const { return count_; }

  /// The route of data packets that are not in a batch yet.
  DataRoute& route() { return route_; }
  bool segmentation() const { return batch_.segmentation(); }

 private:
  static constexpr std::size_t kSegmentedBytesMax = 65'000;
  static constexpr std::size_t kFlushAt = 64;  // number of packets that are worth a system call
  static constexpr std::size_t kDatagramMax = 65'507;
  static constexpr PeerIndex kEveryone = 0xffff;

  struct Outgoing {
    BufferRef packet;
    PeerIndex to = kEveryone;
    Lane lane = Lane::data;
  };

  Outgoing& at(std::size_t index) { return queue_[(first_ + index) % queue_.size()]; }
  int fd_of(Lane lane) const { return lane == Lane::data ? options_.data_fd : options_.token_fd; }
  void push(const Outgoing& outgoing);
  std::size_t left_out(const Outgoing& outgoing) const;
  std::size_t size_of(const Outgoing& outgoing) const;
  iovec sealed(const Outgoing& outgoing);

  void gather_by_peer();
  void build_batch();
  std::size_t run_length(std::size_t index);
  std::size_t destinations(const Outgoing& outgoing) const;
  void add_run(std::size_t index, std::size_t length);
  void add_to(PeerIndex peer, Lane lane, std::size_t packets, std::size_t length);
  void finish_batch();

  Options options_;
  const PeerTable& peers_;
  UdpCounters& counters_;
  FaultInjector* faults_;
  seal::Sealer* sealer_;
  sockaddr_storage group_{};
  socklen_t group_bytes_{};
  DataRoute route_;
  int blocked_fd_ = -1;

  std::vector<Outgoing> queue_;  ///< a circular buffer
  std::size_t first_ = 0;
  std::size_t count_ = 0;

  std::vector<Outgoing> sorted_;  ///< used by gather_by_peer()
  SendBatch batch_;
  std::size_t covered_ = 0;  ///< number of packets at the front of the queue that are in the batch
};

}  // namespace peal::io
