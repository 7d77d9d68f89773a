// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/members.h"

#include <bit>
#include <set>

#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

constexpr std::uint16_t bit_of(Place place) { return static_cast<std::uint16_t>(1U << place); }

}  // namespace

void Members::begin(std::uint16_t answered) {
  owed_ = 0;
  asked_in_.assign(state_.view().roster.size(), takeover_.asked().id.number);
  to_base_ = static_cast<std::uint16_t>(answered & ~bit_of(parts_.place));
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    // A server that has restarted since it answered exposes nothing to this one.
    const bool same = links_.peer(node_at(place)) == takeover_.asked().roster[place];
    if (!same) to_base_ = static_cast<std::uint16_t>(to_base_ & ~bit_of(place));
  }
  give_bases();
}

void Members::watch(Instant now, Effects& out) {
  change_view(now);
  renew_streams(now, out);
}

// ---- the view ----

/// Admits servers that have restarted, or were excluded and know it; and excludes members that are
/// gone. Both at once, if members have gone before they delivered the present view.
void Members::change_view(Instant now) {
  if (!lead_.can_propose_view() || !state_.has_view()) return;
  wire::DomainView next = state_.view();
  bool replaced_one = false;
  std::set<Seq> last_views;
  for (Place place = 0; place < next.roster.size(); ++place) {
    if (state_.is_member(place) || !may_join(now, place)) continue;
    const MemberId& peer = place == parts_.place ? parts_.self : links_.peer(node_at(place));
    const bool replaces = peer != next.roster[place];
    // One at a time: two rosters in a row then have a majority in common.
    if (replaces && replaced_one) continue;
    // Each comes back alone from its last view: groups have one table for those that come together.
    const Seq last_view = next.last_in[place];
    if (!replaces && last_view != 0 && !last_views.insert(last_view).second) continue;
    if (replaces && !are_units_held(place) && !PEAL_MUTANT(rc_units_leave)) continue;
    if (replaces) log_.drop(node_at(place));
    replaced_one = replaced_one || replaces;
    next.roster[place] = peer;
    next.members = static_cast<std::uint16_t>(next.members | bit_of(place));
    if (PEAL_MUTANT(rc_one_comes_back)) break;
  }
  // First those that have not restarted: the others can be replaced where they stand.
  leave_out(next, [this, now](Place place) {
    const bool silent = watch_.is_gone(now, place) || watch_.stays_deaf(now, place);
    return silent && !has_restarted(place);
  });
  leave_out(next, [this](Place place) { return has_restarted(place); });
  if (!replaced_one) replace_member(now, next);
  if (next != state_.view() && all_in_view(next)) lead_.propose_view(next);
}

/// Members for which `is_gone` holds, as long as a majority stays.
template <class Gone>
void Members::leave_out(wire::DomainView& next, Gone is_gone) const {
  for (Place place = 0; place < next.roster.size(); ++place) {
    if (place == parts_.place || !state_.is_member(place)) continue;
    const auto rest = static_cast<std::uint16_t>(next.members & ~bit_of(place));
    const auto left = static_cast<unsigned>(std::popcount(rest));
    if (is_gone(place) && left >= parts_.quorum()) next.members = rest;
  }
}

/// The node at this place has another incarnation than the one that counts.
bool Members::has_restarted(Place place) const {
  const MemberId& peer = links_.peer(node_at(place));
  return peer.node.value != 0 && peer != state_.counted(place);
}

/// A member that has restarted, and that the view cannot leave out, as too few members would be
/// left: its new incarnation takes its place at once.
void Members::replace_member(Instant now, wire::DomainView& next) {
  for (Place place = 0; place < next.roster.size(); ++place) {
    const bool stays = state_.is_member(place) && (next.members & bit_of(place)) != 0;
    if (place == parts_.place || !stays) continue;
    if (!has_restarted(place) || !may_join(now, place) || !are_units_held(place)) continue;
    log_.drop(node_at(place));
    next.roster[place] = links_.peer(node_at(place));
    return;
  }
}

/// A majority has the units of all messages whose keys are known, or that the server at this place
/// has acknowledged, without that server. Its former incarnation may have been one of few that had
/// them, and the new one has none.
bool Members::are_units_held(Place without) const {
  for (const auto& row : messages_.rows()) {
    for (const Record& record : row->records) {
      if (!record.used() || record.index <= row->released) continue;
      const bool counted = record.said[node_at(without)].acknowledged;
      if (record.key == 0 && !counted) continue;
      unsigned count = 0;
      for (Place place = 0; place < state_.view().roster.size(); ++place) {
        if (place != without && has_unit(place, record)) ++count;
      }
      if (count < parts_.quorum()) return false;
    }
  }
  return true;
}

