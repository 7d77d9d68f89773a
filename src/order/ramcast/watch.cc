// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/watch.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {

Watch::Watch(const Parts& parts, Links& links, DomainState& state, LogReader& reader)
    : parts_(parts), links_(links), state_(state), reader_(reader), bad_(links.bad()) {
  if (parts.serves()) peers_.resize(parts.layout.servers(parts.domain).size());
}

void Watch::start(Instant now) {
  next_ = now;
  for (Peer& peer : peers_) peer.heard = now;
}

void Watch::on_renewed(Instant now, NodeIndex node) {
  Peer& peer = peers_[parts_.layout.role(node).place];
  peer = {};
  peer.heard = now;
}

void Watch::on_view() {
  const wire::DomainView& view = state_.view();
  if (view.follows == 0) return;
  for (Place place = 0; place < peers_.size(); ++place) {
    const bool joins = state_.is_member(place) && view.last_in[place] != view.follows;
    if (joins) peers_[place].joined = view.id.number;
  }
}

void Watch::on_pause(Instant now) {
  for (Peer& peer : peers_) {
    peer.heard = now;
    peer.deaf_leader_since.reset();
  }
}

void Watch::on_down(Instant now, NodeIndex node) {
  constexpr int kBeats = 3;
  Peer& peer = peers_[parts_.layout.role(node).place];
  if (now - peer.heard < parts_.options.suspect) next_ = now;  // the others are told at once
  peer.heard =
      std::min(peer.heard, now - (parts_.options.exclude() - parts_.options.beat * kBeats));
}

// ---- cells ----

bool Watch::read(Instant now, LeaderLog& log) {
  bool changed = false;
  for (Place place = 0; place < peers_.size(); ++place) {
    if (place == parts_.place) continue;
    std::array<std::byte, wire::kControlBytes> bytes;
    const NodeIndex node = node_at(place);
    if (!links_.load(Area::control, node, 0, bytes)) continue;
    Peer& peer = peers_[place];
    if (wire::peek_beat(bytes) == peer.control.beat) continue;
    wire::Control control;
    wire::Drop drop = wire::decode_control(bytes, control);
    if (drop == wire::Drop::none && control.beat < peer.control.beat) drop = wire::Drop::stale;
    if (drop == wire::Drop::none && !parts_.clock.believes(control.delivered)) {
      drop = wire::Drop::bad_value;
    }
    if (drop != wire::Drop::none) {
      bad_.refuse(node, Area::control, 0, bytes, drop);
      continue;
    }
    if (control.delivered > peer.control.delivered) peer.moved = now;
    if (!is_deaf(place)) peer.deaf_since = now;
    if (control.missing != peer.control.missing) next_ = now;  // perhaps nobody leads now
    const bool deaf_leader = control.mark_entry != 0 && ((control.missing >> place) & 1U) != 0;
    if (!deaf_leader || now - peer.heard >= parts_.options.suspect) peer.deaf_leader_since.reset();
    if (deaf_leader && !peer.deaf_leader_since) peer.deaf_leader_since = now;
    peer.control = control;
    peer.released = std::max(peer.released, control.released);
    peer.heard = now;
    peer.seen = true;
    bad_.note_life(node);
    if (parts_.standing.leads() && control.promised == parts_.standing.promised) {
      if (!log.on_consumed(node, control.grant, control.bytes, control.entry)) {
        bad_.refuse(node, Area::control, 0, bytes, wire::Drop::bad_value);
      }
    }
    changed = true;
  }
  return changed;
}

