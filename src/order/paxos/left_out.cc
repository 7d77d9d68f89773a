// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/left_out.h"

#include <algorithm>
#include <utility>

#include "base/hooks.h"

namespace peal::order::paxos {
namespace {

bool needs_until(const Peers& peers, const MemberId& member, Instance end) {
  const Peer* peer = peers.find(member.node);
  if (peer == nullptr || peer->member.epoch > member.epoch) return false;
  if (peer->member != member || !peer->has_state) return true;  // it was not heard yet
  return peer->state.next < end && !peer->state.leaving;
}

}  // namespace

void LeftOut::keep(MemberSet members, Instance first, const Store& store) {
  first = std::max(first, store.oldest());
  if (first >= store.next()) return;
  // For the same ones more may be kept, up to another view's end.
  const auto same = std::find_if(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.members == members && range.first <= first && range.end() >= first;
  });
  Range range;
  if (same == ranges_.end()) {
    range.members = std::move(members);
    range.first = first;
  } else {
    range = std::move(*same);
    ranges_.erase(same);
    bytes_ -= range.memory();
  }
  std::size_t bytes = 0;
  for (Instance k = range.end(); k < store.next(); ++k) bytes += store.decided(k)->bytes.size();
  const std::uint64_t more = bytes + (store.next() - range.end()) * sizeof(Kept);
  // What does not fit is no reason to lose what is kept: that may be all that they lack.
  if (range.memory() + more <= bytes_max_) {
    for (; bytes_ + range.memory() + more > bytes_max_; ranges_.pop_front()) {
      bytes_ -= ranges_.front().memory();
    }
    add(range, store, bytes);
    PEAL_PROBE("paxos.kept_for_left_out");
  }
  if (range.values.empty()) return;
  bytes_ += range.memory();
  ranges_.push_back(std::move(range));
}

/// What the store holds behind it: so many bytes.
void LeftOut::add(Range& range, const Store& store, std::size_t bytes) {
  range.bytes.reserve(range.bytes.size() + bytes);
  range.values.reserve(store.next() - range.first);
  while (range.end() < store.next()) {
    const Store::Decided value = *store.decided(range.end());
    range.values.push_back({value.head, range.bytes.size(), value.bytes.size()});
    range.bytes.insert(range.bytes.end(), value.bytes.begin(), value.bytes.end());
  }
}

void LeftOut::look(const Peers& peers) {
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const bool needed = std::any_of(
        range->members.begin(), range->members.end(),
        [&](const MemberId& member) { return needs_until(peers, member, range->end()); });
    if (!needed) bytes_ -= range->memory();
    range = needed ? std::next(range) : ranges_.erase(range);
  }
}

std::optional<Store::Decided> LeftOut::decided(Instance instance) const {
  for (const Range& range : ranges_) {
    if (instance < range.first || instance >= range.end()) continue;
    const Kept& kept = range.values[instance - range.first];
    return Store::Decided{kept.head, ByteView(range.bytes).subspan(kept.at, kept.size)};
  }
  return std::nullopt;
}

void LeftOut::add_to(Digest& digest) const {
  for (const Range& range : ranges_) {
    digest.add(range.first);
    digest.add(range.values.size());
    for (const MemberId& member : range.members) {
      digest.add(member.node.value);
      digest.add(member.epoch);
    }
  }
}

}  // namespace peal::order::paxos
