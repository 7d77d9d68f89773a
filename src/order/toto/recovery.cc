// SPDX-License-Identifier: Apache-2.0
#include "order/toto/recovery.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/toto/timers.h"
#include "order/toto/vocabulary.h"

// A member that leaves the old view in another company than this one may have installed the new
// view in an attempt that failed here. It was complete then, and so was this member: the union of a
// later attempt contains the graph that the other member had. What the other member delivered in
// the regular view is decided in that graph, so it is decided in every larger one
// (total_order.cc). So no obligation outlives an attempt, unlike in the ring.

namespace peal::order::toto {

Recovery::Recovery(const Parts& parts, Repair& repair, std::uint64_t first)
    : p_(parts),
      repair_(repair),
      first_(first),
      guard_(parts.membership, {.timer = kRecoveryGuardTimer,
                                .longest = parts.options.guard(),
                                .stall = parts.options.fault,
                                .reason = &gather::toto_guard}) {}

void Recovery::abandon() { active_ = false; }

// ---- the record of the old view ----

void Recovery::freeze(std::vector<std::byte>& bytes) const {
  PEAL_ASSERT(!active_);
  OldViewRecord record = bytes.empty() ? OldViewRecord{} : decode_record(bytes);
  const std::span<const Seq> joined = p_.graph.joined();
  for (std::size_t i = 0; i < joined.size(); ++i) {
    if (i == record.size()) record.push_back(first_);
    if (PEAL_MUTANT(tt_union_without_self)) continue;
    record[i] = std::max(record[i], joined[i]);
  }
  bytes = encode(record);
}

bool Recovery::accepts(ByteView bytes) const {
  const OldViewRecord record = decode_record(bytes);
  if (record.size() != p_.graph.members()) return false;
  for (Index origin = 0; origin < record.size(); ++origin) {
    // The record must still have all that this member wrote into it; others may have added more.
    if (record[origin] < p_.graph.joined(origin)) return PEAL_MUTANT(tt_union_without_self);
    if (record[origin] - p_.graph.joined(origin) > p_.graph.stored().capacity()) return false;
  }
  return true;
}

void Recovery::begin(Instant now, const evs::Agreement& agreement, Effects& out) {
  PEAL_ASSERT(!active_);
  active_ = true;
  agreement_ = agreement;
  union_ = decode_record(agreement.old_view.record);
  pass_ = {};
  pass_.view = agreement.view;
  pass_.hop = first_;
  asked_ = agreement.index;
  for (Index origin = 0; origin < union_.size(); ++origin) {
    p_.graph.forget_beyond(origin, std::max(union_[origin], p_.graph.joined(origin)));
  }
  guard_.begin(now);
  out.report({&event::recovery_started, agreement.view, {}, missing(), 0});
}

void Recovery::end() {
  PEAL_ASSERT(active_);
  active_ = false;
  guard_.end();
}

// The union is at most as far ahead as a member stores nodes (accepts()), so the number is small.
std::uint32_t Recovery::missing() const {
  Seq missing = 0;
  for (Index origin = 0; origin < union_.size(); ++origin) {
    const Seq joined = p_.graph.joined(origin);
    missing += union_[origin] - std::min(union_[origin], joined);
  }
  return static_cast<std::uint32_t>(missing);
}

bool Recovery::complete() const { return missing() == 0 || PEAL_MUTANT(tt_flush_incomplete); }

MemberBits Recovery::survivors() const {
  MemberBits bits;
  const MemberSet& members = p_.membership.members();
  for (Index i = 0; i < members.size(); ++i) {
    if (contains(agreement_.old_view.survivors, members[i])) bits.set(i);
  }
  return bits;
}

// ---- the PASS ----

void Recovery::lead() {
  PEAL_ASSERT(pass_.hop == first_);
  pass_.hop = first_ + 1;
}

wire::Drop Recovery::take(const MemberId& from, const wire::TotoPass& pass) {
  const MemberSet& members = agreement_.members;
  if (pass.view != agreement_.view) return wire::Drop::foreign;
  if (from != members[(agreement_.index + members.size() - 1) % members.size()]) {
    return wire::Drop::bad_sender;
  }
  if (pass.hop <= pass_.hop) return wire::Drop::duplicate;
  // The representative sends the first PASS, once the commit token has gone round.
  const bool leads = active_ && agreement_.index == 0 && pass_.hop == first_;
  if (leads) return wire::Drop::wrong_state;
  pass_ = pass;
  return wire::Drop::none;
}

bool Recovery::mark(Instant now, Effects& out) {
  const auto members = static_cast<std::uint16_t>(agreement_.members.size());
  guard_.note_round(now, active_ ? missing() : 0, pass_.missing);
  if (!active_ || complete()) {
    pass_.run = std::min<std::uint16_t>(static_cast<std::uint16_t>(pass_.run + 1), 4 * members);
  } else {
    pass_.run = 0;
    guard_.note_incomplete(pass_.block, agreement_.index);
    pass_.block = agreement_.index;
    const MemberSet& survivors = agreement_.old_view.survivors;
    const MemberId& whom = survivors[asked_++ % survivors.size()];
    const MemberId& next = survivors[asked_ % survivors.size()];
    repair_.request_all(whom == p_.membership.self() ? next : whom, out);
  }
  const std::uint16_t enough = PEAL_MUTANT(tt_install_one_short) && members > 1
                                   ? static_cast<std::uint16_t>(members - 1)
                                   : members;
  return active_ && pass_.run >= enough && complete();
}

void Recovery::pass_on(Instant now, Effects& out) {
  ++pass_.hop;
  const BufferRef packet = p_.membership.frames().build(wire::frame_kind(wire::TotoKind::pass),
                                                        pass_, wire::encode_toto_pass);
  if (!packet) return;  // the attempt, or the view, times out
  const MemberSet& members = agreement_.members;
  p_.membership.send_tracked(now, members[(agreement_.index + 1U) % members.size()], packet, out);
}

// ---- an attempt that takes too long ----

MemberId Recovery::blocker() const {
  return pass_.block < agreement_.members.size() ? agreement_.members[pass_.block] : MemberId{};
}

void Recovery::on_guard(Instant now, Effects& out) {
  if (!active_) return;
  ++p_.counts.guards;
  PEAL_PROBE("toto.recovery_guard");
  const MemberId named = blocker();
  guard_.on_timer(now, agreement_, named == MemberId{} ? p_.membership.self() : named, out);
}

void Recovery::check_invariants() const {
  if (p_.membership.left()) return;
  PEAL_ASSERT(active_ == (p_.membership.state() == evs::State::recovery));
  if (active_) PEAL_ASSERT(agreement_.members[agreement_.index] == p_.membership.self());
}

}  // namespace peal::order::toto