void Watch::write(Instant now, bool full) {
  const Standing& standing = parts_.standing;
  wire::Control control;
  control.promised = standing.promised;
  // What was processed of a former region is no answer for the present one.
  const bool based = standing.leads() || reader_.is_based();
  control.entry = standing.in_step() && based ? standing.entry : 0;
  control.bytes = reader_.bytes();
  control.grant = reader_.grant();
  control.delivered = state_.delivered();
  control.released = delivered_by_all();
  if (control.released != 0) control.released_in = state_.view().id.number;
  control.missing = missing(now);
  control.active = standing.active;
  control.full = full;
  control.waits = standing.role == Standing::Role::follower && standing.waits_for_slot;
  control.outside = !state_.is_member() && (state_.has_view() || !standing.has_order());
  if (standing.leads()) {
    control.mark_entry = standing.entry;
    control.mark_clock = parts_.clock.value();
  }
  const std::uint64_t log_step = parts_.options.log_bytes / 4;
  const bool processed = control.entry != told_.entry;
  const bool first = processed && told_.entry == 0;
  const bool waited_for = control.promised != told_.promised || control.active != told_.active ||
                          control.bytes >= told_.bytes + log_step || first ||
                          (processed && (!parts_.options.fast || control.outside));
  if (!beat_is_due(now) && !waited_for) return;
  if (beat_is_due(now)) next_ = now + parts_.options.beat;
  control.beat = ++beat_;
  told_ = control;
  std::array<std::byte, wire::kControlBytes> bytes;
  wire::encode_control(control, bytes);
  for (Place place = 0; place < peers_.size(); ++place) {
    const NodeIndex node = node_at(place);
    if (place == parts_.place || !links_.open(node)) continue;
    links_.write(node, Area::control, 0, bytes, 0);
  }
}

const wire::Control* Watch::leader_cell() const {
  const Standing& standing = parts_.standing;
  const auto node = parts_.layout.index_of(standing.promised.coordinator.node);
  if (!node || parts_.layout.role(*node).domain != parts_.domain || *node == parts_.index) {
    return nullptr;
  }
  const Peer& peer = peers_[parts_.layout.role(*node).place];
  const bool leads = peer.seen && links_.peer(*node) == standing.promised.coordinator &&
                     peer.control.promised == standing.promised && peer.control.mark_entry != 0;
  return leads ? &peer.control : nullptr;
}

// ---- who lives ----

bool Watch::trusts(Instant now, Place place) const {
  if (place == parts_.place) return true;
  return now - peers_[place].heard < parts_.options.suspect;
}

bool Watch::is_gone(Instant now, Place place) const {
  if (place == parts_.place) return false;
  return now - peers_[place].heard >= parts_.options.exclude();
}

bool Watch::lives(Instant now, Place place) const {
  if (place == parts_.place) return true;
  return trusts(now, place) && peers_[place].seen;
}

std::uint16_t Watch::missing(Instant now) const {
  unsigned bits = 0;
  for (Place place = 0; place < peers_.size(); ++place) {
    if (!trusts(now, place)) bits |= 1U << place;
  }
  if (!can_go_on_leading(now)) bits |= 1U << parts_.place;
  return static_cast<std::uint16_t>(bits);
}

/// The server leads, or may. A leader that hears no majority orders nothing; the others of them may
/// hear a majority, though fewer than one miss this leader.
bool Watch::can_go_on_leading(Instant now) const {
  const Standing& standing = parts_.standing;
  if (!standing.leads()) {
    // It has lost its round, and the others still take it for their leader.
    const bool deposed = standing.role == Standing::Role::follower && standing.has_order() &&
                         standing.promised.coordinator == parts_.self;
    return may_lead(now) && !deposed;
  }
  unsigned heard = 0;
  for (Place place = 0; place < peers_.size(); ++place) {
    if (!is_gone(now, place)) ++heard;
  }
  return heard >= parts_.quorum() || PEAL_MUTANT(rc_deaf_leader_stays);
}

/// The highest round that this server or a living one has promised.
wire::Round Watch::current_round(Instant now) const {
  wire::Round current = parts_.standing.promised;
  for (Place place = 0; place < peers_.size(); ++place) {
    if (place == parts_.place || !lives(now, place)) continue;
    const wire::Round& promised = peers_[place].control.promised;
    if (!parts_.standing.is_foreign(promised)) current = std::max(current, promised);
  }
  return current;
}

