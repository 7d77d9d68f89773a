// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "base/ids.h"
#include "base/time.h"
#include "order/engine.h"
#include "order/evs/announcer.h"
#include "order/evs/attempt.h"
#include "order/evs/gathering.h"
#include "order/evs/link_trial.h"
#include "order/evs/node_lists.h"
#include "order/evs/parts.h"
#include "order/evs/peers.h"
#include "order/evs/protocol.h"
#include "order/evs/timers.h"
#include "order/evs/tracked_packet.h"
#include "order/evs/vocabulary.h"
#include "order/incompatible_peers.h"
#include "order/member_set.h"
#include "wire/frames.h"
#include "wire/trial.h"

namespace peal::order::evs {

/// Agrees with the other nodes on the members of the next view (the stages gather and commit),
/// finds other views to merge with, and holds the identity of this member. An engine with views
/// owns one Membership. The engine implements the Protocol whose functions the Membership calls.
///
/// The last installed view, with its packets, stays current until the next view is installed.
///
/// Each part of the task is a class with its own state (README.md, "The files"). Membership owns
/// one object of each such class, and keeps the state of the view change (State in parts.h). Nearly
/// every packet and timer may change this state, so all its transitions are in Membership. More
/// than half of the functions are the interface to the engine. membership.cc has the inputs, timers
/// and transitions; packets.cc has the packets.
class Membership {
 public:
  Membership(const Settings& settings, Protocol& protocol);
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // Inputs
  void start(Instant now, Effects& out);
  /// True if the sender in this checked header is the newest known incarnation of another
  /// configured node of this cluster. Otherwise counts the packet as dropped.
  bool admit(Instant now, const wire::Header& header, Effects& out);
  /// Handles an admitted packet of a membership kind: JOIN, COMMIT, PROBE, EPOCH_NOTICE, TRIAL, or
  /// DATA that is a TRIAL (wire/trial.h). Returns why the packet was dropped, or Drop::none.
  wire::Drop on_frame(Instant now, const wire::Header& header, const BufferRef& packet,
                      Effects& out);
  /// A packet came from the configured member `from`, which is outside the current view.
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

  // Called by the engine.
  /// Reconfigures to the pending list, if the rules of node_lists.cc allow the change in this view.
  void try_adopt(Instant now, Effects& out);
  /// Gives up the current view and gathers anew. Accuses `suspect` if it is set.
  void regather(Instant now, const GatherReason* reason, const MemberId& suspect, Effects& out);
  /// The same, for a member that is silent: nobody needs to be told to leave out a member that does
  /// not answer. `silent` is for the report.
  void gather_without(Instant now, const GatherReason* reason, const MemberId& silent,
                      Effects& out);
  /// `member` blocks recovery, or a link trial has shown it to be at fault: accuses it and gathers
  /// anew.
  void accuse(Instant now, const MemberId& member, const GatherReason* reason, Effects& out);
  /// Tests the link with `member`, because the view makes no progress. Accuses `member` if this
  /// link fails while the link with another member works. If `member` is `at_fault` for a stall,
  /// accuses `member` in any case. See link_trial.cc.
  void suspect(Instant now, const MemberId& member, bool at_fault) {
    trial_.suspect(now, member, at_fault);
  }
  bool is_trying() const { return trial_.active(); }
  /// The agreed view is complete at all members, and becomes the current view. The current view
  /// ends when the engine gives it up, when no note_life() follows within Settings::silence of the
  /// last note_life(), or when a packet of another node ends the view.
  void installed(Instant now, const Agreement& agreement, Effects& out);
  /// Notes a sign of life of the view, or of the attempt at a view. The view or attempt ends if the
  /// next sign of life does not come within Settings::silence.
  void note_life(Instant now) {
    timers_.arm(Timer::silence, now + settings_.silence);
    long_pause_ = false;
  }
  /// Sends `packet` to the member `to`, and retransmits the packet on a timer until
  /// tracked().arrived(). `extra` is added to the first timeout.
  void send_tracked(Instant now, const MemberId& to, const BufferRef& packet, Effects& out,
                    Duration extra = {});
  TrackedPacket& tracked() { return tracked_; }
  Frames& frames() { return frames_; }

