// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/diagnosis.h"

#include <utility>

namespace peal::order::paxos {
namespace {

/// A reason that names the first member of `all`, and lists all of them.
WaitReason waits_for(const WaitKind* kind, Seq seq, std::vector<MemberId> all) {
  WaitReason reason{kind, {}, seq};
  if (!all.empty()) reason.who = all.front();
  reason.all = std::move(all);
  return reason;
}

}  // namespace

WaitReason Diagnosis::why(const Question& question) const {
  const MemberId self = p_.config.self;
  const bool hangs = from_.links.disk_hangs();
  if (question.opening && hangs) return {&wait::disk, self, 0};
  if (p_.host.receive_room_units() == 0) return {&wait::slow_application, self, 0};
  // Nothing is ordered without a majority.
  if (!p_.state.known() && p_.peers.self().named && !p_.peers.anybody_knows()) return bootstrap();
  if (p_.peers.lives() < p_.peers.majority()) return acceptors(&wait::amnesiac, next());
  if (p_.peers.live_acceptors() < p_.peers.majority()) return acceptors(&wait::majority, next());
  if (p_.state.known() && !p_.joined()) {
    if (const WaitReason reason = outside(); reason.kind != &wait::nothing) return reason;
  }
  if (question.missing) return {&wait::packet, {}, next()};
  if (!question.waits) return {};
  if (const MemberId full = full_application(); full != MemberId{}) {
    return {&wait::slow_application, full, 0};
  }
  if (hangs) return {&wait::disk, self, next()};
  if (from_.election.coordinator() == nullptr) return no_coordinator();
  if (from_.coordinator != nullptr && from_.coordinator->leads()) {
    if (const auto slow = from_.coordinator->too_far_behind()) return {&wait::window, *slow, 0};
  }
  const WaitReason quorum = acceptors(&wait::quorum, next());
  if (!quorum.all.empty()) return quorum;
  if (const WaitReason disks = hung_disks(); !disks.all.empty()) return disks;
  const WaitReason unheard = unheard_members();
  return unheard.all.empty() ? quorum : unheard;
}

/// The reason while no order is known. An acceptor names acceptors for one list only. If some
/// acceptors, perhaps this node too, have named acceptors for another list than the others, the
/// acceptors never agree, and no other reason matters.
WaitReason Diagnosis::bootstrap() const {
  const wire::Lives& taken = from_.incarnations.bootstrap().taken();
  const bool bound_here = !taken.lives.empty() && taken.list != p_.given.list().hash;
  std::vector<MemberId> bound, refused;
  for (const Peer& peer : p_.peers.all()) {
    if (!peer.named || peer.suspected) continue;
    if (peer.self ? bound_here : peer.bound && !bound_here) bound.push_back(peer.member);
    if (peer.refused) refused.push_back(peer.member);
  }
  if (!bound.empty()) return waits_for(&wait::bound, 0, std::move(bound));
  WaitReason silent = acceptors(&wait::bootstrap, 0);
  if (silent.all.empty() && !refused.empty()) {
    return waits_for(&wait::other_list, 0, std::move(refused));
  }
  return silent;
}

/// Lists the acceptors that are not heard or are amnesiac. Lists none if all acceptors vote.
WaitReason Diagnosis::acceptors(const WaitKind* kind, Seq seq) const {
  std::vector<MemberId> silent;
  for (const Peer& peer : p_.peers.all()) {
    if (peer.named && (peer.suspected || !peer.acceptor || peer.silent)) {
      silent.push_back({peer.node, peer.member.epoch});
    }
  }
  return waits_for(kind, seq, std::move(silent));
}

/// Why this node is not in the view, as far as this node knows.
WaitReason Diagnosis::outside() const {
  if (from_.links.disk_hangs()) return {&wait::disk, p_.config.self, next()};
  std::vector<MemberId> unheard, not_heard;
  for (const Peer& peer : p_.peers.all()) {
    if (peer.self || !p_.state.has(peer.member)) continue;
    const bool arrives = !peer.suspected && peer.reception.works();
    if (!arrives) unheard.push_back(peer.member);
    if (arrives && !peer.works) not_heard.push_back(peer.member);
  }
  if (!unheard.empty()) return waits_for(&wait::unheard, next(), std::move(unheard));
  if (!not_heard.empty()) return waits_for(&wait::not_heard, next(), std::move(not_heard));
  return {};
}

WaitReason Diagnosis::no_coordinator() const {
  // Most acceptors hear the last coordinator, but this node does not hear it well.
  const Peer* last = p_.peers.find(from_.election.round().coordinator.node);
  if (last != nullptr && !last->self && !last->reception.works() &&
      !from_.election.most_miss_last()) {
    return waits_for(&wait::unheard, next(), {last->member});
  }
  const Peer* best = p_.peers.candidate(p_.config.first_candidate);
  return {&wait::coordinator, best == nullptr ? MemberId{} : best->member, 0};
}

/// Lists the acceptors whose disks hang, if the other acceptors are too few for a majority.
WaitReason Diagnosis::hung_disks() const {
  std::vector<MemberId> hung;
  for (const Peer& peer : p_.peers.all()) {
    if (peer.acceptor && !peer.suspected && peer.state.disk_hangs) hung.push_back(peer.member);
  }
  if (p_.peers.live_acceptors() >= hung.size() + p_.peers.majority()) hung.clear();
  return waits_for(&wait::disk, next(), std::move(hung));
}

/// Lists the members of which only some packets arrive.
WaitReason Diagnosis::unheard_members() const {
  std::vector<MemberId> unheard;
  for (const Peer& peer : p_.peers.all()) {
    const bool part = !peer.self && !peer.suspected && !peer.reception.works();
    if (part && p_.state.has(peer.member)) unheard.push_back(peer.member);
  }
  return waits_for(&wait::unheard, next(), std::move(unheard));
}

/// A member whose application is full, so that the member delays the other members, or will soon
/// delay them. Such a member is the coordinator, or has consumed less than this node.
MemberId Diagnosis::full_application() const {
  const Peer* leader = from_.election.coordinator();
  for (const Peer& peer : p_.peers.all()) {
    if (peer.self || peer.suspected || !peer.has_state || !p_.state.has(peer.member)) continue;
    const bool holds_up = peer.state.next < p_.state.next() || &peer == leader;
    if (peer.state.app_full && holds_up) return peer.member;
  }
  return {};
}

}  // namespace peal::order::paxos
