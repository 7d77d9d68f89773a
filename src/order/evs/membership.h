// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/evs/protocol.h"
#include "order/evs/timers.h"
#include "order/evs/vocabulary.h"
#include "order/member_set.h"
#include "order/said_once.h"
#include "wire/frames.h"
#include "wire/trial.h"

namespace peal::order::evs {

enum class State : std::uint8_t { gather, commit, recovery, operational };

/// Counters of the membership since the start.
struct Tally {
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Drop::count_)> drops{};
  std::uint64_t joins_sent = 0, joins_received = 0, probes_sent = 0, gathers = 0, commits = 0;
  std::uint64_t lists_adopted = 0, trials = 0;
  std::uint64_t views_installed = 0, silences = 0, resent = 0, unsendable = 0;

  void drop(wire::Drop reason) { ++drops[static_cast<std::size_t>(reason)]; }
};

/// Agrees with the other nodes on the members of the next view (spec: gather and commit), finds
/// other views to merge with, and holds the identity of this member. An engine with views owns one
/// and implements its Protocol.
///
/// The last installed view, with its packets, stays current until the next is installed.
class Membership {
 public:
  Membership(const Settings& settings, Protocol& protocol);

  // Inputs
  void start(Instant now, Effects& out);
  /// Whether a packet with this checked header is for this member and from a current incarnation.
  /// Counts the packet if it is not.
  bool admit(Instant now, const wire::Header& header, Effects& out);
  /// Handles an admitted packet of a membership kind: JOIN, COMMIT, PROBE, EPOCH_NOTICE, TRIAL, or
  /// DATA that is a TRIAL (wire/trial.h). Returns why the packet was dropped, or Drop::none.
  wire::Drop on_frame(Instant now, const wire::Header& header, const BufferRef& packet,
                      Effects& out);
  /// A packet of a node that is not a member of the current view.
  void on_foreign(Instant now, const MemberId& from, Effects& out);
  /// See Engine::on_old_incarnation().
  void on_old_incarnation(Instant now, const MemberId& newest, Effects& out);
  /// Reports, once per node and reason, a node whose packets are unusable.
  void report_incompatible(const wire::Header& header, wire::Drop reason, Effects& out);
  void on_timer(Instant now, Timer timer, Effects& out);
  void on_pause(Instant now, Duration gap, Effects& out);
  void leave(Instant now, Effects& out);

  /// See Engine::set_nodes().
  void set_nodes(Instant now, const NodeList& nodes, Effects& out);

  // Called by the engine
  /// Every member of the view has the pending list: see nodes.cc.
  void all_have_next() { all_have_next_ = true; }
  /// Reconfigures to the pending list, if its rules allow that in this view.
  void try_adopt(Instant now, Effects& out);
  /// Gives up the current view and gathers anew, with `suspect` accused if it is set.
  void regather(Instant now, const GatherReason* reason, const MemberId& suspect, Effects& out);
  /// `member` blocks recovery: accuses it and gathers anew.
  void accuse(Instant now, const MemberId& member, const GatherReason* reason, Effects& out);
  /// The view makes no progress: tests the link with `member` and accuses it if the link fails. If
  /// the link works, accuses the member only if it is `at_fault`.
  void suspect(Instant now, const MemberId& member, bool at_fault);
  bool is_trying() const { return trial_.active; }
  /// The agreed view is complete at all members and becomes the current one. It ends when the
  /// engine gives it up, when note_life() is not called for Settings::silence after its first call,
  /// or when a packet of another node ends it.
  void installed(Instant now, const Agreement& agreement, Effects& out);
  /// A sign of life of the view or of the attempt at one, which ends unless the next sign comes
  /// within Settings::silence.
  void note_life(Instant now) {
    timers_.arm(Timer::silence, now + settings_.silence);
    long_pause_ = false;
  }
  /// Sends a packet to one member, and retransmits it on a timer until sent_arrived(). sent_lives()
  /// restarts the timer. `extra` is added to the first timeout.
  void send_tracked(Instant now, const MemberId& to, const BufferRef& packet, Effects& out,
                    Duration extra = {});
  /// The packet arrived: stops retransmission.
  void sent_arrived() { timers_.cancel(Timer::resend); }
  /// A sign of life since the packet was sent: restarts the retransmit timer.
  void sent_lives(Instant now) {
    if (timers_.armed(Timer::resend)) timers_.arm(Timer::resend, now + settings_.resend);
  }
  /// Restores the usual retransmit timeout without `extra`.
  void end_extra(Instant now);
  /// Retransmits the packet now if its timer was longer than usual.
  void resend_overdue(Instant now, Effects& out);
  /// Encodes a frame as a packet of this member. Empty, and counted, if it fits no buffer or none
  /// is free.
  template <class Frame, class Encode>
  BufferRef build(wire::FrameKind kind, const Frame& frame, Encode encode) {
    BufferRef packet = control_->take();
    const std::size_t bytes =
        packet ? encode(header(kind), frame, ByteSpan{packet.data(), packet.size()}) : 0;
    if (bytes == 0) {
      ++tally_.unsendable;
      return {};
    }
    packet.truncate(static_cast<std::uint32_t>(bytes));
    return packet;
  }
  wire::Header header(wire::FrameKind kind) const {
    return {kind, settings_.cluster, self_, settings_.checksum};
  }