  // State
  State state() const { return place_.state; }
  const MemberId& self() const { return self_; }
  const ViewId& view() const { return place_.view; }
  const MemberSet& members() const { return place_.members; }
  std::uint16_t index() const { return place_.index; }
  const Place& place() const { return place_; }
  NodeLists& lists() { return lists_; }
  const NodeLists& lists() const { return lists_; }
  /// Members of other views that this member hears, but that have reported several times that they
  /// hear no member of this view.
  MemberSet deaf_peers() const;
  /// The members that this member waits for while it gathers.
  MemberSet awaited() const;
  Timers& timers() { return timers_; }
  Tally& tally() { return tally_; }
  const Tally& tally() const { return tally_; }
  bool left() const { return left_; }
  std::uint64_t digest() const;
  void check_invariants() const;

 private:
  // In packets.cc.
  /// Notes `member`, which a packet names. False if its epoch is old or invalid, if its node is not
  /// configured, or if its node is this node.
  bool note(Instant now, const MemberId& member, Effects& out);
  /// `list`: hash of the sender's active list. This member first adopts the list if it may. Returns
  /// Drop::other_list if the two active lists still differ, or if the adopted list lacks the
  /// sender. Then this member must ignore the packet.
  wire::Drop check_list(Instant now, const wire::Header& header, std::uint64_t list, Effects& out);
  wire::Drop take_join(Instant now, const wire::Header& header, ByteView packet, Effects& out);
  void on_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out);
  void on_leaving(Instant now, const MemberId& from, Effects& out);
  bool is_leftover(const MemberId& from, const wire::Join& join) const;
  void on_commit(Instant now, const MemberId& from, wire::Commit& commit, Effects& out);
  wire::Drop on_probe(Instant now, const wire::Header& header, ByteView packet, Effects& out);
  void on_trial(Instant now, const MemberId& from, const wire::Trial& frame, Effects& out);
  void answer(Instant now, const MemberId& from, Effects& out);

  // membership.cc
  void on_silence(Instant now, Effects& out);
  void on_consensus_timeout(Instant now, Effects& out);
  void send_join(Instant now, Effects& out, bool leaving = false);
  /// `from`: the other member that caused the gathering, if any.
  void shift_to_gather(Instant now, const GatherReason* reason, const MemberId& from, Effects& out);
  void gather_join(Instant now, const MemberId& from, const wire::Join& join, Effects& out);
  void check_consensus(Instant now, bool from_timer, Effects& out);
  void enter_commit(Instant now, wire::Commit& commit, std::uint32_t index, Effects& out);
  void forward_commit(Instant now, wire::Commit& commit, Effects& out);
  void enter_recovery(Instant now, wire::Commit& commit, Effects& out);
  void correct_epoch(Instant now, std::uint64_t epoch, Effects& out);
  void follow_verdict(Instant now, const LinkTrial::Verdict& verdict, Effects& out);
  void adopt(Instant now, Effects& out);
  const MemberSet& members_or_processes() const {
    return place_.operational() ? place_.members : gathering_.processes();
  }

  const Settings settings_;
  Protocol& protocol_;
  Timers timers_;
  Tally tally_;

  MemberId self_;
  Place place_;
  bool installed_once_ = false;
  bool left_ = false;
  /// After the last sign of life, this process paused for Settings::silence or longer.
  bool long_pause_ = false;

  Frames frames_;
  const Parts parts_;
  NodeLists lists_;
  Peers peers_;
  Announcer announcer_;
  Gathering gathering_;
  Attempt attempt_;
  TrackedPacket tracked_;
  LinkTrial trial_;
  IncompatiblePeers incompatible_;
};

}  // namespace peal::order::evs
