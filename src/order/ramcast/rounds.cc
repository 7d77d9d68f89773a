// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/rounds.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {

using Role = Standing::Role;

void Rounds::watch(Instant now, Effects& out) {
  const Standing& standing = parts_.standing;
  if (!standing.has_order()) return begin_order(now, out);
  if (watch_.must_take_over(now)) return take_over(now, false, state_.view(), out);
  if (!standing.leads()) return watch_leader(now);
  if (watch_.is_overtaken()) {
    takeover_.note_round(watch_.highest_promised());
    step_down();
    return take_over(now, false, state_.view(), out);
  }
  members_.watch(now, out);
}

/// If the leader is not heard, and others hear it, it may have excluded this server unheard.
void Rounds::watch_leader(Instant now) {
  const auto leader = parts_.layout.index_of(parts_.standing.promised.coordinator.node);
  if (!leader || parts_.layout.role(*leader).domain != parts_.domain) return;
  if (watch_.is_gone(now, parts_.layout.role(*leader).place)) {
    backlogs_.doubt(now);
  } else {
    backlogs_.trust();
  }
}

/// The first node of the domain begins the order, once all nodes are there. The incarnations that
/// are there then count.
void Rounds::begin_order(Instant now, Effects& out) {
  if (parts_.place != 0) return;
  wire::DomainView view;
  for (const NodeIndex node : parts_.layout.servers(parts_.domain)) {
    const bool self = node == parts_.index;
    if (!self && !links_.open(node)) return;
    // Nodes that have an order admit this one.
    const Place place = parts_.layout.role(node).place;
    if (!self && !(watch_.lives(now, place) && watch_.has_no_order(place))) return;
    view.roster.push_back(self ? parts_.self : links_.peer(node));
    view.last_in.push_back(0);
  }
  const bool asks = parts_.standing.role == Role::candidate;
  if (asks && view.roster == state_.view().roster) return;
  const std::span<const MemberId> roster(view.roster.begin(), view.roster.end());
  parts_.clock.raise(first_clock_of(roster));
  take_over(now, true, view, out);
}

void Rounds::take_over(Instant now, bool bootstrap, const wire::DomainView& view, Effects& out) {
  decision_.reset();
  members_.end();
  follower_.begin_log();
  takeover_.start(now, view, bootstrap, follower_, out);
  follower_.begin_log();
}

void Rounds::step_down() {
  if (parts_.standing.leads()) lead_.end();
  parts_.standing.role = Role::follower;
  decision_.reset();
  members_.end();
  takeover_.end();
}

void Rounds::on_takeover(Instant now, const MemberId& from, NodeIndex node,
                         const wire::Takeover& takeover, Effects& out) {
  const bool led = parts_.standing.leads();
  const auto result = takeover_.on_takeover(from, node, takeover, follower_, out);
  const wire::DomainView& view = takeover.view;
  if (result == Takeover::Result::refused) {
    const bool outdated =
        view.id.number < state_.view().id.number && takeover.round > parts_.standing.promised;
    if (outdated && parts_.standing.has_order()) watch_.set_outdated(takeover.round);
    return;
  }
  const bool excluded =
      view.id.number > state_.view().id.number && ((view.members >> parts_.place) & 1U) == 0;
  if (excluded) backlogs_.expect(now);
  if (result == Takeover::Result::repeated) return;
  follower_.begin_log();
  if (result == Takeover::Result::promised) {
    if (led) lead_.end();
    decision_.reset();
    members_.end();
  }
  if (parts_.standing.has_order()) return;
  // A process without an order takes part from now on; its base tells where.
  wire::DomainView roster = view;
  roster.id = {};
  roster.members = 0;
  roster.follows = 0;
  for (Seq& last : roster.last_in) last = 0;
  state_.bind(roster);
}

void Rounds::on_state(const MemberId& from, NodeIndex node, const wire::MemberState& state) {
  if (!takeover_.on_state(from, node, state)) return;
  if (parts_.standing.leads()) members_.on_state(parts_.layout.role(node).place);
}

// ---- the candidate ----

