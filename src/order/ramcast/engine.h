// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "order/engine.h"
#include "order/ramcast/acks.h"
#include "order/ramcast/backlogs.h"
#include "order/ramcast/cells.h"
#include "order/ramcast/domain_state.h"
#include "order/ramcast/follower.h"
#include "order/ramcast/inbox.h"
#include "order/ramcast/lead.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/links.h"
#include "order/ramcast/log_reader.h"
#include "order/ramcast/members.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"
#include "order/ramcast/parts.h"
#include "order/ramcast/repair.h"
#include "order/ramcast/replies.h"
#include "order/ramcast/rounds.h"
#include "order/ramcast/sender.h"
#include "order/ramcast/takeover.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// The arguments of an engine of RamCast.
struct Config {
  MemberId self{};
  std::vector<NodeId> nodes;                 ///< all configured nodes, sorted
  std::vector<std::vector<NodeId>> domains;  ///< see Layout
  std::uint64_t cluster = 0;
  wire::Checksum checksum = wire::Checksum::present;
  Options options;
  port::Memory* memory = nullptr;  ///< must outlive the engine
  std::uint64_t seed = 0;
  std::uint64_t first_count = 0;  ///< for tests: clocks begin with this value
};

/// RamCast: genuine multicast to sets of domains by one-sided writes. Each domain has a leader, to
/// whose log no other process can write. README.md explains the protocol.
///
/// Each responsibility is a class with state of its own (README.md, "The files"). The engine owns
/// an object of each, and decides which object acts on an input.
class RamcastEngine final : public Engine, private Delivered {
 public:
  RamcastEngine(const Config& config, BufferPool& packets, Host& host);

  void start(Instant now, Effects& out) override;
  void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) override;
  void on_memory(Instant now, Effects& out) override;
  void on_timer(Instant now, Effects& out) override;
  void on_work(Instant now, Effects& out) override;
  void on_pause(Instant now, Duration gap, Effects& out) override;
  void on_drained(Instant now, Effects& out) override;
  void leave(Instant now, Effects& out) override;
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return self_; }
  WaitReason why() const override;
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;
  std::optional<Leadership> leadership() const override;
  std::string describe() const override;

  /// For tests.
  bool leads() const { return standing_.role == Standing::Role::leader; }
  const Counts& counts() const { return counts_; }

 private:
  void on_delivery(const Record& record, Effects& out) override;
  bool may_deliver(const Record& record) const override;
  void on_view(const wire::DomainView& before) override;

  // packets.cc
  void dispatch(Instant now, NodeIndex node, const wire::Header& header, const BufferRef& packet,
                Effects& out);
  void on_hello(Instant now, NodeIndex node, const wire::Header& header, const BufferRef& packet,
                Effects& out);
  void on_takeover(Instant now, NodeIndex node, const wire::Header& header, const BufferRef& packet,
                   Effects& out);
  void on_state(NodeIndex node, const wire::Header& header, const BufferRef& packet);
  void on_relay(Instant now, const BufferRef& packet);
  void on_question(Instant now, NodeIndex node, const wire::Header& header, const BufferRef& packet,
                   Effects& out);
  void on_backlog(Instant now, NodeIndex node, const wire::Header& header, const BufferRef& packet,
                  Effects& out);
  bool is_near(NodeIndex node) const {
    return parts_.serves() && layout_.role(node).domain == parts_.domain;
  }

  // engine.cc
  void turn(Instant now, Effects& out);
  bool pass(Instant now, Effects& out);
  bool serve(Instant now, Effects& out);
  void finish_writes(Instant now);
  void on_opened(NodeIndex node);
  bool takes_part() const { return parts_.serves() && !state_.view().roster.empty(); }
  void release();
  void at_beat(Instant now, Effects& out);

  const Options options_;
  const MemberId self_;
  const Layout layout_;
  Clock clock_;
  Standing standing_;
  Counts counts_;
  const Parts parts_;

  Links links_;
  Messages messages_;
  DomainState state_;
  Outlet outlet_;
  CellTable table_;
  Acks acks_;
  LogReader reader_;
  Follower follower_;
  LeaderLog log_;
  Watch watch_;
  Lead lead_;
  Takeover takeover_;
  Replies replies_;
  Inbox inbox_;
  Sender sender_;
  Repair repair_;
  Backlogs backlogs_;
  Members members_;
  Rounds rounds_;

  Instant turned_{};  ///< time of the last turn
  bool left_ = false;
  bool again_ = false;  ///< a turn has left work over
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::ramcast
