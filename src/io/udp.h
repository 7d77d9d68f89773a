// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/faults.h"
#include "io/frame_header.h"
#include "io/loop.h"
#include "io/outgoing_stream.h"
#include "io/peer_stream_counters.h"
#include "port/transport.h"
#include "seal/opener.h"

namespace peal::io {

/// A configured node. Tokens and control packets are sent to `at`, data packets to the next port.
struct Peer {
  NodeId node{};
  Endpoint at;  ///< all zero if not known yet; see UdpTransport::set_address()
};

enum class MulticastMode : std::uint8_t {
  /// Data is sent by multicast to the members that multicast reaches. The group and its port are
  /// derived from the cluster.
  automatic,
  off,    ///< data is sent to each member by unicast
  group,  ///< as automatic, with the given group and port
};

/// Whether to use a kernel offload.
enum class Offload : std::uint8_t { automatic, off };

/// The keys and parameters with which packets between nodes are sealed.
struct UdpSeal {
  seal::Keys keys;
  std::uint64_t cluster{};  ///< the cluster's name as a number; see seal::Sealer
  std::uint64_t epoch{};    ///< epoch of the incarnation that starts with the transport
  /// If null, data packets hold any bytes, and all these bytes are sealed. Otherwise data packets
  /// hold frames, and sealed packets omit the frames' headers.
  FrameHeader::Write header = nullptr;
};

/// Checks the numbers and addresses of the nodes, and that no two nodes conflict, as
/// UdpTransport::open() does. Errors: invalid_option.
Result<void, IoError> check_peers(NodeId self, std::span<const Peer> nodes);

struct UdpConfig {
  NodeId self{};
  /// All configured nodes, at most 128, of one address family. They include this node, whose
  /// address must be known.
  std::vector<Peer> nodes;
  std::uint64_t cluster{};  ///< wire::Header::cluster; frames of other clusters have other values

  /// If empty, packets are neither encrypted nor authenticated.
  std::optional<UdpSeal> seal;
  FrameHeader frame_header() const { return {seal ? seal->header : nullptr, cluster}; }

  MulticastMode multicast = MulticastMode::automatic;
  Endpoint group;                  ///< for MulticastMode::group; IPv4
  std::uint8_t multicast_ttl = 1;  ///< routers that a multicast may pass, plus one

  std::uint32_t packet_bytes_max = 1'472;         ///< maximum size of a data packet with its seal
  std::uint32_t receive_buffer_bytes = 8U << 20;  ///< requested from the kernel, per socket
  std::uint32_t send_buffer_bytes = 4U << 20;
  /// Maximum number of packets that wait for the kernel; further packets are dropped.
  std::uint32_t send_queue_packets = 8'192;
  std::uint32_t receive_budget = 256;  ///< maximum number of datagrams per call of receive()

  Offload segmentation = Offload::automatic;  ///< UDP_SEGMENT: one system call sends many packets
  Offload coalescing = Offload::automatic;    ///< UDP_GRO: one system call receives many packets

  /// If set, data is sent over TCP, to the port of data. Packets of other lanes that do not fit a
  /// datagram are sent over TCP too. `multicast` must then be `off`, and UdpSeal::header null.
  std::optional<OutgoingLimits> streams;
  /// With streams: packets larger than this, including the seal, are sent over TCP, even if the
  /// interface could send them in one piece.
  std::uint32_t datagram_bytes_max = 65'507;

  std::optional<Faults> faults;  ///< if set, set_faults() may be called; tests and benchmarks only
  std::uint64_t fault_seed = 1;
};

/// All counters of a transport. A "datagram" is one packet that a peer receives. A "message" is a
/// unit that the kernel takes at once: several packets that the kernel segments are one message.
struct UdpCounters {
  std::uint64_t token_packets_out{}, token_bytes_out{};
  std::uint64_t control_packets_out{}, control_bytes_out{};
  std::uint64_t data_packets_out{}, data_bytes_out{};  ///< each unicast copy counts
  std::uint64_t data_multicast_out{};  ///< the part of data_packets_out sent by multicast
  std::uint64_t token_packets_in{}, token_bytes_in{};  ///< including control packets
  std::uint64_t data_packets_in{}, data_bytes_in{};
  std::uint64_t data_multicast_in{};  ///< the part of data_packets_in that came by multicast

  std::uint64_t send_calls{}, send_messages{};
  std::uint64_t segmented_messages{}, segmented_packets{};
  std::uint64_t receive_calls{}, receive_empty{};  ///< system calls, and calls that found nothing
  std::uint64_t coalesced_messages{}, coalesced_packets{};

  std::uint64_t drop_queue_full{};      ///< outgoing: the kernel did not take the packets in time
  std::uint64_t drop_send_error{};      ///< outgoing: refused by the kernel (unreachable, …)
  std::uint64_t drop_too_big{};         ///< outgoing: larger than the interface takes
  std::uint64_t drop_unknown_peer{};    ///< outgoing: to a node that is not configured
  std::uint64_t drop_no_address{};      ///< outgoing: the node's address is not known yet
  std::uint64_t drop_unknown_source{};  ///< incoming: the address belongs to no configured node
  std::uint64_t drop_own{};             ///< incoming: this node's own multicast, not filtered
  std::uint64_t drop_truncated{};       ///< incoming: larger than a packet may be
  std::uint64_t drop_wrong_lane{};      ///< incoming: sealed for a lane of another socket
  std::uint64_t drop_kernel{};          ///< incoming: the socket's buffer was full
  std::uint64_t drop_fault_in{}, drop_fault_out{};  ///< dropped by injected faults
  std::uint64_t send_blocked{};          ///< times that the kernel's send buffer was full
  std::uint64_t pool_exhausted{};        ///< times that reading stopped because no slab was free
  std::uint64_t segmentation_refused{};  ///< messages that were sent again packet by packet

