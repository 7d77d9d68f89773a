// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

// Packets: who may say what, and what is answered.

namespace peal::order::paxos {

using wire::Drop;
using wire::PaxosKind;

void PaxosEngine::on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) {
  if (life_ != Life::running) return;
  wire::Header header;
  Drop reason = wire::decode_header(packet.view(), header, config_.checksum);
  if (reason == Drop::bad_version) report_incompatible({}, reason, out);
  if (reason == Drop::none && !wire::is_paxos_kind(header.kind)) reason = Drop::unknown_kind;
  if (reason == Drop::none) {
    if (!admit(now, header, out)) return;
    Peer& from = *peers_.find(header.sender.node);
    const auto kind = static_cast<PaxosKind>(header.kind);
    if (lane == Lane::data) from.reception.data(now);
    reason = dispatch(now, from, kind, packet, out);
  }
  if (reason != Drop::none) ++drops_[static_cast<std::size_t>(reason)];
  work(now, out);
}

bool PaxosEngine::admit(Instant now, const wire::Header& header, Effects& out) {
  Drop reason = Drop::none;
  Peer* peer = peers_.find(header.sender.node);
  if (header.cluster != config_.cluster) {
    const bool same_name = header.cluster >> 32 == config_.cluster >> 32;
    reason = same_name ? Drop::other_settings : Drop::other_cluster;
    report_incompatible(header, reason, out);
  } else if (peer == nullptr) {
    reason = Drop::bad_sender;
  } else if (peer->self) {
    reason = Drop::own;
  } else if (!peers_.note(now, *peer, header.sender)) {
    reason = Drop::stale;
  }
  if (reason == Drop::none) return true;
  ++drops_[static_cast<std::size_t>(reason)];
  return false;
}

void PaxosEngine::report_incompatible(const wire::Header& header, Drop reason, Effects& out) {
  const NodeId node = peers_.find(header.sender.node) != nullptr ? header.sender.node : NodeId{};
  if (!reported_.first(node, static_cast<unsigned>(reason))) return;
  out.report(
      {&event::incompatible_peer, view_, header.sender, static_cast<std::uint64_t>(reason), 0});
}

Drop PaxosEngine::dispatch(Instant now, const Peer& from, PaxosKind kind, const BufferRef& packet,
                           Effects& out) {
  const bool of_any_order = kind == PaxosKind::state || kind == PaxosKind::lives ||
                            kind == PaxosKind::log_heard || kind == PaxosKind::checkpoint ||
                            kind == PaxosKind::checkpoint_get || kind == PaxosKind::link_check;
  // Before its first STATE nobody knows of which order it is.
  if (!of_any_order && !shares_order(from)) {
    return from.has_state ? Drop::other_list : Drop::wrong_state;
  }
  switch (kind) {
    case PaxosKind::state: return on_state(now, packet, *peers_.find(from.node), out);
    case PaxosKind::submit: return on_submit(now, from, packet);
    case PaxosKind::lacks: return on_lacks(now, from, packet, out);
    case PaxosKind::pass: {
      wire::Pass pass;
      const Drop reason = wire::decode_pass(packet.view(), pass);
      if (reason == Drop::none && config_.merger != nullptr) {
        config_.merger->on_pass_wanted(pass.key);
      }
      return reason;
    }
    case PaxosKind::propose:
    case PaxosKind::relay:
    case PaxosKind::distribute: return on_value(now, from, kind, packet, out);
    case PaxosKind::prepare: return on_prepare(now, from, packet, out);
    case PaxosKind::promise: {
      wire::Promise promise;
      const Drop reason = wire::decode_promise(packet.view(), promise);
      if (reason == Drop::none && coordinator_) coordinator_->on_promise(now, from, promise, out);
      return reason;
    }
    case PaxosKind::fetch: return on_fetch(from, packet, out);
    case PaxosKind::fetched: return on_fetched(packet);
    case PaxosKind::repeat: return on_repeat(now, from, packet, out);
    case PaxosKind::decided: return on_decided(now, packet);
    case PaxosKind::recall: {
      wire::Recall recall;
      const Drop reason = wire::decode_recall(packet.view(), recall);
      if (reason != Drop::none) return reason;
      if (!shares_order(from)) return Drop::other_list;
      answer_recall(from.node, recall, out);
      return reason;
    }
    case PaxosKind::word: return on_word(from, packet);
    case PaxosKind::checkpoint_get: {
      const Drop reason = wire::decode_checkpoint_get(packet.view());
      if (reason == Drop::none && may_speak_for_order()) {
        outbox_.send(from.node, Lane::control, out, [&](const wire::Header& h, ByteSpan bytes) {
          return wire::encode_checkpoint(h, state_.checkpoint(), bytes);
        });
      }
      return reason;
    }
    case PaxosKind::checkpoint: return on_checkpoint(from, packet, out);
    case PaxosKind::lives: return on_lives(*peers_.find(from.node), packet, out);
    case PaxosKind::log_heard: return on_log_heard(from, packet, out);
    case PaxosKind::link_check: return on_link_check(*peers_.find(from.node), packet);
  }
  return Drop::unknown_kind;
}

