// SPDX-License-Identifier: Apache-2.0
// Packets of the membership's kinds, from the first look at their header on.

#include "base/hooks.h"
#include "order/evs/membership.h"

namespace peal::order::evs {

using wire::Drop;
using wire::FrameKind;

bool Membership::admit(Instant now, const wire::Header& header, Effects& out) {
  if (header.cluster != settings_.cluster) {
    const bool same_name = header.cluster >> 32 == settings_.cluster >> 32;
    const Drop reason = same_name ? Drop::other_settings : Drop::other_cluster;
    tally_.drop(reason);
    report_incompatible(header, reason, out);
    return false;
  }
  if (header.sender == self_) {
    tally_.drop(Drop::own);
    return false;
  }
  if (!is_configured(header.sender.node)) {
    tally_.drop(Drop::bad_sender);
    return false;
  }
  if (!note(now, header.sender, out)) {
    tally_.drop(Drop::stale);
    if (header.sender.node != self_.node) tell_newest(now, header.sender.node, out);
    return false;
  }
  return true;
}

// As if a packet of that incarnation had come: see admit().
void Membership::on_old_incarnation(Instant now, const MemberId& newest, Effects& out) {
  if (left_ || newest.node == self_.node) return;
  tally_.drop(Drop::stale);
  note(now, newest, out);
  tell_newest(now, newest.node, out);
}

void Membership::report_incompatible(const wire::Header& header, Drop reason, Effects& out) {
  const NodeId node = is_configured(header.sender.node) ? header.sender.node : NodeId{};
  if (!reported_.first(node, static_cast<unsigned>(reason))) return;
  out.report(
      {&event::incompatible_peer, view_, header.sender, static_cast<std::uint64_t>(reason), 0});
}

Drop Membership::on_frame(Instant now, const wire::Header& header, const BufferRef& packet,
                          Effects& out) {
  const MemberId& from = header.sender;
  switch (header.kind) {
    case FrameKind::join: return take_join(now, header, packet.view(), out);
    case FrameKind::probe: return take_probe(now, header, packet.view(), out);
    case FrameKind::commit: {
      wire::Commit commit;
      const Drop reason = wire::decode_commit(packet.view(), protocol_.commit_format(), commit);
      if (reason == Drop::none) on_commit(now, from, commit, out);
      return reason;
    }
    case FrameKind::epoch_notice: {
      wire::EpochNotice notice;
      const Drop reason = wire::decode_epoch_notice(packet.view(), notice);
      if (reason == Drop::none) on_epoch_notice(now, notice, out);
      return reason;
    }
    case FrameKind::data:
      if (!wire::is_trial_of_data(packet.view())) return Drop::unknown_kind;
      [[fallthrough]];
    case FrameKind::trial: {
      wire::Trial trial;
      const Drop reason = wire::decode_trial(packet.view(), trial);
      if (reason == Drop::none) on_trial(now, from, trial, out);
      return reason;
    }
    default: return Drop::unknown_kind;
  }
}

Drop Membership::take_join(Instant now, const wire::Header& header, ByteView packet, Effects& out) {
  wire::Join join;
  Drop reason = wire::decode_join(packet, join);
  if (reason == Drop::none) reason = check_list(now, header, join.list, out);
  if (reason == Drop::none) on_join(now, header.sender, join, out);
  return reason;
}

Drop Membership::take_probe(Instant now, const wire::Header& header, ByteView packet,
                            Effects& out) {
  wire::ProbeFrame probe;
  Drop reason = wire::decode_probe(packet, probe);
  // Inside a view the engine says who has which list, and nobody is to be followed out of it.
  const bool from_view = probe.view == view_ && state_ == State::operational;
  if (reason == Drop::none && !from_view) reason = check_list(now, header, probe.list, out);
  if (reason == Drop::none) on_probe(now, header.sender, probe, out);
  return reason;
}

Drop Membership::check_list(Instant now, const wire::Header& header, std::uint64_t list,
                            Effects& out) {
  if (same_list(now, header.sender, list, out)) return Drop::none;
  // What somebody goes by who is about to follow is nobody's mistake.
  if (list != next_list()) report_incompatible(header, Drop::other_list, out);
  return Drop::other_list;
}

}  // namespace peal::order::evs
