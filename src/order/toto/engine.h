// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "order/engine.h"
#include "order/evs/membership.h"
#include "order/toto/outlet.h"
#include "order/toto/parts.h"
#include "order/toto/recovery.h"
#include "order/toto/refused_nodes.h"
#include "order/toto/repair.h"
#include "order/toto/sender.h"
#include "order/toto/watch.h"

namespace peal::order::toto {

/// ToTo: members order the nodes of a causal graph without a token and without a coordinator. Each
/// node is a vote, and a unit is delivered once enough votes show that no concurrent unit can come
/// before it. evs::Membership forms the views.
///
/// Each responsibility is a class with state of its own (README.md, "The files"). The engine owns
/// an object of each, and decides which object acts on an input.
class TotoEngine final : public Engine, private evs::Protocol {
 public:
  TotoEngine(const Config& config, BufferPool& packets, Host& host);

  void start(Instant now, Effects& out) override;
  void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) override;
  void on_old_incarnation(Instant now, const MemberId& newest, Effects& out) override;
  void on_timer(Instant now, Effects& out) override;
  void on_work(Instant now, Effects& out) override;
  void on_pause(Instant now, Duration gap, Effects& out) override;
  void on_drained(Instant now, Effects& out) override;
  void leave(Instant now, Effects& out) override;
  void set_nodes(Instant now, const NodeList& nodes, Effects& out) override;
  NodesWait nodes_wait() const override;
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return membership_.self(); }
  WaitReason why() const override;
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;

 private:
  // evs::Protocol
  void flush(Effects& /*out*/) override {}  // a turn hands every packet to the transport
  void abandon() override;
  const wire::CommitFormat& commit_format() const override { return kCommitFormat; }
  void fold_options(wire::CommitOptions& options) const override;
  void freeze(std::vector<std::byte>& record) override { recovery_.freeze(record); }
  bool accepts(ByteView record) const override { return recovery_.accepts(record); }
  void recover(Instant now, const evs::Agreement& agreement, Effects& out) override;
  void lead_recovery(Instant now, Effects& out) override;
  void install_alone(Instant now, Effects& out) override;

  // engine.cc
  void want_turn(Instant now);
  void turn(Instant now, Effects& out);
  void join_nodes(Effects& out);
  void visit(Instant now, Effects& out);
  void install(Instant now, Effects& out);
  void open(Instant now, Effects& out);
  void begin_view();

  // messages.cc
  void dispatch(Instant now, const wire::Header& header, const BufferRef& packet, Effects& out);
  void on_node(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);
  void on_lacks(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);
  void on_status(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);
  void on_pass(Instant now, const MemberId& from, const BufferRef& packet, Effects& out);
  bool is_of_view(Instant now, const ViewId& view, const MemberId& from, Effects& out);
  void note_life(Instant now, const MemberId& from, Effects& out);

  const Options options_;
  const wire::Checksum checksum_;
  const std::uint64_t cluster_;
  BufferPool& pool_;
  Host& host_;
  const std::uint64_t first_;
  evs::Membership membership_;
  evs::Timers& timers_;
  ViewOptions limits_;  ///< agreed for the current view
  Counts counts_;
  CausalGraph graph_;
  const Parts parts_;

  Outlet outlet_;
  Sender sender_;
  Repair repair_;
  Watch watch_;
  Recovery recovery_;
  RefusedNodes refused_;

  bool open_ = false;         ///< all members are in the view: nodes may be sent
  bool stale_input_ = false;  ///< packets read now may date from before a pause
  bool full_told_ = false;    ///< the last STATUS said that the application takes nothing
  wire::Node arriving_;
  std::uint32_t changes_ = 0;  ///< calls of want_turn() since the graph last discarded nodes
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::toto