Drop PaxosEngine::on_state(Instant now, const BufferRef& packet, Peer& from, Effects& out) {
  wire::State said;
  const Drop reason = wire::decode_state(packet.view(), said);
  if (reason != Drop::none) return reason;
  if (!same_order(said)) {
    wire::Header header;
    header.sender = from.member;
    report_incompatible(header, Drop::other_list, out);
    peers_.refuse_state(from);
    return Drop::other_list;
  }
  const bool put_back = from.put_back;
  peers_.note_state(from, said);
  note_put_back(from, put_back, out);
  answer_about_log(from, said, out);
  if (said.beat != 0) from.reception.beat(now, said.beat);
  if (said.voted_round.count != 0) hear_voter(from);
  see_round(now, said.round);
  highest_decided_ = std::max(highest_decided_, said.next == 0 ? 0 : said.next - 1);
  if (said.leading && said.round > leading_ && state_.governs(said.round)) {
    follow(now, said.round, out);
  }
  return Drop::none;
}

Drop PaxosEngine::on_submit(Instant now, const Peer& from, const BufferRef& packet) {
  wire::ValueFrame frame;
  const Drop reason = wire::decode_value(packet.view(), frame);
  if (reason != Drop::none) return reason;
  if (frame.head.origin != from.member) return Drop::bad_sender;
  if ((frame.count != 0) != config_.options.optimistic) return Drop::bad_value;
  const BufferRef bytes = bytes_behind(packet, wire::kDataHeaderBytes);
  Drop early = Drop::wrong_state;
  if (early_) {
    // Also of a unit that is not told here, so that the coordinator knows when it is due.
    frame.count = early_->see(now, frame.count);
    early = hear_early(now, frame, bytes);
  }
  if (!coordinator_ || !coordinator_->leads()) return early;
  return coordinator_->submit(frame.head, bytes, false, frame.count) ? Drop::none : Drop::duplicate;
}

// A value comes by the routes, and goes on its way also if this node knew it before: somebody
// behind it may not.
Drop PaxosEngine::on_value(Instant now, const Peer& from, PaxosKind kind, const BufferRef& packet,
                           Effects& out) {
  Arrival arrival;
  Drop reason = routes_->read(from, kind, packet.view(), arrival);
  if (reason != Drop::none) return reason;
  if (!arrival.decided && !is_ours(arrival)) return Drop::wrong_state;
  // The packet's own header makes room for that of the next one.
  bool fresh = true;
  const BufferRef bytes =
      arrival.own ? own_bytes(arrival.head, fresh) : bytes_behind(packet, routes_->header_bytes());
  if (arrival.own && !bytes) return Drop::stale;
  reason = arrival.decided ? take_decided(arrival.instance, arrival.head, bytes)
                           : take_proposal(now, arrival, bytes, out);
  if (reason == Drop::duplicate) note_twice(now, arrival.instance);
  if (reason != Drop::stale) routes_->pass_on(arrival, bytes, fresh, out);
  return reason;
}

