// SPDX-License-Identifier: Apache-2.0
// Is the log of this node the one that it wrote last, or an older copy that somebody put back? It
// has forgotten what the node said since. Others remember how far the log was (STATE), and say so
// to each incarnation that asks (LOG_HEARD). README.md says what that finds, and what it does not.

#include <algorithm>

#include "base/hooks.h"
#include "order/paxos/engine.h"

namespace peal::order::paxos {

/// Nobody hears of this incarnation before its log says that it has begun.
void PaxosEngine::open_log(Effects& out) {
  const bool was_put_back = acceptor_->was_put_back();
  const std::uint64_t epoch = config_.self.epoch;
  const bool started = acceptor_->start(epoch) ||
                       (state_.known() && acceptor_->start(epoch, state_, store_.oldest(), kept_));
  if (!started) {
    stop(out, "the acceptor's log takes nothing");
    return;
  }
  copy_check_.begin(acceptor_->starts(), was_put_back);
  if (was_put_back) put_back(out);
  if (!acceptor_->is_started()) life_ = Life::opening;
}

void PaxosEngine::begin(Instant now, Effects& out) {
  life_ = Life::running;
  started_ = now;
  peers_.start(now);
  tick_at_ = now;
  on_timer(now, out);
}

/// Each acceptor answers: only of those is it sure that they heard what this log promised.
void PaxosEngine::answer_about_log(const Peer& from, const wire::State& said, Effects& out) {
  if (said.log_word != wire::LogWord::asks || !acceptor_) return;
  const wire::LogAnswer answer{from.member.epoch, said.life, from.logs.before(said.life)};
  outbox_.send(from.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_log_answer(header, answer, bytes);
  });
}

wire::Drop PaxosEngine::on_log_heard(const Peer& from, const BufferRef& packet, Effects& out) {
  wire::LogAnswer answer;
  const wire::Drop reason = wire::decode_log_answer(packet.view(), answer);
  if (reason != wire::Drop::none) return reason;
  const Peer& self = peers_.self();
  if (in_memory() || answer.asker != config_.self.epoch || answer.life != self.has_life) {
    return wire::Drop::stale;
  }
  if (copy_check_.note(from.node, answer)) {
    acceptor_->put_back();
    put_back(out);
  }
  copy_check_.look(peers_);
  return wire::Drop::none;
}

/// From now on this node says nothing of what it promised or voted for, and nobody counts it.
void PaxosEngine::put_back(Effects& out) {
  PEAL_PROBE("paxos.log_put_back");
  sworn_ = false;
  peers_.put_back();
  checkpoint_wanted_ = false;
  promise_for_.reset();
  if (coordinator_) coordinator_->step_down();
  out.report({&event::log_put_back, view_, config_.self, 0, 0});
}

/// `was`: it was known before that the log of the other node is an older copy.
void PaxosEngine::note_put_back(Peer& from, bool was, Effects& out) {
  if (from.put_back && !was) out.report({&event::log_put_back, view_, from.member, 0, 0});
}

}  // namespace peal::order::paxos