  // State
  State state() const { return state_; }
  const MemberId& self() const { return self_; }
  const ViewId& view() const { return view_; }
  const MemberSet& members() const { return members_; }
  std::uint16_t index() const { return index_; }
  const MemberId& successor() const { return members_[(index_ + 1U) % members_.size()]; }
  const MemberId& predecessor() const {
    return members_[(index_ + members_.size() - 1) % members_.size()];
  }
  bool announced() const { return view_.number != 0; }  ///< not the birth view
  const Agreement& agreement() const { return agreement_; }
  Primary primary_of(std::span<const MemberId> members) const;
  bool is_configured(NodeId node) const;  ///< in the active list or the pending one
  std::uint64_t list() const { return settings_.nodes.hash; }
  std::uint64_t next_list() const { return next_ ? next_->hash : 0; }  ///< 0: none
  /// What keeps this view from reconfiguring, besides members without the pending list.
  NodesWait adoption_waits() const;
  /// Members of other views that this member hears, but that have reported for a while that they
  /// hear no member of this view.
  MemberSet deaf_peers() const;
  /// The members that this member waits for while it gathers.
  MemberSet awaited() const;
  Timers& timers() { return timers_; }
  const Timers& timers() const { return timers_; }
  Tally& tally() { return tally_; }
  const Tally& tally() const { return tally_; }
  bool left() const { return left_; }
  std::uint64_t digest() const;
  void check_invariants() const;

 private:
  /// State of one configured node.
  struct Peer {
    NodeId node{};
    std::uint64_t newest = 0;     ///< largest epoch seen; 0 if none
    std::uint64_t last_join = 0;  ///< JOIN number of the newest incarnation
    Instant heard{};
    bool was_heard = false;
    std::uint32_t exclusions = 0;  ///< consecutive exclusions of `excluded`
    MemberId excluded{};
    Instant excluded_at{}, muted_until{};
    bool doubtful = false;  ///< `excluded` must pass a link trial before it may return
    MemberId accuser{};     ///< a member of the same view whose link with this node was bad, if any
    Instant no_trial_before{};  ///< earliest next trial after a failure
    Instant noticed{};
    bool was_noticed = false;
    bool other_list = false;  ///< its active list is not ours
    std::uint8_t deaf = 0;    ///< consecutive checks in which this member heard it and it did not
                              ///< hear this member
    bool said_deaf = false;   ///< since the last check
  };

  /// A link trial with one other node; see trials.cc.
  struct Trial {
    bool active = false;
    bool in_view = false;
    std::uint64_t number = 0;
    std::uint32_t sent = 0;                                 ///< ASKs sent of each part
    std::array<std::uint32_t, wire::kTrialParts> echoed{};  ///< bits of echoed ASKs
    MemberId with{};
    MemberId suspect{};     ///< the member to accuse if the link with `with` works
    bool at_fault = false;  ///< `with` is accused even if the link works
    ViewId view{};
  };