Drop PaxosEngine::take_proposal(Instant now, const Arrival& arrival, const BufferRef& bytes,
                                Effects& out) {
  const Round& round = arrival.round;
  const Instance floor = arrival.instance - arrival.behind;
  see_round(now, round);
  if (round > leading_) follow(now, round, out);
  if (arrival.vote && votes() && !acceptor_->accept(round, floor)) {
    tell_state(round.coordinator.node, out);  // a higher round is promised
    return Drop::stale;
  }
  highest_decided_ = std::max(highest_decided_, floor - 1);
  if (arrival.tells_decided) peers_.note_decided(round, floor - 1);
  Slot* slot = store_.make(arrival.instance);
  if (slot == nullptr) {
    return arrival.instance < store_.next() ? Drop::duplicate : Drop::out_of_window;
  }
  if (slot->decided || slot->heard_round >= round) return Drop::duplicate;
  slot->heard_round = round;
  slot->heard = {arrival.head, bytes};
  if (round == decided_round_ && arrival.instance <= decided_upto_) slot->decided = true;
  if (PEAL_MUTANT(rd_arrival_decides)) slot->decided = true;
  return Drop::none;
}

Drop PaxosEngine::on_prepare(Instant now, const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Prepare prepare;
  const Drop reason = wire::decode_prepare(packet.view(), prepare);
  if (reason != Drop::none) return reason;
  const Round round{prepare.count, from.member};
  hear_voter(from);  // who begins a round votes in it
  if (!votes() || !knows_order_of(round)) return Drop::wrong_state;
  if (wire::list_of(round) > state_.nodes().number) return Drop::wrong_state;
  see_round(now, round);
  if (!state_.governs(round) || !acceptor_->prepare(round)) {
    tell_state(from.node, out);
    return Drop::stale;
  }
  promise_for_ = from.node;
  answer_prepare(out);
  return Drop::none;
}

// The promise is on disk, or not yet: then on_durable() comes back here.
void PaxosEngine::answer_prepare(Effects& out) {
  if (!promise_for_ || !acceptor_->is_promised(acceptor_->promised())) return;
  const NodeId to = *promise_for_;
  promise_for_.reset();
  if (acceptor_->promised().coordinator.node != to) return;
  // With the promise goes the word of a log that holds it.
  tell_state(to, out);
  outbox_.send(to, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_promise(header, promise_of(acceptor_->promised(), store_, state_), bytes);
  });
}

void PaxosEngine::tell_state(NodeId to, Effects& out) {
  if (const BufferRef packet = outbox_.state_packet(state())) out.send(to, Lane::control, packet);
}

Drop PaxosEngine::on_fetch(const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Fetch fetch;
  const Drop reason = wire::decode_fetch(packet.view(), fetch);
  if (reason != Drop::none) return reason;
  if (decided(fetch.instance)) {
    send_decided(from.node, fetch.instance, false, out);
    return Drop::none;
  }
  const Slot* slot = store_.find(fetch.instance);
  if (slot == nullptr || slot->vote_round != fetch.round) return Drop::wrong_state;
  const BufferRef answer = outbox_.fetched_packet({fetch.round, fetch.instance, slot->vote.head},
                                                  slot->vote.bytes.view());
  if (answer) out.send(from.node, Lane::control, answer);
  return Drop::none;
}

Drop PaxosEngine::on_fetched(const BufferRef& packet) {
  wire::Fetched frame;
  const Drop reason = wire::decode_fetched(packet.view(), frame);
  if (reason != Drop::none) return reason;
  if (coordinator_)
    coordinator_->on_fetched(frame, bytes_behind(packet, wire::kFetchedHeaderBytes));
  return Drop::none;
}

