// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
#include "node/node.h"
#include "runtime/buffers.h"
#include "runtime/memory_notices.h"
#include "runtime/node_table.h"
#include "runtime/node_transport.h"
#include "runtime/stall_notice.h"
#include "runtime/trace_log.h"
#include "runtime/view_cause.h"

namespace peal::io::fabric {
class Fabric;
}

namespace peal::runtime {

class AcceptorLog;

/// The user of a node that runs in a loop. All calls come from the loop's thread. The functions of
/// node::Sink must not call the node (see node::Sink).
class Application : public node::Sink {
 public:
  virtual void on_wake(Instant now) = 0;
  /// The application's last chance to submit or to leave before what it has got is published. With
  /// memory, it may be called twice in a turn.
  virtual void on_turn_end(Instant now) = 0;
  /// The deliveries of this turn are in the trace, so the application may now pass them on. Most
  /// packets of this turn are sent after this call.
  virtual void on_publish() = 0;
  /// The latest time for the next on_turn_end().
  virtual std::optional<Instant> next_deadline() const = 0;
  /// Reports one line of text to a person.
  virtual void on_warning(const std::string& text) = 0;
  /// A lookup of another node's name found another address than before, or no address.
  virtual void on_address(const io::AddressBook::Change& change) = 0;
  /// The active list of Runtime::nodes() may have changed. Called at the end of a turn, or during
  /// Runtime::set_nodes().
  virtual void on_nodes() {}
};

/// One node in an event loop: its buffers, its sockets, its engine and its trace.
/// Thread: the loop's, for everything but open().
class Runtime final : private io::LoopHost, private node::Sink {
 public:
  /// Opens the sockets, the trace and, with a data_dir, the acceptor's log. `loop` and
  /// `application` must outlive the runtime. Errors: invalid_option, address_in_use, not_permitted,
  /// system.
  static Result<std::unique_ptr<Runtime>, io::IoError> open(const config::Settings& settings,
                                                            io::Loop& loop,
                                                            Application& application);
  ~Runtime() override;

  /// Starts the engine. Call it once, before the loop runs.
  void start(Instant now);
  /// Seals and opens packets with these keys from now on. Call it only if the settings had keys at
  /// the start.
  void set_keys(const seal::Keys& keys);

  /// Makes this list active once all members of the view have it. Until then, packets of the nodes
  /// of both lists are accepted. Setting the active list withdraws a pending list. See
  /// NodeTable::validate() and Application::on_nodes().
  void set_nodes(Instant now, const config::Listing& listing);
  const NodeTable& nodes() const { return nodes_; }
  /// Looks up the names of all other nodes again.
  void look_up_names(Instant now) { nodes_.look_up_names(now); }

  /// For Loop::run.
  io::LoopHost& host() { return *this; }

  /// Like the functions of node::Node with these names, but with an entry in the trace.
  Result<std::uint64_t, Errc> enqueue(ByteView payload, Service service, DomainSet domains = {});
  Result<std::uint64_t, Errc> submit_lent(ByteView payload, Service service,
                                          DomainSet domains = {});
  Result<std::uint64_t, Errc> submit_block(node::Gathered& message, Service service,
                                           DomainSet domains = {});
  void leave(Instant now);

  /// True if buffers are scarce. Then holders of references to buffers should copy the bytes and
  /// release the references.
  bool buffers_are_short() const { return buffers_.are_short(); }
  const node::Node& node() const { return *node_; }
  /// The node, for calls that need no entry in the trace, such as submit_control() and on_room().
  /// Functions of node::Sink may call submit_control().
  node::Node& node() { return *node_; }
  const NodeTransport& transport() const { return *transport_; }
  /// The memory that other nodes write to; null unless the engine needs one.
  const io::fabric::Fabric* memory() const { return memory_.get(); }
  const trace::Names& names() const { return nodes_.names(); }
  /// The number of lines missing in the trace; nothing if there is no trace.
  std::optional<std::uint64_t> trace_lines_lost() const {
    if (trace_ == nullptr) return std::nullopt;
    return trace_->lost_lines();
  }
  /// The newest regular view, and why this view ended, if it ended. During Application::on_view()
  /// for a regular view: the new view, and why the previous regular view ended.
  const ViewCause& view_cause() const { return cause_; }

 private:
  Runtime(const config::Settings& settings, const io::Endpoint& own_at, io::Loop& loop,
          Application& application);
  Result<void, io::IoError> prepare();
  Result<void, io::IoError> open_log();
  void make_node(std::uint64_t epoch);
  void on_epoch_corrected(std::uint64_t epoch);
  void on_incompatible(const MemberId& who, wire::Drop reason);
  void end_work(Instant now);
  void look_for_stall(Instant now);
  void take_adopted(Instant now);

  // Overrides of io::LoopHost.
  void on_pause(Instant now, Duration gap) override { node_->on_pause(now, gap); }
  io::Progress on_sockets(const io::Turn& turn) override;
  void on_drained(Instant now) override { node_->on_drained(now); }
  void on_wake(Instant now) override { application_.on_wake(now); }
  void on_timer(Instant now) override;
  void on_turn_end(Instant now) override;
  std::optional<Instant> next_deadline() const override;

  // Overrides of node::Sink.
  void on_message(const node::Message& message) override;
  void on_early(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(const node::Origination& placed) override;
  void on_event(const order::Event& event) override;
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override { return application_.receive_room_units(); }
  void on_unit_delivered(const order::Delivery& delivery) override {
    application_.on_unit_delivered(delivery);
  }
  void on_unit_early(const order::Delivery& early) override { application_.on_unit_early(early); }

  NodeTable nodes_;
  bool nodes_adopted_ = false;  ///< the engine uses the pending list, but `nodes_` does not yet
  io::Loop& loop_;
  Application& application_;
  Buffers buffers_;
  std::unique_ptr<NodeTransport> transport_;
  Instant now_{};                    ///< the time of the newest turn
  std::unique_ptr<TraceLog> trace_;  ///< null if there is no trace
  std::vector<std::string> start_warnings_;
  ViewCause cause_;
  StallNotice stall_{"the ordering"};
  std::string state_file_;            ///< the file that stores the epoch; empty: no file
  std::unique_ptr<AcceptorLog> log_;  ///< null if this node keeps no log on disk
  MemoryNotices memory_notices_;
  std::unique_ptr<io::fabric::Fabric> memory_;  ///< null unless the engine needs memory
  std::unique_ptr<node::Node> node_;
};

}  // namespace peal::runtime