  // packets.cc
  void on_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out);
  void on_commit(Instant now, const MemberId& from, wire::Commit& commit, Effects& out);
  void on_probe(Instant now, const MemberId& from, const wire::ProbeFrame& probe, Effects& out);
  void on_epoch_notice(Instant now, const wire::EpochNotice& notice, Effects& out);
  void on_trial(Instant now, const MemberId& from, wire::Trial& frame, Effects& out);
  wire::Drop check_list(Instant now, const wire::Header& header, std::uint64_t list, Effects& out);
  wire::Drop take_join(Instant now, const wire::Header& header, ByteView packet, Effects& out);
  wire::Drop take_probe(Instant now, const wire::Header& header, ByteView packet, Effects& out);

  Peer* peer(NodeId node);
  const Peer* peer(NodeId node) const;
  bool superseded(const MemberId& member) const;
  bool muted(Instant now, const MemberId& member) const;
  void mark_heard(Instant now, const MemberId& member);
  void note_hearing(const MemberId& from, std::span<const MemberId> heard);
  void look_for_deaf(Instant now);
  MemberSet heard_now(Instant now) const;

  // trials.cc
  bool is_doubtful(const MemberId& member) const;
  bool left_to_accuser(const Peer& known) const;
  void note_accuser(const MemberId& member, const MemberId& accuser);
  void trust(const MemberId& member);
  void doubt(Instant now, Peer& known, const MemberId& member);
  void consider(Instant now, const MemberId& from);
  void start_trial(Instant now, const MemberId& with, bool in_view);
  void send_trial(wire::Trial frame, Effects& out);
  void on_trial_timer(Instant now, Effects& out);
  void end_trial(Instant now, Effects& out);
  void give_up_trial(Instant now);
  void accuse_for_link(Instant now, const MemberId& member, Effects& out);
  void end_suspicion(Instant now, const Trial& trial, bool stays, Effects& out);
  void note_pass(Instant now, const MemberId& to);
  int echoes() const;

  // nodes.cc
  /// False if the sender has another active list and this member cannot follow it. Its packet is
  /// then useless.
  bool same_list(Instant now, const MemberId& from, std::uint64_t list, Effects& out);
  void adopt(Instant now, Effects& out);
  void know_peers();
  bool may_leave_list() const;
  void drop_strangers(MemberSet& set) const;

  // gather.cc
  /// `who` is the other member that gave the reason, if any.
  void shift_to_gather(Instant now, const GatherReason* reason, const MemberId& who, Effects& out);
  void send_join(Instant now, Effects& out, bool leaving = false);
  void expedite_join(Instant now, Effects& out);
  void check_consensus(Instant now, bool from_timer, Effects& out);
  void on_consensus_timeout(Instant now, Effects& out);
  bool is_leftover(const MemberId& from, const wire::Join& join) const;
  void gather_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out);
  void on_leaving(Instant now, const MemberId& from, Effects& out);
  void start_sets_from_view();
  MemberSet candidates() const { return set_minus(processes_, failed_); }

  // commit.cc
  void create_commit(Instant now, const MemberSet& members, Effects& out);
  bool hears_rest_of(const wire::Commit& commit, std::uint32_t index) const;
  void enter_commit(Instant now, wire::Commit& commit, std::uint32_t index, Effects& out);
  void enter_recovery(Instant now, const wire::Commit& commit, Effects& out);
  void forward_commit(Instant now, wire::Commit& commit, Effects& out);

  // foreign.cc
  /// Notes an identity named in a packet. False if it is stale, unknown, or this member itself.
  bool note(Instant now, const MemberId& member, Effects& out);
  /// Tells the sender that a newer incarnation of its node is known.
  void tell_newest(Instant now, NodeId node, Effects& out);
  void answer(Instant now, const MemberId& from, Effects& out);
  void send_probe(Instant now, Effects& out);
  void on_probe_timer(Instant now, Effects& out);
  void arm_probe(Instant now);
  void correct_epoch(Instant now, std::uint64_t epoch, Effects& out);
  void resend(Instant now, Effects& out);
  void on_silence(Instant now, Effects& out);

  Settings settings_;
  Protocol& protocol_;
  std::unique_ptr<BufferPool> control_;
  Random random_;
  Timers timers_;
  Tally tally_;

  State state_ = State::gather;
  MemberId self_;
  bool installed_once_ = false;
  bool left_ = false;
  ViewId view_{};  // the last installed view
  MemberSet members_;
  std::uint16_t index_ = 0;

  ViewId committed_{};  // highest view ever entered Commit for; never goes back
  std::uint64_t view_number_max_ = 0;
  MemberSet processes_, failed_, consensus_;
  bool agreed_ = false;
  std::uint64_t join_number_ = 0;
  Instant last_join_at_{};
  bool join_sent_ = false;
  Instant gather_since_{};
  bool long_pause_ = false;  ///< longer than Settings::silence, since the last sign of life
  bool episode_ = false;     // a gather episode ends only with an install

  Agreement agreement_;  // of the attempt in Commit or Recovery
  bool led_ = false;     // the protocol was told that all members are in recovery
  MemberId last_sent_to_{};
  BufferRef last_sent_;

  Trial trial_;
  std::uint32_t resent_ = 0;        ///< retransmissions of last_sent_
  std::uint32_t resent_score_ = 0;  ///< for the successor; see trials.cc
  Instant suspect_again_{};

  std::optional<NodeList> next_;  ///< the pending list
  bool all_have_next_ = false;    ///< all members of the last view have the pending list
  bool confirmed_ = true;         ///< a primary view used the active list, or it is the first list

  std::uint64_t probe_round_ = 0;
  Instant last_probe_at_{};
  bool probe_sent_ = false;
  std::vector<Peer> peers_;  // sorted by node, self excluded
  SaidOnce reported_;
};

}  // namespace peal::order::evs