/// `again`: it may be the data lane that does not get there.
void PaxosEngine::send_decided(NodeId to, Instance instance, bool again, Effects& out) {
  const auto known = decided(instance);
  if (!known) return;
  wire::ValueFrame frame;
  frame.instance = instance;
  frame.head = known->head;
  const BufferRef packet = outbox_.value_packet(PaxosKind::decided, frame, known->bytes);
  if (!packet) return;
  const bool control = again && !PEAL_MUTANT(px_repairs_one_lane);
  out.send(to, control ? Lane::control : outbox_.lane_for(packet), packet);
  ++counts_.repeated;
}

Drop PaxosEngine::on_repeat(Instant now, const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Repeat repeat;
  const Drop reason = wire::decode_repeat(packet.view(), repeat);
  if (reason != Drop::none) return reason;
  const Instance end = repeat.first + repeat.count;
  for (Instance k = repeat.first; k < std::min(end, store_.end()); ++k) {
    send_decided(from.node, k, repeat.again, out);
  }
  if (coordinator_) {
    coordinator_->note_lost(now, repeat.first);
    coordinator_->repeat(from.node, repeat.first, repeat.count, repeat.again, out);
  }
  return Drop::none;
}

Drop PaxosEngine::on_decided(Instant now, const BufferRef& packet) {
  wire::ValueFrame frame;
  const Drop reason = wire::decode_value(packet.view(), frame);
  if (reason != Drop::none) return reason;
  const Drop known =
      take_decided(frame.instance, frame.head, bytes_behind(packet, wire::kDataHeaderBytes));
  if (known == Drop::duplicate) note_twice(now, frame.instance);
  return known;
}

Drop PaxosEngine::take_decided(Instance instance, const wire::ValueHead& head,
                               const BufferRef& bytes) {
  highest_decided_ = std::max(highest_decided_, instance);
  Slot* slot = store_.make(instance);
  if (slot == nullptr) return instance < store_.next() ? Drop::duplicate : Drop::out_of_window;
  if (slot->decided) return Drop::duplicate;
  slot->decided = true;
  slot->heard = {head, bytes};
  // No round: an acceptor must not vote for it as if it had been proposed in its round.
  slot->heard_round = {};
  return Drop::none;
}

Drop PaxosEngine::on_checkpoint(const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Checkpoint said;
  const Drop reason = wire::decode_checkpoint(packet.view(), said);
  if (reason != Drop::none) return reason;
  if (PEAL_MUTANT(re_key_not_kept)) said.key = 0;
  if (state_.known() && said.nodes.first != state_.nodes().first) return Drop::other_list;
  // Not of an order that is over: who says it goes by it now.
  if (!from.has_state || from.state.first_list != said.nodes.first) {
    return Drop::wrong_state;
  }
  if (!believes(from, said)) return Drop::wrong_state;
  // A member owes its view what was decided in it, so it cannot skip anything.
  if (!may_skip() || said.next <= state_.next()) return Drop::duplicate;
  OrderState later(said);
  if (later.has(config_.self)) {
    // Taken into a view since it asked: it must come to that view by itself, to install it.
    PEAL_PROBE("paxos.checkpoint_of_own_view");
    if (cut_off_ticks_ >= kCutOffTicks) stop(out, kCutOff);
    return Drop::wrong_state;
  }
  PEAL_PROBE("paxos.checkpoint_taken");
  const bool other_list = said.nodes != state_.nodes();
  const bool known = state_.known();
  const bool told = !known && is_told_to_vote(from, said.nodes);
  keep_words(said.next);
  state_ = std::move(later);
  from_ = state_.key();
  if (said.next > store_.next()) store_.skip_to(said.next);
  ++counts_.checkpoints;
  cut_off_ticks_ = 0;  // it has waited for this
  checkpoint_at_ = said.next;
  // Others that were heard before may have spoken of another order.
  if (!known) highest_decided_ = said.next - 1;
  if (!known) forget_other_orders();
  if (other_list) change_nodes(out);
  if (told) swear();
  look_at_silence();
  checkpoint_wanted_ = acceptor_ && sworn_ && peers_.self().acceptor;
  report_forgotten(out);
  return Drop::none;
}

}  // namespace peal::order::paxos
