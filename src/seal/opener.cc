// SPDX-License-Identifier: Apache-2.0
#include "seal/opener.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace peal::seal {

Opener::Opener(const Keys& keys, std::uint64_t cluster, const MemberId& self,
               std::span<const NodeId> senders)
    : cluster_(cluster), self_(self) {
  std::vector<NodeId> nodes(senders.begin(), senders.end());
  nodes.push_back(self.node);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  PEAL_ASSERT(nodes.front().value >= 1 && nodes.back().value <= 0xffff);
  slots_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) slots_[i].node = nodes[i];
  set_keys(keys);
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

Opened Opener::open(ByteSpan packet) {
  const Opened result = judge(packet);
  ++counts_[static_cast<std::size_t>(result.reason)];
  return result;
}

Opened Opener::judge(ByteSpan packet) {
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
  if (header.to.value != 0 && header.to != self_.node) return refuse(Refusal::other_receiver);
  const std::size_t key = index_of(header.key);
  if (key == schedules_.size()) return refuse(Refusal::unknown_key);

  Session* session = nullptr;
  const Refusal unmet = find_session(header, key, *slot, session, out);
  if (unmet != Refusal::none) return refuse(unmet);
  const auto lane = static_cast<std::size_t>(header.lane);
  switch (session->windows[lane].judge(header.counter)) {
    case ReplayWindow::Verdict::fresh: break;
    case ReplayWindow::Verdict::replayed: return refuse(Refusal::replayed);
    case ReplayWindow::Verdict::too_old: return refuse(Refusal::too_old);
  }
  auto& cipher = session->under[key].cipher;
  if (cipher == nullptr) {
    cipher = std::make_unique<GcmOpener>(schedules_[key].subkey_of(session->incarnation));
    ++derived_;
  }
  const std::size_t head = headroom(header.lane);
  const ByteSpan text = packet.subspan(head, packet.size() - overhead(header.lane));
  if (!cipher->open(nonce_of(header.lane, header.counter), packet.first(head), text,
                    packet.last(kTagBytes))) {
    return refuse(Refusal::bad_tag);
  }
  if (session == &slot->next) {
    std::swap(slot->current, slot->next);
    slot->next.known = false;
    session = &slot->current;
  }
  session->windows[lane].note(header.counter);
  out.sender = session->incarnation.member;
  out.plain = text;
  return out;
}

Opener::Slot* Opener::slot_of(NodeId node) {
  const auto found =
      std::lower_bound(slots_.begin(), slots_.end(), node,
                       [](const Slot& slot, NodeId wanted) { return slot.node < wanted; });
  return found != slots_.end() && found->node == node ? &*found : nullptr;
}

std::size_t Opener::index_of(KeyId key) const {
  std::size_t index = 0;
  while (index < schedules_.size() && schedules_[index].id() != key) ++index;
  return index;
}

Refusal Opener::find_session(const Header& header, std::size_t key, Slot& slot, Session*& found,
                             Opened& out) {
  for (Session* session : {&slot.current, &slot.next}) {
    if (session->known && session->under[key].badge == header.badge) {
      found = session;
      return Refusal::none;
    }
  }
  if (!introduces(header.lane)) {
    return header.from == self_.node ? Refusal::own : Refusal::unknown_incarnation;
  }
  const Refusal reason = meet(header, key, slot, out);
  found = &slot.next;
  return reason;
}

/// Of an incarnation that is neither the current nor the next one: whether it is newer than both.
/// Then it is the next one. What it says of itself is believed, because somebody with the key made
/// its badge; so there are no more of them than a node really had, and none comes twice.
Refusal Opener::meet(const Header& header, std::size_t key, Slot& slot, Opened& out) {
  const Incarnation incarnation{{header.from, header.epoch}, header.salt};
  if (schedules_[key].badge_of(incarnation) != header.badge) return Refusal::bad_badge;
  const MemberId& sender = incarnation.member;
  out.sender = sender;
  if (sender.node == self_.node && sender.epoch <= self_.epoch) return Refusal::own;
  for (const Session* session : {&slot.current, &slot.next}) {
    if (session->known && sender.epoch <= session->incarnation.member.epoch) {
      out.newest = std::max(out.newest, session->incarnation.member);
    }
  }
  if (out.newest.epoch != 0) return Refusal::old_incarnation;
  begin(slot.next, incarnation);
  return Refusal::none;
}

void Opener::begin(Session& session, const Incarnation& incarnation) {
  session = Session{};
  session.known = true;
  session.incarnation = incarnation;
  rekey(session, {});
}

/// Fits a session to the present keys; `before` are those that it had.
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
