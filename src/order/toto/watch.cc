// SPDX-License-Identifier: Apache-2.0
#include "order/toto/watch.h"

#include "base/hooks.h"
#include "order/toto/timers.h"
#include "order/toto/vocabulary.h"

namespace peal::order::toto {

void Watch::begin(Instant now, bool full, Effects& out) {
  seen_.assign(p_.graph.members(), {});
  all_have_ = false;
  for (Seen& seen : seen_) {
    seen.heard = seen.followed_at = now;
    seen.acknowledged = p_.graph.joined(p_.membership.index());
  }
  if (p_.alone()) return on_list(now, out);
  send_status(full, out);
  p_.timers.arm(kStatusTimer, now + p_.options.status());
}

void Watch::on_pause(Instant now) {
  for (Seen& seen : seen_) seen.heard = seen.followed_at = now;
}

// ---- STATUS ----

/// What this member's STATUS names: its pending list, or, without one, the active list.
std::uint64_t Watch::own_list() const {
  const std::uint64_t pending = p_.membership.lists().pending();
  return pending != 0 ? pending : p_.membership.lists().active();
}

void Watch::send_status(bool full, Effects& out) {
  full_ = full;
  if (p_.alone()) return;
  wire::TotoStatus status;
  status.view = p_.membership.view();
  status.full = full;
  status.list = own_list();
  status.all_have = all_have_ || p_.membership.lists().pending() == 0;
  for (const Seq seq : p_.graph.joined()) status.have.push_back(seq);
  const BufferRef packet = p_.membership.frames().build(wire::frame_kind(wire::TotoKind::status),
                                                        status, wire::encode_toto_status);
  if (!packet) return;
  ++p_.counts.statuses_sent;
  out.multicast(Lane::control, packet);
}

bool Watch::on_status(Instant now, Index member, const wire::TotoStatus& status, Effects& out) {
  const std::size_t members = p_.graph.members();
  if (status.have.size() != members) return false;
  const Index self = p_.membership.index();
  // Nobody has nodes that this member has not made.
  if (status.have[self] > p_.graph.joined(self)) return false;
  for (Index origin = 0; origin < members; ++origin) {
    // What lies so far ahead comes from a damaged or hostile packet.
    if (status.have[origin] > p_.graph.joined(origin) + p_.graph.stored().capacity()) continue;
    p_.graph.note_exists({origin, status.have[origin]}, member);
    p_.graph.note_seen(member, origin, status.have[origin]);
  }
  Seen& seen = seen_[member];
  seen.full = status.full;
  seen.list = status.list;
  seen.all_have = status.all_have;
  on_list(now, out);
  return true;
}

// ---- the next list of nodes ----

bool Watch::all_have_list() const {
  for (Index member = 0; member < seen_.size(); ++member) {
    if (member == p_.membership.index()) continue;
    if (seen_[member].list != p_.membership.lists().pending()) return false;
  }
  return true;
}

/// A member reconfigures in two steps, so that none is left behind: first every member has the
/// list, then every member knows that.
void Watch::on_list(Instant now, Effects& out) {
  evs::NodeLists& lists = p_.membership.lists();
  if (lists.pending() == 0 || !all_have_list()) {
    all_have_ = false;
    return;
  }
  lists.all_have_next();
  if (!all_have_) {
    all_have_ = true;
    send_status(full_, out);
  }
  for (Index member = 0; member < seen_.size(); ++member) {
    if (member != p_.membership.index() && !seen_[member].all_have) return;
  }
  p_.membership.try_adopt(now, out);
}

NodesWait Watch::list_waits() const {
  const NodesWait view = p_.membership.lists().adoption_waits();
  if (p_.membership.lists().pending() == 0 || view.kind == NodesWait::Kind::view) return view;
  // A removed node never gets the pending list. Report that it still runs, since that can be fixed.
  if (view.kind == NodesWait::Kind::running) return view;
  for (Index member = 0; member < seen_.size(); ++member) {
    if (member == p_.membership.index()) continue;
    if (seen_[member].list != p_.membership.lists().pending()) {
      return {NodesWait::Kind::member, p_.membership.members()[member]};
    }
  }
  return view;
}

// ---- members that do not follow ----

std::optional<Index> Watch::full_member() const {
  for (Index member = 0; member < seen_.size(); ++member) {
    if (seen_[member].full) return member;
  }
  return std::nullopt;
}

MemberSet Watch::behind() const {
  MemberSet members;
  const Index self = p_.membership.index();
  const Seq oldest = p_.graph.stable(self);
  for (Index member = 0; member < seen_.size(); ++member) {
    if (member != self && p_.graph.seen(member, self) == oldest) {
      members.push_back(p_.membership.members()[member]);
    }
  }
  return members;
}

void Watch::on_timer(Instant now, bool full, Effects& out) {
  send_status(full, out);
  p_.timers.arm(kStatusTimer, now + p_.options.status());
  look(now, out);
}

/// Whether so many nodes of a member had to be requested that the link with it may be bad. A link
/// that loses one packet in twenty is taken for a bad one once in 10,000 times, and then a trial
/// shows that it is not.
bool Watch::loses_many(Seen& seen) const {
  constexpr std::uint32_t kNodes = 32;
  if (seen.nodes < kNodes) return false;
  const bool many = 4 * seen.repaired >= seen.nodes && !PEAL_MUTANT(tt_loss_not_seen);
  seen.nodes = seen.repaired = 0;
  return many;
}

void Watch::look(Instant now, Effects& out) {
  const Index self = p_.membership.index();
  for (Index member = 0; member < seen_.size(); ++member) {
    if (member == self) continue;
    Seen& seen = seen_[member];
    const MemberId& id = p_.membership.members()[member];
    if (now - seen.heard > p_.options.fault) {
      PEAL_PROBE("toto.silent_member");
      ++p_.counts.stalls;
      return p_.membership.gather_without(now, &gather::silence, id, out);
    }
    const Seq acknowledged = p_.graph.seen(member, self);
    const bool acknowledges =
        acknowledged > seen.acknowledged || acknowledged == p_.graph.joined(self) || seen.full;
    seen.acknowledged = acknowledged;
    // No later node of a member can join if its next one contradicts others.
    if (acknowledges && !p_.graph.barred().test(member)) seen.followed_at = now;
    if (p_.membership.is_trying()) continue;
    if (loses_many(seen)) {
      PEAL_PROBE("toto.lossy_member");
      p_.membership.suspect(now, id, false);
      continue;
    }
    if (now - seen.followed_at <= p_.options.fault) continue;
    PEAL_PROBE("toto.member_does_not_follow");
    ++p_.counts.stalls;
    seen.followed_at = now;
    p_.membership.suspect(now, id, true);
  }
}

}  // namespace peal::order::toto
