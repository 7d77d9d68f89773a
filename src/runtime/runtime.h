// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "config/settings.h"
#include "io/address_book.h"
#include "io/error.h"
#include "io/loop.h"
#include "io/udp.h"
#include "node/node.h"
#include "runtime/trace_log.h"
#include "runtime/unreached.h"
#include "trace/names.h"

namespace peal::runtime {

class AcceptorLog;

/// The user of a node that runs in a loop. All calls come from the loop's thread; those of
/// node::Sink must not call back.
class Application : public node::Sink {
 public:
  virtual void on_wake(Instant now) = 0;
  /// The last chance of this turn to submit or to leave.
  virtual void on_turn_end(Instant now) = 0;
  /// Deliveries are in the trace: the application may now see them. No packet of this turn has left
  /// yet, except tokens.
  virtual void on_publish() = 0;
  /// The latest time for the next on_turn_end().
  virtual std::optional<Instant> next_deadline() const = 0;
  /// One line for a person.
  virtual void on_warning(const std::string& text) = 0;
  /// The name of another node was found to have another address, or none.
  virtual void on_address(const io::AddressBook::Change& change) = 0;
  /// Runtime::nodes() is the active list from now on. Called at the end of a turn.
  virtual void on_nodes() {}
};

/// One node in an event loop: its buffers, its sockets, its engine and its trace.
/// Thread: the loop's, for everything but open().
class Runtime final : private io::LoopHost,
                      private io::PacketSink,
                      private node::Sink,
                      private port::Transport {
 public:
  /// Opens sockets, trace and, on an acceptor, its log. `loop` and `application` must outlive it.
  /// Errors: invalid_option, address_in_use, not_permitted, system.
  static Result<std::unique_ptr<Runtime>, io::IoError> open(const config::Settings& settings,
                                                            io::Loop& loop,
                                                            Application& application);
  ~Runtime() override;

  /// Starts the engine. Call it once, before the loop runs.
  void start(Instant now);
  /// Seals and opens packets with these keys from now on; packets must be sealed already.
  void set_keys(const seal::Keys& keys);
  /// The key for sealing packets; none if they are not sealed.
  std::optional<seal::KeyId> sending_key() const;

  /// Whether the node can change to this list. The error is one line: the reason why not, and what
  /// to do.
  Result<void, std::string> validate(const config::Listing& listing) const;
  /// Makes this list active once all members of the view have it; setting the active list withdraws
  /// a pending one. Until then packets of the nodes of both lists are accepted. See
  /// Application::on_nodes().
  void set_nodes(Instant now, const config::Listing& listing);
  /// The active list.
  const std::vector<config::NodeEntry>& nodes() const { return settings_.nodes; }
  /// The pending list, until it is active.
  const std::optional<config::Listing>& next_listing() const { return next_; }
  config::Listing listing() const { return {settings_.nodes, settings_.acceptors}; }

  /// Looks the names of all other nodes up again.
  void look_up_names(Instant now) { addresses_->ask_all(now); }

  /// For Loop::run.
  io::LoopHost& host() { return *this; }

  /// As in node::Node, with an entry in the trace.
  Result<std::uint64_t> enqueue(ByteView payload, Service service, order::Domain domain = 0);
  Result<std::uint64_t> submit_lent(ByteView payload, Service service, order::Domain domain = 0);
  Result<std::uint64_t> submit_block(node::Gathered& message, Service service,
                                     order::Domain domain = 0);
  /// As in node::Node; control messages belong to no application, and are not in the trace. These
  /// functions may be called from node::Sink's side of the application.
  Result<std::uint64_t> submit_control(ByteView payload, Service service);
  void drop_control() { node_->drop_control(); }
  void block(bool blocked) { node_->block(blocked); }
  void flush(Instant now) { node_->flush(now); }
  void on_room(Instant now) { node_->on_room(now); }
  void leave(Instant now);

  /// Buffers are scarce: holders of references to them should keep copies instead.
  bool buffers_are_short() const;
  const node::Node& node() const { return *node_; }
  const io::UdpTransport& transport() const { return *udp_; }
  const io::AddressBook& addresses() const { return *addresses_; }
  const trace::Names& names() const { return names_; }
  const config::Settings& settings() const { return settings_; }
  /// Nodes of the active list that are not in the newest view, with the known reason: one line, or
  /// empty.
  std::vector<std::pair<NodeId, std::string>> missing() const;
  /// The number of lines missing in the trace; nothing if there is no trace.
  std::optional<std::uint64_t> trace_lines_lost() const {
    if (trace_ == nullptr) return std::nullopt;
    return trace_->lost_lines();
  }
  const order::Descriptor& order() const { return *settings_.order; }
  /// Why the newest view ended, derived from the members of the transitional view; empty before
  /// that. For engines that do not report it themselves.
  const std::string& why_passage() const { return why_passage_; }

 private:
  Runtime(const config::Settings& settings, io::Loop& loop, Application& application);
  Result<void, io::IoError> prepare();
  Result<void, io::IoError> open_log();
  void make_node(std::uint64_t epoch);
  std::unique_ptr<order::Engine> make_engine(std::uint64_t epoch, order::Host& host);
  void look_for_strangers(Instant now);
  void on_epoch_corrected(std::uint64_t epoch);
  void know_nodes(Instant now);
  void take_adopted(Instant now);
  void watch_streams(Instant now);

  // io::LoopHost
  void on_pause(Instant now, Duration gap) override { node_->on_pause(now, gap); }
  io::Progress on_sockets(const io::Turn& turn) override { return udp_->receive(turn, *this); }
  void on_drained(Instant now) override { node_->on_drained(now); }
  void on_wake(Instant now) override { application_.on_wake(now); }
  void on_timer(Instant now) override;
  void on_turn_end(Instant now) override;
  std::optional<Instant> next_deadline() const override;

  // io::PacketSink
  void on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) override;
  void on_refused(Instant now, NodeId from, const seal::Opened& refused) override;
  Lane preferred_lane() const override { return node_->preferred_lane(); }

