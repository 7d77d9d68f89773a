// SPDX-License-Identifier: Apache-2.0
// The rounds of a domain: who leads, who follows, who is in the view.
#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/ramcast/engine.h"

namespace peal::order::ramcast {

using Role = Standing::Role;

/// At each beat: is everybody there?
void RamcastEngine::watch(Instant now, Effects& out) {
  if (!watch_.beat_is_due(now)) return;
  replies_.hurry();
  if (lead_.idle()) {
    std::vector<MemberId> current{self_};
    for (NodeIndex node = 0; node < layout_.nodes(); ++node) current.push_back(links_.peer(node));
    messages_.remove_finished_rows(current);
  }
  const bool begun = state_.has_view() || standing_.synchronized != wire::Round{};
  if (!begun) return begin_order(now, out);
  if (watch_.must_take_over(now)) return take_over(now, false, state_.view(), out);
  if (!standing_.leads()) return;
  if (watch_.is_overtaken()) {
    takeover_.note_round(watch_.highest_promised());
    step_down();
    return take_over(now, false, state_.view(), out);
  }
  change_view(now);
  renew_streams(now, out);
}

/// The first node of the domain begins the order, once all nodes are there. The incarnations that
/// are there then count.
void RamcastEngine::begin_order(Instant now, Effects& out) {
  if (parts_.place != 0) return;
  wire::DomainView view;
  for (const NodeIndex node : layout_.servers(parts_.domain)) {
    if (node != parts_.index && !links_.open(node)) return;
    // Nodes that follow a leader have an order: they admit this one.
    const Place place = layout_.role(node).place;
    const bool waits = watch_.lives(now, place) && watch_.control(place).entry == 0;
    if (node != parts_.index && !waits) return;
    view.roster.push_back(node == parts_.index ? self_ : links_.peer(node));
  }
  if (standing_.role == Role::candidate && view.roster == state_.view().roster) return;
  take_over(now, true, view, out);
}

void RamcastEngine::take_over(Instant now, bool bootstrap, const wire::DomainView& view,
                              Effects& out) {
  decision_.reset();
  to_base_ = 0;
  follower_.begin_log();
  takeover_.start(now, view, bootstrap, follower_, out);
  follower_.begin_log();
}

/// Another server leads, or will.
void RamcastEngine::step_down() {
  if (standing_.leads()) lead_.end();
  standing_.role = Role::follower;
  decision_.reset();
  to_base_ = 0;
  takeover_.end();
}

/// A candidate that knows enough becomes the leader, once it has all units of its base.
bool RamcastEngine::try_to_lead(Instant now, Effects& out) {
  if (standing_.role != Role::candidate) return false;
  if (!decision_) {
    if (!takeover_.can_decide()) return false;
    decision_ = takeover_.decide();
    decided_ = pulled_ = now;
  }
  const wire::DomainView& newest = decision_->view;
  const bool inside = ((newest.members >> parts_.place) & 1U) != 0;
  if (newest.id.number != 0 && (!inside || newest.roster[parts_.place] != self_)) {
    // A view has excluded this server, whose messages the others may have released by now.
    watch_.set_unfit();
    step_down();
    return false;
  }
  if (decision_->view.id.number != 0 && decision_->view.roster != takeover_.asked().roster) {
    // Another list of incarnations counts by now.
    const wire::DomainView newer = decision_->view;
    take_over(now, false, newer, out);
    return false;
  }
  if (!is_quorum_of(decision_->proposed)) {
    decision_.reset();
    return false;
  }
  if (!gather_units(now, out)) {
    // Those who have the units may have crashed.
    if (now - decided_ > options_.exclude()) take_over(now, false, state_.view(), out);
    return false;
  }
  lead_.begin(*decision_, takeover_);
  decision_.reset();
  replies_.begin();
  return true;
}

/// Those who answered are a majority of the roster of this view, too, if there is such a view.
bool RamcastEngine::is_quorum_of(const wire::DomainView& proposed) const {
  if (proposed.id.number == 0) return true;
  const wire::DomainView& asked = takeover_.asked();
  unsigned count = 0;
  for (Place place = 0; place < asked.roster.size(); ++place) {
    const bool answered = ((decision_->answered >> place) & 1U) != 0;
    if (answered && asked.roster[place] == proposed.roster[place]) ++count;
  }
  return count >= parts_.quorum();
}

bool RamcastEngine::gather_units(Instant now, Effects& out) {
  const bool ask = now >= pulled_;
  bool complete = true;
  for (const BaseMessage& message : decision_->messages) {
    if (message.stamp == 0 && message.key == 0) continue;
    const auto node = layout_.index_of(message.id.sender.node);
    Row* row = node ? messages_.open_row(message.id.sender, *node) : nullptr;
    Record* record = row == nullptr ? nullptr : messages_.claim(*row, message.id, message.head);
    if (record == nullptr || record->delivered) continue;
    messages_.list(*record, now + options_.repair);
    if (record->has_body || message.bodies == 0) continue;
    complete = false;
    if (!ask) continue;
    for (Place place = 0; place < state_.view().roster.size(); ++place) {
      if (((message.bodies >> place) & 1U) == 0 || place == parts_.place) continue;
      repair_.pull(layout_.servers(parts_.domain)[place], message.id, out);
    }
  }
  if (ask) pulled_ = now + options_.takeover();
  return complete || PEAL_MUTANT(rc_lead_without_units);
}

/// Excludes members that are gone, and admits nodes that have restarted, or were excluded.
void RamcastEngine::change_view(Instant now) {
  if (!lead_.can_propose_view() || !state_.has_view()) return;
  if (watch_.in_view() < parts_.quorum()) return;
  wire::DomainView next = state_.view();
  bool admits = false;
  for (Place place = 0; place < next.roster.size(); ++place) {
    const NodeIndex node = layout_.servers(parts_.domain)[place];
    if (node == parts_.index) continue;
    const MemberId& peer = links_.peer(node);
    const bool replaced = peer.node.value != 0 && peer != next.roster[place];
    const auto bit = static_cast<std::uint16_t>(1U << place);
    if ((next.members & bit) != 0) {
      const auto rest = static_cast<std::uint16_t>(next.members & ~bit);
      const auto left = static_cast<unsigned>(std::popcount(rest));
      if ((replaced || watch_.is_gone(now, place)) && left >= parts_.quorum()) next.members = rest;
      continue;
    }
    // One at a time: two lists of those that count then have a majority in common.
    if (admits || !links_.open(node) || !watch_.lives(now, place)) continue;
    const wire::Control& control = watch_.control(place);
    // An excluded process has first to know what it owed to its last view.
    if (!control.outside) continue;
    if (peer != next.roster[place]) log_.drop(node);
    next.roster[place] = peer;
    next.members = static_cast<std::uint16_t>(next.members | bit);
    admits = true;
  }
  if (next != state_.view()) lead_.propose_view(next);
}

/// Members without a stream of the log, or with one that they read too slowly, get a new one.
void RamcastEngine::renew_streams(Instant now, Effects& out) {
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    const NodeIndex node = layout_.servers(parts_.domain)[place];
    if (node == parts_.index || !links_.open(node)) continue;
    const bool counts = links_.peer(node) == state_.counted(place);
    const bool needs = !log_.granted(node) || log_.stale(node);
    if (!counts || !needs || takeover_.is_asked(place)) continue;
    if (((to_base_ >> place) & 1U) != 0) continue;
    if (standing_.role != Role::leader && takeover_.bootstrap()) continue;
    ++counts_.regrants;
    log_.drop(node);
    takeover_.ask_again(now, node, out);
  }
}

/// The process was excluded, and does not know it; the others have released messages that its view
/// still owed to it. It has to restart.
bool RamcastEngine::owes_too_much(const wire::MemberState& state, Place place) const {
  const bool was_member = ((state.view.members >> place) & 1U) != 0;
  return was_member && !state_.is_member(place) && state.delivered < watch_.delivered_by_all();
}

/// Members that have exposed a new region get their bases.
void RamcastEngine::give_bases() {
  if (to_base_ == 0 || !standing_.leads() || !lead_.can_base()) return;
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    if (((to_base_ >> place) & 1U) == 0) continue;
    if (owes_too_much(takeover_.last_state(place), place)) continue;
    const NodeIndex node = layout_.servers(parts_.domain)[place];
    log_.grant(node, takeover_.grant_of(place));
    lead_.base_for(node, takeover_.last_state(place));
  }
  to_base_ = 0;
}

}  // namespace peal::order::ramcast
