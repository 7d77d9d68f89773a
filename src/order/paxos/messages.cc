// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

// Dispatches packets to the classes of the engine, and answers some packets.

namespace peal::order::paxos {

using wire::Drop;
using wire::PaxosKind;

void PaxosEngine::on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) {
  if (life_ != Life::running) return;
  wire::Header header;
  Drop reason = admission_.read(packet, consumer_.view(), header, out);
  if (reason == Drop::none) {
    if (!admission_.admit(now, header, consumer_.view(), out)) return;
    Peer& from = *peers_.find(header.sender.node);
    if (lane == Lane::data) from.reception.data(now);
    reason = dispatch(now, from, static_cast<PaxosKind>(header.kind), packet, out);
  }
  admission_.count(reason);
  work(now, out);
}

Drop PaxosEngine::dispatch(Instant now, const Peer& from, PaxosKind kind, const BufferRef& packet,
                           Effects& out) {
  const bool of_any_order = kind == PaxosKind::state || kind == PaxosKind::lives ||
                            kind == PaxosKind::log_heard || kind == PaxosKind::checkpoint ||
                            kind == PaxosKind::checkpoint_get || kind == PaxosKind::link_check;
  // Before the sender's first STATE, its order is unknown.
  if (!of_any_order && !parts_.shares_order(from)) {
    return from.has_state ? Drop::other_list : Drop::wrong_state;
  }
  switch (kind) {
    case PaxosKind::state: return on_state(now, packet, *peers_.find(from.node), out);
    case PaxosKind::submit: return on_submit(now, from, packet);
    case PaxosKind::lacks: return own_units_.on_lacks(now, from, packet, out);
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
    case PaxosKind::prepare: return voter_.on_prepare(now, from, packet, out);
    case PaxosKind::promise: {
      wire::Promise promise;
      const Drop reason = wire::decode_promise(packet.view(), promise);
      if (reason == Drop::none && coordinator_) coordinator_->on_promise(now, from, promise, out);
      return reason;
    }
    case PaxosKind::fetch: return voter_.on_fetch(from, packet, out);
    case PaxosKind::fetched: return on_fetched(packet);
    case PaxosKind::repeat: return on_repeat(now, from, packet, out);
    case PaxosKind::decided: return on_decided(now, packet);
    case PaxosKind::recall: {
      wire::Recall recall;
      const Drop reason = wire::decode_recall(packet.view(), recall);
      if (reason != Drop::none) return reason;
      if (!parts_.shares_order(from)) return Drop::other_list;
      recall_.answer(from.node, recall, out);
      return reason;
    }
    case PaxosKind::word: return recall_.on_word(from, packet);
    case PaxosKind::checkpoint_get: {
      const Drop reason = wire::decode_checkpoint_get(packet.view());
      if (reason == Drop::none && incarnations_.may_speak_for_order()) {
        outbox_.send(from.node, Lane::control, out, [&](const wire::Header& h, ByteSpan bytes) {
          return wire::encode_checkpoint(h, state_.checkpoint(), bytes);
        });
      }
      return reason;
    }
    case PaxosKind::checkpoint: return on_checkpoint(from, packet, out);
    case PaxosKind::lives: {
      const Drop reason = incarnations_.on_lives(*peers_.find(from.node), packet);
      if (reason == Drop::none) begin_order(out);
      return reason;
    }
    case PaxosKind::log_heard: {
      const bool was = incarnations_.is_put_back();
      const Drop reason = incarnations_.on_log_heard(from, packet);
      if (!was && incarnations_.is_put_back()) put_back(out);
      return reason;
    }
    case PaxosKind::link_check: return links_.on_check(*peers_.find(from.node), packet);
  }
  return Drop::unknown_kind;
}

Drop PaxosEngine::on_state(Instant now, const BufferRef& packet, Peer& from, Effects& out) {
  wire::State said;
  const Drop reason = wire::decode_state(packet.view(), said);
  if (reason != Drop::none) return reason;
  if (!reconfiguration_.same_order(said)) {
    wire::Header header;
    header.sender = from.member;
    admission_.report_incompatible(header, Drop::other_list, consumer_.view(), out);
    peers_.refuse_state(from);
    return Drop::other_list;
  }
  const bool put_back = from.put_back;
  peers_.note_state(from, said);
  if (from.put_back && !put_back)
    out.report({&event::log_put_back, consumer_.view(), from.member, 0, 0});
  incarnations_.answer_about_log(from, said, out);
  if (said.beat != 0) from.reception.beat(now, said.beat);
  if (said.voted_round.count != 0) incarnations_.hear_voter(from);
  election_.see(now, said.round);
  if (said.next != 0) learner_.note_decided(said.next - 1);
  if (said.leading && said.round > election_.leading() && state_.governs(said.round)) {
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
    frame.count = early_units_.see(now, frame.count);
    early = early_units_.hear(now, frame, bytes);
  }
  if (!coordinator_ || !coordinator_->leads()) return early;
  return coordinator_->submit(frame.head, bytes, false, frame.count) ? Drop::none : Drop::duplicate;
}

