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
#include "order/paxos/company.h"
#include "order/paxos/coordinator.h"
#include "order/paxos/copy_check.h"
#include "order/paxos/early.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/founding.h"
#include "order/paxos/given_list.h"
#include "order/paxos/kept_words.h"
#include "order/paxos/left_out.h"
#include "order/paxos/memory_log.h"
#include "order/paxos/options.h"
#include "order/paxos/outbox.h"
#include "order/paxos/pace.h"
#include "order/paxos/peers.h"
#include "order/paxos/recall.h"
#include "order/paxos/routes.h"
#include "order/paxos/store.h"
#include "order/paxos/window.h"
#include "order/said_once.h"

namespace peal::order::paxos {

/// Classic Paxos broadcast: members send units to a coordinator, which gives each an instance and
/// proposes it to all; acceptors write it down and tell everybody; what a majority has voted for is
/// decided, and consumed in the order of the instances. Views are values too: who is in the next
/// one is decided like everything else, so that all members see one chain of views, and nobody goes
/// on in a minority. So is which list of nodes counts.
///
/// engine.cc: inputs, timers. engine_state.cc: what people see. exchange.cc: packets. learner.cc:
/// what is decided, and what comes of it. missing.cc: what is not here. own_units.cc: what this
/// node sends. early_units.cc: what is told before it has its place. nodes.cc: going over to
/// another list of nodes. lives.cc: which acceptors begin an order, and
/// which have forgotten what they said.
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
  bool near() const override;
  std::uint64_t from() const override { return from_; }
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
  void keep_for(std::span<const MemberId> left_out) override;
  bool chooses(NodeId node) const override {
    const Peer* peer = peers_.find(node);
    return peer != nullptr && peer->chosen;
  }
  bool fit() const override { return company_.fitness() == wire::Fitness::chosen; }
  bool disk_hangs() const override { return disk_hangs_; }
  void set_ready(bool ready, std::uint64_t from) override {
    visiting_ = !ready;
    views_from_ = from;
  }

 private:
  /// A unit of this node that has no place yet.
  struct Own {
    wire::ValueHead head;
    BufferRef bytes;
    BufferRef packet;         ///< as it was sent; empty if it never was
    bool used = false;        ///< somebody wrote into the headroom in front of the bytes
    std::uint64_t stamp = 0;  ///< with optimistic delivery
    Instant at{};             ///< when it was handed over
    bool resent = false;
  };

  // engine.cc
  void work(Instant now, Effects& out);
  void tick(Instant now, Effects& out);
  void elect(Instant now, Effects& out);
  void update_self();
  wire::State state() const;
  void say(const wire::State& said, Lane lane, Effects& out);
  void see_round(Instant now, const Round& round);
  const Peer* coordinator() const;
  void stop(Effects& out, std::string_view reason);
  bool misses_last() const;
  bool most_miss_last() const;

  // links.cc
  void look_at_links(Instant now);
  bool look_at_disk(Instant now);
  bool says_that_disk_hangs() const;
  void check_links(Effects& out);
  wire::Drop on_link_check(Peer& from, const BufferRef& packet);

  // engine_state.cc
  WaitReason why(bool waits) const;
  WaitReason why_outside() const;
  WaitReason hung_disks() const;
  WaitReason unheard_members() const;
  std::uint64_t failing_links() const;
  MemberId full_application() const;

