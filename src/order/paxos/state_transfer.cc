// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/state_transfer.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/ensemble.h"

namespace peal::order::paxos {

using wire::Drop;

namespace {

/// While nothing makes progress, acceptors are asked for their votes once in this number of
/// heartbeats.
constexpr unsigned kRecallTicks = 4;

/// A member stops after this number of consecutive heartbeats in which no node had the value that
/// the member lacks, and no node that may help made progress. Earlier, what the member knows of
/// other nodes may be outdated.
constexpr unsigned kCutOffTicks = 100;
/// The same limit while an acceptor is away, because the log of that acceptor may hold the value.
constexpr unsigned kCutOffTicksAway = 1'000;

}  // namespace

// A node in no view that is far behind takes a checkpoint: fetching all decided values may take
// longer than the other nodes take to decide as many new values.
void StateTransfer::look(Effects& out) {
  const Peer* best = furthest();
  const bool known = p_.state.known();
  if (best == nullptr || (known && (can_catch_up() || best->state.next <= p_.state.next()))) {
    ticks_ = 0;
    const Instance far_behind =
        p_.config.far_behind == 0 ? p_.config.options.max_gap : p_.config.far_behind;
    const bool far = best != nullptr && best->state.next > p_.state.next() + far_behind;
    if (far && may_skip()) ask_checkpoint_of(*best, out);
    return;
  }
  if (may_skip()) {
    ticks_ = 0;
    ask_checkpoint_of(*best, out);
    return;
  }
  if (!waits_for_others()) {
    ticks_ = 0;
    return;
  }
  seek(out);
}

/// The most advanced node that can provide a checkpoint.
const Peer* StateTransfer::furthest() const {
  const Peer* best = nullptr;
  for (const Peer& peer : p_.peers.all()) {
    if (peer.self || peer.suspected || peer.state.next == 0) continue;
    if (!p_.state.known() && !tells_of_order(peer)) continue;
    if (best == nullptr || peer.state.next > best->state.next) best = &peer;
  }
  return best;
}

/// Does any live node have the decided value of the next instance?
bool StateTransfer::can_catch_up() const {
  const Instance next = p_.state.next();
  const auto& peers = p_.peers.all();
  return std::any_of(peers.begin(), peers.end(), [next](const Peer& peer) {
    return is_past(peer, next) && peer.state.oldest <= next;
  });
}

/// A member must deliver all that is decided in its view, so it cannot skip anything.
bool StateTransfer::may_skip() const {
  const bool needed = p_.config.merger != nullptr && p_.config.merger->needs_all();
  return !p_.joined() && (!needed || PEAL_MUTANT(re_skips_at_will));
}

/// True if the next value is missing, and the application has space for it.
bool StateTransfer::waits_for_others() const {
  return catch_up_.lacks(p_.state.next()) &&
         (p_.config.merger == nullptr || p_.config.merger->has_room());
}

void StateTransfer::ask_checkpoint_of(const Peer& peer, Effects& out) {
  p_.outbox.send(peer.node, Lane::control, out, [](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_checkpoint_get(header, bytes);
  });
}

/// This member lacks a value that no node knows as decided, so it asks acceptors for their votes.
/// If that does not help for long enough, the member is cut off.
void StateTransfer::seek(Effects& out) {
  count_tick();
  // Nodes that excluded this member may be sending the value, so acceptors are asked only every
  // kRecallTicks heartbeats. Once all instances that were asked about are consumed, the acceptors
  // are asked about the following ones at once.
  const bool goes_on = recall_.is_through();
  if (goes_on || ticks_ % kRecallTicks == 0) recall_.ask(out);
  if (heard_ < p_.peers.majority()) return;
  const auto& peers = p_.peers.all();
  const bool away = std::any_of(peers.begin(), peers.end(), [](const Peer& peer) {
    return peer.named && !peer.self && peer.suspected;
  });
  if (ticks_ >= (away ? kCutOffTicksAway : kCutOffTicks)) cut_off_ = true;
}

// A new count begins if this node, the merged order, or an acceptor that may help made progress,
// because missing values may be arriving. An acceptor that may help has not consumed the instance,
// but may have voted for its value.
void StateTransfer::count_tick() {
  const Instance next = p_.state.next();
  Instance behind = next + (p_.config.merger == nullptr ? 0 : p_.config.merger->merged());
  for (const Peer& peer : p_.peers.all()) {
    const bool may_help = peer.acceptor && !peer.self && !peer.suspected;
    if (may_help && peer.state.next <= next) behind += peer.state.next;
  }
  const std::size_t heard = p_.peers.live_acceptors();
  const bool same = behind == behind_ && heard == heard_;
  ticks_ = same ? ticks_ + 1 : 1;
  behind_ = behind;
  heard_ = heard;
}

Drop StateTransfer::judge(const Peer& from, const wire::Checkpoint& said) {
  if (p_.state.known() && said.nodes.first != p_.state.nodes().first) return Drop::other_list;
  // The sender must still have the order of the checkpoint: a checkpoint of an order that is over
  // is dropped.
  if (!from.has_state || from.state.first_list != said.nodes.first) return Drop::wrong_state;
  if (!incarnations_.believes(from, said)) return Drop::wrong_state;
  if (!may_skip() || said.next <= p_.state.next()) return Drop::duplicate;
  if (OrderState(said).has(p_.config.self)) {
    // This node was admitted to a view after it had asked for the checkpoint. It must consume that
    // view itself, to install it.
    PEAL_PROBE("paxos.checkpoint_of_own_view");
    if (ticks_ >= kCutOffTicks) cut_off_ = true;
    return Drop::wrong_state;
  }
  return Drop::none;
}

void StateTransfer::take(const wire::Checkpoint& said) {
  PEAL_PROBE("paxos.checkpoint_taken");
  PEAL_ASSERT(said.next > p_.state.next() && "the order never goes back");
  recall_.keep_words(said.next);
  p_.state = OrderState(said);
  if (said.next > p_.store.next()) p_.store.skip_to(said.next);
  ++checkpoints_;
  ticks_ = 0;  // this checkpoint ends the wait
}

// A node that hears few other nodes knows little of their progress, and their views may have ended
// the view that this node is still in.
bool StateTransfer::is_near() const {
  if (!p_.state.known()) return false;
  std::size_t heard = 0;
  for (const Peer& peer : p_.peers.all()) {
    if (!peer.self && (peer.suspected || !peer.has_state)) continue;
    if (peer.listed) ++heard;
    if (peer.self) continue;
    if (peer.state.next > p_.state.next() + join_lag(p_.config.options)) return false;
    if (peer.state.view > p_.state.view().number) return false;
  }
  return heard * 2 > p_.peers.listed();
}

}  // namespace peal::order::paxos
