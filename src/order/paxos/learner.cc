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

// What is decided, and what comes of it.

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
    std::vector<wire::ViewMember> before;
    if (read.heard.head.kind == wire::ValueKind::view) before = state_.members();
    const OrderState::Outcome outcome = apply(read.heard);
    store_.consume();
    const bool wanted = member || config_.merger != nullptr;
    if (outcome == OrderState::Outcome::unit && wanted) deliver_unit(read.heard, member, out);
    if (outcome == OrderState::Outcome::view) {
      change_view(out);
      keep_for_those_of(before);
    }
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
  if (!acceptor_ || !sworn_ || !peers_.self().acceptor) return true;
  // So far from its last checkpoint a restart could not read it back.
  if (instance - std::min(instance, acceptor_->base()) >= store_.ahead_max()) {
    checkpoint_wanted_ = true;
    return false;
  }
  const bool any_vote = slot.vote_round.count != 0;
  const bool voted =
      any_vote && (same_value(slot.vote, slot.heard) || PEAL_MUTANT(px_decided_not_noted));
  if (any_vote && !voted) PEAL_PROBE("paxos.other_than_voted");
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
  out.report({&event::view_installed, view_, {}, all.size(), 0});
  announce_ = true;
}

// Of several ensembles each has views of its own, which end at other places than the one of them
// all: whoever merges them says who was left out of that.
void PaxosEngine::keep_for_those_of(const std::vector<wire::ViewMember>& before) {
  MemberSet left_out;
  for (const wire::ViewMember& each : before) {
    if (!state_.has(each.member)) left_out.push_back(each.member);
  }
  keep_for(left_out);
  if (config_.merger != nullptr && !left_out.empty()) config_.merger->on_excluded(left_out);
}

/// This node has all from that instance on, as far as can be seen at both ends: an earlier view may
/// have put by what its history has forgotten.
bool PaxosEngine::goes_back_to(Instance instance) const {
  const Instance oldest = store_.oldest();
  return instance >= oldest ||
         (left_out_.decided(owed_part(), instance) && left_out_.decided(owed_part(), oldest - 1));
}

OwedPart PaxosEngine::owed_part() const {
  return {config_.part, state_.known() ? state_.nodes().first : 0};
}

void PaxosEngine::keep_for(std::span<const MemberId> left_out) {
  if (!state_.known()) return;
  // Nobody was further ahead of one that seemed alive.
  const Instance most = config_.options.max_gap + config_.options.window;
  const Instance guess = store_.next() - std::min(most, store_.next());
  MemberSet members;
  Instance first = store_.next();
  for (const MemberId& member : left_out) {
    const Peer* peer = peers_.find(member.node);
    if (peer == nullptr || peer->self || peer->member.epoch > member.epoch) continue;
    const bool heard = peer->member == member && peer->has_state;
    // One that wants nothing, or that this node cannot help any more.
    if (heard && (peer->state.leaving || !goes_back_to(peer->state.next))) continue;
    members.push_back(member);
    first = std::min(first, heard ? peer->state.next : guess);
  }
  if (members.empty()) return;
  left_out_.keep(owed_part(), std::move(members), first, store_);
  left_out_.write();
}

/// Once in each heartbeat.
void PaxosEngine::look_at_owed(Effects& out) {
  if (state_.known()) left_out_.look(owed_part(), peers_);
  for (const OwedRanges::Dropped& each : left_out_.take_dropped()) {
    out.report({&event::owed_dropped, view_, each.member, each.instances, 0});
  }
}

/// What was decided, for who asks for it.
std::optional<Store::Decided> PaxosEngine::decided(Instance instance) const {
  const auto known = store_.decided(instance);
  if (known) return known;
  if (const auto put_by = left_out_.decided(owed_part(), instance)) return put_by;
  const auto word = kept_.find(instance);
  if (!word || !word->decided) return std::nullopt;
  return Store::Decided{word->head, word->bytes};
}

}  // namespace peal::order::paxos
