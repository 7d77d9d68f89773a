// SPDX-License-Identifier: Apache-2.0
// Packets: which packets this member accepts, and the effect of each kind.

#include "base/hooks.h"
#include "order/ring/engine.h"

namespace peal::order::ring {
namespace {

using evs::State;
using wire::Drop;
using wire::FrameKind;

}  // namespace

void RingEngine::on_packet(Instant now, Lane /*lane*/, const BufferRef& packet, Effects& out) {
  if (membership_.left()) return;
  wire::Header header;
  Drop reason = wire::decode_header(packet.view(), header, checksum_);
  // No ring sends packets of a foreign kind. If the packet's cluster value differs from this
  // node's, the sender has another engine or other settings, and admit() reports the sender. If the
  // cluster value is the same, the packet is invalid.
  const bool foreign = wire::is_paxos_kind(header.kind) || wire::is_toto_kind(header.kind) ||
                       header.kind == FrameKind::settings;
  if (reason == Drop::none && foreign && header.cluster == cluster_) reason = Drop::unknown_kind;
  if (reason == Drop::bad_version) membership_.report_incompatible({}, reason, out);
  if (reason != Drop::none) {
    parts_.drop(reason);
    return;
  }
  if (!membership_.admit(now, header, out)) return;
  dispatch(now, header, packet, out);
}

void RingEngine::on_old_incarnation(Instant now, const MemberId& newest, Effects& out) {
  membership_.on_old_incarnation(now, newest, out);
}

void RingEngine::dispatch(Instant now, const wire::Header& header, const BufferRef& packet,
                          Effects& out) {
  if (stale_input_ && header.kind != FrameKind::data) return parts_.drop(Drop::stale);
  Drop reason = Drop::none;
  switch (header.kind) {
    case FrameKind::token:
      reason = wire::decode_token(packet.view(), arriving_);
      if (reason == Drop::none) on_token(now, header.sender, out);
      break;
    case FrameKind::data:
      if (wire::is_trial_of_data(packet.view())) {
        reason = membership_.on_frame(now, header, packet, out);
      } else {
        on_data(now, header.sender, packet, out);
      }
      break;
    case FrameKind::hold_cancel: {
      wire::HoldCancel cancel;
      reason = wire::decode_hold_cancel(packet.view(), cancel);
      if (reason == Drop::none && cancel.view == membership_.view() &&
          membership_.state() == State::operational) {
        if (rest_.on_hold_cancel()) work_on_token(now, out);
      }
      break;
    }
    default: reason = membership_.on_frame(now, header, packet, out); break;
  }
  if (reason != Drop::none) parts_.drop(reason);
}

// ---- the token arrives ----

void RingEngine::on_token(Instant now, const MemberId& from, Effects& out) {
  // In Gather and Commit, drop every token. If this member passed on a token of the old view, the
  // old view would stay alive, and others would discard packets that this member lacks.
  const State state = membership_.state();
  if (state == State::recovery && arriving_.view == recovery_.agreement().view) {
    const MemberSet& members = recovery_.agreement().members;
    const std::size_t before = (recovery_.agreement().index + members.size() - 1) % members.size();
    if (from != members[before]) return parts_.drop(Drop::bad_sender);
    if (arriving_.hop <= recovery_.last_hop() && !PEAL_MUTANT(token_duplicate_accepted)) {
      return parts_.drop(Drop::duplicate);
    }
    token_ = arriving_;
    visit_recovery(now, out);
    return;
  }
  const bool from_predecessor = !parts_.alone() && from == membership_.place().predecessor();
  if (arriving_.view != membership_.view() &&
      !(PEAL_MUTANT(token_of_another_view) && from_predecessor)) {
    if (state == State::operational && !contains(membership_.members(), from)) {
      membership_.on_foreign(now, from, out);
    }
    return parts_.drop(Drop::foreign);
  }
  if (PEAL_MUTANT(m11_forward_in_gather) && state == State::gather &&
      contains(membership_.members(), from) && arriving_.hop > hops_.last) {
    hops_.last = arriving_.hop;
    token_ = arriving_;
    send_token(now, out);
    return;
  }
  if (state != State::operational) return parts_.drop(Drop::wrong_state);
  if (!from_predecessor) return parts_.drop(Drop::bad_sender);
  if (arriving_.hop <= hops_.last && !PEAL_MUTANT(token_duplicate_accepted)) {
    if (PEAL_MUTANT(duplicate_rearms_loss)) membership_.note_life(now);
    // The predecessor retransmits only if it sees no sign of life for a long time. So the token
    // that this member sent does not rest: it was lost, and this member must retransmit it too.
    if (arriving_.hop == hops_.last) membership_.tracked().resend_overdue(now, out);
    return parts_.drop(Drop::duplicate);
  }
  // All positions that this member has received were assigned before this token arrived. So the
  // token's seq must be at least the highest of these positions.
  if (arriving_.seq < view_.stored().high()) return parts_.drop(Drop::bad_value);
  token_ = arriving_;
  visit(now, out);
}

// ---- data packets between visits ----

void RingEngine::on_data(Instant now, const MemberId& from, const BufferRef& packet, Effects& out) {
  wire::Data data;
  const Drop reason = wire::decode_data(packet.view(), data);
  if (reason != Drop::none) return parts_.drop(reason);
  const State state = membership_.state();
  if (data.view != membership_.view() || !contains(membership_.members(), data.origin)) {
    if (state == State::recovery && data.view == recovery_.agreement().view)
      ++counts_.data_in_recovery;
    // Call on_foreign() only if the transmitter is not a member. A member's packet may also name
    // another view: after an installation, slower members may still retransmit packets of the old
    // view.
    if (!contains(membership_.members(), from)) membership_.on_foreign(now, from, out);
    return parts_.drop(Drop::foreign);
  }
  ++counts_.data_received;
  switch (state) {
    case State::operational: {
      const bool fresh = view_.store(data, packet);
      const bool from_predecessor = !parts_.alone() && from == membership_.place().predecessor();
      if (from_predecessor && !data.retransmission && data.hop > hops_.last &&
          (data.post || options_.priority == PriorityMethod::aggressive)) {
        prefer_ = Lane::token;
      }
      // A packet that was ordered after this member sent the token shows that the token has
      // arrived.
      if (!data.retransmission && data.hop >= hops_.sent) membership_.tracked().lives(now);
      if (fresh) view_.deliver_ready(out);
      return;
    }
    case State::gather:
      view_.store(data, packet);
      return;  // store late packets, but do not deliver them
    case State::commit:
      // Store nothing: the commit token already carries the record of what this member holds.
      if (PEAL_MUTANT(m5_accept_in_commit)) {
        view_.store(data, packet);
        return;
      }
      return parts_.drop(Drop::wrong_state);
    case State::recovery:
      if (!recovery_.in_union(data.seq) && !PEAL_MUTANT(m6_accept_outside_union))
        return parts_.drop(Drop::wrong_state);
      if (view_.store(data, packet)) recovery_.check();
      return;
  }
}

}  // namespace peal::order::ring
