// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "order/paxos/acceptor.h"
#include "order/paxos/admission.h"
#include "order/paxos/catch_up.h"
#include "order/paxos/checkpointer.h"
#include "order/paxos/consumer.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/diagnosis.h"
#include "order/paxos/early.h"
#include "order/paxos/early_units.h"
#include "order/paxos/election.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/given_list.h"
#include "order/paxos/history.h"
#include "order/paxos/incarnations.h"
#include "order/paxos/kept_words.h"
#include "order/paxos/learner.h"
#include "order/paxos/link_watch.h"
#include "order/paxos/memory_log.h"
#include "order/paxos/options.h"
#include "order/paxos/outbox.h"
#include "order/paxos/own_units.h"
#include "order/paxos/parts.h"
#include "order/paxos/peers.h"
#include "order/paxos/reconfiguration.h"
#include "order/paxos/routes.h"
#include "order/paxos/self_report.h"
#include "order/paxos/state_transfer.h"
#include "order/paxos/store.h"
#include "order/paxos/vote_recall.h"
#include "order/paxos/voter.h"

namespace peal::order::paxos {

/// Classic Paxos broadcast. Members send units to a coordinator. It gives each unit an instance,
/// and proposes the unit to all nodes. Acceptors write their votes to their logs, and then report
/// the votes to all nodes. A value with votes of a majority is decided. Nodes consume values in the
/// order of the instances. Views are values too, so that all members see one chain of views and no
/// minority continues. Lists of nodes are values, too.
///
/// Each responsibility is a class with state of its own (README.md, "The files"). The engine owns
/// these classes, and dispatches packets and calls. It performs the transitions that concern many
/// of them: an order begins, another list becomes active, or the node skips instances. The engine
/// has more functions than other classes, because 33 functions implement its interfaces. It also
/// dispatches packets, because nearly every kind of packet may cause a transition.
///
/// engine.cc: inputs, timers, transitions. messages.cc: packets. engine_state.cc: status.
class PaxosEngine final : public Ensemble {
 public:
  PaxosEngine(const Config& config, BufferPool& packets, Host& host, MakeRoutes make_routes);

  void start(Instant now, Effects& out) override;
  void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) override;
  void on_timer(Instant now, Effects& out) override;
  void on_work(Instant now, Effects& out) override;
  void on_durable(Instant now, Effects& out) override;
  void on_pause(Instant now, Duration gap, Effects& out) override;
  void on_drained(Instant /*now*/, Effects& /*out*/) override {}
  void leave(Instant now, Effects& out) override;
  void set_nodes(Instant now, const NodeList& nodes, Effects& out) override;
  NodesWait nodes_wait() const override { return given_.waits(state_, peers_); }
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return config_.self; }
  WaitReason why() const override;
  WaitReason why_awaited() const override { return why(true); }
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;

  bool known() const override { return state_.known(); }
  std::uint64_t key() const override { return state_.key(); }
  bool joined() const override { return state_.has(config_.self); }
  bool near() const override { return transfer_.is_near(); }
  std::uint64_t from() const override { return consumer_.from(); }
  bool idle() const override {
    return coordinator_ && coordinator_->leads() && coordinator_->under_way() == 0;
  }
  std::optional<std::uint64_t> tip_key() const override {
    if (!coordinator_ || !coordinator_->leads()) return std::nullopt;
    return coordinator_->tip_key();
  }
  bool pass(Instant now, std::uint64_t key, Effects& out) override;
  MemberId coordinated_by() const override;
  void want_pass(std::uint64_t key, Effects& out) override;
  void keep_for(std::span<const MemberId> left_out) override { history_.retain_for(left_out); }
  bool chooses(NodeId node) const override {
    const Peer* peer = peers_.find(node);
    return peer != nullptr && peer->chosen;
  }
  bool fit() const override { return links_.company().fitness() == wire::Fitness::chosen; }
  bool disk_hangs() const override { return links_.disk_hangs(); }
  void set_ready(bool ready, std::uint64_t from) override { consumer_.set_ready(ready, from); }

 private:
  // Defined in engine.cc.
  void open_log(Effects& out);
  void begin(Instant now, Effects& out);
  void work(Instant now, Effects& out);
  void tick(Instant now, Effects& out);
  void update_self();
  bool consume(Effects& out);
  void begin_order(Effects& out);
  void forget_other_orders();
  void change_nodes(Effects& out);
  void put_back(Effects& out);
  void follow(Instant now, const Round& round, Effects& out);
  void stop(Effects& out, std::string_view reason);

  WaitReason why(bool waits) const;  // defined in engine_state.cc

  // Defined in messages.cc.
  wire::Drop dispatch(Instant now, const Peer& from, wire::PaxosKind kind, const BufferRef& packet,
                      Effects& out);
  wire::Drop on_state(Instant now, const BufferRef& packet, Peer& from, Effects& out);
  wire::Drop on_submit(Instant now, const Peer& from, const BufferRef& packet);
  wire::Drop on_value(Instant now, const Peer& from, wire::PaxosKind kind, const BufferRef& packet,
                      Effects& out);
  wire::Drop take_proposal(Instant now, const Arrival& arrival, const BufferRef& bytes,
                           Effects& out);
  wire::Drop on_fetched(const BufferRef& packet);
  wire::Drop on_repeat(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  wire::Drop on_decided(Instant now, const BufferRef& packet);
  wire::Drop on_checkpoint(const Peer& from, const BufferRef& packet, Effects& out);

  const Config config_;
  Host& host_;
  OrderState state_;
  GivenList given_;
  Peers peers_;
  Store store_;
  KeptWords kept_;
  Outbox outbox_;
  std::unique_ptr<Routes> routes_;
  BufferPool& pool_;
  MemoryLog memory_log_;
  std::optional<Acceptor> acceptor_;
  std::optional<Early> early_;  ///< empty without optimistic delivery
  const Parts parts_;
  std::optional<Coordinator> coordinator_;
  History history_;
  Checkpointer checkpointer_;
  Incarnations incarnations_;
  LinkWatch links_;
  Election election_;
  Learner learner_;
  EarlyUnits early_units_;
  OwnUnits own_units_;
  Consumer consumer_;
  CatchUp catch_up_;
  VoteRecall recall_;
  StateTransfer transfer_;
  Reconfiguration reconfiguration_;
  SelfReport report_;
  Voter voter_;
  Admission admission_;
  const Diagnosis diagnosis_;

  /// `opening`: the log has not recorded yet that this incarnation began, so this node sends
  /// nothing.
  enum class Life : std::uint8_t { created, opening, running, stopped } life_ = Life::created;
  Instant started_{};
  Instant tick_at_{};
  bool more_ = false;  ///< the last call left work for the next call
  Instant now_{};      ///< time of the current call

  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::paxos
