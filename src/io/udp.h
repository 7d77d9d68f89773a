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

/// A configured node: tokens and control go to `at`, data to the port above it.
struct Peer {
  NodeId node{};
  Endpoint at;  ///< all zero: not known yet; see UdpTransport::set_address()
};

enum class MulticastMode : std::uint8_t {
  automatic,  ///< the group and its port follow from the cluster; used for whom it reaches
  off,        ///< data goes to each member by unicast
  group,      ///< as automatic, with the group and port given
};

/// Whether to use an offload of the kernel.
enum class Offload : std::uint8_t { automatic, off };

/// What packets between nodes are sealed with.
struct UdpSeal {
  seal::Keys keys;
  std::uint64_t cluster{};  ///< the cluster's name as a number; see seal::Sealer
  std::uint64_t epoch{};    ///< of the incarnation that begins with the transport
  /// Null: data is any bytes, all of which are sealed. Else data is frames, without their headers.
  FrameHeader::Write header = nullptr;
};

/// Checks numbers, addresses and what they may have in common, as open() does. Errors:
/// invalid_option.
Result<void, IoError> check_peers(NodeId self, std::span<const Peer> nodes);

struct UdpConfig {
  NodeId self{};
  /// Every configured node, self included, whose address is known; at most 128, one family.
  std::vector<Peer> nodes;
  std::uint64_t cluster{};  ///< wire::Header::cluster: frames of other clusters are not ours

  /// Nothing: packets are neither encrypted nor authenticated.
  std::optional<UdpSeal> seal;
  FrameHeader frame_header() const { return {seal ? seal->header : nullptr, cluster}; }

  MulticastMode multicast = MulticastMode::automatic;
  Endpoint group;                  ///< for MulticastMode::group; IPv4
  std::uint8_t multicast_ttl = 1;  ///< routers a multicast may pass, plus one

  std::uint32_t packet_bytes_max = 1'472;         ///< of a data packet, with its seal if it has one
  std::uint32_t receive_buffer_bytes = 8U << 20;  ///< asked of the kernel, per socket
  std::uint32_t send_buffer_bytes = 4U << 20;
  std::uint32_t send_queue_packets = 8'192;  ///< waiting for the kernel; more are dropped
  std::uint32_t receive_budget = 256;        ///< datagrams per call of receive()

  Offload segmentation = Offload::automatic;  ///< UDP_SEGMENT: many packets, one system call
  Offload coalescing = Offload::automatic;    ///< UDP_GRO, the same for receiving

  /// If set, data goes over TCP, to the port of data; so does what does not fit a datagram. There
  /// is no multicast then, `multicast` says `off`, and UdpSeal::header is null.
  std::optional<OutgoingLimits> streams;
  /// With streams: what is larger goes over them, even if the interface takes it in one piece.
  std::uint32_t datagram_bytes_max = 65'507;

  std::optional<Faults> faults;  ///< set: set_faults() may be called. Tests and benchmarks only
  std::uint64_t fault_seed = 1;
};

/// Everything that a transport counts. "Datagram" is what a peer sees, "message" what goes to the
/// kernel in one piece: a batch of packets that it cuts up itself counts once.
struct UdpCounters {
  std::uint64_t token_packets_out{}, token_bytes_out{};
  std::uint64_t control_packets_out{}, control_bytes_out{};
  std::uint64_t data_packets_out{}, data_bytes_out{};  ///< once for each unicast copy
  std::uint64_t data_multicast_out{};                  ///< of these, packets sent by multicast
  std::uint64_t token_packets_in{}, token_bytes_in{};  ///< control included: same socket
  std::uint64_t data_packets_in{}, data_bytes_in{};
  std::uint64_t data_multicast_in{};  ///< of these, received by multicast

  std::uint64_t send_calls{}, send_messages{};
  std::uint64_t segmented_messages{}, segmented_packets{};
  std::uint64_t receive_calls{}, receive_empty{};  ///< system calls; those that found nothing
  std::uint64_t coalesced_messages{}, coalesced_packets{};

  std::uint64_t drop_queue_full{};      ///< outgoing: the kernel did not take them in time
  std::uint64_t drop_send_error{};      ///< outgoing: refused by the kernel (unreachable, …)
  std::uint64_t drop_too_big{};         ///< outgoing: larger than the interface takes
  std::uint64_t drop_unknown_peer{};    ///< outgoing: to a node that is not configured
  std::uint64_t drop_no_address{};      ///< outgoing: nobody knows yet where the node is
  std::uint64_t drop_unknown_source{};  ///< incoming: not from a configured node's address
  std::uint64_t drop_own{};             ///< incoming: our own multicast, if the kernel kept it
  std::uint64_t drop_truncated{};       ///< incoming: larger than a packet may be
  std::uint64_t drop_wrong_lane{};      ///< incoming: sealed for a lane of another socket
  std::uint64_t drop_kernel{};          ///< incoming: the socket's buffer was full
  std::uint64_t drop_fault_in{}, drop_fault_out{};  ///< injected
  std::uint64_t send_blocked{};          ///< times that the kernel's send buffer was full
  std::uint64_t pool_exhausted{};        ///< times that reading stopped for want of a slab
  std::uint64_t segmentation_refused{};  ///< batches sent again one by one

