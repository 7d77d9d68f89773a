// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/replies.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::ramcast {

Replies::Replies(const Parts& parts, Links& links, Messages& messages, const DomainState& state)
    : parts_(parts), links_(links), messages_(messages), state_(state) {
  if (!parts.serves()) return;
  targets_.resize(parts.layout.nodes());
  for (Target& target : targets_) {
    target.image.resize(parts.options.slots * wire::kReplyBytes);
    target.dirty.resize(parts.options.slots);
  }
}

/// The sender does not deliver the message itself.
bool Replies::is_outside(const Record& record) const {
  const auto node = parts_.layout.index_of(record.id.sender.node);
  if (!node) return false;
  const NodeRole& role = parts_.layout.role(*node);
  if (role.domain == parts_.domain) {
    return !state_.is_member(role.place) || state_.counted(role.place) != record.id.sender;
  }
  return role.domain == 0 || ((record.head.to >> role.domain) & 1U) == 0;
}

void Replies::on_delivery(const Record& record) {
  if (is_outside(record)) tell(record);
}

void Replies::tell(const Record& record) {
  const auto node = parts_.layout.index_of(record.id.sender.node);
  if (!node || links_.peer(*node) != record.id.sender) return;
  Target& target = targets_[*node];
  if (!tells(target)) return;
  begin_target(target, record.id.sender);
  const std::size_t slot = record.id.number % parts_.options.slots;
  const ByteSpan reply =
      ByteSpan(target.image).subspan(slot * wire::kReplyBytes, wire::kReplyBytes);
  if (wire::peek_reply(reply) > record.id.number) return;  // of a later message in the same slot
  wire::encode_reply({record.id.number, record.key}, reply);
  target.dirty[slot] = true;
  target.any = true;
  target.message = record.id.number;
}

/// What a former incarnation of the sender was told is of no use.
void Replies::begin_target(Target& target, const MemberId& sender) {
  if (target.sender == sender) return;
  target.sender = sender;
  target.released = 0;
  target.any = false;
  target.asked_until = {};
  std::fill(target.dirty.begin(), target.dirty.end(), false);
  std::fill(target.image.begin(), target.image.end(), std::byte{0});
}

void Replies::begin() {
  for (const auto& row : messages_.rows()) {
    targets_[row->node].released = 0;
    tell_all(*row);
  }
  hurry();
}

void Replies::tell_all(const Row& row) {
  for (const Record& record : row.records) {
    if (record.used() && record.delivered) tell(record);
  }
}

void Replies::on_open(NodeIndex sender) {
  if (!parts_.serves()) return;
  targets_[sender].released = 0;
  if (const Row* row = messages_.find_row(links_.peer(sender))) tell_all(*row);
}

void Replies::on_query(Instant now, NodeIndex sender) {
  now_ = now;
  begin_target(targets_[sender], links_.peer(sender));
  asked_until_ = targets_[sender].asked_until = now + parts_.options.exclude();
  on_open(sender);
  hurry();
}

/// Number of a message of the sender, to name why a connection is needed; 0 if none is known.
std::uint64_t Replies::some_message(const Row& row) {
  const auto found = std::find_if(row.records.begin(), row.records.end(),
                                  [](const Record& record) { return record.used(); });
  return found == row.records.end() ? 0 : found->id.number;
}

void Replies::flush(Instant now) {
  now_ = now;
  if (!parts_.standing.leads() && asked_until_ <= now) return;
  for (const auto& row : messages_.rows()) {
    const NodeIndex sender = row->node;
    if (links_.peer(sender) != row->sender || sender == parts_.index) continue;
    Target& target = targets_[sender];
    if (!tells(target)) continue;
    begin_target(target, row->sender);
    const std::uint64_t step = hurry_ ? 1 : (parts_.options.slots + 3) / 4;
    const bool tells = row->released >= target.released + step;
    if (!tells && !target.any) continue;
    if (!links_.open(sender)) {
      if (target.message == 0) target.message = some_message(*row);
      const bool near = parts_.layout.role(sender).domain == parts_.domain;
      links_.need(now, sender, near ? 0 : target.message);
      continue;
    }
    if (row->released > target.released) {
      std::array<std::byte, wire::kReleaseBytes> bytes;
      wire::encode_release({row->released, state_.delivered()}, bytes);
      links_.write(sender, Area::replies, 0, bytes, 0);
      target.released = row->released;
    }
    for (std::size_t slot = 0; target.any && slot < target.dirty.size(); ++slot) {
      if (!target.dirty[slot]) continue;
      std::size_t end = slot;
      while (end < target.dirty.size() && target.dirty[end]) target.dirty[end++] = false;
      links_.write(sender, Area::replies, wire::kReleaseBytes + slot * wire::kReplyBytes,
                   ByteView(target.image)
                       .subspan(slot * wire::kReplyBytes, (end - slot) * wire::kReplyBytes),
                   0);
      slot = end;
    }
    target.any = false;
  }
  hurry_ = false;
}

}  // namespace peal::order::ramcast
