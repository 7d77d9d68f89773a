// SPDX-License-Identifier: Apache-2.0
// Packets: which of them this member accepts, and what each does.
#include "base/hooks.h"
#include "order/toto/engine.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {
namespace {

using evs::State;
using wire::Drop;
using wire::FrameKind;
using wire::TotoKind;

}  // namespace

void TotoEngine::on_packet(Instant now, Lane /*lane*/, const BufferRef& packet, Effects& out) {
  if (membership_.left()) return;
  wire::Header header;
  Drop reason = wire::decode_header(packet.view(), header, checksum_);
  // A packet of a kind that no node with this engine sends. Its sender has another engine or other
  // settings, and so another cluster value: the packet goes to admit(), which reports the sender.
  const bool foreign = wire::is_paxos_kind(header.kind) || header.kind == FrameKind::settings ||
                       header.kind == FrameKind::token || header.kind == FrameKind::hold_cancel;
  if (reason == Drop::none && foreign && header.cluster == cluster_) reason = Drop::unknown_kind;
  if (reason == Drop::bad_version) membership_.report_incompatible({}, reason, out);
  if (reason != Drop::none) return parts_.drop(reason);
  if (!membership_.admit(now, header, out)) return;
  dispatch(now, header, packet, out);
}

void TotoEngine::on_old_incarnation(Instant now, const MemberId& newest, Effects& out) {
  membership_.on_old_incarnation(now, newest, out);
}

void TotoEngine::dispatch(Instant now, const wire::Header& header, const BufferRef& packet,
                          Effects& out) {
  const bool node = header.kind == wire::frame_kind(TotoKind::node);
  if (stale_input_ && !node && header.kind != FrameKind::data) return parts_.drop(Drop::stale);
  if (!wire::is_toto_kind(header.kind)) {
    const Drop reason = membership_.on_frame(now, header, packet, out);
    if (reason != Drop::none) parts_.drop(reason);
    return;
  }
  switch (static_cast<TotoKind>(header.kind)) {
    case TotoKind::node: on_node(now, header.sender, packet, out); return;
    case TotoKind::lacks: on_lacks(now, header.sender, packet, out); return;
    case TotoKind::status: on_status(now, header.sender, packet, out); return;
    case TotoKind::pass: on_pass(now, header.sender, packet, out); return;
  }
}

/// Whether a packet concerns this member's current view. Counts any other packet as dropped.
bool TotoEngine::is_of_view(Instant now, const ViewId& view, const MemberId& from, Effects& out) {
  if (view == membership_.view() && contains(membership_.members(), from)) return true;
  // A packet is foreign if its transmitter is no member. A member's packet that names another view
  // is not foreign: slower members may still send packets of the old view after an installation.
  if (!contains(membership_.members(), from)) membership_.on_foreign(now, from, out);
  parts_.drop(Drop::foreign);
  return false;
}

/// A member of this view sent a packet that only members of an open view send.
void TotoEngine::note_life(Instant now, const MemberId& from, Effects& out) {
  if (!parts_.operational()) return;
  if (!open_) open(now, out);
  if (!stale_input_) sender_.trust_view();
  const MemberSet& members = membership_.members();
  const auto index = static_cast<Index>(index_in(members, from));
  watch_.note_heard(now, index);
  if (index == (membership_.index() + 1U) % members.size()) membership_.tracked().arrived();
}

// ---- nodes ----

void TotoEngine::on_node(Instant now, const MemberId& from, const BufferRef& packet, Effects& out) {
  const Drop reason = wire::decode_node(packet.view(), arriving_);
  if (reason != Drop::none) return parts_.drop(reason);
  if (!is_of_view(now, arriving_.view, from, out)) return;
  ++counts_.nodes_received;
  const NodeRef node{arriving_.origin, arriving_.seq};
  const State state = membership_.state();
  if (!arriving_.retransmission && arriving_.origin != index_in(membership_.members(), from)) {
    return parts_.drop(Drop::bad_sender);
  }
  if (state == State::operational && !arriving_.retransmission) note_life(now, from, out);
  // Frozen: the commit token already says what this member holds.
  if (state == State::commit) return parts_.drop(Drop::wrong_state);
  if (state == State::recovery && !recovery_.in_union(node)) return parts_.drop(Drop::wrong_state);
  // A control node names all members that were heard, which may be more than fit beside a unit.
  const bool has_unit = arriving_.kind != wire::NodeKind::control;
  if (has_unit && packet.size() > limits_.packet_bytes_max) {
    return parts_.drop(Drop::out_of_window);
  }
  switch (graph_.store(arriving_, packet)) {
    case Taken::stored:
      if (state == State::operational && open_) {
        watch_.note_node(node.origin, arriving_.retransmission);
      }
      break;
    case Taken::duplicate: ++counts_.duplicates; return parts_.drop(Drop::duplicate);
    case Taken::out_of_window: return parts_.drop(Drop::out_of_window);
    case Taken::bad_value: return refused_.note(from, out);
  }
  join_nodes(out);
  refused_.look(out);
  if (!parts_.operational()) return;
  // What is missing in front of this node, and what it names, is asked for in time.
  graph_.note_exists(node, static_cast<Index>(index_in(membership_.members(), from)));
  repair_.look(now);
  want_turn(now);
}

// ---- requests and reports ----

void TotoEngine::on_lacks(Instant now, const MemberId& from, const BufferRef& packet,
                          Effects& out) {
  wire::TotoLacks lacks;
  const Drop reason = wire::decode_toto_lacks(packet.view(), lacks);
  if (reason != Drop::none) return parts_.drop(reason);
  if (!is_of_view(now, lacks.view, from, out)) return;
  repair_.answer(from, lacks, out);
}

void TotoEngine::on_status(Instant now, const MemberId& from, const BufferRef& packet,
                           Effects& out) {
  wire::TotoStatus status;
  const Drop reason = wire::decode_toto_status(packet.view(), status);
  if (reason != Drop::none) return parts_.drop(reason);
  if (!is_of_view(now, status.view, from, out)) return;
  if (!parts_.operational()) return parts_.drop(Drop::wrong_state);
  note_life(now, from, out);
  const auto member = static_cast<Index>(index_in(membership_.members(), from));
  if (!watch_.on_status(now, member, status, out)) return refused_.note(from, out);
  if (PEAL_MUTANT(tt_status_votes)) {
    outlet_.on_status(member, {status.have.begin(), status.have.size()}, out);
  }
  repair_.look(now);
  want_turn(now);
}

void TotoEngine::on_pass(Instant now, const MemberId& from, const BufferRef& packet, Effects& out) {
  wire::TotoPass pass;
  Drop reason = wire::decode_toto_pass(packet.view(), pass);
  const State state = membership_.state();
  const bool in_time = state == State::recovery || (parts_.operational() && !parts_.alone());
  if (reason == Drop::none && !in_time) reason = Drop::wrong_state;
  if (reason == Drop::none) reason = recovery_.take(from, pass);
  if (reason == Drop::foreign && parts_.operational() && !contains(membership_.members(), from)) {
    membership_.on_foreign(now, from, out);
  }
  if (reason == Drop::duplicate && open_) watch_.send_status(outlet_.held(), out);
  if (reason != Drop::none) return parts_.drop(reason);
  visit(now, out);
}

}  // namespace peal::order::toto
