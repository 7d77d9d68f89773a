// SPDX-License-Identifier: Apache-2.0
#include "order/evs/announcer.h"

#include "base/assert.h"

namespace peal::order::evs {
namespace {

// Minimum time between JOINs: within this time the JOINs of other members bring little news.
constexpr Duration kJoinGapMin = milliseconds(2);
constexpr Duration kProbeGapMin = milliseconds(5);

}  // namespace

void Announcer::send_join(Instant now, wire::Join join, Effects& out) {
  join.number = ++join_number_;
  join.heard = peers_.heard_now(now);
  join.list = lists_.active();
  const BufferRef packet = p_.frames.build(wire::FrameKind::join, join, wire::encode_join);
  last_join_at_ = now;
  join_sent_ = true;
  if (!join.leaving) {
    // Add jitter, so that a hundred nodes that start together do not send at the same times.
    const std::int64_t fifth = p_.settings.join.ns / 5;
    p_.timers.arm(Timer::join,
                  now + p_.settings.join + nanoseconds(random_.between(-fifth, fifth)));
  }
  if (!packet) return;
  ++p_.tally.joins_sent;
  out.multicast(Lane::control, packet);
}

bool Announcer::expedite_join(Instant now) {
  if (!join_sent_ || now - last_join_at_ >= kJoinGapMin) return true;
  const Instant at = last_join_at_ + kJoinGapMin;
  const auto armed = p_.timers.at(Timer::join);
  if (!armed.has_value() || at < *armed) p_.timers.arm(Timer::join, at);
  return false;
}

void Announcer::on_probe_timer(Instant now, Effects& out) {
  const Place& place = p_.place;
  // If all configured nodes are members, there is no other node to look for until the view ends.
  if (place.operational() && place.members.size() == lists_.size()) return;
  arm_probe(now);
  peers_.look_for_deaf(now, place.members);
  ++probe_round_;
  if (!place.operational()) return;
  // Members take turns, so that the search does not depend on the links of one member.
  if (probe_round_ % place.members.size() == place.index) send_probe(now, out);
}

void Announcer::answer(Instant now, const MemberId& from, Effects& out) {
  // Only two members answer. If all members answered, each packet from outside the view might
  // trigger a hundred probes.
  const std::uint16_t index = p_.place.index;
  const bool my_turn = index == 0 || index == from.node.value % p_.place.members.size();
  if (my_turn && (!probe_sent_ || now - last_probe_at_ > kProbeGapMin)) send_probe(now, out);
}

void Announcer::send_probe(Instant now, Effects& out) {
  PEAL_ASSERT(p_.place.operational());
  const wire::ProbeFrame probe{p_.place.view, peers_.heard_now(now), lists_.active()};
  last_probe_at_ = now;
  probe_sent_ = true;
  const BufferRef packet = p_.frames.build(wire::FrameKind::probe, probe, wire::encode_probe);
  if (!packet) return;
  ++p_.tally.probes_sent;
  out.multicast(Lane::control, packet);
}

void Announcer::arm_probe(Instant now) {
  const std::int64_t quarter = p_.settings.probe.ns / 4;
  p_.timers.arm(Timer::probe,
                now + p_.settings.probe + nanoseconds(random_.between(-quarter, quarter)));
}

void Announcer::tell_newest(Instant now, NodeId node, Effects& out) {
  Peer* known = peers_.find(node);
  if (known == nullptr || known->newest == 0) return;
  // A restarted node forms a view alone after one consensus timeout. So the time between notices
  // must be shorter than the consensus timeout.
  if (known->was_noticed && now - known->noticed < p_.settings.join * 2) return;
  known->noticed = now;
  known->was_noticed = true;
  const wire::EpochNotice notice{{node, known->newest}};
  const BufferRef packet =
      p_.frames.build(wire::FrameKind::epoch_notice, notice, wire::encode_epoch_notice);
  if (packet) out.send(node, Lane::control, packet);
}

}  // namespace peal::order::evs
