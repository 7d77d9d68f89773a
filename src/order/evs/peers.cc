// SPDX-License-Identifier: Apache-2.0
#include "order/evs/peers.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::evs {
namespace {

/// From this value of Peer::deaf on, the node counts as deaf.
constexpr std::uint8_t kDeaf = 2;
constexpr std::uint32_t kExclusionsMax = 30;

}  // namespace

void Peers::configure(std::span<const NodeId> nodes) {
  std::vector<Peer> peers;
  for (const NodeId node : nodes) {
    if (node == self_.node) continue;
    if (const Peer* old = find(node)) {
      peers.push_back(*old);
    } else {
      Peer fresh;
      fresh.node = node;
      peers.push_back(fresh);
    }
  }
  peers_ = std::move(peers);
}

Peer* Peers::find(NodeId node) {
  const auto at = std::lower_bound(peers_.begin(), peers_.end(), node,
                                   [](const Peer& a, NodeId b) { return a.node < b; });
  return at == peers_.end() || at->node != node ? nullptr : &*at;
}
const Peer* Peers::find(NodeId node) const { return const_cast<Peers*>(this)->find(node); }

// ---- incarnations ----

bool Peers::note(const MemberId& member) {
  PEAL_ASSERT(member.node != self_.node);
  Peer* known = find(member.node);
  if (known == nullptr || member.epoch < known->newest) return false;
  if (member.epoch > known->newest) {
    known->newest = member.epoch;
    known->last_join = 0;
    known->accuser = {};
    known->was_heard = false;
  }
  return true;
}

bool Peers::is_superseded(const MemberId& member) const {
  if (member.node == self_.node) return member.epoch < self_.epoch;
  const Peer* known = find(member.node);
  return known != nullptr && known->newest > member.epoch;
}

// ---- hearing ----

void Peers::mark_heard(Instant now, const MemberId& member) {
  Peer* known = find(member.node);
  PEAL_ASSERT(known != nullptr);
  known->heard = now;
  known->was_heard = true;
  known->is_silent = false;
}

void Peers::note_silence(const MemberId& member) {
  if (Peer* known = find(member.node)) known->is_silent = true;
}

bool Peers::is_silent(const MemberId& member) const {
  const Peer* known = find(member.node);
  return known != nullptr && known->is_silent;
}

MemberSet Peers::heard_now(Instant now) const {
  MemberSet heard;
  for (const Peer& known : peers_) {
    if (known.was_heard && now - known.heard <= settings_.probe * 3) {
      heard.push_back({known.node, known.newest});
    }
  }
  return heard;
}

// One report proves little, because `from` may not have had time to hear this view. So
// look_for_deaf() must see reports in several checks.
void Peers::note_hearing(const MemberId& from, std::span<const MemberId> heard,
                         std::span<const MemberId> members) {
  Peer* known = find(from.node);
  if (known == nullptr) return;
  if (contains(members, from) || intersects(heard, members)) {
    known->deaf = 0;
    known->said_deaf = false;
  } else {
    known->said_deaf = true;
  }
}

void Peers::look_for_deaf(Instant now, std::span<const MemberId> members) {
  for (Peer& known : peers_) {
    // The members of the peer's view take turns to probe, so the next report may come late.
    const bool gone = !known.was_heard || now - known.heard > settings_.probe * 8;
    if (gone || contains(members, {known.node, known.newest})) known.deaf = 0;
    if (known.said_deaf && known.deaf < kDeaf) ++known.deaf;
    known.said_deaf = false;
  }
}

MemberSet Peers::deaf() const {
  MemberSet deaf;
  for (const Peer& known : peers_) {
    if (known.deaf >= kDeaf) deaf.push_back({known.node, known.newest});
  }
  return deaf;
}

// ---- exclusions ----

void Peers::on_view(Instant now, std::span<const MemberId> members,
                    std::span<const MemberId> failed) {
  for (const MemberId& member : failed) {
    Peer* known = find(member.node);
    if (known == nullptr || is_superseded(member)) continue;
    doubt(now, *known, member);
  }
  for (const MemberId& member : members) trust(member);
  for (Peer& known : peers_) {
    if (contains(members, {known.node, known.newest})) known.deaf = 0;
  }
}

void Peers::doubt(Instant now, Peer& known, const MemberId& member) {
  PEAL_ASSERT(known.node == member.node);
  const bool at_peace = known.excluded != member || now - known.excluded_at > seconds(60);
  const bool passed_before = known.excluded == member && !known.doubtful;
  known.exclusions = at_peace ? 1 : std::min(known.exclusions + 1, kExclusionsMax);
  known.excluded = member;
  known.excluded_at = now;
  known.doubtful = !(PEAL_MUTANT(trial_kept) && passed_before);
  const Duration mute = std::min(settings_.damping * (std::int64_t{1} << (known.exclusions - 1)),
                                 settings_.damping_max);
  known.muted_until = now + mute;
}

void Peers::trust(const MemberId& member) {
  Peer* known = find(member.node);
  if (known == nullptr || known->newest != member.epoch) return;
  known->doubtful = false;
  known->accuser = {};
}

bool Peers::is_muted(Instant now, const MemberId& member) const {
  const Peer* known = find(member.node);
  return known != nullptr && known->excluded == member && !PEAL_MUTANT(damping_absent) &&
         (now < known->muted_until || PEAL_MUTANT(muted_for_ever));
}

bool Peers::is_doubtful(const MemberId& member) const {
  const Peer* known = find(member.node);
  return known != nullptr && known->doubtful && known->excluded == member &&
         !PEAL_MUTANT(trial_skipped);
}

void Peers::note_accuser(const MemberId& member, const MemberId& accuser) {
  Peer* known = find(member.node);
  if (known == nullptr || known->newest != member.epoch) return;
  // Other members repeat this member's accusation in their JOINs. If this member noted one of them
  // as the accuser, each of the two would leave the trial to the other.
  if (known->accuser == self_ && accuser != MemberId{}) return;
  known->accuser = accuser;
}

bool Peers::is_left_to_accuser(const Peer& known, std::span<const MemberId> set) const {
  if (known.accuser == MemberId{} || known.accuser == self_) return false;
  if (PEAL_MUTANT(accuser_not_asked)) return false;
  return contains(set, known.accuser);
}

void Peers::forget_lists() {
  for (Peer& known : peers_) known.other_list = false;
}

void Peers::check_invariants() const {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const Peer& known = peers_[i];
    PEAL_ASSERT(known.node != self_.node);
    PEAL_ASSERT(i == 0 || peers_[i - 1].node < known.node);
    PEAL_ASSERT(known.newest != 0 || known.last_join == 0);
    PEAL_ASSERT(known.deaf <= kDeaf && known.exclusions <= kExclusionsMax);
    if (known.exclusions == 0) {
      PEAL_ASSERT(!known.doubtful && known.excluded == MemberId{});
    } else {
      PEAL_ASSERT(known.excluded.node == known.node && known.muted_until >= known.excluded_at);
    }
  }
}

}  // namespace peal::order::evs
