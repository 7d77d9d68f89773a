// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/member_set.h"
#include "order/paxos/engine.h"

// What is decided, what comes of it, and what is missing.

namespace peal::order::paxos {
namespace {

constexpr std::uint32_t kConsumedAtOnce = 64;

bool same_value(const Value& a, const Value& b) {
  const ByteView left = a.bytes.view();
  const ByteView right = b.bytes.view();
  if (a.head != b.head || left.size() != right.size()) return false;
  // Mostly they are the very same bytes.
  return left.data() == right.data() || left.empty() ||
         std::memcmp(left.data(), right.data(), left.size()) == 0;
}

/// Another node that keeps what was decided for this instance, as far as it said.
bool gives(const Peer& peer, Instance instance) {
  return !peer.self && !peer.suspected && peer.has_state && peer.state.next > instance &&
         peer.state.oldest <= instance;
}

}  // namespace

// ---- deciding ----

// An instance is decided once a majority voted for it in one round. Votes come in order, so what
// the slowest of the fastest majority has voted for is what a majority has voted for.
void PaxosEngine::mark_decided() {
  const auto& peers = peers_.all();
  const std::size_t majority =
      PEAL_MUTANT(px_minority_decides) ? peers_.majority() - 1 : peers_.majority();
  for (const Peer& each : peers) {
    const Round round = each.state.voted_round;
    if (!each.acceptor || round.count == 0 || round < decided_round_) continue;
    if (!state_.governs(round) && !PEAL_MUTANT(px_lists_mixed)) continue;
    votes_.clear();
    Instance upto = 0;  // as others counted them
    for (const Peer& peer : peers) {
      if (!peer.acceptor || !same_list(peer)) continue;
      const bool same = peer.state.voted_round == round;
      if (same || PEAL_MUTANT(px_rounds_mixed)) votes_.push_back(peer.state.voted_upto);
      if (same) upto = std::max(upto, peer.state.decided_upto);
    }
    if (votes_.size() >= std::max<std::size_t>(majority, 1)) {
      std::sort(votes_.begin(), votes_.end(), std::greater<>());
      upto = std::max(upto, votes_[std::max<std::size_t>(majority, 1) - 1]);
    } else if (upto == 0) {
      continue;
    }
    if (round > decided_round_) {
      decided_round_ = round;
      decided_upto_ = 0;
      told_ = 0;
      marked_ = 0;
    }
    if (upto > decided_upto_) decided_upto_ = upto;
  }
  if (decided_upto_ > marked_) mark(decided_upto_);
}

// Only a value that was proposed in that round is known to be the one they voted for.
void PaxosEngine::mark(Instance upto) {
  for (Instance k = std::max(marked_ + 1, store_.next()); k <= upto && k < store_.end(); ++k) {
    Slot* slot = store_.find(k);
    if (slot->heard_round == decided_round_ ||
        (slot->heard_round.count != 0 && PEAL_MUTANT(px_any_value_decided))) {
      slot->decided = true;
    }
  }
  marked_ = upto;
  highest_decided_ = std::max(highest_decided_, upto);
}

// ---- consuming ----

bool PaxosEngine::consume(Effects& out) {
  if (!state_.known()) return false;
  for (std::uint32_t i = 0; i < kConsumedAtOnce; ++i) {
    const Slot* slot = store_.find(state_.next());
    if (slot == nullptr || !slot->decided) return false;
    if (host_.receive_room_units() == 0) return false;
    const Slot read = *slot;
    if (!note_history(read, state_.next())) return false;
    const bool member = joined();
    const OrderState::Outcome outcome = apply(read.heard);
    store_.consume();
    const bool wanted = member || config_.merger != nullptr;
    if (outcome == OrderState::Outcome::unit && wanted) deliver_unit(read.heard, member, out);
    if (outcome == OrderState::Outcome::view) change_view(out);
    if (outcome == OrderState::Outcome::nodes) change_nodes(out);
    if (outcome == OrderState::Outcome::ignored) ++counts_.ignored;
    if (life_ != Life::running) return false;
  }
  return true;
}

OrderState::Outcome PaxosEngine::apply(const Value& value) {
  const wire::ValueHead& head = value.head;
  const bool nothing = head.kind == wire::ValueKind::nothing;
  std::uint64_t stamp = stamp_of(head, value.bytes.view(), config_.merger != nullptr);
  if (nothing && config_.self.node.value % 2 == 0 && PEAL_MUTANT(rt_skips_not_counted)) stamp = 0;
  const OrderState::Outcome outcome = state_.apply(head, value.bytes.view(), stamp);
  if (config_.merger != nullptr) config_.merger->on_key(state_.key(), nothing);
  return outcome;
}

// An acceptor's log says what was decided, too: by its vote, if that was it. False: not now.
bool PaxosEngine::note_history(const Slot& slot, Instance instance) {
  if (!acceptor_ || !peers_.self().acceptor) return true;
  const bool voted = slot.vote_round.count != 0 && same_value(slot.vote, slot.heard);
  if (!voted && !acceptor_->note_decided(instance, slot.heard.head, slot.heard.bytes.view())) {
    return false;
  }
  if (instance + 1 >= checkpoint_at_ + config_.options.checkpoint_every) {
    checkpoint_wanted_ = true;
  }
  return true;
}

void PaxosEngine::deliver_unit(const Value& value, bool member, Effects& out) {
  const bool own = member && value.head.origin == config_.self;
  // Units of one sender have their places in the order in which it sent them.
  if (own && (own_.empty() || own_.front().head.number != value.head.number)) {
    stop(out, "others decided what is said to come from this node, and does not");
    return;
  }
  ++seq_;
  const Seq guess = early_ ? placed_early(value, seq_, out) : 0;
  if (own) {
    out.originate(view_, seq_);
    // One that was behind a lost one says nothing of its own way. Until one does, what was waited
    // for in vain counts on: else who is always too early would never learn how long it takes.
    if (!own_.front().resent && own_.front().at > own_resent_at_) {
      const Duration time = now_ - own_.front().at;
      own_patience_.took(now_, time);
      own_window_.took(now_, time);
      own_vain_ = 0;
    }
    own_.pop_front();
    own_sent_at_ = now_;  // the others have their turn
    ++counts_.originated;
  }
  ++counts_.delivered;
  Delivery delivery;
  delivery.view = view_;
  delivery.seq = seq_;
  delivery.guess = guess;
  delivery.origin = value.head.origin;
  delivery.service = value.head.service;
  delivery.unit = value.bytes;
  out.deliver(delivery);
}

// The view that counts has changed. Who is in it goes on from the last view that it was in,
// together with those who were in that one too.
void PaxosEngine::change_view(Effects& out) {
  own_.clear();
  own_vain_ = 0;
  own_number_ = 0;
  const std::size_t index = state_.index_of(config_.self);
  if (early_) early_->begin_view(index == OrderState::kNobody ? 0 : state_.members().size());
  if (index == OrderState::kNobody) {
    if (config_.merger == nullptr) return;
    // What it says of itself from now on, the merger allows anew: it may come from elsewhere then.
    visiting_ = true;
    config_.merger->on_left_out();
    return;
  }
  const std::vector<wire::ViewMember>& members = state_.members();
  MemberSet all;
  MemberSet company;
  for (const wire::ViewMember& each : members) {
    all.push_back(each.member);
    if (each.came_from == view_.number) company.push_back(each.member);
  }
  if (view_.number != 0) {
    View passage;
    passage.transitional = true;
    passage.id = state_.view();
    passage.old = view_;
    passage.members = company;
    passage.primary = Primary::yes;
    out.install(passage);
  }
  view_ = state_.view();
  seq_ = 0;
  ++counts_.views;
  View view;
  view.id = view_;
  view.members = all;
  view.primary = Primary::yes;
  out.install(view);
  out.report({EventCode::view_installed, view_, {}, all.size(), 0});
  announce_ = true;
}

// ---- what is missing ----

// Decided, or behind something that an acceptor has to vote for first; and not here.
bool PaxosEngine::lacks(Instance instance) const {
  const Slot* slot = store_.find(instance);
  if (slot != nullptr && slot->decided) return false;
  if (state_.known() && instance >= state_.next() && instance <= highest_decided_) return true;
  if (!votes() || slot == nullptr || acceptor_->vote_next() == 0) return false;
  return instance >= acceptor_->vote_next() && slot->heard_round != acceptor_->round();
}

std::optional<Instance> PaxosEngine::missing() const {
  if (state_.known() && lacks(state_.next())) return state_.next();
  if (votes() && lacks(acceptor_->vote_next())) return acceptor_->vote_next();
  return std::nullopt;
}

// The coordinator has it for sure, and much to do: it is asked if nobody else is known to have it.
// Of the others each node begins with another one, so that what many lack is not asked of one.
const Peer* PaxosEngine::who_has(Instance instance) const {
  const Peer* leader = coordinator();
  if (leader != nullptr && leader->self) leader = nullptr;
  std::vector<const Peer*> able;
  std::size_t own = 0;
  for (const Peer& peer : peers_.all()) {
    if (peer.self) own = able.size();
    if (&peer != leader && gives(peer, instance)) able.push_back(&peer);
  }
  if (able.empty() || (leader != nullptr && asks_ % 2 == 1)) return leader;
  return able[(own + asks_ / 2) % able.size()];
}

// Packets overtake each other, by more where links and disks are slow: how much is learnt from
// what came by itself. Each time without success it takes longer.
Instant PaxosEngine::ask_again_at() const {
  if (!on_its_way_) return asked_at_ + patience_.wait(asks_);
  const Duration way = std::min(config_.options.gap * routes_->hops(), config_.options.resend);
  return asked_at_ + std::max(patience_.wait(0), way);
}

void PaxosEngine::ask_for_missing(Instant now, Effects& out) {
  const std::optional<Instance> first = missing();
  if (is_missing_ && asks_ == 0 && first != missed_) patience_.took(now, now - missed_at_);
  if (!first) {
    is_missing_ = false;
    asks_ = 0;
    return;
  }
  // What was asked for together with it may still be on its way.
  const bool asked_for = is_missing_ && asks_ > 0 && *first >= missed_ && *first <= asked_upto_;
  if (!asked_for && (!is_missing_ || *first != missed_)) {
    // What is as late as what was asked for, or far behind it, is asked for once that has come.
    const bool as_late = is_missing_ && asks_ > 0 && *first <= missed_upto_;
    const bool far =
        asks_ > 0 && *first == asked_upto_ + 1 && highest_decided_ >= *first + ask_max_;
    is_missing_ = true;
    missed_ = *first;
    if (!as_late) {
      missed_upto_ = std::max(highest_decided_, store_.end() - 1);
      missed_at_ = now;
    }
    asks_ = 0;
    asked_at_ = now;
    // Others may know that it is decided long before it comes from node to node.
    on_its_way_ = routes_->hops() > 1 && store_.find(*first) == nullptr;
    if (!as_late && !far) return;
  } else if (on_its_way_ && store_.find(*first) != nullptr) {
    on_its_way_ = false;  // something behind it has come
    asked_at_ = now;
    return;
  } else if (now < ask_again_at()) {
    return;
  }
  asked_at_ = now;
  on_its_way_ = false;
  const Peer* peer = who_has(*first);
  ++asks_;
  if (peer != nullptr) ask(*peer, *first, out);
}

// All that is as late as the first one: those in a row with one packet.
void PaxosEngine::ask(const Peer& peer, Instance first, Effects& out) {
  asked_ = true;
  constexpr int kRunsAtOnce = 8;
  const Instance end = std::min(std::max(missed_upto_, first), first + ask_max_ - 1) + 1;
  Instance from = first;
  for (int run = 0; run < kRunsAtOnce && from < end; ++run) {
    Instance upto = from + 1;
    while (upto < end && lacks(upto)) ++upto;
    const auto count = static_cast<std::uint16_t>(upto - from);
    ++counts_.repeats;
    outbox_.send(peer.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_repeat(header, {from, count}, bytes);
    });
    asked_upto_ = upto - 1;
    for (from = upto; from < end && !lacks(from);) ++from;
  }
}

