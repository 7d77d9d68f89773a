// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/follower.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ramcast/lead.h"

namespace peal::order::ramcast {
namespace {

/// Entries that one turn takes at most.
constexpr std::size_t kEntriesOfATurn = 256;
/// A base has at most this many entries.
constexpr std::size_t kBaseEntriesMax = 1U << 20;
/// Views that wait for their delivery. A member has one or two; a server outside may lag.
constexpr std::size_t kViewsMost = 16;

}  // namespace

bool Follower::read(Instant now) {
  now_ = now;
  if (parts_.standing.role != Standing::Role::follower) return false;
  return reader_.read(*this, kEntriesOfATurn) > 0;
}

void Follower::begin_log() {
  base_.clear();
  parts_.standing.waits_for_slot = active_ = false;
}

Follower::Taken Follower::take(const wire::LogEntry& entry, ByteView unit) {
  Standing& standing = parts_.standing;
  const bool in_base = entry.number < kFirstEntry;
  switch (entry.kind) {
    case wire::LogKind::base:
    case wire::LogKind::base_view:
    case wire::LogKind::base_sender: return take_base(entry, unit);
    case wire::LogKind::base_end: return end_base(entry, unit);
    case wire::LogKind::active:
      if (in_base) {
        active_ = true;
        return Taken::yes;
      }
      standing.active = true;
      break;
    case wire::LogKind::proposal:
      if (const Taken taken = take_proposal(entry, unit); taken != Taken::yes) return taken;
      break;
    case wire::LogKind::view: {
      if (outlet_.views().size() >= kViewsMost) return Taken::later;
      wire::DomainView view;
      const bool good = wire::decode_domain_view(unit, view) == wire::Drop::none &&
                        view.id.number == entry.stamp && is_own_stamp(entry.stamp) &&
                        is_view(view) && may_follow(entry.stamp);
      if (!good) return Taken::refused;
      outlet_.add_view(view, entry.number, false);
      parts_.clock.raise(clock_of(entry.stamp));
      break;
    }
    case wire::LogKind::commit: outlet_.commit_entries(entry.key); break;
    case wire::LogKind::pad: return Taken::yes;
  }
  outlet_.note_read(entry.number, clock_of(entry.stamp));
  return Taken::yes;
}

// ---- the base ----

Follower::Taken Follower::take_base(const wire::LogEntry& entry, ByteView unit) {
  BaseEntry each;
  each.entry = entry;
  bool good = entry.number < kFirstEntry && base_.size() < kBaseEntriesMax;
  if (entry.kind == wire::LogKind::base_view) {
    good = good && wire::decode_domain_view(unit, each.view) == wire::Drop::none &&
           each.view.id.number == entry.stamp && is_view(each.view);
  }
  if (!good) return Taken::refused;
  base_.push_back(each);
  return Taken::yes;
}

/// The base is complete. From now on this server is in step with the round, and its earlier
/// timestamps are void.
Follower::Taken Follower::end_base(const wire::LogEntry& entry, ByteView unit) {
  wire::DomainView view;
  const bool good = wire::decode_domain_view(unit, view) == wire::Drop::none &&
                    entry.key >= kFirstEntry && parts_.clock.believes_clock(entry.stamp);
  if (!good) return Taken::refused;
  // A leader that does not know yet of the view without this server has released nothing behind it.
  const bool inside = view.roster.size() > parts_.place &&
                      view.roster[parts_.place] == parts_.self &&
                      ((view.members >> parts_.place) & 1U) != 0;
  Standing& standing = parts_.standing;
  const bool owed = standing.left_behind && (!inside || PEAL_MUTANT(rc_left_behind_for_ever));
  // A leader that others have left behind breaks no rule.
  const bool member = state_.is_member();
  if ((member && (owed || skips_unknown())) || skips_behind_view()) return Taken::later;
  // A server outside the view has space for all.
  if (member && !has_space_for_base()) return Taken::refused;
  standing.left_behind = false;
  for (const auto& row : messages_.rows()) {
    for (Record& record : row->records) {
      if (record.used()) record.own = {};
    }
  }
  standing.synchronized = reader_.round();
  standing.entry = entry.key - 1;
  parts_.clock.raise(entry.stamp);
  acks_.begin_round();
  outlet_.begin_round(entry.stamp);
  for (const BaseEntry& each : base_) {
    if (!adopt(each)) parts_.drop(wire::Drop::bad_value);
  }
  base_.clear();
  messages_.forget_lost();
  standing.active = active_;
  active_ = false;
  outlet_.note_read(entry.key - 1, entry.stamp);
  reader_.resume_at(entry.key);
  return Taken::yes;
}

/// A leader that others have left behind takes messages for past that they have released without
/// this member, once their senders use the slots again.
bool Follower::skips_unknown() {
  if (PEAL_MUTANT(rc_base_skips_unknown)) return false;
  return std::any_of(base_.begin(), base_.end(), [this](const BaseEntry& each) {
    if (each.entry.kind != wire::LogKind::base_sender) return false;
    const MemberId& sender = each.entry.sender;
    const auto node = parts_.layout.index_of(sender.node);
    return node && !messages_.knows_below(sender, *node, each.entry.key);
  });
}

/// The same, for a view that this server has yet to deliver, and that it is in. Its leader has
/// released nothing behind that view; others have, if a later view leaves this server out.
bool Follower::skips_behind_view() const {
  if (PEAL_MUTANT(rc_base_skips_view)) return false;
  Seq first = wire::kCounterMax;
  for (const BaseEntry& each : base_) {
    if (each.entry.kind != wire::LogKind::base_view) continue;
    const wire::DomainView& view = each.view;
    const bool inside =
        view.roster[parts_.place] == parts_.self && ((view.members >> parts_.place) & 1U) != 0;
    if (inside && view.id.number > state_.view().id.number) first = std::min(first, view.id.number);
  }
  return std::any_of(base_.begin(), base_.end(), [first](const BaseEntry& each) {
    return each.entry.kind == wire::LogKind::base_sender && each.entry.stamp > first;
  });
}

/// Without all of its messages a base is none.
bool Follower::has_space_for_base() {
  std::map<MemberId, std::uint64_t> begins;
  std::map<NodeIndex, std::set<MemberId>> fresh;  // rows that have no records yet
  std::size_t moved = 0;
  for (const BaseEntry& each : base_) {
    if (each.entry.kind == wire::LogKind::base_sender) begins[each.entry.sender] = each.entry.key;
    if (each.entry.kind != wire::LogKind::base) continue;
    const auto node = parts_.layout.index_of(each.entry.sender.node);
    if (!node || !parts_.is_for_us(each.entry.head.to)) return false;
    const MemberId& sender = each.entry.sender;
    const Messages::Space space = messages_.space_for(sender, each.entry.head, begins[sender]);
    if (space == Messages::Space::none) return false;
    if (space == Messages::Space::moved) ++moved;
    if (space == Messages::Space::row) fresh[*node].insert(sender);
  }
  for (const auto& [node, senders] : fresh) {
    if (!messages_.can_fill(node, senders.size(), Origin::order)) return false;
  }
  return messages_.overwritten().has_space(moved) || PEAL_MUTANT(rc_no_space_no_stamp);
}

bool Follower::adopt(const BaseEntry& each) {
  const wire::LogEntry& entry = each.entry;
  if (entry.kind == wire::LogKind::base_view) {
    if (each.view.id.number > state_.view().id.number) {
      const bool space = outlet_.views().size() < kViewsMost;
      if (!space || !outlet_.may_add(each.view.id.number)) return false;
      outlet_.add_view(each.view, entry.key, entry.key == 0);
    }
    return true;
  }
  const auto node = parts_.layout.index_of(entry.sender.node);
  if (!node) return false;
  if (entry.kind == wire::LogKind::base_sender) {
    Row* row = messages_.open_row(entry.sender, *node, Origin::order);
    if (row == nullptr) return false;
    if (!parts_.clock.believes(entry.stamp)) return false;
    messages_.skip(*row, entry.key);
    // All members have delivered what the base skips. A server outside may not know it.
    if (!state_.is_member()) messages_.lose(entry.stamp);
    return true;
  }
  if (!parts_.is_for_us(entry.head.to)) return false;
  Row* row = messages_.open_row(entry.sender, *node, Origin::order);
  const std::uint64_t index = wire::index_in(entry.head, parts_.domain);
  const wire::MessageId id{entry.sender, entry.head.number};
  if (entry.key != 0 && row != nullptr &&
      (entry.key <= state_.delivered() || index <= row->released)) {
    messages_.note_past(*row, id, entry.head, entry.key);
    if (id.sender == parts_.self) sender_.note_past(id.number, entry.key);
    return true;
  }
  Record* record = record_of(entry);
  if (record == nullptr) return row != nullptr && index <= row->released;
  if (record->delivered) return true;
  if (entry.stamp != 0) {
    const bool places = record->key == 0 && entry.key == 0;
    if (places && !outlet_.may_add(entry.stamp)) return false;
    adopt_stamp(*record, reader_.round(), entry.stamp);
    if (places) outlet_.add(*record);
  }
  messages_.list(*record, now_ + parts_.options.repair);
  if (entry.key != 0) acks_.commit(*record, entry.key);
  return true;
}

/// The timestamp is above all that the leader has proposed before, as far as this server knows.
bool Follower::may_follow(Seq stamp) const {
  return clock_of(stamp) > parts_.standing.certified && outlet_.may_add(stamp);
}

/// The record of the message of an entry; null if there is no space for it.
Record* Follower::record_of(const wire::LogEntry& entry) {
  const auto node = parts_.layout.index_of(entry.sender.node);
  if (!node || !parts_.is_for_us(entry.head.to)) return nullptr;
  if (!parts_.clock.believes(entry.key) || !parts_.clock.believes(entry.stamp)) return nullptr;
  Row* row = messages_.open_row(entry.sender, *node, Origin::order);
  if (row == nullptr) return nullptr;
  return messages_.claim(*row, {entry.sender, entry.head.number}, entry.head, Origin::order);
}

// ---- timestamps ----

Follower::Taken Follower::take_proposal(const wire::LogEntry& entry, ByteView unit) {
  if (!is_own_stamp(entry.stamp) || parts_.standing.synchronized != reader_.round()) {
    return Taken::refused;
  }
  Record* record = record_of(entry);
  parts_.standing.waits_for_slot = record == nullptr;
  if (record == nullptr) {
    // An earlier message of the sender is still in its slot. All timestamps below this one are
    // known.
    outlet_.note_read(entry.number - 1, clock_of(entry.stamp) - 1);
    return Taken::later;
  }
  if (record->own.round == reader_.round()) return Taken::yes;
  if (!may_follow(entry.stamp)) return Taken::refused;
  parts_.clock.raise(clock_of(entry.stamp));
  record->own = {reader_.round(), entry.stamp};
  record->entry = entry.number;
  record->inlined = !unit.empty();
  if (!unit.empty() && !record->has_body) {
    messages_.put_logged(*messages_.find_row(entry.sender), *record, unit);
  }
  if (!PEAL_MUTANT(rc_no_body_no_stamp) || record->has_body) outlet_.add(*record);
  messages_.list(*record, now_ + parts_.options.repair);
  acks_.advance(*record);
  return Taken::yes;
}

}  // namespace peal::order::ramcast
