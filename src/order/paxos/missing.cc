// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "base/hooks.h"
#include "order/paxos/engine.h"

// What is missing: whom to ask for it, and when nobody has it any more.

namespace peal::order::paxos {

using wire::Drop;

namespace {

/// Requests in vain, after which answers are to come by the control lane.
constexpr std::uint32_t kAsksOneLane = 3;

/// Heartbeats without success from one question to acceptors to the next.
constexpr unsigned kRecallTicks = 4;

/// Another node that is past this instance.
bool is_past(const Peer& peer, Instance instance) {
  return !peer.self && !peer.suspected && peer.state.next > instance;
}

/// The same of one to which the link works.
bool reaches(const Peer& peer, Instance instance) { return is_past(peer, instance) && peer.works; }

/// One that has it in its history, as far as it said.
bool gives(const Peer& peer, Instance instance) {
  return reaches(peer, instance) && peer.state.oldest <= instance;
}

}  // namespace

// Decided, or behind something that an acceptor has to vote for first; and not here.
bool PaxosEngine::lacks(Instance instance) const {
  const Slot* slot = store_.find(instance);
  if (slot != nullptr && slot->decided) return false;
  if (state_.known() && instance >= state_.next() && instance <= learner_.highest()) return true;
  if (!incarnations_.votes() || slot == nullptr || acceptor_->vote_next() == 0) return false;
  return instance >= acceptor_->vote_next() && slot->heard_round != acceptor_->round();
}

std::optional<Instance> PaxosEngine::missing() const {
  if (state_.known() && lacks(state_.next())) return state_.next();
  if (incarnations_.votes() && lacks(acceptor_->vote_next())) return acceptor_->vote_next();
  return std::nullopt;
}

// The coordinator has it for sure, and much to do: it is asked if nobody else is known to have it.
// Of the others each node begins with another one, so that what many lack is not asked of one.
const Peer* PaxosEngine::who_has(Instance instance) const {
  const Peer* leader = election_.coordinator();
  if (leader != nullptr && leader->self) leader = nullptr;
  std::vector<const Peer*> able;
  std::size_t own = 0;
  const auto look_for = [&](bool (*has)(const Peer&, Instance)) {
    for (const Peer& peer : peers_.all()) {
      if (peer.self) own = able.size();
      if (&peer != leader && has(peer, instance)) able.push_back(&peer);
    }
  };
  look_for(gives);
  // If no history goes back as far, who left this node out of a view may have kept what it lacks.
  if (able.empty() && (leader == nullptr || !gives(*leader, instance))) {
    look_for(reaches);
    if (able.empty()) look_for(is_past);
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
        asks_ > 0 && *first == asked_upto_ + 1 && learner_.highest() >= *first + ask_max_;
    is_missing_ = true;
    missed_ = *first;
    if (!as_late) {
      missed_upto_ = std::max(learner_.highest(), store_.end() - 1);
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
  const bool again = asks_ > kAsksOneLane || peer.reception.lacks_data();
  constexpr int kRunsAtOnce = 8;
  const Instance end = std::min(std::max(missed_upto_, first), first + ask_max_ - 1) + 1;
  Instance from = first;
  for (int run = 0; run < kRunsAtOnce && from < end; ++run) {
    Instance upto = from + 1;
    while (upto < end && lacks(upto)) ++upto;
    const auto count = static_cast<std::uint16_t>(upto - from);
    ++counts_.repeats;
    outbox_.send(peer.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_repeat(header, {from, count, again}, bytes);
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
  return std::any_of(peers_.all().begin(), peers_.all().end(), [this](const Peer& peer) {
    return is_past(peer, state_.next()) && peer.state.oldest <= state_.next();
  });
}

// Who is in no view may begin where others are, and does if it is far behind: to learn what was
// decided meanwhile may take longer than the others take to decide as much again. Who is in a view,
// and so far behind that nobody has what it lacks, cannot go on.
void PaxosEngine::ask_for_checkpoint(Effects& out) {
  const Peer* best = nullptr;
  for (const Peer& peer : peers_.all()) {
    if (peer.self || peer.suspected || peer.state.next == 0) continue;
    if (!state_.known() && !tells_of_order(peer)) continue;
    if (best == nullptr || peer.state.next > best->state.next) best = &peer;
  }
  if (best == nullptr ||
      (state_.known() && (can_catch_up() || best->state.next <= state_.next()))) {
    cut_off_ticks_ = 0;
    const Instance far_behind =
        config_.far_behind == 0 ? config_.options.max_gap : config_.far_behind;
    const bool far = best != nullptr && best->state.next > state_.next() + far_behind;
    if (far && may_skip()) ask_checkpoint_of(*best, out);
    return;
  }
  if (may_skip()) {
    cut_off_ticks_ = 0;
    ask_checkpoint_of(*best, out);
    return;
  }
  if (!waits_for_others()) {
    cut_off_ticks_ = 0;
    return;
  }
  // An acceptor that has not come as far may have a vote for it, to be proposed again; and others
  // may have kept it, or what another ensemble lacks, and be sending it.
  Instance behind = state_.next() + (config_.merger == nullptr ? 0 : config_.merger->merged());
  for (const Peer& peer : peers_.all()) {
    const bool may_help = peer.acceptor && !peer.self && !peer.suspected;
    if (may_help && peer.state.next <= state_.next()) behind += peer.state.next;
  }
  const std::size_t heard = peers_.live_acceptors();
  const bool same = behind == cut_off_behind_ && heard == cut_off_heard_;
  cut_off_ticks_ = same ? cut_off_ticks_ + 1 : 1;
  cut_off_behind_ = behind;
  cut_off_heard_ = heard;
  // Those who left it out may be sending it. What acceptors said is asked for again if it was lost,
  // and what is behind it at once.
  const bool goes_on = state_.next() == recalled_upto_;
  if (goes_on || cut_off_ticks_ % kRecallTicks == 0) recall(out);
  if (heard < peers_.majority()) return;
  // The log of one that is away may hold it.
  const bool away = std::any_of(peers_.all().begin(), peers_.all().end(), [](const Peer& peer) {
    return peer.named && !peer.self && peer.suspected;
  });
  if (cut_off_ticks_ >= (away ? kCutOffTicksAway : kCutOffTicks)) stop(out, kCutOff);
}

/// What is next is not here; and it is not the application that takes nothing.
bool PaxosEngine::waits_for_others() const {
  return lacks(state_.next()) && (config_.merger == nullptr || config_.merger->has_room());
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

// ---- what nobody has as decided, and acceptors voted for ----

/// No node is there that has consumed what is next here and still has it: acceptors are asked what
/// they voted for.
void PaxosEngine::recall(Effects& out) {
  const Instance first = state_.next();
  if (first > learner_.highest()) return;
  PEAL_PROBE("paxos.recalls");
  const auto count = static_cast<std::uint16_t>(
      std::min({learner_.highest() - first + 1, Instance{wire::kRecallMax}, ask_max_}));
  recalled_upto_ = first + count;
  const wire::Recall question{first, count};
  for (const Peer& peer : peers_.all()) {
    if (!peer.acceptor || peer.silent || peer.suspected) continue;
    if (peer.self) {
      if (!incarnations_.is_sure()) continue;
      recall_own(question);
      continue;
    }
    if (!parts_.shares_order(peer)) continue;
    outbox_.send(peer.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_recall(header, question, bytes);
    });
  }
}

/// This acceptor's own words.
void PaxosEngine::recall_own(const wire::Recall& question) {
  for (Instance k = question.first; k < question.first + question.count; ++k) {
    const Slot* slot = store_.find(k);
    recall_.note(config_.self.node, k, slot != nullptr ? slot->vote_round : Round{},
                 slot != nullptr ? slot->vote : Value{});
  }
}

/// What this acceptor has to say of an instance: nothing, if it has let go of its vote.
std::optional<KeptWords::Word> PaxosEngine::word_on(Instance instance) const {
  if (!acceptor_ || !state_.known() || !incarnations_.is_sure()) return std::nullopt;
  if (instance < store_.next()) return kept_.find(instance);
  return word_of(store_, instance);
}

void PaxosEngine::answer_recall(NodeId to, const wire::Recall& recall, Effects& out) {
  for (Instance k = recall.first; k < recall.first + recall.count; ++k) {
    if (history_.decided(k)) {
      history_.send(to, k, true, out);
      continue;
    }
    const std::optional<KeptWords::Word> word = word_on(k);
    if (!word) continue;
    const wire::Word said{k, word->round, word->head};
    const BufferRef packet = outbox_.word_packet(said, word->bytes);
    if (packet) out.send(to, Lane::control, packet);
  }
}

Drop PaxosEngine::on_word(const Peer& from, const BufferRef& packet) {
  wire::Word word;
  const Drop reason = wire::decode_word(packet.view(), word);
  if (reason != Drop::none) return reason;
  const bool asked_for =
      word.instance >= state_.next() && word.instance < state_.next() + wire::kRecallMax;
  if (!from.acceptor || !asked_for || !parts_.shares_order(from)) return Drop::stale;
  recall_.note(from.node, word.instance, word.round,
               {word.head, bytes_behind(packet, wire::kWordHeaderBytes)});
  return Drop::none;
}

/// True: what is next is known now.
bool PaxosEngine::take_recalled() {
  if (recall_.empty()) return false;
  recall_.forget_below(state_.next());
  const std::optional<Value> value = recall_.decided(state_.next(), peers_.majority());
  if (!value) return false;
  PEAL_PROBE("paxos.recalled");
  return learner_.take_decided(state_.next(), value->head, value->bytes) == Drop::none;
}

/// Before this node skips the instances up to `end`.
void PaxosEngine::keep_words(Instance end) {
  if (!state_.known()) return;
  Instance first = state_.next();
  for (const Peer& peer : peers_.all()) {
    if (!peer.listed || peer.self) continue;
    if (!peer.has_state) first = store_.oldest();
    if (peer.state.next != 0) first = std::min(first, peer.state.next);
  }
  // Who does not vote has nothing to say of what it did not consume.
  kept_.keep(first, acceptor_ ? end : state_.next(), store_);
}

}  // namespace peal::order::paxos
