// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/peers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

/// In units of Options::suspect: a member without progress for so long is not served.
constexpr std::int64_t kStuckFor = 7;

/// After a wrong suspicion, the longer patience lasts for kTrial. Then patience shrinks by a third
/// in each kStep, because the other nodes wait for the whole patience if the node dies.
constexpr Duration kTrial = seconds(10);
constexpr Duration kStep = seconds(1);
/// The length of a period. The longest silence of the present and the previous period counts.
constexpr Duration kLately = seconds(5);
/// In units of Options::suspect: the limit to which patience grows because of silences that ended
/// in time. Busy processors cause such silences. The time to detect the next failure must not
/// double with each such silence.
constexpr std::int64_t kNearlyMax = 4;

void look_at_life(Peer& peer) {
  const bool lives = peer.life == 0 || peer.life == peer.has_life;
  peer.acceptor = peer.named && (lives || PEAL_MUTANT(px_amnesiac_votes)) && !peer.put_back;
}

}  // namespace

void LogsHeard::note(std::uint64_t epoch, const wire::State& said) {
  if (said.log == 0) return;
  asks_ = said.log_word == wire::LogWord::asks;
  if (said.log_word == wire::LogWord::sure) untold_ = {};
  // The length of an older copy is not remembered.
  if (said.log_word == wire::LogWord::put_back) return;
  if (said.life != now_.life) now_ = {said.life, {epoch, 0}};
  now_.last.position = std::max(now_.last.position, said.log);
}

void LogsHeard::begin() {
  if (now_.life == 0) return;
  if (asks_ && untold_.life == 0) untold_ = before_;
  before_ = now_;
  now_ = {};
  if (PEAL_MUTANT(px_log_not_remembered)) before_ = untold_ = {};
}

std::vector<wire::LogHeard> LogsHeard::before(std::uint64_t life) const {
  std::vector<wire::LogHeard> heard;
  for (const Heard& each : {untold_, before_}) {
    if (each.life == life) heard.push_back(each.last);
  }
  return heard;
}

void LogsHeard::add_to(Digest& digest) const {
  for (const Heard& each : {now_, before_, untold_}) {
    digest.add(each.life);
    digest.add(each.last.epoch);
    digest.add(each.last.position);
  }
  digest.add(asks_ ? 1 : 0);
}

void Peers::forget_state(Peer& peer) {
  peer.has_state = false;
  peer.state = {};
  peer.has_life = 0;
  look_at_life(peer);
}

Peers::Peers(const MemberId& self, std::uint64_t life, const Options& options,
             const LinkRhythm& rhythm)
    : id_(self), own_life_(life), options_(options), rhythm_(rhythm) {}

void Peers::know(const wire::Nodes& counts, const std::vector<NodeId>& others) {
  std::vector<NodeId> known;
  std::set_union(counts.all.begin(), counts.all.end(), others.begin(), others.end(),
                 std::back_inserter(known));
  const auto own = std::lower_bound(known.begin(), known.end(), id_.node);
  if (own == known.end() || *own != id_.node) known.insert(own, id_.node);
  std::vector<Peer> peers;
  peers.reserve(known.size());
  listed_ = counts.all.size();
  acceptors_ = counts.acceptors.size();
  for (const NodeId node : known) {
    Peer peer;
    if (const Peer* old = find(node)) {
      peer = *old;
    } else {
      peer.node = node;
      peer.patience = options_.suspect;
      peer.heard = started_;
      peer.reception.begin(started_);
    }
    peer.listed = std::binary_search(counts.all.begin(), counts.all.end(), node);
    const auto at = std::lower_bound(counts.acceptors.begin(), counts.acceptors.end(), node);
    peer.named = at != counts.acceptors.end() && *at == node;
    const auto index = static_cast<std::size_t>(at - counts.acceptors.begin());
    peer.life = peer.named && !counts.lives.empty() ? counts.lives[index] : 0;
    if (node == id_.node) {
      self_ = peers.size();
      peer.self = true;
      peer.suspected = false;
      peer.member = id_;
      peer.has_life = own_life_;
    }
    look_at_life(peer);
    peers.push_back(peer);
  }
  peers_ = std::move(peers);
}

void Peers::start(Instant now) {
  started_ = now;
  for (Peer& peer : peers_) {
    peer.heard = now;
    peer.reception.begin(now);
  }
}