bool Rounds::try_to_lead(Instant now, Effects& out) {
  if (parts_.standing.leads() && parts_.standing.left_behind) step_down();
  if (parts_.standing.role != Role::candidate) return false;
  const bool at_last = takeover_.asked().id == state_.view().id && watch_.may_lead_at_last(now);
  if (!takeover_.bootstrap() && !watch_.may_lead(now) && !at_last) {
    // Meanwhile it has learned of a view without it.
    step_down();
    return false;
  }
  if (!decision_) {
    if (!takeover_.can_decide()) return false;
    decision_ = takeover_.decide();
    progress_at_ = pull_at_ = now;
    pull_gap_ = parts_.options.takeover();
    lacks_ = decision_->messages.size();
    pulls_ = 0;
  }
  const wire::DomainView newest = decision_->view;
  const bool inside = ((newest.members >> parts_.place) & 1U) != 0;
  // A candidate outside leads in the latest view if no member that answers has delivered it. A
  // majority has answered, so some member has: then nothing behind the view is released.
  const bool outside = state_.has_view() && !state_.is_member();
  const bool last_resort = newest.id == state_.view().id && !decision_->delivered_by_member;
  const bool may_lead = outside && !PEAL_MUTANT(rc_outside_leads_inside) ? last_resort : inside;
  if (newest.id.number != 0 && (!may_lead || newest.roster[parts_.place] != parts_.self)) {
    // A view has excluded this server, whose messages the others may have released by now.
    watch_.set_unfit(now, newest.id.number);
    step_down();
    backlogs_.expect(now);
    return false;
  }
  if (newest.id.number != 0 && newest.roster != takeover_.asked().roster) {
    // Another list of incarnations counts by now.
    take_over(now, false, newest, out);
    return false;
  }
  if (!is_quorum_of(decision_->proposed)) {
    decision_.reset();
    return false;
  }
  if (!gather_units(now, out)) {
    // Those who have the units may have crashed.
    if (now - progress_at_ > parts_.options.exclude()) take_over(now, false, state_.view(), out);
    return false;
  }
  parts_.standing.left_behind = false;
  lead_.begin(*decision_, takeover_.seed());
  members_.begin(decision_->answered);
  decision_.reset();
  replies_.begin();
  return true;
}

/// Those who answered are a majority of the roster of this view, too, if there is such a view.
bool Rounds::is_quorum_of(const wire::DomainView& proposed) const {
  if (proposed.id.number == 0) return true;
  const wire::DomainView& asked = takeover_.asked();
  unsigned count = 0;
  for (Place place = 0; place < asked.roster.size(); ++place) {
    const bool answered = ((decision_->answered >> place) & 1U) != 0;
    if (answered && asked.roster[place] == proposed.roster[place]) ++count;
  }
  return count >= parts_.quorum();
}

/// Each unit is asked for from one server at a time: hundreds of large ones may be missing.
bool Rounds::gather_units(Instant now, Effects& out) {
  const bool ask = now >= pull_at_;
  std::size_t lacks = 0;
  for (const BaseMessage& message : decision_->messages) {
    if (message.stamp == 0 && message.key == 0) continue;
    if (has_unit(now, message)) continue;
    ++lacks;
    if (ask) pull(message, out);
  }
  if (lacks < lacks_) progress_at_ = now;
  lacks_ = lacks;
  if (ask) {
    ++pulls_;
    pull_at_ = now + pull_gap_;
    pull_gap_ = std::min(pull_gap_ * 2, parts_.options.exclude());
  }
  return lacks == 0 || PEAL_MUTANT(rc_lead_without_units);
}

/// Asks the servers that have the unit in turn.
void Rounds::pull(const BaseMessage& message, Effects& out) {
  const auto others = static_cast<std::uint16_t>(message.bodies & ~(1U << parts_.place));
  const int count = std::popcount(others);
  if (count == 0) return;
  unsigned skip = pulls_ % static_cast<unsigned>(count);
  for (Place place = 0; place < parts_.layout.servers(parts_.domain).size(); ++place) {
    if (((others >> place) & 1U) == 0) continue;
    if (skip-- == 0)
      return repair_.pull(parts_.layout.servers(parts_.domain)[place], message.id, out);
  }
}

/// The unit of the message is here, or nobody who answered has it, or the message is past. A
/// message for which there is no space yet is not here: without it, this server would not lead
/// rightly.
bool Rounds::has_unit(Instant now, const BaseMessage& message) {
  const auto node = parts_.layout.index_of(message.id.sender.node);
  if (!node || messages_.is_past(message.id.sender, *node, message.head)) return true;
  Row* row = messages_.open_row(message.id.sender, *node, Origin::order);
  Record* record =
      row == nullptr ? nullptr : messages_.claim(*row, message.id, message.head, Origin::order);
  if (record == nullptr) return PEAL_MUTANT(rc_no_space_no_stamp);
  if (record->delivered) return true;
  messages_.list(*record, now + parts_.options.repair);
  return record->has_body || !record->kept.empty() || message.bodies == 0;
}

}  // namespace peal::order::ramcast
