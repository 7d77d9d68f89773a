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

/// Who uses a node that runs in a loop. All calls come from the loop's thread; those of node::Sink
/// must not call back.
class Application : public node::Sink {
 public:
  virtual void on_wake(Instant now) = 0;
  /// The last chance of this turn to submit or to leave.
  virtual void on_turn_end(Instant now) = 0;
  /// What was delivered is in the trace: the application may now see it. No packet of this turn
  /// has left but tokens.
  virtual void on_publish() = 0;
  /// When on_turn_end wants to be called, at the latest.
  virtual std::optional<Instant> next_deadline() const = 0;
  /// One line for a person.
  virtual void on_warning(const std::string& text) = 0;
  /// The name of another node was found to have another address, or none.
  virtual void on_address(const io::AddressBook::Change& change) = 0;
  /// Runtime::nodes() are the nodes that count from now on. At the end of a turn.
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
  /// Seals and opens with these keys from now on; packets must be sealed already.
  void set_keys(const seal::Keys& keys);
  /// The key that packets are sealed with; none if they are not.
  std::optional<seal::KeyId> sending_key() const;

  /// Whether the node can change over to this list. The error is one line that says why not, and
  /// what to do.
  Result<void, std::string> validate(const config::Listing& listing) const;
  /// Goes over to this list once all members of the view have been given the same one; the list
  /// that counts takes a wish back. Packets of the nodes of both lists are accepted until then. See
  /// Application::on_nodes().
  void set_nodes(Instant now, const config::Listing& listing);
  /// The list that counts, and the one to go over to, if there is one.
  const std::vector<config::NodeEntry>& nodes() const { return settings_.nodes; }
  /// The list that is gone over to, until it counts.
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
  /// As in node::Node; control messages are no application's, and not in the trace. These may be
  /// called from the application's side of node::Sink.
  Result<std::uint64_t> submit_control(ByteView payload, Service service);
  void drop_control() { node_->drop_control(); }
  void block(bool blocked) { node_->block(blocked); }
  void flush(Instant now) { node_->flush(now); }
  void on_room(Instant now) { node_->on_room(now); }
  void leave(Instant now);

  /// Buffers are getting short: whoever keeps references to them should keep copies instead.
  bool buffers_are_short() const;
  const node::Node& node() const { return *node_; }
  const io::UdpTransport& transport() const { return *udp_; }
  const io::AddressBook& addresses() const { return *addresses_; }
  const trace::Names& names() const { return names_; }
  const config::Settings& settings() const { return settings_; }
  /// The nodes that count and are not in the newest view, with what is known to keep them out: one
  /// line, or empty.
  std::vector<std::pair<NodeId, std::string>> missing() const;
  /// Lines that are missing in the trace; nothing if there is no trace.
  std::optional<std::uint64_t> trace_lines_lost() const {
    if (trace_ == nullptr) return std::nullopt;
    return trace_->lost_lines();
  }
  const order::Descriptor& order() const { return *settings_.order; }
  /// Why the newest view ended, from who is in the passage to the next; empty before that. For
  /// engines that do not say it themselves.
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

  // port::Transport: nothing leaves before what it may show is in the trace.
  void send(NodeId to, Lane lane, const BufferRef& packet) override;
  void multicast(Lane lane, const BufferRef& packet) override;
  void set_audience(std::span<const MemberId> members) override { udp_->set_audience(members); }
  NodeId congested() const override;

  config::Settings settings_;  ///< `nodes` and `acceptors` are those that count
  std::optional<config::Listing> next_;
  bool nodes_adopted_ = false;  ///< the engine goes by the next ones already
  io::Endpoint own_at_;
  io::Loop& loop_;
  Application& application_;
  trace::Names names_;
  BufferPool received_;  ///< what comes in
  BufferPool units_;     ///< own units, with room for their packet headers
  BufferPool frames_;    ///< the engine's own packets, and what it reads from its log
  std::unique_ptr<io::UdpTransport> udp_;
  std::optional<io::AddressBook> addresses_;
  std::uint64_t strangers_ = 0;                   ///< packets of nobody's address, when last looked
  Instant now_{};                                 ///< of the newest turn
  std::unique_ptr<TraceLog> trace_;               ///< null if there is none
  std::map<NodeId, std::uint32_t> refused_said_;  ///< a bit for each reason that was said
  std::map<NodeId, std::string> refused_;  ///< why its packets are of no use, until a view has it
  mutable bool held_ = false;              ///< the node was told that somebody is slow
  Unreached unreached_;
  std::vector<std::string> start_warnings_;
  std::vector<MemberId> members_;  ///< of the newest regular view
  std::string why_passage_;
  std::string state_file_;            ///< remembers the epoch; empty: none
  std::unique_ptr<AcceptorLog> log_;  ///< null if this node does not vote
  std::unique_ptr<node::Node> node_;
};

}  // namespace peal::runtime
