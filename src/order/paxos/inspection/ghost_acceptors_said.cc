// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "order/paxos/inspection/ghost_acceptors.h"

// The packets that acceptors receive and send.

namespace peal::order::paxos {

// Ignores an answer if the incarnation `from` has ended, because `who` need not accept it.
void GhostAcceptors::told_of_log(MemberId who, MemberId from, const wire::LogAnswer& answer) {
  Life* of = current(who.node);
  const Life* teller = current(from.node);
  if (of == nullptr || teller == nullptr || teller->epoch != from.epoch) return;
  if (of->reading || of->id != answer.life || of->epoch != answer.asker) return;
  for (const wire::LogHeard& heard : answer.heard) {
    const auto held = of->held.find(heard.epoch);
    if (held != of->held.end() && heard.position > held->second.value) of->told = true;
  }
}

void GhostAcceptors::check_begun(MemberId from) {
  const Life* of = on_disk_ ? current(from.node) : nullptr;
  if (of == nullptr || of->epoch != from.epoch || of->log.begun_durable == from.epoch) return;
  report_("durable", name(*of) + " speaks, and its log does not say durably that it has begun");
}

void GhostAcceptors::said_state(MemberId from, const wire::State& state) {
  check_begun(from);
  if (state.next == 0 && state.voted_round.count == 0) return;
  const Claimant who{from.node};
  if (state.next != 0) {
    follows_[from.node] = state.first_list;
    orders_.claim_all(state.first_list, state.next, who);
  }
  if (state.voted_round.count == 0) return;
  if (state.decided_upto != 0) {
    orders_.claim_all(state.first_list, state.decided_upto + 1, who);
  }
  Life* of = on_disk_ ? current(from.node) : nullptr;
  if (of == nullptr) return;
  // If the same STATE reports that the acceptor's log is an older copy, no node counts the votes
  // that this STATE reports.
  if (state.log_word != wire::LogWord::put_back) check_silence(*of, "says that it voted");
  if (of->voted != state.voted_round) {
    of->voted = state.voted_round;
    of->voted_upto = std::max<Instance>(state.next, 1) - 1;
  }
  for (Instance k = of->voted_upto + 1; k <= state.voted_upto; ++k) {
    check_vote_told(*of, k, state.voted_round);
  }
  of->voted_upto = std::max(of->voted_upto, state.voted_upto);
}

void GhostAcceptors::check_vote_told(const Life& of, Instance instance, const Round& round) {
  const Log& log = of.log;
  const Vote* vote = log.votes.find(instance);
  const bool written = vote != nullptr && vote->round == round;
  if (written && vote->at <= log.durable) return;
  if (orders_.is_decided(log.order, instance)) return;
  report_("durable", name(of) + " says that it voted for instance " + std::to_string(instance) +
                         " in " + text_of(round) +
                         (written ? ", and that is not durable" : ", and did not"));
}

void GhostAcceptors::said_promise(MemberId from, const wire::Promise& promise) {
  Life& of =
      on_disk_ && current(from.node) != nullptr ? *current(from.node) : life(from.node, from.epoch);
  if (promise.round < of.promise_said) {
    report_("durable", name(of) + " promises " + text_of(promise.round) + ", and has promised " +
                           text_of(of.promise_said));
  }
  of.promise_said = std::max(of.promise_said, promise.round);
  if (!on_disk_) return;
  check_silence(of, "says that it promises " + text_of(promise.round));
  const Log& log = of.log;
  if (log.promised_durable < promise.round) {
    report_("durable",
            name(of) + " promises " + text_of(promise.round) + ", and that is not durable");
  }
  auto run = promise.runs.begin();
  log.votes.each_from(promise.next, [&](Instance instance, const Vote& vote) {
    while (run != promise.runs.end() && run->first + run->length <= instance) ++run;
    const bool named = run != promise.runs.end() && run->first <= instance;
    if (named && run->round == vote.round) return true;
    report_("durable", name(of) + " promises " + text_of(promise.round) +
                           " and does not tell its vote for instance " + std::to_string(instance) +
                           " in " + text_of(vote.round));
    return false;
  });
}

void GhostAcceptors::said_lives(MemberId from, const wire::Lives& lives) {
  const std::uint64_t order = order_of(lives);
  if (!on_disk_) {
    life(from.node, from.epoch).took.insert(order);
    return;
  }
  const Life* of = current(from.node);
  if (of == nullptr || of->log.taken_durable == order) return;
  report_("founded", name(*of) + " says who begins an order, and that is not durable");
}

// An order may begin only after each of its acceptors has durably named all acceptors of the order
// for the bootstrap.
void GhostAcceptors::said_checkpoint(MemberId from, const wire::Checkpoint& state) {
  const Claimant who{from.node};
  const wire::Nodes& nodes = state.nodes;
  if (orders_.note_list(nodes, who) && nodes.number == 0) {
    for (std::size_t i = 0; i < nodes.lives.size() && i < nodes.acceptors.size(); ++i) {
      const std::uint64_t id = nodes.lives[i];
      const auto bound = std::find_if(lives_.begin(), lives_.end(), [&](const Life& each) {
        return each.id == id && each.node == nodes.acceptors[i];
      });
      if (bound != lives_.end() && bound->took.count(nodes.first) != 0) continue;
      report_("founded", who.text() + " begins an order, and n" +
                             std::to_string(nodes.acceptors[i].value) + " is not bound to it");
    }
  }
  orders_.claim_state(state, who);
}

void GhostAcceptors::said_decided(MemberId from, Instance instance, std::uint64_t value) {
  const auto order = follows_.find(from.node);
  if (order == follows_.end()) return;
  orders_.claim(order->second, instance, value, {from.node});
}

}  // namespace peal::order::paxos
