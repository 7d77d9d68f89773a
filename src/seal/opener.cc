// SPDX-License-Identifier: Apache-2.0
#include "seal/opener.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::seal {
namespace {

ByteSpan text_of(const Header& header, ByteSpan packet) {
  return packet.subspan(headroom(header.lane), packet.size() - overhead(header.lane));
}

}  // namespace

Opener::Opener(const Keys& keys, std::uint64_t cluster, const MemberId& self,
               std::span<const NodeId> senders)
    : cluster_(cluster), self_(self) {
  set_senders(senders);
  set_keys(keys);
}

// Keeps the windows of nodes that leave. Otherwise, once such a node returned, an attacker could
// replay packets of its earlier incarnations.
void Opener::set_senders(std::span<const NodeId> senders) {
  std::vector<NodeId> nodes(senders.begin(), senders.end());
  nodes.push_back(self_.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  PEAL_ASSERT(nodes.front().value >= 1 && nodes.back().value <= 0xffff);
  std::size_t gone = 0;
  for (Slot& slot : slots_) {
    slot.gone = !std::binary_search(nodes.begin(), nodes.end(), slot.node);
    if (slot.gone) ++gone;
  }
  std::erase_if(slots_,
                [&gone](const Slot& slot) { return slot.gone && gone > kGoneMax && gone-- > 0; });
  for (const NodeId node : nodes) {
    const auto at =
        std::lower_bound(slots_.begin(), slots_.end(), node,
                         [](const Slot& slot, NodeId wanted) { return slot.node < wanted; });
    if (at != slots_.end() && at->node == node) continue;
    Slot fresh;
    fresh.node = node;
    slots_.insert(at, std::move(fresh));
  }
}

void Opener::set_keys(const Keys& keys) {
  PEAL_ASSERT(!keys.all.empty() && keys.all.size() <= kKeysMax);
  std::vector<KeyId> before;
  for (const KeySchedule& schedule : schedules_) before.push_back(schedule.id());
  schedules_.clear();
  for (const Key& key : keys.all) schedules_.emplace_back(key, cluster_);
  for (Slot& slot : slots_) {
    rekey(slot.current, before);
    rekey(slot.next, before);
  }
}

Opened Opener::open(ByteSpan packet, Way way) {
  const Opened result = judge(packet, way);
  ++counts_[static_cast<std::size_t>(result.reason)];
  return result;
}

Opened Opener::judge(ByteSpan packet, Way way) {
  Opened out;
  Header header;
  const auto refuse = [&out](Refusal reason) {
    out.reason = reason;
    return out;
  };
  if (const Refusal bad = read_header(packet, header); bad != Refusal::none) return refuse(bad);
  out.lane = header.lane;
  Slot* const slot = slot_of(header.from);
  if (slot == nullptr) return refuse(Refusal::unknown_sender);

  Candidates candidates;
  const Refusal unmet = introduces(header.lane) ? find_long(header, *slot, candidates, out)
                                                : find_short(header, *slot, candidates);
  if (unmet != Refusal::none) return refuse(unmet);
  Session* session = nullptr;
  const bool aside = header.lane == Lane::control && way == Way::data;
  const std::size_t window = aside ? kLanes : static_cast<std::size_t>(header.lane);
  const Refusal unopened = try_all(header, packet, candidates, window, session);
  if (unopened != Refusal::none) return refuse(unopened);
  if (session == &slot->next) {
    slot->current = std::move(slot->next);
    slot->next = Session{};
    session = &slot->current;
  }
  session->windows[window].note(header.counter);
  out.sender = session->incarnation.member;
  out.mark = header.mark;
  out.plain = text_of(header, packet);
  return out;
}

Opener::Slot* Opener::slot_of(NodeId node) {
  const auto found =
      std::lower_bound(slots_.begin(), slots_.end(), node,
                       [](const Slot& slot, NodeId wanted) { return slot.node < wanted; });
  return found != slots_.end() && found->node == node && !found->gone ? &*found : nullptr;
}

std::size_t Opener::index_of(KeyId key) const {
  std::size_t index = 0;
  while (index < schedules_.size() && schedules_[index].id() != key) ++index;
  return index;
}

/// Finds the incarnation that a long header names: `current`, `next`, or an incarnation that now
/// becomes `next`.
Refusal Opener::find_long(const Header& header, Slot& slot, Candidates& found, Opened& out) {
  if (header.to.value != 0 && header.to != self_.node) return Refusal::other_receiver;
  const std::size_t key = index_of(header.key);
  if (key == schedules_.size()) return Refusal::unknown_key;
  for (Session* session : {&slot.current, &slot.next}) {
    if (!session->known || session->under[key].badge != header.badge) continue;
    found.push_back({session, key});
    return Refusal::none;
  }
  const Refusal reason = meet(header, key, slot, out);
  if (reason == Refusal::none) found.push_back({&slot.next, key});
  return reason;
}

/// Finds all pairs of an incarnation and a key with the packet's short tag; almost always there is
/// one pair.
Refusal Opener::find_short(const Header& header, Slot& slot, Candidates& found) const {
  for (Session* session : {&slot.current, &slot.next}) {
    if (!session->known) continue;
    for (std::size_t key = 0; key < schedules_.size(); ++key) {
      if (short_badge(session->under[key].badge) == header.badge) found.push_back({session, key});
    }
  }
  if (!found.empty()) return Refusal::none;
  return header.from == self_.node ? Refusal::own : Refusal::unknown_incarnation;
}

/// Handles an incarnation that is neither `current` nor `next`. The incarnation becomes `next` if
/// its tag is right and it is newer than both. Only a holder of the key can make the tag, so an
/// invented incarnation never becomes `next`. No incarnation becomes `next` twice.
Refusal Opener::meet(const Header& header, std::size_t key, Slot& slot, Opened& out) {
  const Incarnation incarnation{{header.from, header.epoch}, header.salt};
  if (schedules_[key].badge_of(incarnation) != header.badge) return Refusal::bad_badge;
  const MemberId& sender = incarnation.member;
  if (sender.node == self_.node && sender.epoch <= self_.epoch) {
    out.sender = sender;
    return Refusal::own;
  }
  for (const Session* session : {&slot.current, &slot.next}) {
    if (session->known && sender.epoch <= session->incarnation.member.epoch) {
      out.newest = std::max(out.newest, session->incarnation.member);
    }
  }
  if (out.newest.epoch != 0) {
    out.sender = sender;
    return Refusal::old_incarnation;
  }
  begin(slot.next, incarnation);
  return Refusal::none;
}

/// Opens `packet` as one of `candidates`, and sets `session` to the session of that candidate.
/// Otherwise returns the reason why the last candidate failed.
Refusal Opener::try_all(const Header& header, ByteSpan packet, const Candidates& candidates,
                        std::size_t window, Session*& session) {
  // A failed attempt destroys the packet.
  if (candidates.size() > 1) copy_.assign(packet.begin(), packet.end());
  Refusal reason = Refusal::none;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) std::copy(copy_.begin(), copy_.end(), packet.begin());
    session = candidates[i].session;
    reason = try_one(header, packet, candidates[i], window);
    if (reason == Refusal::none) return reason;
  }
  return reason;
}