  std::uint64_t probe_hello_out{}, probe_hello_in{};
  std::uint64_t probe_ack_out{}, probe_ack_in{};
  std::uint64_t probe_bad{};      ///< malformed, of another cluster, or with a false sender
  std::uint64_t probe_limited{};  ///< not answered: the peer asks too often
};

struct CounterField {
  std::string_view name;
  std::uint64_t UdpCounters::*value;
};
/// All counters with their names, in the order of UdpCounters.
std::span<const CounterField> udp_counter_fields();

/// How data reaches one peer, for a status page.
struct PeerReach {
  NodeId node{};
  bool by_multicast = false;
  Instant last_ack{};  ///< time of the last answer to a multicast probe; 0 if there was none
};

/// The state of the stream to one peer, for a status page.
struct StreamState {
  NodeId node{};
  bool open = false;
  std::uint32_t queued_bytes{};
  /// Number of packets dropped because the queue was full, or lost with a connection.
  std::uint64_t dropped{};
  std::string problem;  ///< why the stream is not open; empty if open, or before the first attempt
};

/// Takes the datagrams that a transport receives.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  /// Takes one packet from the configured node `from`. If packets are sealed, a holder of the key
  /// sealed `packet` in the name of `from`; otherwise `packet` holds any bytes. `lane` is `data`,
  /// or `token` for tokens and for control packets, because these share a socket. The callee may
  /// keep the reference.
  virtual void on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) = 0;
  /// A datagram from the address of `from` was not opened; the datagram's bytes are undefined.
  virtual void on_refused(Instant /*now*/, NodeId /*from*/, const seal::Opened& /*refused*/) {}
  /// The lane to read first. The transport asks before each datagram. With Lane::control, the data
  /// sockets and the token socket take turns.
  virtual Lane preferred_lane() const = 0;
};

/// Sends and receives the packets of one node through UDP sockets. Tokens and control packets are
/// sent by unicast. Data is sent once by multicast to the peers that multicast reaches according to
/// probes, and by unicast to the other members of the view. Packets are sent in the order of the
/// calls, whatever their lane. With streams, data is sent over TCP, independently of that order.
///
/// Allocates nothing per packet. Thread: the loop's, for everything.
class UdpTransport final : public port::Transport {
 public:
  /// Recommended and minimum size of a slab of the receive pool, in bytes.
  static constexpr std::uint32_t kSlabBytes = 1U << 20;
  static constexpr std::uint32_t kSlabBytesMin = 256U << 10;

  /// Opens the sockets. Received datagrams are slices of slabs of `receive_pool`, which must
  /// outlive every packet handed out. The pool needs at least 4 slabs of at least kSlabBytesMin,
  /// better kSlabBytes. Errors: invalid_option, address_in_use, not_permitted, system; the message
  /// names the address.
  static Result<std::unique_ptr<UdpTransport>, IoError> open(const UdpConfig& config,
                                                             BufferPool& receive_pool);
  ~UdpTransport() override;

  /// Watches the sockets in `loop`, which must outlive the transport. Call it once.
  Result<void, IoError> attach(Loop& loop);

  // The functions of port::Transport. Packets are queued. They are sent by flush(), with the next
  // token, or when a batch is full.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override;
  NodeId congested() const override;

  /// Sends the queue; keeps the packets that the kernel does not take now. Call it at the end of a
  /// turn.
  void flush();

  /// Reads up to `receive_budget` datagrams, the preferred lane first. With `timers_due`, reads the
  /// token socket even if data used up the budget. Call it from LoopHost::on_sockets.
  Progress receive(const Turn& turn, PacketSink& sink);

  /// The time for on_timer: the next multicast probe, the next check of the pool, or the next
  /// deadline of a stream.
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// Replaces the keys: seals with the sending key of `keys` and opens with all of them. Call it
  /// only if UdpConfig::seal is set.
  void set_keys(const seal::Keys& keys);
  /// Begins another incarnation of this node, with a new salt. Queued packets are sent first.
  void set_epoch(std::uint64_t epoch);

  /// Sets the address of a configured node. `at` is of the family of this node's own address, or
  /// all zero if the address is unknown. Packets from the node's former address are dropped.
  /// Allocates nothing.
  void set_address(NodeId node, const Endpoint& at);

  /// Replaces the configured nodes. `nodes` is as UdpConfig::nodes, includes this node, and must
  /// have passed check_peers(). Keeps the state of nodes that stay: multicast reach, replay
  /// windows. Drops packets to and from nodes that leave. Do not call it from within receive().
  void set_nodes(std::span<const Peer> nodes);

  const UdpCounters& counters() const;
  /// The number of packets whose opening had the result `reason`; 0 if packets are not sealed.
  std::uint64_t count(seal::Refusal reason) const;
  /// One entry for each configured node except this one, sorted by node.
  std::span<const PeerReach> reach() const;
  /// With streams, one entry for each configured node except this one, sorted by node; otherwise
  /// none.
  std::vector<StreamState> streams() const;
  const PeerStreamCounters* stream_counters() const;  ///< null without streams
  /// One line for a person: the group in use, or why there is none.
  const std::string& multicast_status() const;
  bool segmentation() const;  ///< UDP_SEGMENT is in use
  bool coalescing() const;    ///< UDP_GRO is in use
  /// Bytes that the kernel granted for receiving on the data socket. If fewer than requested, raise
  /// net.core.rmem_max.
  std::uint32_t receive_buffer_bytes() const;

  /// Replaces the injected faults; UdpConfig::faults must be set.
  void set_faults(const Faults& faults);

 private:
  class Core;
  explicit UdpTransport(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace peal::io
