// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/digest.h"
#include "node/node.h"
#include "port/transport.h"
#include "sim/clients/client_side.h"
#include "sim/world/clock.h"
#include "sim/world/packet.h"
#include "trace/event.h"

namespace peal::sim {

class World;

/// A message that the simulated application of a node wants to send.
struct Submission {
  Service service = Service::agreed;
  order::Domain domain = 0;
  std::string payload;
  std::optional<ClientWish> wish;  ///< with groups: the exact message; without it, a random one
};

/// Packets that wait in a socket, first in, first out.
class Socket {
 public:
  std::size_t size() const { return packets_.size(); }
  bool empty() const { return packets_.empty(); }
  void push(PacketIndex packet) { packets_.push_back(packet); }
  PacketIndex pop() {
    const PacketIndex first = packets_.front();
    packets_.pop_front();
    return first;
  }

 private:
  std::deque<PacketIndex> packets_;
};

/// Limits of one process on its machine.
struct ProcessLimits {
  std::uint32_t receive_slabs = 0;  ///< buffers of one ordinary packet; 0: enough for the largest
                                    ///< gap
  std::uint32_t unit_slabs = 0;     ///< likewise, for units
  std::uint32_t socket_packets = 2'048;
  std::uint32_t room_units = 65'536;  ///< units that the application buffers before it stops the
                                      ///< ring
};

/// One incarnation of a node, with its buffers, sockets, processor and application. It is both ends
/// of peal::node::Node: the transport that it sends through, and the sink that it delivers to. The
/// World decides when anything happens.
class Process final : public port::Transport, public node::Sink {
 public:
  enum class State : std::uint8_t { up, paused, ended };
  /// How this incarnation ended, if it has.
  enum class End : std::uint8_t { none, crashed, left, conflict };

  Process(World& world, MemberId self, std::uint32_t incarnation, const Clock& clock);
  ~Process() override;

  /// Creates the node; the caller then calls start_node.
  void make_node();

  // port::Transport
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override;

  // node::Sink
  void on_message(const node::Message& message) override;
  void on_early(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(std::uint64_t number, const ViewId& view, Seq seq, std::uint32_t index,
                    Service service) override;
  void on_event(const order::Event& event) override;
  void correct_epoch(std::uint64_t epoch);
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override;
  void on_unit_originated(const ViewId& view, Seq seq, Service service, ByteView unit) override;
  void on_unit_delivered(const order::Delivery& delivery) override;

  /// Counters of its engine, node and groups.
  std::vector<order::Counter> counters() const;
  /// Records the message whose submission is in progress, unless it is recorded already.
  void announce_submission();
  void announce_before_sending();

  // Identity and state, written by the World.
  World& world;
  MemberId self;  ///< may change to a larger epoch before the first view
  const std::uint32_t incarnation;
  Clock clock;
  State state = State::up;
  End end = End::none;  ///< set during a call; the World then ends the process
  std::unique_ptr<BufferPool> receive_pool;
  std::unique_ptr<BufferPool> large_pool;
  std::unique_ptr<BufferPool> unit_pool;
  std::unique_ptr<node::Node> node;
  std::unique_ptr<ClientSide> clients;  ///< null without groups

  // Sockets and processor.
  std::array<Socket, 3> sockets;  ///< by Lane
  std::deque<Submission> inbox;   ///< messages that the application submits when it runs next
  bool leave_wanted = false;
  bool clients_wanted = false;  ///< World::wake_clients() was called, and its time has come
  bool run_planned = false;
  bool draining = false;  ///< after on_pause(), before on_drained()
  bool room_grew = false;
  bool log_grew = false;  ///< more of its log is durable, or the log has failed
  std::uint32_t reads_since_timer = 0;
  bool control_next = false;  ///< which lane was last, where data and control take turns
  Instant busy_until{};
  Instant send_free{};  ///< when the network interface is free to send again
  std::optional<Instant> timer_planned;
  Instant paused_at{};
  std::int64_t slowness = 1;
  std::uint64_t sends_until_crash = 0;  ///< 0: no crash planned
  std::uint32_t sends_in_call = 0;
  std::uint32_t effects_in_call = 0;  ///< effects of any kind
  Duration charged{};                 ///< cost of the running call, by the network model
  Duration worked{};                  ///< processor time so far
  std::vector<NodeId> audience;

  // Application.
  std::uint32_t room_units = 0;  ///< units that it buffers at most
  std::uint32_t room_used = 0;   ///< units that it has not read
  Duration consume_every{};      ///< time to read one unit; 0: none
  bool consume_planned = false;

  struct PendingSubmission {
    std::uint64_t number = 0;
    std::uint64_t hash = 0;
    std::uint64_t bytes = 0;
    Service service = Service::agreed;
    order::Domain domain = 0;
    bool announced = true;
  };
  PendingSubmission pending;
  std::vector<PendingSubmission> before_first_view;  ///< recorded again if the epoch is corrected
  std::uint64_t submitted = 0;
  std::uint64_t refused = 0;
  std::uint64_t originated = 0;
  std::uint64_t own_delivered = 0;
  std::uint64_t units_delivered = 0;
  std::uint64_t messages_delivered = 0;

  // What the node reported about its view.
  bool operational = false;  ///< from view_installed to gather_started
  bool recovering = false;
  bool committing = false;
  std::optional<ViewId> view;  ///< the last regular view
  std::vector<MemberId> members;
  std::uint64_t views = 0;  ///< number of regular views
  Seq last_seq = 0;         ///< last position delivered in `view`
  /// What it delivered in `view` of one domain.
  struct Reached {
    Seq seq = 0;
    Digest digest;
  };
  std::array<Reached, trace::kDomainMax + 1> reached;  ///< by domain
  std::string fatal_reason;
  bool set_back = false;   ///< its clock gave an epoch that is not larger than that of an earlier
                           ///< incarnation
  std::uint64_t list = 0;  ///< hash of its active list of nodes

  // Work done, for checks of its bounds.
  std::uint64_t calls = 0;
  std::uint64_t idle_timer_calls = 0;  ///< on_timer without any effect
  Instant idle_from{};                 ///< start of the second in which idle timer calls are
                                       ///< counted
  std::uint64_t idle_in_second = 0;    ///< idle timer calls in that second
  std::uint64_t packets_sent = 0;
  std::uint64_t data_bytes_sent = 0;
  std::uint64_t unit_bytes_originated = 0;
  std::map<const order::EventKind*, std::uint64_t> events_seen;
};

}  // namespace peal::sim