// A value arrived on the routes. It is forwarded even if this node knew it before, because the next
// nodes on the route may not know it.
Drop PaxosEngine::on_value(Instant now, const Peer& from, PaxosKind kind, const BufferRef& packet,
                           Effects& out) {
  Arrival arrival;
  Drop reason = routes_->read(from, kind, packet.view(), arrival);
  if (reason != Drop::none) return reason;
  if (!arrival.decided && !learner_.is_ours(arrival)) return Drop::wrong_state;
  // The received packet's header leaves space for the header of the packet that is forwarded.
  bool fresh = true;
  const BufferRef bytes = arrival.own ? own_units_.bytes_of(arrival.head, fresh)
                                      : bytes_behind(packet, routes_->header_bytes());
  if (arrival.own && !bytes) return Drop::stale;
  reason = arrival.decided ? learner_.take_decided(arrival.instance, arrival.head, bytes)
                           : take_proposal(now, arrival, bytes, out);
  if (reason == Drop::duplicate) catch_up_.note_twice(now, arrival.instance);
  if (reason != Drop::stale) routes_->pass_on(arrival, bytes, fresh, out);
  return reason;
}

Drop PaxosEngine::take_proposal(Instant now, const Arrival& arrival, const BufferRef& bytes,
                                Effects& out) {
  const Round& round = arrival.round;
  const Instance floor = arrival.instance - arrival.behind;
  election_.see(now, round);
  if (round > election_.leading()) follow(now, round, out);
  if (arrival.vote && !voter_.accept(round, floor, out)) return Drop::stale;
  return learner_.take_proposal(arrival, bytes);
}

Drop PaxosEngine::on_fetched(const BufferRef& packet) {
  wire::Fetched frame;
  const Drop reason = wire::decode_fetched(packet.view(), frame);
  if (reason != Drop::none) return reason;
  if (coordinator_)
    coordinator_->on_fetched(frame, bytes_behind(packet, wire::kFetchedHeaderBytes));
  return Drop::none;
}

Drop PaxosEngine::on_repeat(Instant now, const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Repeat repeat;
  const Drop reason = wire::decode_repeat(packet.view(), repeat);
  if (reason != Drop::none) return reason;
  const Instance end = repeat.first + repeat.count;
  for (Instance k = repeat.first; k < std::min(end, store_.end()); ++k) {
    history_.send(from.node, k, repeat.again, out);
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
  const Drop known = learner_.take_decided(frame.instance, frame.head,
                                           bytes_behind(packet, wire::kDataHeaderBytes));
  if (known == Drop::duplicate) catch_up_.note_twice(now, frame.instance);
  return known;
}

Drop PaxosEngine::on_checkpoint(const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Checkpoint said;
  const Drop reason = wire::decode_checkpoint(packet.view(), said);
  if (reason != Drop::none) return reason;
  if (PEAL_MUTANT(re_key_not_kept)) said.key = 0;
  const Drop verdict = transfer_.judge(from, said);
  if (transfer_.is_cut_off()) stop(out, StateTransfer::kCutOff);
  if (verdict != Drop::none) return verdict;
  const bool other_list = said.nodes != state_.nodes();
  const bool known = state_.known();
  const bool told = !known && incarnations_.is_told_to_vote(from, said.nodes);
  transfer_.take(said);
  consumer_.begin();
  checkpointer_.begin();
  // Earlier reports of other nodes may be of another order.
  if (!known) forget_other_orders();
  if (other_list) change_nodes(out);
  if (told) incarnations_.let_vote();
  incarnations_.update_silence();
  checkpointer_.want(incarnations_.keeps_log());
  incarnations_.report_amnesia(consumer_.view(), out);
  return Drop::none;
}

}  // namespace peal::order::paxos
