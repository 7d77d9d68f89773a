// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/voter.h"

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {

using wire::Drop;

Drop Voter::on_prepare(Instant now, const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Prepare prepare;
  const Drop reason = wire::decode_prepare(packet.view(), prepare);
  if (reason != Drop::none) return reason;
  const Round round{prepare.count, from.member};
  incarnations_.hear_voter(from);  // an acceptor that begins a round is a voting acceptor
  if (!incarnations_.votes() || !p_.knows_order_of(round)) return Drop::wrong_state;
  if (wire::list_of(round) > p_.state.nodes().number) return Drop::wrong_state;
  election_.see(now, round);
  if (!p_.state.governs(round) || !p_.acceptor->prepare(round)) {
    report_.tell(from.node, out);
    return Drop::stale;
  }
  PEAL_ASSERT(p_.acceptor->promised() == round);
  promise_for_ = from.node;
  answer_prepare(out);
  return Drop::none;
}

void Voter::answer_prepare(Effects& out) {
  if (!promise_for_ || !p_.acceptor->is_promised(p_.acceptor->promised())) return;
  const NodeId to = *promise_for_;
  promise_for_.reset();
  const Round& promised = p_.acceptor->promised();
  if (promised.coordinator.node != to) return;
  // The STATE is sent before the promise. It reports the length of the log, which holds the promise
  // already.
  report_.tell(to, out);
  p_.outbox.send(to, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_promise(header, promise_of(promised, p_.store, p_.state), bytes);
  });
}

bool Voter::accept(const Round& round, Instance floor, Effects& out) {
  if (!incarnations_.votes()) return true;  // this node's vote would not count
  if (p_.acceptor->accept(round, floor)) {
    PEAL_ASSERT(p_.acceptor->promised() <= p_.acceptor->round() ||
                PEAL_MUTANT(px_old_round_accepted));
    return true;
  }
  report_.tell(round.coordinator.node, out);
  return false;
}

bool Voter::vote() {
  const bool begun = incarnations_.votes() && p_.acceptor->round().count != 0;
  if (!begun || !p_.state.governs(p_.acceptor->round())) return false;
  p_.acceptor->vote(p_.store);
  if (!p_.in_memory() || !p_.acceptor->on_durable()) return false;
  report_.announce();
  return true;
}

Drop Voter::on_fetch(const Peer& from, const BufferRef& packet, Effects& out) {
  wire::Fetch fetch;
  const Drop reason = wire::decode_fetch(packet.view(), fetch);
  if (reason != Drop::none) return reason;
  if (history_.decided(fetch.instance)) {
    history_.send(from.node, fetch.instance, false, out);
    return Drop::none;
  }
  const Slot* slot = p_.store.find(fetch.instance);
  if (slot == nullptr || slot->vote_round != fetch.round) return Drop::wrong_state;
  const BufferRef answer = p_.outbox.fetched_packet({fetch.round, fetch.instance, slot->vote.head},
                                                    slot->vote.bytes.view());
  if (answer) out.send(from.node, Lane::control, answer);
  return Drop::none;
}

void Voter::check_invariants() const {
  PEAL_ASSERT(!promise_for_ || (p_.acceptor != nullptr && p_.peers.find(*promise_for_) != nullptr));
}

}  // namespace peal::order::paxos