Peer* Peers::find(NodeId node) {
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), node,
                                   [](const Peer& peer, NodeId id) { return peer.node < id; });
  return at != peers_.end() && at->node == node ? &*at : nullptr;
}

const Peer* Peers::find(NodeId node) const { return const_cast<Peers*>(this)->find(node); }

bool Peers::note(Instant now, Peer& peer, const MemberId& member) {
  if (member.epoch < peer.member.epoch) return false;
  if (member != peer.member) {
    peer.member = member;
    forget_state(peer);
    peer.refused = peer.bound = peer.put_back = false;
    peer.logs.begin();
    peer.reception.begin(now);
    peer.keeps_up = now;
  } else if (peer.suspected) {
    // The node was suspected wrongly, so it gets more time from now on.
    peer.patience = std::min(peer.patience + peer.patience / 2, options_.suspect_max);
    peer.shrinks_at = now + kTrial;
  } else {
    // A silence that ended in time lengthens the patience to twice that silence.
    const Duration silence = now - peer.heard;
    const Duration nearly_max = PEAL_MUTANT(px_patience_grows)
                                    ? options_.suspect_max
                                    : std::min(options_.suspect * kNearlyMax, options_.suspect_max);
    peer.silence = std::max(peer.silence, silence);
    peer.patience = std::max(peer.patience, std::min(silence * 2, nearly_max));
  }
  peer.suspected = false;
  peer.heard = now;
  peer.forgiven = {};
  return true;
}

void Peers::note_state(Peer& peer, const wire::State& state) {
  peer.asked = peer.asked || state.asks;
  peer.has_life = state.life;
  peer.put_back = peer.put_back || state.log_word == wire::LogWord::put_back;
  peer.logs.note(peer.member.epoch, state);
  look_at_life(peer);
  // Packets overtake each other. Fields that never decrease at the sender show that a STATE is
  // older.
  const bool older = state.next < peer.state.next || state.view < peer.state.view ||
                     state.voted_round < peer.state.voted_round;
  if (older) return;
  const bool same = state.voted_round == peer.state.voted_round;
  const wire::State before = peer.state;
  peer.state = state;
  if (same) {
    peer.state.voted_upto = std::max(state.voted_upto, before.voted_upto);
    peer.state.decided_upto = std::max(state.decided_upto, before.decided_upto);
  }
  peer.state.leaving = before.leaving || state.leaving;
  peer.has_state = true;
  peer.refused = false;
}

void Peers::put_back() {
  self().put_back = true;
  look_at_life(self());
}

void Peers::refuse_state(Peer& peer) {
  peer.refused = true;
  if (!PEAL_MUTANT(px_refused_state_kept)) forget_state(peer);
}

void Peers::note_decided(const wire::Round& round, wire::Instance upto) {
  Peer* peer = find(round.coordinator.node);
  // Nothing is noted until the peer has reported its own votes in the round.
  if (peer == nullptr || peer->self || peer->member != round.coordinator) return;
  if (peer->state.voted_round != round) return;
  peer->state.decided_upto = std::max(peer->state.decided_upto, upto);
}

void Peers::tick(Instant now) {
  for (Peer& peer : peers_) {
    if (!peer.self && now - peer.heard >= peer.patience) peer.suspected = true;
    if (!peer.self && peer.member.epoch != 0) {
      peer.reception.look(now, peer.suspected, options_, rhythm_);
    }
    if (now >= peer.lately_until) {
      peer.silence_before = peer.silence;
      peer.silence = {};
      peer.lately_until = now + kLately;
    }
    if (peer.suspected || now < peer.shrinks_at) continue;
    // Patience shrinks by a third, but not below what the peer's heartbeats need.
    const Duration longest = std::max(peer.silence, peer.silence_before);
    const Duration enough = std::max(longest * 2, options_.suspect);
    peer.patience = std::min(peer.patience, std::max(enough, peer.patience * 2 / 3));
    peer.shrinks_at = now + kStep;
  }
}