/// Most servers do not hear the leader, or it says that it cannot lead, or there is none.
bool Watch::leader_is_missed(Instant now) const {
  const wire::Round round = current_round(now);
  const MemberId& leader = round.coordinator;
  const auto node = parts_.layout.index_of(leader.node);
  if (!node || parts_.layout.role(*node).domain != parts_.domain) return true;
  const Place place = parts_.layout.role(*node).place;
  if (leader == parts_.self) return !parts_.standing.leads();
  const bool replaced = place == parts_.place || links_.peer(*node) != leader;
  const bool outdated = round == outdated_ && round != wire::Round{};
  // A leader that did not hear this server, or a majority, has to have the time to hear it again.
  const std::optional<Instant> deaf = peers_[place].deaf_leader_since;
  const bool known_deaf = !deaf || now - *deaf >= parts_.options.suspect;
  const bool says_so = ((peers_[place].control.missing >> place) & 1U) != 0;
  const bool unfit = outdated || (says_so && known_deaf);
  const bool known = replaced || unfit;
  if (!known && trusts(now, place)) return false;
  unsigned miss = 1;
  for (Place other = 0; other < peers_.size(); ++other) {
    if (other == parts_.place || other == place || !lives(now, other)) continue;
    if (known || ((peers_[other].control.missing >> place) & 1U) != 0) ++miss;
  }
  // A server that cannot lead lives, and answers another candidate.
  if (unfit && trusts(now, place)) ++miss;
  return miss >= parts_.quorum();
}

/// A server that is outside may be in the present view: if the leader admitted it, and then gave it
/// no base. It lacks what the others have released meanwhile.
bool Watch::may_lead(Instant now) const {
  const bool inside = state_.has_view() ? state_.is_member() : parts_.standing.has_order();
  return inside && !is_unfit(now) && !parts_.standing.left_behind;
}

bool Watch::may_lead_at_last(Instant now) const {
  const bool outside = state_.has_view() && !state_.is_member();
  return (outside || parts_.standing.left_behind) && state_.counted(parts_.place) == parts_.self &&
         !is_unfit(now) && !PEAL_MUTANT(rc_outside_never_leads);
}

void Watch::set_unfit(Instant now, Seq number) {
  // Answers may come although signs of life do not. Then the next attempt would depose a leader.
  constexpr std::int64_t kLongest = 32;
  const Duration first = parts_.options.exclude();
  const bool again = unfit_by_ != 0 && unfit_in_ == state_.view().id;
  unfit_for_ = again ? std::min(unfit_for_ * 2, first * kLongest) : first;
  unfit_in_ = state_.view().id;
  unfit_by_ = number;
  unfit_until_ = now + unfit_for_;
}

bool Watch::is_unfit(Instant now) const {
  if (unfit_by_ == 0 || unfit_in_ != state_.view().id) return false;
  if (now < unfit_until_ || PEAL_MUTANT(rc_unfit_for_ever)) return true;
  for (Place place = 0; place < peers_.size(); ++place) {
    if (place == parts_.place || !lives(now, place)) continue;
    if (peers_[place].control.delivered >= unfit_by_) return true;
  }
  return false;
}

/// A majority lives, and none of it may lead. No other server has delivered more than this one.
bool Watch::is_last_resort(Instant now) const {
  if (!may_lead_at_last(now)) return false;
  unsigned living = 1;
  for (Place place = 0; place < peers_.size(); ++place) {
    const bool counts = state_.counted(place) == links_.peer(node_at(place));
    if (place == parts_.place || !counts || !lives(now, place)) continue;
    const wire::Control& control = peers_[place].control;
    if (((control.missing >> place) & 1U) == 0) return false;
    // A member that is left behind may be the only one in the latest view, and a server outside may
    // have delivered more in it.
    const bool ahead = control.delivered > state_.delivered() ||
                       (control.delivered == state_.delivered() && place < parts_.place);
    if (ahead && !(state_.is_member() && control.outside)) return false;
    ++living;
  }
  return living >= parts_.quorum();
}

