// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/vote_recall.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/catch_up.h"

namespace peal::order::paxos {

using wire::Drop;

void VoteRecall::ask(Effects& out) {
  const Instance first = p_.state.next();
  const Instance highest = learner_.highest();
  if (first > highest) return;
  PEAL_PROBE("paxos.recalls");
  const auto count = static_cast<std::uint16_t>(
      std::min({highest - first + 1, Instance{wire::kRecallMax}, asked_max(p_.config.options)}));
  asked_upto_ = first + count;
  const wire::Recall question{first, count};
  for (const Peer& peer : p_.peers.all()) {
    if (!peer.acceptor || peer.silent || peer.suspected) continue;
    if (peer.self) {
      if (incarnations_.is_sure()) note_own(question);
      continue;
    }
    if (!p_.shares_order(peer)) continue;
    p_.outbox.send(peer.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
      return wire::encode_recall(header, question, bytes);
    });
  }
}

/// Notes this acceptor's own votes.
void VoteRecall::note_own(const wire::Recall& question) {
  for (Instance k = question.first; k < question.first + question.count; ++k) {
    const Slot* slot = p_.store.find(k);
    recall_.note(p_.config.self.node, k, slot != nullptr ? slot->vote_round : Round{},
                 slot != nullptr ? slot->vote : Value{});
  }
}

/// This acceptor's vote for an instance, or the statement that it did not vote. Empty if a vote may
/// have been dropped, or if this node never votes, knows no order, or may have an older copy of its
/// log.
std::optional<KeptWords::Word> VoteRecall::word_on(Instance instance) const {
  if (p_.acceptor == nullptr || !p_.state.known() || !incarnations_.is_sure()) return std::nullopt;
  if (instance < p_.store.next()) return p_.kept.find(instance);
  return word_of(p_.store, instance);
}

void VoteRecall::answer(NodeId to, const wire::Recall& question, Effects& out) {
  for (Instance k = question.first; k < question.first + question.count; ++k) {
    if (history_.decided(k)) {
      history_.send(to, k, true, out);
      continue;
    }
    const std::optional<KeptWords::Word> word = word_on(k);
    if (!word) continue;
    const wire::Word said{k, word->round, word->head};
    const BufferRef packet = p_.outbox.word_packet(said, word->bytes);
    if (packet) out.send(to, Lane::control, packet);
  }
}

Drop VoteRecall::on_word(const Peer& from, const BufferRef& packet) {
  wire::Word word;
  const Drop reason = wire::decode_word(packet.view(), word);
  if (reason != Drop::none) return reason;
  const bool asked_for =
      word.instance >= p_.state.next() && word.instance < p_.state.next() + wire::kRecallMax;
  if (!from.acceptor || !asked_for || !p_.shares_order(from)) return Drop::stale;
  recall_.note(from.node, word.instance, word.round,
               {word.head, bytes_behind(packet, wire::kWordHeaderBytes)});
  return Drop::none;
}

bool VoteRecall::take() {
  if (recall_.empty()) return false;
  const Instance next = p_.state.next();
  recall_.forget_below(next);
  const std::optional<Value> value = recall_.decided(next, p_.peers.majority());
  if (!value) return false;
  PEAL_PROBE("paxos.recalled");
  return learner_.take_decided(next, value->head, value->bytes) == Drop::none;
}

void VoteRecall::keep_words(Instance end) {
  if (!p_.state.known()) return;
  PEAL_ASSERT(end > p_.state.next());
  Instance first = p_.state.next();
  for (const Peer& peer : p_.peers.all()) {
    if (!peer.listed || peer.self) continue;
    if (!peer.has_state) first = p_.store.oldest();
    if (peer.state.next != 0) first = std::min(first, peer.state.next);
  }
  // A node that never votes keeps nothing of instances that it did not consume.
  p_.kept.keep(first, p_.acceptor != nullptr ? end : p_.state.next(), p_.store);
}

void VoteRecall::check_invariants() const {
  // Acceptors are asked about decided instances only.
  PEAL_ASSERT(asked_upto_ <= learner_.highest() + 1);
}

}  // namespace peal::order::paxos