// During one silence, the longest pause counts, and not the sum of pauses: a process that rarely
// gets a processor is paused all the time, and would never suspect any node. Between two pauses,
// the process reads the packets that arrived. A node that was paused as well sends a heartbeat as
// soon as it runs.
void Peers::forgive(Instant now, Duration gap) {
  for (Peer& peer : peers_) {
    const Duration before = PEAL_MUTANT(px_pauses_add_up) ? Duration{} : peer.forgiven;
    peer.heard = peer.heard + std::max(gap - before, Duration{});
    peer.forgiven = std::max(gap, before);
    peer.reception.forgive(now);
    peer.keeps_up = now;
  }
}

void Peers::watch(Instant now, wire::Instance next) {
  for (Peer& peer : peers_) {
    const bool came = peer.state.next != peer.came_to;
    peer.came_to = peer.state.next;
    const bool waits = peer.has_state && peer.state.next < next && !peer.state.app_full;
    if (peer.self || peer.suspected || came || !waits) peer.keeps_up = now;
  }
}

bool Peers::is_stuck(Instant now, const Peer& peer) const {
  return now - peer.keeps_up >= options_.suspect * kStuckFor && !PEAL_MUTANT(px_stuck_stays);
}

std::size_t Peers::live_acceptors() const {
  return static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), [](const Peer& p) {
    return p.acceptor && !p.suspected && !p.silent;
  }));
}

std::size_t Peers::lives() const {
  const auto living =
      static_cast<std::size_t>(std::count_if(peers_.begin(), peers_.end(), [](const Peer& p) {
        return p.named && (p.acceptor || p.has_life == 0);
      }));
  return living == 1 && self().acceptor && self().silent ? 0 : living;
}

bool Peers::anybody_knows() const {
  return std::any_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return !peer.suspected && peer.state.next != 0; });
}

const Peer* Peers::candidate(std::size_t first) const {
  const std::size_t begin = acceptors_ == 0 ? 0 : first % acceptors_;
  const Peer* best = nullptr;
  std::size_t best_rank = 0;
  std::size_t index = 0;
  for (const Peer& peer : peers_) {
    if (!peer.named) continue;
    std::size_t rank = (index++ + acceptors_ - begin) % acceptors_;
    if (!peer.acceptor || peer.silent || peer.suspected || peer.state.leaving) continue;
    if (peer.state.next == 0) rank += acceptors_;
    // Fitness decides first. Among equally fit acceptors, one that knows the order comes first. An
    // acceptor's report of its fitness is outdated if its heartbeats no longer arrive.
    const bool tells =
        peer.self || PEAL_MUTANT(px_silent_leads) ||
        (PEAL_MUTANT(px_words_need_data) ? !peer.reception.failing() : peer.reception.tells());
    const auto fitness = static_cast<std::size_t>(tells ? peer.state.fitness : wire::Fitness::none);
    rank += (static_cast<std::size_t>(wire::Fitness::chosen) - fitness) * 2 * acceptors_;
    if (best != nullptr && rank >= best_rank) continue;
    best = &peer;
    best_rank = rank;
  }
  return best;
}

void Peers::add_to(Digest& digest) const {
  for (const Peer& peer : peers_) {
    digest.add(peer.member.epoch);
    digest.add((peer.suspected ? 1U : 0U) | (peer.works ? 2U : 0U) | (peer.serve ? 4U : 0U));
    digest.add(static_cast<std::uint64_t>(peer.patience.ns));
    digest.add((peer.refused ? 1U : 0U) | (peer.bound ? 2U : 0U));
    if (!peer.has_state) continue;
    for (const wire::Round& round : {peer.state.round, peer.state.voted_round}) {
      digest.add(round.count);
      digest.add(round.coordinator.node.value);
      digest.add(round.coordinator.epoch);
    }
    digest.add(peer.state.voted_upto);
    digest.add(peer.state.decided_upto);
    digest.add(peer.state.next);
    digest.add(peer.state.oldest);
    digest.add(peer.state.view);
    digest.add(peer.state.list);
    digest.add(peer.state.next_list);
    digest.add(peer.put_back ? 1 : 0);
    peer.logs.add_to(digest);
    digest.add((peer.state.leading ? 1U : 0U) | (peer.state.leaving ? 2U : 0U) |
               (peer.state.joined ? 4U : 0U) | (peer.state.misses ? 8U : 0U) |
               (peer.state.disk_hangs ? 16U : 0U));
    digest.add(static_cast<std::uint64_t>(peer.state.fitness));
  }
}

}  // namespace peal::order::paxos