// Something came twice: if it was asked for, that was too soon.
void PaxosEngine::note_twice(Instant now, Instance instance) {
  const bool asked_for = asks_ > 0 && instance >= missed_ && instance <= asked_upto_;
  if (asked_for) patience_.took(now, now - missed_at_);
}

// Does anybody have the next instance?
bool PaxosEngine::can_catch_up() const {
  return std::any_of(peers_.all().begin(), peers_.all().end(),
                     [this](const Peer& peer) { return gives(peer, state_.next()); });
}

// Who is in no view may begin where others are, and does if it is far behind: to learn what was
// decided meanwhile may take longer than the others take to decide as much again. Who is in a view,
// and so far behind that nobody has what it lacks, cannot go on.
void PaxosEngine::ask_for_checkpoint(Effects& out) {
  const Peer* best = nullptr;
  for (const Peer& peer : peers_.all()) {
    if (peer.self || peer.suspected || !peer.has_state || peer.state.next == 0) continue;
    if (in_memory() && !state_.known() && !tells_of_order(peer)) continue;
    if (best == nullptr || peer.state.next > best->state.next) best = &peer;
  }
  if (best == nullptr ||
      (state_.known() && (can_catch_up() || best->state.next <= state_.next()))) {
    cut_off_ticks_ = 0;
    const Instance far_behind =
        config_.far_behind == 0 ? config_.options.max_gap : config_.far_behind;
    const bool far = best != nullptr && best->state.next > state_.next() + far_behind;
    // In memory its vote is kept nowhere else, so it learns what was decided instead.
    if (far && may_skip() && !(in_memory() && has_voted())) ask_checkpoint_of(*best, out);
    return;
  }
  // An acceptor that has not come as far may have a vote for it, to be proposed again.
  Instance behind = 0;
  for (const Peer& peer : peers_.all()) {
    const bool may_help = peer.acceptor && !peer.self && !peer.suspected && peer.has_state;
    if (may_help && peer.state.next <= state_.next()) behind += peer.state.next;
  }
  cut_off_ticks_ = behind == cut_off_behind_ ? cut_off_ticks_ + 1 : 1;
  cut_off_behind_ = behind;
  if (!may_skip()) {
    if (peers_.live_acceptors() < peers_.majority() || cut_off_ticks_ < kCutOffTicks) return;
    stop(out, kCutOff);
    return;
  }
  // An acceptor that voted for what is next is one of those who may help, and would forget its
  // vote.
  if (has_voted() && cut_off_ticks_ < kCutOffTicks) {
    PEAL_PROBE("paxos.keeps_votes");
    return;
  }
  ask_checkpoint_of(*best, out);
}

/// For what is next here.
bool PaxosEngine::has_voted() const {
  const Slot* slot = store_.find(state_.next());
  return state_.known() && votes() && slot != nullptr && slot->vote_round.count != 0;
}

/// A member owes its view what is decided in it.
bool PaxosEngine::may_skip() const {
  const bool needed = config_.merger != nullptr && config_.merger->needs_all();
  return !joined() && (!needed || PEAL_MUTANT(re_skips_at_will));
}

// Who hears few others knows little of where they are, and their views may have ended the one that
// this node is still in.
bool PaxosEngine::near() const {
  if (!state_.known()) return false;
  std::size_t heard = 0;
  for (const Peer& peer : peers_.all()) {
    if (!peer.self && (peer.suspected || !peer.has_state)) continue;
    if (peer.listed) ++heard;
    if (peer.self) continue;
    if (peer.state.next > state_.next() + join_lag(config_.options)) return false;
    if (peer.state.view > state_.view().number) return false;
  }
  return heard * 2 > peers_.listed();
}

void PaxosEngine::ask_checkpoint_of(const Peer& peer, Effects& out) {
  outbox_.send(peer.node, Lane::control, out, [](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_checkpoint_get(header, bytes);
  });
}

}  // namespace peal::order::paxos
