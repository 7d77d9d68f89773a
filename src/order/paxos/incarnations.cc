// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/incarnations.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// True if the list names the acceptor `node` in the incarnation `life`.
bool names(const wire::Nodes& list, NodeId node, std::uint64_t life) {
  const auto at = std::lower_bound(list.acceptors.begin(), list.acceptors.end(), node);
  if (at == list.acceptors.end() || *at != node || list.lives.empty()) return false;
  return list.lives[static_cast<std::size_t>(at - list.acceptors.begin())] == life;
}

}  // namespace

// ---- start ----

// The log records an order only if this node was allowed to vote in that order.
void Incarnations::start() {
  may_vote_ = p_.state.known();
  bootstrap_.restore(p_.acceptor->taken(), p_.acceptor->taken_heard());
  taken_written_ = true;
}

// This node sends nothing before the log has recorded that this incarnation began.
bool Incarnations::open() {
  const bool was_put_back = p_.acceptor->was_put_back();
  const std::uint64_t epoch = p_.config.self.epoch;
  const bool started =
      p_.acceptor->start(epoch) ||
      (p_.state.known() && p_.acceptor->start(epoch, p_.state, p_.store.oldest(), p_.kept));
  if (!started) return false;
  copy_check_.begin(p_.acceptor->starts(), was_put_back);
  if (was_put_back) put_back();
  return true;
}

// ---- bootstrap ----

bool Incarnations::tell_lives(Effects& out) {
  const Peer& self = p_.peers.self();
  if (p_.state.known() || !self.named || p_.acceptor == nullptr || !is_sure()) return false;
  if (bootstrap_.take(p_.state.nodes(), p_.peers)) taken_written_ = false;
  if (bootstrap_.taken().lives.empty()) return false;
  // The log records the acceptors that this node names: after a restart it must name the same.
  if (!taken_written_) {
    taken_written_ = p_.acceptor->take(bootstrap_.taken(), bootstrap_.heard());
  }
  if (!taken_written_ || !p_.acceptor->is_taken()) return false;
  bootstrap_.note_own(self.node);
  p_.outbox.multicast(Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_lives(header, bootstrap_.taken(), bytes);
  });
  return true;
}

wire::Drop Incarnations::on_lives(Peer& from, const BufferRef& packet) {
  wire::Lives said;
  const wire::Drop reason = wire::decode_lives(packet.view(), said);
  if (reason != wire::Drop::none) return reason;
  if (!from.named) return wire::Drop::wrong_state;
  if (p_.state.known()) return wire::Drop::stale;
  from.bound = said.list != p_.state.nodes().hash;
  bootstrap_.note(said, from);
  return wire::Drop::none;
}

bool Incarnations::begin_order() {
  if (p_.state.known() || !bootstrap_.complete()) return false;
  PEAL_PROBE("paxos.order_founded");
  PEAL_ASSERT(taken_written_ || PEAL_MUTANT(px_founded_alone));
  p_.state.begin_order(bootstrap_.taken().lives);
  may_vote_ = true;
  checkpointer_.begin();
  checkpointer_.want(true);
  return true;
}

// ---- rights of this node in the order ----

bool Incarnations::votes() const {
  return p_.acceptor != nullptr && p_.peers.self().acceptor && !p_.state.nodes().lives.empty() &&
         (may_vote_ || PEAL_MUTANT(px_amnesiac_votes)) && is_sure() &&
         (checkpointer_.knows_list() || PEAL_MUTANT(px_list_not_logged));
}

bool Incarnations::keeps_log() const {
  return p_.acceptor != nullptr && may_vote_ && p_.peers.self().acceptor;
}

bool Incarnations::is_amnesiac() const {
  return p_.acceptor != nullptr && p_.state.known() && p_.peers.self().named && !keeps_log();
}

bool Incarnations::may_speak_for_order() const {
  return p_.state.known() && (may_vote_ || !p_.peers.self().acceptor);
}

// An order in which nothing is decided may be lost, although only one of its acceptors ever learnt
// that it began. So a node adopts such an order only from an acceptor of the order. An acceptor
// that could not vote in the order does not adopt it. Otherwise acceptors would wait for ever in a
// lost order, and keep other acceptors from bootstrapping a new order.
bool Incarnations::believes(const Peer& from, const wire::Checkpoint& said) const {
  if (p_.state.known() || said.next > 1) return true;
  if (bootstrap_.took_those_of(said.nodes)) return true;
  const NodeId self = p_.config.self.node;
  const auto& acceptors = said.nodes.acceptors;
  const bool own = std::binary_search(acceptors.begin(), acceptors.end(), self);
  return names(said.nodes, from.node, from.has_life) &&
         (!own || names(said.nodes, self, p_.peers.self().has_life));
}