bool Members::has_unit(Place place, const Record& record) const {
  if (place == parts_.place) return record.has_body;
  const NodeIndex node = node_at(place);
  if (links_.peer(node) != state_.counted(place)) return false;
  const bool acknowledged = record.said[node].acknowledged_in(parts_.standing.synchronized);
  const bool delivered = state_.is_member(place) && record.key > watch_.joined(place) &&
                         watch_.delivered_by(place) >= record.key;
  return acknowledged || delivered || (record.inlined && log_.has_unit(node, record.entry));
}

/// The server lives and hears this one, and no view owes anything to it: it says that it is
/// outside, and knows of the present view. Otherwise it may have said so before it learned of an
/// earlier view with it, which has ended since.
bool Members::may_join(Instant now, Place place) const {
  if (place == parts_.place) return true;
  const NodeIndex node = node_at(place);
  const wire::Control& control = watch_.control(place);
  const bool same = links_.peer(node) == state_.counted(place);
  const bool knows = !same || control.delivered >= state_.view().id.number;
  return links_.open(node) && watch_.lives(now, place) && !watch_.is_deaf(place) &&
         control.outside && (knows || PEAL_MUTANT(rc_joins_unknowing));
}

/// A majority of the roster has delivered the present view, and so have all members that stay: none
/// of them is two views behind.
bool Members::all_in_view(const wire::DomainView& next) const {
  const wire::DomainView& view = state_.view();
  unsigned count = 0;
  for (Place place = 0; place < view.roster.size(); ++place) {
    const bool there = watch_.delivered_by(place) >= view.id.number;
    const bool stays = state_.is_member(place) && (next.members & bit_of(place)) != 0 &&
                       next.roster[place] == view.roster[place];
    if (stays && !there) return false;
    if (there) ++count;
  }
  return count >= parts_.quorum();
}

/// A server that is excluded gets no more of the log: others may release now what it lacks.
void Members::on_view(const wire::DomainView& before) {
  if (!parts_.standing.leads()) return;
  for (Place place = 0; place < before.roster.size(); ++place) {
    const bool excluded = (before.members & bit_of(place)) != 0 && !state_.is_member(place);
    if (excluded && place != parts_.place) log_.drop(node_at(place));
  }
}

// ---- streams ----

/// Servers without a stream of the log, or with one that is of no use, are asked for a new region.
void Members::renew_streams(Instant now, Effects& out) {
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    if (place == parts_.place || !needs_stream(now, place)) continue;
    const NodeIndex node = node_at(place);
    ++parts_.counts.regrants;
    log_.drop(node);
    watch_.on_regrant(now, place);
    takeover_.ask_again(now, node, out);
    asked_in_[place] = state_.view().id.number;
  }
}

bool Members::needs_stream(Instant now, Place place) {
  const NodeIndex node = node_at(place);
  const bool counts = links_.open(node) && links_.peer(node) == state_.counted(place);
  if (!counts || takeover_.is_asked(place) || (to_base_ & bit_of(place)) != 0) return false;
  if (parts_.standing.role != Standing::Role::leader && takeover_.bootstrap()) return false;
  if ((owed_ & bit_of(place)) != 0) {
    // Once it was asked in a view without it, it knows that it is excluded, and says when it is
    // done.
    const bool knows = asked_in_[place] >= state_.view().id.number;
    if (knows && !watch_.control(place).outside) return false;
    owed_ = static_cast<std::uint16_t>(owed_ & ~bit_of(place));
  }
  return !log_.granted(node) || log_.stale(node) || watch_.lags(now, place, messages_.released());
}

void Members::on_state(Place place) {
  to_base_ = static_cast<std::uint16_t>(to_base_ | bit_of(place));
}

/// The process was excluded, and has not delivered everything up to that view. A base would skip
/// what the others have released without it.
bool Members::is_owed(const wire::MemberState& state, Place place) const {
  const bool was_member = ((state.view.members >> place) & 1U) != 0;
  // A leader may not have delivered yet the view that took the process in.
  const bool later =
      state.view.id.number > state_.view().id.number && !PEAL_MUTANT(rc_later_view_owes);
  const bool ended = !state_.is_member(place) || state.view.id.number < watch_.joined(place);
  return was_member && state_.has_view() && ended && !later;
}

void Members::give_bases() {
  if (to_base_ == 0 || !parts_.standing.leads()) return;
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    if ((to_base_ & bit_of(place)) == 0) continue;
    const wire::MemberState& state = takeover_.last_state(place);
    if (is_owed(state, place) && !PEAL_MUTANT(rc_base_for_owed)) {
      owed_ = static_cast<std::uint16_t>(owed_ | bit_of(place));
      continue;
    }
    log_.grant(node_at(place), takeover_.grant_of(place));
    lead_.base_for(node_at(place), state);
  }
  to_base_ = 0;
}

}  // namespace peal::order::ramcast