/// True if a control packet may have been opened from the other kind of socket. `window` is the
/// index of the packet's own window. The result is true if the other kind's window has `counter`.
/// For a packet from a data socket, the result is also true if `counter` is too old for the control
/// socket's window.
bool Opener::was_opened_otherwise(const Session& session, std::uint64_t counter,
                                  std::size_t window) {
  using Verdict = ReplayWindow::Verdict;
  const bool with_data = window == kLanes;
  const std::size_t other = with_data ? static_cast<std::size_t>(Lane::control) : kLanes;
  const Verdict verdict = session.windows[other].judge(counter);
  return verdict == Verdict::replayed || (with_data && verdict == Verdict::too_old);
}

Refusal Opener::try_one(const Header& header, ByteSpan packet, const Candidate& candidate,
                        std::size_t window) {
  Session& session = *candidate.session;
  if (header.lane == Lane::control && was_opened_otherwise(session, header.counter, window)) {
    return Refusal::replayed;
  }
  switch (session.windows[window].judge(header.counter)) {
    case ReplayWindow::Verdict::fresh: break;
    case ReplayWindow::Verdict::replayed: return Refusal::replayed;
    case ReplayWindow::Verdict::too_old: return Refusal::too_old;
  }
  auto& cipher = session.under[candidate.key].cipher;
  if (cipher == nullptr) {
    const KeySchedule& schedule = schedules_[candidate.key];
    cipher = std::make_unique<GcmOpener>(schedule.subkey_of(session.incarnation));
    ++derived_;
  }
  const bool good =
      cipher->open(nonce_of(header.lane, header.counter), packet.first(headroom(header.lane)),
                   text_of(header, packet), packet.last(kTagBytes));
  return good ? Refusal::none : Refusal::bad_tag;
}

void Opener::begin(Session& session, const Incarnation& incarnation) {
  session = Session{};
  session.known = true;
  session.incarnation = incarnation;
  rekey(session, {});
}

/// Adapts a session to the keys in schedules_. `before` are the ids of the former keys, in the
/// order of Session::under.
void Opener::rekey(Session& session, const std::vector<KeyId>& before) {
  if (!session.known) return;
  auto old = std::exchange(session.under, {});
  for (std::size_t i = 0; i < schedules_.size(); ++i) {
    session.under[i].badge = schedules_[i].badge_of(session.incarnation);
    const auto same = std::find(before.begin(), before.end(), schedules_[i].id());
    if (same == before.end()) continue;
    session.under[i].cipher =
        std::move(old[static_cast<std::size_t>(same - before.begin())].cipher);
  }
}

}  // namespace peal::seal
