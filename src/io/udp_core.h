// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/multicast_probe.h"
#include "io/peer_streams.h"
#include "io/receiver.h"
#include "io/seals.h"
#include "io/sender.h"
#include "io/udp.h"
#include "io/udp_sockets.h"

namespace peal::io {

/// The implementation of UdpTransport. udp.cc has the functions that open it; udp_core.cc has all
/// others.
class UdpTransport::Core : public ProbeTaker {
 public:
  Core(const UdpConfig& config, UdpSockets sockets, BufferPool& pool);
  ~Core() override;

  Result<void, IoError> attach(Loop& loop);
  void send(NodeId to, Lane lane, const BufferRef& packet);
  void multicast(Lane lane, const BufferRef& packet);
  void set_audience(std::span<const MemberId> members);
  void flush();
  Progress receive(const Turn& turn, PacketSink& sink);
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);
  void set_keys(const seal::Keys& keys);
  void set_epoch(std::uint64_t epoch);
  void set_faults(const Faults& faults);
  void set_address(NodeId node, const Endpoint& at);
  void set_nodes(std::span<const Peer> nodes);
  Result<void, IoError> open_streams(const UdpConfig& config, BufferPool& pool);
  NodeId congested() const;
  std::vector<StreamState> streams() const;
  const PeerStreamCounters* stream_counters() const {
    return streams_ != nullptr ? &streams_->counters() : nullptr;
  }
  std::uint64_t count(seal::Refusal reason) { return seals_ ? seals_->opener().count(reason) : 0; }

  const UdpCounters& counters() const { return counters_; }
  std::span<const PeerReach> reach() const { return reach_; }
  const UdpSockets& sockets() const { return sockets_; }
  bool segmentation() const { return sender_.segmentation(); }

 private:
  void on_probe(Instant now, PeerIndex from, bool by_multicast, ByteView datagram) override;
  bool send_probe(const ProbeMessage& message, NodeId receiver, const sockaddr_storage& to,
                  socklen_t to_bytes);
  void send_hello(const ProbeMessage& hello);
  void send_ack(PeerIndex to, const ProbeMessage& ack);
  void update_route();
  void watch_room();
  bool fits_datagram(const BufferRef& packet) const;
  void push_data(PeerIndex peer, const BufferRef& packet);

  UdpCounters counters_;
  UdpSockets sockets_;
  PeerTable peers_;
  OwnCopies own_;
  std::optional<FaultInjector> faults_;
  std::optional<Seals> seals_;
  MulticastProbe probe_;
  Sender sender_;
  Receiver receiver_;
  std::unique_ptr<PeerStreams> streams_;  ///< null: data is sent in datagrams
  std::vector<bool> audience_;            ///< indexed by PeerIndex: true for members of the view
  std::vector<PeerReach> reach_;
  sockaddr_storage group_{};
  socklen_t group_bytes_{};
  Loop* loop_ = nullptr;
  int watched_for_room_ = -1;
  bool data_queued_ = false;
  Instant now_{};
};

}  // namespace peal::io
