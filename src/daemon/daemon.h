// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "daemon/connections.h"
#include "daemon/options.h"
#include "daemon/owner.h"
#include "daemon/regions.h"
#include "daemon/spool_files.h"
#include "io/loop.h"
#include "runtime/runtime.h"
#include "runtime/snapshot.h"
#include "runtime/stall_notice.h"
#include "session/sessions.h"

namespace peal::daemon {

/// A node with process groups and clients, in one event loop. A turn first reads packets, then
/// clients. The node orders and delivers; then the daemon writes events to clients. The daemon
/// writes an event only after the trace has all entries on which the event depends. Thread: one,
/// except for stop().
class Daemon final : private runtime::Application, private session::Host {
 public:
  /// Opens the sockets, the trace and the acceptor's log, checks the spool folder, and accepts
  /// connections. `owner` must outlive the daemon. Errors: invalid_option (the message names the
  /// key, the value and what is accepted), address_in_use, not_permitted, system.
  static Result<std::unique_ptr<Daemon>, io::IoError> open(const Options& options, Owner& owner);
  ~Daemon() override;

  /// Serves until stop() is called, or until an error stops the node.
  void run();
  /// Requests an orderly end. The daemon no longer reads from clients. It waits up to a second
  /// until clients' messages are acknowledged, notifies the clients, and leaves its view. Thread:
  /// any.
  void stop();

  /// The loop, for descriptors and timers of the owner.
  io::Loop& loop() { return *loop_; }
  /// Takes from `options`: at once, the TLS files and the mode of the Unix socket; at the end of
  /// this turn, rules and limits of clients, the pending list of nodes, and the keys between nodes
  /// if there are any. Looks up the names of all other nodes again. All other options stay as they
  /// are. Errors: those of open() for these options, or a list to which the node cannot change.
  /// After an error nothing has changed. Thread: the loop's, also from Owner::on_ask().
  Result<void, io::IoError> reconfigure(const Options& options);
  /// The pending list of nodes; empty if no change of the list is pending.
  std::vector<std::string> next_nodes() const;

  runtime::Snapshot node_status() const;
  session::Status client_status(std::string_view prefix = {}) const {
    return sessions_->status(now_, prefix);
  }
  std::vector<order::Counter> client_counters() const { return sessions_->named_counters(); }
  const io::StreamsCounters& connection_counters() const { return connections_->counters(); }

 private:
  class Turns;
  enum class Phase : std::uint8_t { serving, draining, closing, ended };

  Daemon(const Options& options, Owner& owner);
  Result<void, io::IoError> prepare();

  // runtime::Application
  void on_wake(Instant now) override;
  void on_turn_end(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  void on_publish() override;
  void on_warning(const std::string& text) override { owner_.on_warning(now_, text); }
  void on_address(const io::AddressBook::Change& change) override {
    owner_.on_address(now_, node_name(change.entry.node), change);
  }
  void on_nodes() override;
  void on_message(const node::Message& message) override;
  void on_view(const order::View& view) override;
  void on_originate(const node::Origination& placed) override;
  void on_event(const order::Event& /*event*/) override {}
  void on_fatal(std::string_view reason) override;
  std::uint32_t receive_room_units() const override;

  // session::Host
  Result<std::uint64_t, Errc> submit(ByteView message, Service service, DomainSet domains) override;
  void replace_control(ByteView message, DomainSet domains) override;
  std::uint64_t block(bool blocked) override;
  void tables_equal(const ViewId& /*view*/, std::uint64_t /*hash*/) override {}
  std::string_view node_name(NodeId node) const override;
  wire::SessionToken draw_token() override;
  ByteSpan open_region(session::RegionId id, std::uint32_t bytes) override;
  void close_region(session::RegionId id) override { regions_.close(id); }
  session::Answer ask(std::string_view what, bool admin) override;

  void set_session_nodes();
  void name_nodes(const std::vector<config::NodeEntry>& nodes);
  std::uint32_t room_units() const;
  void feed(Instant now);
  void drain(Instant now);
  void close_sessions(Instant now);
  void end(bool on_request, const std::string& reason);

  Options options_;
  Owner& owner_;
  std::unique_ptr<io::Loop> loop_;
  std::unique_ptr<runtime::Runtime> runtime_;
  SpoolFiles spool_;
  Regions regions_;
  std::unique_ptr<session::Sessions> sessions_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<Turns> turns_;

  std::shared_ptr<const io::TlsContext> tls_;  ///< the TLS context for future connections
  std::vector<std::string> node_names_;        ///< by node number; includes removed nodes
  std::optional<seal::Keys> new_keys_;
  std::optional<config::Listing> new_nodes_;
  std::optional<session::Options> new_sessions_;  ///< options to use from the end of this turn on

  runtime::StallNotice stall_{"the exchange of group tables"};
  Instant now_{};
  bool engine_has_work_ = false;         ///< messages were submitted since the last flush
  bool was_full_ = false;                ///< the node's queue was full
  bool room_again_ = false;              ///< after was_full_, a message of this node was ordered
  bool more_ = false;                    ///< connections have work left from this turn
  bool room_grew_ = false;               ///< the engine must be notified of new space
  mutable std::uint32_t told_room_ = 0;  ///< space last reported to the engine, in units
  Phase phase_ = Phase::serving;
  Instant phase_end_{};
  std::optional<std::string> fatal_;
  std::atomic<bool> stop_asked_{false};
};

}  // namespace peal::daemon