  // exchange.cc
  bool admit(Instant now, const wire::Header& header, Effects& out);
  void report_incompatible(const wire::Header& header, wire::Drop reason, Effects& out);
  wire::Drop dispatch(Instant now, const Peer& from, wire::PaxosKind kind, const BufferRef& packet,
                      Effects& out);
  wire::Drop on_state(Instant now, const BufferRef& packet, Peer& from, Effects& out);
  wire::Drop on_submit(Instant now, const Peer& from, const BufferRef& packet);
  wire::Drop on_value(Instant now, const Peer& from, wire::PaxosKind kind, const BufferRef& packet,
                      Effects& out);
  wire::Drop take_proposal(Instant now, const Arrival& arrival, const BufferRef& bytes,
                           Effects& out);
  wire::Drop take_decided(Instance instance, const wire::ValueHead& head, const BufferRef& bytes);
  wire::Drop on_prepare(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  wire::Drop on_fetch(const Peer& from, const BufferRef& packet, Effects& out);
  wire::Drop on_fetched(const BufferRef& packet);
  wire::Drop on_repeat(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  wire::Drop on_decided(Instant now, const BufferRef& packet);
  wire::Drop on_checkpoint(const Peer& from, const BufferRef& packet, Effects& out);
  void answer_prepare(Effects& out);
  void tell_state(NodeId to, Effects& out);
  void send_decided(NodeId to, Instance instance, bool again, Effects& out);

  // lives.cc
  bool in_memory() const { return config_.storage == Storage::memory; }
  void found(Effects& out);
  wire::Drop on_lives(Peer& from, const BufferRef& packet, Effects& out);
  void begin_order(Effects& out);
  void forget_other_orders();
  bool shares_order(const Peer& peer) const;
  bool may_speak_for_order() const;
  bool is_told_to_vote(const Peer& from, const wire::Nodes& order) const;
  bool believes(const Peer& from, const wire::Checkpoint& said) const;
  void hear_voter(const Peer& from);
  void swear();
  void look_at_silence();
  WaitReason founding_waits() const;
  std::vector<MemberId> silent_acceptors() const;
  WaitReason waits_for_acceptors(const WaitKind* kind, Seq seq) const;
  bool has_forgotten() const;
  void report_forgotten(Effects& out);

  // own_log.cc
  void open_log(Effects& out);
  void begin(Instant now, Effects& out);
  void answer_about_log(const Peer& from, const wire::State& said, Effects& out);
  wire::Drop on_log_heard(const Peer& from, const BufferRef& packet, Effects& out);
  void note_put_back(Peer& from, bool was, Effects& out);
  void put_back(Effects& out);

  // nodes.cc
  void know_nodes();
  void change_nodes(Effects& out);
  bool votes() const;
  void vote();
  bool same_order(const wire::State& said) const;
  bool same_list(const Peer& peer) const;
  bool knows_order_of(const Round& round) const;
  bool is_ours(const Arrival& arrival);
  void write_checkpoint();
  void lead_again(Instant now, Effects& out);

  // learner.cc
  void mark_decided();
  void mark(Instance upto);
  bool consume(Effects& out);
  OrderState::Outcome apply(const Value& value);
  void deliver_unit(const Value& value, bool member, Effects& out);
  void change_view(Effects& out);
  void look_at_owed(Effects& out);
  bool goes_back_to(Instance instance) const;
  OwedPart owed_part() const;
  void keep_for_those_of(const std::vector<wire::ViewMember>& before);
  std::optional<Store::Decided> decided(Instance instance) const;
  bool note_history(const Slot& slot, Instance instance);

  // missing.cc
  void ask_for_missing(Instant now, Effects& out);
  void ask(const Peer& peer, Instance first, Effects& out);
  void note_twice(Instant now, Instance instance);
  Instant ask_again_at() const;
  bool lacks(Instance instance) const;
  std::optional<Instance> missing() const;
  const Peer* who_has(Instance instance) const;
  bool can_catch_up() const;
  bool waits_for_others() const;
  void recall(Effects& out);
  void recall_own(const wire::Recall& question);
  void answer_recall(NodeId to, const wire::Recall& recall, Effects& out);
  wire::Drop on_word(const Peer& from, const BufferRef& packet);
  bool take_recalled();
  std::optional<KeptWords::Word> word_on(Instance instance) const;
  void keep_words(Instance end);
  bool may_skip() const;
  void ask_for_checkpoint(Effects& out);
  void ask_checkpoint_of(const Peer& peer, Effects& out);

  // own_units.cc
  void pull(Effects& out);
  void submit(Own& own, Effects& out);
  void resend(Own& own, Effects& out);
  BufferRef own_bytes(const wire::ValueHead& head, bool& fresh);
  void resend_own(std::size_t count, Effects& out);
  Instant resend_own_at() const { return own_sent_at_ + own_patience_.wait(own_vain_); }
  void resend_late(Instant now, Effects& out);
  wire::Drop on_lacks(Instant now, const Peer& from, const BufferRef& packet, Effects& out);
  void follow(Instant now, const Round& round, Effects& out);

  // early_units.cc
  wire::Drop hear_early(Instant now, const wire::ValueFrame& frame, const BufferRef& bytes);
  void send_early(const BufferRef& packet, const Peer& leader, Effects& out);
  void tell_early(Effects& out);
  void tell(std::size_t index, const Early::Unit& unit, Effects& out);
  Seq placed_early(const Value& value, Seq seq, Effects& out);

  /// Ticks in a row in which nobody had what a member lacks, and nobody who may
  /// yet help came any further, before it stops: what it knows of others may be old.
  static constexpr unsigned kCutOffTicks = 100;
  /// The same while an acceptor is away.
  static constexpr unsigned kCutOffTicksAway = 1'000;
  static constexpr std::string_view kCutOff =
      "this node was cut off for longer than the others keep what was decided";

  const Config config_;
  Host& host_;
  OrderState state_;
  GivenList given_;
  Peers peers_;
  Company company_;
  Store store_;
  std::unique_ptr<LeftOut> own_left_out_;  ///< null if several ensembles share one
  LeftOut& left_out_;
  KeptWords kept_;
  Recall recall_;
  Outbox outbox_;
  std::unique_ptr<Routes> routes_;
  BufferPool& pool_;
  MemoryLog memory_log_;
  std::optional<Acceptor> acceptor_;
  std::optional<Early> early_;       ///< with optimistic delivery
  std::optional<Instant> early_at_;  ///< when a unit is to be told or proposed
  std::optional<Coordinator> coordinator_;

  /// `opening`: the log does not say yet that this incarnation has begun, so it says nothing.
  enum class Life : std::uint8_t { created, opening, running, stopped } life_ = Life::created;
  Instant started_{};
  Instant tick_at_{};
  bool more_ = false;   ///< the last call left work over
  Round round_seen_{};  ///< the highest anybody spoke of
  Instant round_seen_at_{};
  Round leading_{};          ///< the highest whose coordinator is known to be past Phase 1
  Instant retry_at_{};       ///< no Phase 1 of this node before
  Instant fit_enough_at_{};  ///< when the coordinator was last no less fit than this node
  bool misses_ = false;      ///< see misses_last()
  std::uint32_t beats_ = 0;  ///< signs of life sent so far
  bool disk_hangs_ = false;
  LogPosition disk_at_{};              ///< of the log: durable up to there
  Instant disk_moved_at_{};            ///< or had nothing to write
  std::optional<NodeId> promise_for_;  ///< who waits for a promise to be on disk
  Instant announce_at_{};              ///< not before; votes that come meanwhile go together
  bool announce_ = false;
  /// The last list of nodes that a checkpoint in the log knows of, on acceptors: nothing is said in
  /// a round of another one before.
  std::uint64_t logged_list_ = 0;
  Instance noted_from_ = 0;  ///< from here on the log says what was decided
  std::uint64_t list_told_;  ///< hash of the last one that people were told of, and of the first
  Founding founding_;
  bool taken_written_ = false;  ///< whom it takes is in the log, durably or not yet
  /// It has forgotten nothing that an acceptor in its life may have said: it has to be told so
  /// (lives.cc). The log says nothing of an order before.
  bool sworn_ = false;
  CopyCheck copy_check_;
  std::uint64_t told_forgotten_ = ~std::uint64_t{0};  ///< number of the list for which people were
  bool leads_again_ = false;  ///< it coordinated when another list began to count
  bool visiting_ = false;     ///< is not to be taken into a view
  std::uint64_t from_ = 0;  ///< key before the first value that this incarnation consumed in a row
  std::uint64_t views_from_ = 0;  ///< what others are told: of all ensembles

  Round decided_round_{};         ///< in which a majority voted last
  Instance decided_upto_ = 0;     ///< up to there
  Instance told_ = 0;             ///< of them, what the routes were told of
  Instance marked_ = 0;           ///< slots up to here were told so
  Instance highest_decided_ = 0;  ///< that anybody spoke of
  std::vector<Instance> votes_;   ///< scratch
  bool is_missing_ = false;       ///< something was, at the last look
  bool on_its_way_ = false;       ///< as far as this node can see
  Instance missed_ = 0;           ///< the first
  Instance missed_upto_ = 0;      ///< what is missing up to there is as late
  Instant missed_at_{};
  std::uint32_t asks_ = 0;  ///< for these
  bool asked_ = false;      ///< since the last sign of life
  Instance asked_upto_ = 0;
  Instant asked_at_{};
  const Instance ask_max_;      ///< instances to be asked for at a time
  Patience patience_;           ///< with what may only be late
  Instance checkpoint_at_ = 0;  ///< of the last one in the log
  bool checkpoint_wanted_ = false;
  unsigned cut_off_ticks_ = 0;
  std::size_t cut_off_heard_ = 0;  ///< acceptors that were heard then
  Instance recalled_upto_ = 0;     ///< acceptors were asked for their words up to there
  Instance cut_off_behind_ = 0;    ///< how far this node and those who may yet help are, in sum

  ViewId view_{};  ///< the last that this node was in, and installed
  Seq seq_ = 0;    ///< units delivered in it
  std::deque<Own> own_;
  std::uint64_t own_number_ = 0;
  Instant own_sent_at_{};
  Instant own_resent_at_{};  ///< some of them, because their place was late
  unsigned own_vain_ = 0;    ///< times that units were sent again since one had its place
  Patience own_patience_;    ///< with units that have no place yet
  Window own_window_;
  Instant now_{};  ///< of the call that is being carried out

  SaidOnce reported_;
  struct Counts {
    std::uint64_t originated = 0, delivered = 0, ignored = 0, views = 0, elections = 0, repeats = 0,
                  repeated = 0, resent = 0, checkpoints = 0;
  } counts_;
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops_{};
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::paxos
