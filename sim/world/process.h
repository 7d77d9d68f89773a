// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "node/node.h"
#include "port/transport.h"
#include "sim/clients/client_side.h"
#include "sim/world/clock.h"
#include "sim/world/fabric.h"
#include "sim/world/inputs.h"
#include "sim/world/process_buffers.h"
#include "sim/world/process_state.h"

namespace peal::sim {

class World;

/// One incarnation of a node, with its buffers, sockets, processor and application. Implements the
/// transport through which the node::Node sends, and the sink to which the node::Node delivers. The
/// World decides when the process runs.
class Process final : public port::Transport, public node::Sink {
 public:
  enum class State : std::uint8_t { up, paused, ended };
  /// How this incarnation ended; none: the incarnation still runs.
  enum class End : std::uint8_t { none, crashed, left, conflict };

  Process(World& world, MemberId self, std::uint32_t incarnation, const Clock& clock);
  ~Process() override;

  /// Creates the node; the caller then starts it.
  void make_node();
  /// Reports the nodes of the active and the pending list to the clients, as a daemon does.
  void tell_clients_list();

  // port::Transport
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override;

  // node::Sink
  void on_message(const node::Message& message) override;
  void on_early(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(const node::Origination& placed) override;
  void on_event(const order::Event& event) override;
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override;
  void on_unit_originated(const ViewId& view, Seq seq, Service service, DomainSet domains,
                          ByteView unit) override;
  void on_unit_delivered(const order::Delivery& delivery) override;

  /// Counters of the process's engine, node and groups.
  std::vector<order::Counter> counters() const;
  /// The counter of that name; nullopt if the process has none.
  std::optional<std::uint64_t> counter(std::string_view name) const;
  /// Number of accepted messages that are not done: delivered here or, with genuine multicast,
  /// known to have places.
  std::uint64_t undone() const;
  /// Records the message whose submission is in progress, unless it is recorded already.
  void announce_submission();
  /// The writes of the call leave, unless the process has ended in the call.
  void flush_memory();

  // Identity and state, written by the World and its parts.
  World& world;
  MemberId self;  ///< may change to a larger epoch before the first view
  const std::uint32_t incarnation;
  Clock clock;
  State state = State::up;
  End end = End::none;    ///< set during a call; the World then ends the process
  bool set_back = false;  ///< the clock's epoch does not exceed the epochs of earlier incarnations
  ProcessBuffers buffers;
  std::unique_ptr<SimMemory> memory;  ///< null unless the engine needs memory
  std::unique_ptr<node::Node> node;
  std::unique_ptr<ClientSide> clients;  ///< null without groups

  Inputs inputs;
  Processor processor;
  Sending sending;
  Application application;
  Submissions submissions;
  NodeStatus status;
  WorkCounts work;

 private:
  void note_reached(const order::Delivery& delivery);
  std::unique_ptr<order::Engine> make_engine(std::uint64_t seed, order::Host& host);
  order::Host& witnessed(order::Host& host);
  void note_place(DomainSet domains, Seq seq);
  void flush_by_model(const NetModel& model);
  void announce_before_sending();
  void check_primary(const order::View& view) const;
  void correct_epoch(std::uint64_t epoch);

  std::unique_ptr<order::Host> witnessed_host_;  ///< with genuine multicast
};

}  // namespace peal::sim