  // node::Sink
  void on_message(const node::Message& message) override;
  void on_early(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(std::uint64_t number, const ViewId& view, Seq seq, std::uint32_t index,
                    Service service) override;
  void on_event(const order::Event& event) override;
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override { return application_.receive_room_units(); }
  void on_unit_delivered(const order::Delivery& delivery) override {
    application_.on_unit_delivered(delivery);
  }
  void on_unit_early(const order::Delivery& early) override { application_.on_unit_early(early); }

  // port::Transport: no packet leaves before the trace has all that it may reveal.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override { udp_->set_audience(members); }
  NodeId congested() const override;

  config::Settings settings_;  ///< with the active `nodes` and `acceptors`
  std::optional<config::Listing> next_;
  bool nodes_adopted_ = false;  ///< the engine has made the pending ones active already
  io::Endpoint own_at_;
  io::Loop& loop_;
  Application& application_;
  trace::Names names_;
  BufferPool received_;  ///< received packets
  BufferPool units_;     ///< own units, with headroom for their packet headers
  BufferPool frames_;    ///< the engine's own packets, and what it reads from its log
  std::unique_ptr<io::UdpTransport> udp_;
  std::optional<io::AddressBook> addresses_;
  std::uint64_t strangers_ = 0;                   ///< packets from unknown addresses, at the last
                                                  ///< look
  Instant now_{};                                 ///< of the newest turn
  std::unique_ptr<TraceLog> trace_;               ///< null if there is none
  std::map<NodeId, std::uint32_t> refused_said_;  ///< a bit for each reported reason
  std::map<NodeId, std::string> refused_;  ///< why its packets are refused, until it is in a view
  mutable bool held_ = false;              ///< the node was told that a peer is congested
  Unreached unreached_;
  std::vector<std::string> start_warnings_;
  std::vector<MemberId> members_;  ///< of the newest regular view
  std::string why_passage_;
  std::string state_file_;            ///< stores the epoch; empty: none
  std::unique_ptr<AcceptorLog> log_;  ///< null if this node does not vote
  std::unique_ptr<node::Node> node_;
};

}  // namespace peal::runtime