bool Watch::must_take_over(Instant now) const {
  const Standing& standing = parts_.standing;
  if (standing.role != Standing::Role::follower) return false;
  const bool last_resort = !may_lead(now) && is_last_resort(now);
  if (!(may_lead(now) || last_resort) || !leader_is_missed(now)) return false;
  if (last_resort) return true;
  // The first server that lives, and that may lead as well. One that hears the leader does not take
  // over, although most others have not heard that one for long.
  const MemberId leader = current_round(now).coordinator;
  const auto led = parts_.layout.index_of(leader.node);
  const bool near = led && parts_.layout.role(*led).domain == parts_.domain;
  const Place led_at = near ? parts_.layout.role(*led).place : parts_.place;
  const bool long_silent = led_at != parts_.place && links_.peer(*led) == leader &&
                           now - peers_[led_at].heard >= parts_.options.suspect * 2;
  for (Place place = 0; place < parts_.place; ++place) {
    const bool hears = ((peers_[place].control.missing >> led_at) & 1U) == 0;
    if (long_silent && hears && place != led_at) continue;
    if (current_round(now) == outdated_ && place == led_at) continue;
    const bool member = !state_.has_view() || state_.is_member(place);
    const bool counts = state_.counted(place) == links_.peer(node_at(place));
    const bool unfit = ((peers_[place].control.missing >> place) & 1U) != 0;
    const bool silent =
        standing.promised.coordinator == links_.peer(node_at(place)) && !trusts(now, place);
    if (member && counts && !unfit && !silent && lives(now, place)) return false;
  }
  return true;
}

wire::Round Watch::highest_promised() const {
  wire::Round highest = parts_.standing.promised;
  for (const Peer& peer : peers_) {
    if (!parts_.standing.is_foreign(peer.control.promised)) {
      highest = std::max(highest, peer.control.promised);
    }
  }
  return highest;
}

// ---- what others have delivered ----

Seq Watch::delivered_by(Place place) const {
  if (place == parts_.place) return state_.delivered();
  const bool counts = links_.peer(node_at(place)) == state_.counted(place);
  return counts && peers_[place].seen ? peers_[place].control.delivered : 0;
}

/// What each member says of itself.
Seq Watch::heard_from_all() const {
  Seq least = state_.delivered();
  for (Place place = 0; place < peers_.size(); ++place) {
    if (state_.is_member(place)) least = std::min(least, delivered_by(place));
  }
  // A member that has not delivered the view does not retain yet what the view owes to those that
  // it excludes.
  const bool all_in_view = least >= state_.view().id.number;
  return all_in_view || PEAL_MUTANT(rc_released_before_view) ? least : 0;
}

Seq Watch::delivered_by_all() const {
  if (PEAL_MUTANT(rc_released_by_one)) return state_.delivered();
  Seq known = heard_from_all();
  // A member that this server does not hear may be heard by others. What they say counts in the
  // same view alone: a later one has fewer members, and retains for them what this server may keep.
  for (Place place = 0; place < peers_.size(); ++place) {
    const wire::Control& control = peers_[place].control;
    const bool same = control.released_in != 0 && control.released_in == state_.view().id.number;
    const bool counts = state_.is_member(place) && delivered_by(place) != 0;
    if (counts && (same || PEAL_MUTANT(rc_released_in_other_view))) {
      known = std::max(known, std::min(control.released, state_.delivered()));
    }
  }
  return known;
}

bool Watch::is_released_everywhere(Seq key) const {
  for (Place place = 0; place < peers_.size(); ++place) {
    const bool other_member = state_.is_member(place) && place != parts_.place;
    if (other_member && released_by(place) < key) return false;
  }
  return true;
}

bool Watch::lags(Instant now, Place place, Seq released) const {
  const Peer& peer = peers_[place];
  // Slots with messages that an outside server lacks may be in use again before this server knows
  // that all members have delivered them.
  Seq reached = peer.control.outside ? state_.delivered() : released;
  // A member that can keep no more learns what is released by others in its view alone. Once there
  // is another one, a base skips what was released before.
  const bool stuck =
      state_.is_member(place) && peer.control.waits && !peer.control.full && lives(now, place);
  if (stuck && !PEAL_MUTANT(rc_full_member_waits)) {
    reached = std::max(reached, state_.view().id.number);
  }
  return peer.seen && peer.control.delivered < reached && now - peer.moved > parts_.options.suspect;
}

}  // namespace peal::order::ramcast