// If this node has not named the acceptors of `order` itself, the sender must be one of them, and
// every order that this node may have helped to bootstrap must need the sender. Otherwise such
// another order may have begun meanwhile.
bool Incarnations::is_told_to_vote(const Peer& from, const wire::Nodes& order) const {
  if (bootstrap_.took_those_of(order)) return true;
  return names(order, from.node, from.has_life) && bootstrap_.needs(from);
}

// Until now, no voting acceptor had confirmed this node's order, so this node did not vote.
void Incarnations::hear_voter(const Peer& from) {
  if (may_vote_ || !from.acceptor || !p_.shares_order(from) || !bootstrap_.needs(from)) return;
  PEAL_PROBE("paxos.told_to_vote");
  let_vote();
  update_silence();
  ignore(checkpointer_.write(), "it is tried again");
}

void Incarnations::let_vote() {
  if (is_put_back()) return;
  PEAL_ASSERT(p_.state.known());
  if (std::exchange(may_vote_, true)) return;
  // The log lacks the values that this node consumed before now.
  checkpointer_.begin_history();
  checkpointer_.want(keeps_log());
}

void Incarnations::update_silence() {
  Peer& self = p_.peers.self();
  self.silent = self.acceptor && !may_vote_ && !PEAL_MUTANT(px_amnesiac_votes);
}

// ---- copies of logs ----

// Is the log of a node the latest one, or an older copy that was restored? A copy lacks later
// promises and votes of the node. Other nodes remember how long the log was (STATE), and report
// that length to each incarnation that asks (LOG_HEARD). Only acceptors answer, because only
// acceptors received the promises in this log.
void Incarnations::answer_about_log(const Peer& from, const wire::State& said, Effects& out) {
  if (said.log_word != wire::LogWord::asks || p_.acceptor == nullptr) return;
  const wire::LogAnswer answer{from.member.epoch, said.life, from.logs.before(said.life)};
  p_.outbox.send(from.node, Lane::control, out, [&](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_log_answer(header, answer, bytes);
  });
}

wire::Drop Incarnations::on_log_heard(const Peer& from, const BufferRef& packet) {
  wire::LogAnswer answer;
  const wire::Drop reason = wire::decode_log_answer(packet.view(), answer);
  if (reason != wire::Drop::none) return reason;
  const Peer& self = p_.peers.self();
  if (p_.in_memory() || answer.asker != p_.config.self.epoch || answer.life != self.has_life) {
    return wire::Drop::stale;
  }
  if (copy_check_.note(from.node, answer)) {
    p_.acceptor->put_back();
    put_back();
  }
  look();
  return wire::Drop::none;
}

// From now on this node reports none of its promises and votes, and no node counts it as an
// acceptor.
void Incarnations::put_back() {
  PEAL_ASSERT(is_put_back());
  PEAL_PROBE("paxos.log_put_back");
  may_vote_ = false;
  p_.peers.put_back();
  checkpointer_.want(false);
}

// ---- reports ----

void Incarnations::report_amnesia(ViewId view, Effects& out) {
  if (!is_amnesiac() || is_put_back() || told_amnesiac_ == p_.state.nodes().number) return;
  told_amnesiac_ = p_.state.nodes().number;
  PEAL_PROBE("paxos.votes_forgotten");
  out.report({&event::votes_forgotten, view, p_.config.self, 0, 0});
}

void Incarnations::check_invariants() const {
  PEAL_ASSERT(!may_vote_ || p_.state.known());
  PEAL_ASSERT(!p_.peers.self().silent || !may_vote_);
  PEAL_ASSERT(!votes() || p_.state.known());
  PEAL_ASSERT(bootstrap_.taken().lives.empty() || p_.acceptor != nullptr);
}

void Incarnations::add_to(Digest& digest) const {
  digest.add(may_vote_ ? 1 : 0);
  bootstrap_.add_to(digest);
  copy_check_.add_to(digest);
}

}  // namespace peal::order::paxos