  std::uint64_t probe_hello_out{}, probe_hello_in{};
  std::uint64_t probe_ack_out{}, probe_ack_in{};
  std::uint64_t probe_bad{};      ///< malformed, of another cluster, or not from whom it says
  std::uint64_t probe_limited{};  ///< not answered: the peer asks too often
};

struct CounterField {
  std::string_view name;
  std::uint64_t UdpCounters::*value;
};
/// Every counter with its name, in the order above.
std::span<const CounterField> udp_counter_fields();

/// How data reaches one peer, for a status page.
struct PeerReach {
  NodeId node{};
  bool by_multicast = false;
  Instant last_ack{};  ///< of a multicast probe; 0 if never
};

/// How the stream to one peer is, for a status page.
struct StreamState {
  NodeId node{};
  bool open = false;
  std::uint32_t queued_bytes{};
  std::uint64_t dropped{};  ///< packets for it that had no room, or were lost with a connection
  std::string problem;      ///< why it is not open; empty: it is, or was not tried yet
};

/// Who takes the datagrams that a transport receives.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  /// One datagram from the configured node `from`; any bytes, unless packets are sealed: then those
  /// that somebody with the key sealed as `from`. `lane` is token (tokens and control share a
  /// socket) or data. The reference may be kept.
  virtual void on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) = 0;
  /// A datagram from the address of `from` was not opened; its bytes are worth nothing.
  virtual void on_refused(Instant /*now*/, NodeId /*from*/, const seal::Opened& /*refused*/) {}
  /// Which lane to drain first; asked before each datagram. Lane::control: data and what comes to
  /// the token socket in turn.
  virtual Lane preferred_lane() const = 0;
};

/// The lanes of one node over UDP sockets. Tokens go by unicast; control by unicast to everyone;
/// data once by multicast to whom a probe shows that multicast reaches, and by unicast to the other
/// members of the view. Packets leave in the order of the calls, whatever their lane. With streams,
/// data leave over TCP, in an order of their own.
/// After open() nothing is allocated but by set_nodes(). Thread: the loop's, for everything.
class UdpTransport final : public port::Transport {
 public:
  /// Bytes of one slab of the receive pool: room for many datagrams, and for one of the largest.
  static constexpr std::uint32_t kSlabBytes = 1U << 20;
  static constexpr std::uint32_t kSlabBytesMin = 256U << 10;

  /// Opens the sockets. Received datagrams are slices of slabs of `receive_pool` (slabs of at least
  /// kSlabBytesMin, better kSlabBytes, at least 4), which must outlive every packet handed out.
  /// Errors: invalid_option, address_in_use, not_permitted, system; the message names the address.
  static Result<std::unique_ptr<UdpTransport>, IoError> open(const UdpConfig& config,
                                                             BufferPool& receive_pool);
  ~UdpTransport() override;

  /// Watches the sockets in `loop`, which must outlive the transport. Call it once.
  Result<void, IoError> attach(Loop& loop);

  // port::Transport. Packets are queued, and leave with flush(), with the next token, or when a
  // batch is full.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override;
  NodeId congested() const override;

  /// Sends what is queued; keeps what the kernel does not take now. Call it at the end of a turn.
  void flush();

  /// Reads up to `receive_budget` datagrams, the preferred lane first. With `timers_due`, reads the
  /// token socket even if data used up the budget. Call it from LoopHost::on_sockets.
  Progress receive(const Turn& turn, PacketSink& sink);

  /// When on_timer wants to be called: the next multicast probe, or another look at the pool.
  std::optional<Instant> next_deadline() const;
  void on_timer(Instant now);

  /// Seals with the sending key of these keys, and opens with all of them, from now on. Packets
  /// must be sealed already.
  void set_keys(const seal::Keys& keys);
  /// This node begins another incarnation, with a salt of its own. What is queued leaves before.
  void set_epoch(std::uint64_t epoch);

  /// The configured node `node` is at `at` from now on, which is of the family of this node's own
  /// address, or all zero: then nobody knows where it is. What comes from where it was is
  /// dropped. Nothing is allocated.
  void set_address(NodeId node, const Endpoint& at);

  /// These are the configured nodes from now on, as in UdpConfig::nodes, this one among them; they
  /// must have passed check_peers(). What is known of those that stay is kept: who multicast
  /// reaches, what was opened. Packets to and from others are dropped. Not from within receive().
  void set_nodes(std::span<const Peer> nodes);

  const UdpCounters& counters() const;
  /// How many datagrams had this result when they were opened; 0 if packets are not sealed.
  std::uint64_t count(seal::Refusal reason) const;
  /// One entry for each configured node but this one, sorted by node.
  std::span<const PeerReach> reach() const;
  /// With streams, one entry for each configured node but this one, sorted by node; else none.
  std::vector<StreamState> streams() const;
  const PeerStreamCounters* stream_counters() const;  ///< null without streams
  /// One line for a person: the group in use, or why there is none.
  const std::string& multicast_status() const;
  bool segmentation() const;  ///< UDP_SEGMENT is in use
  bool coalescing() const;    ///< UDP_GRO is in use
  /// Bytes that the kernel granted for receiving on the data socket; less than asked for needs a
  /// larger net.core.rmem_max.
  std::uint32_t receive_buffer_bytes() const;

  /// Replaces the injected faults; UdpConfig::faults must have been set.
  void set_faults(const Faults& faults);

 private:
  class Core;
  explicit UdpTransport(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace peal::io
