// SPDX-License-Identifier: Apache-2.0
// Which acceptors begin an order, and which have forgotten what they said in one, since their log
// is lost or their votes were in memory. README.md has the reasons ("How an order begins").
//
// The list of nodes that counts names the life of each of its acceptors: its log, or in memory its
// incarnation. An acceptor votes and promises in that life alone, and others count nobody else's
// word.

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/hooks.h"
#include "order/paxos/engine.h"

namespace peal::order::paxos {
void PaxosEngine::begin_order(Effects& out) {
  if (!incarnations_.begin_order()) return;
  consumer_.begin();
  // All others are about to know it too, and the one whose turn it is may not yet.
  election_.put_off(now_ + config_.options.suspect / 2);
  forget_other_orders();
  know_nodes();
  routes_->nodes_changed();
  more_ = true;
  incarnations_.report_amnesia(consumer_.view(), out);
}

// What others said of orders that are not the one that this node goes by from now on.
void PaxosEngine::forget_other_orders() {
  election_.forget();
  learner_.forget();
  for (Peer& peer : peers_.all()) {
    if (peer.self || peer.state.next == 0) continue;
    if (peer.state.first_list == state_.nodes().first) continue;
    peers_.forget_state(peer);
  }
}

/// No order is known. Some acceptors may be bound to another list than the others, this node
/// included: a node takes lives for one list alone. Then they never agree, and nothing else
/// matters.
WaitReason PaxosEngine::founding_waits() const {
  const auto waits_for = [](const WaitKind* kind, std::vector<MemberId> all) {
    WaitReason reason{kind, all.front(), 0};
    reason.all = std::move(all);
    return reason;
  };
  const wire::Lives& taken = incarnations_.bootstrap().taken();
  const bool bound_here = !taken.lives.empty() && taken.list != given_.list().hash;
  std::vector<MemberId> bound, refused;
  for (const Peer& peer : peers_.all()) {
    if (!peer.named || peer.suspected) continue;
    if (peer.self ? bound_here : peer.bound && !bound_here) bound.push_back(peer.member);
    if (peer.refused) refused.push_back(peer.member);
  }
  if (!bound.empty()) return waits_for(&wait::bound, std::move(bound));
  WaitReason silent = waits_for_acceptors(&wait::bootstrap, 0);
  if (silent.all.empty() && !refused.empty()) {
    return waits_for(&wait::other_list, std::move(refused));
  }
  return silent;
}

/// Those that are not heard from, or have forgotten their votes; none if all vote.
std::vector<MemberId> PaxosEngine::silent_acceptors() const {
  std::vector<MemberId> silent;
  for (const Peer& peer : peers_.all()) {
    if (peer.named && (peer.suspected || !peer.acceptor || peer.silent)) {
      silent.push_back({peer.node, peer.member.epoch});
    }
  }
  return silent;
}

/// The log is an older copy: this node says nothing any more of what it promised or voted for.
void PaxosEngine::put_back(Effects& out) {
  promise_for_.reset();
  if (coordinator_) coordinator_->step_down();
  out.report({&event::log_put_back, consumer_.view(), config_.self, 0, 0});
}

}  // namespace peal::order::paxos
