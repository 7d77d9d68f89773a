// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/inbox.h"

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

/// Messages of one sender that one turn reads at most.
constexpr int kMessagesOfATurn = 32;

}  // namespace

bool Inbox::read(Instant now) {
  bool changed = false;
  for (NodeIndex sender = 0; sender < parts_.layout.nodes(); ++sender) {
    const MemberId& peer = links_.peer(sender);
    if (sender == parts_.index || peer.node.value == 0) continue;
    Row* row = messages_.open_row(peer, sender, Origin::sender);
    if (row == nullptr) continue;
    for (int i = 0; i < kMessagesOfATurn && read_next(now, sender, *row); ++i) changed = true;
  }
  return changed;
}

bool Inbox::read_next(Instant now, NodeIndex sender, Row& row) {
  const std::uint64_t index = row.next;
  const std::uint64_t offset = index % parts_.options.slots * slot_stride(parts_.options);
  std::array<std::byte, wire::kSlotFixedBytes> begin;
  if (!links_.load(Area::messages, sender, offset, begin)) return false;
  if (const std::uint64_t found = wire::peek_number(begin); found != index) {
    if (!may_be_in_slot(sender, index, found)) {
      bad_.refuse(sender, Area::messages, offset, begin, wire::Drop::out_of_window);
    }
    return false;
  }
  const std::size_t bytes = wire::peek_slot(begin, index);
  const std::size_t most =
      std::min<std::size_t>(slot_stride(parts_.options), parts_.pool.slab_bytes());
  if (bytes <= wire::kSlotFixedBytes || bytes > most) {
    bad_.doubt(sender, Area::messages, offset, begin, wire::Drop::bad_length);
    return false;
  }
  BufferRef buffer;
  if (parts_.has_buffer_for_unit()) {
    buffer = parts_.pool.take(0, static_cast<std::uint32_t>(bytes));
  }
  if (!buffer) {
    ++parts_.counts.no_buffer;
    return false;
  }
  const ByteSpan copy(buffer.data(), bytes);
  if (!links_.load(Area::messages, sender, offset, copy)) return false;
  wire::Slot slot;
  const wire::Drop drop = wire::decode_slot(copy, index, parts_.domain, slot);
  if (drop == wire::Drop::bad_checksum) {
    bad_.refuse(sender, Area::messages, offset, copy, drop);
    return false;
  }
  // The sender does not wait for a server outside: another message may have come meanwhile.
  if (drop == wire::Drop::stale || drop == wire::Drop::out_of_window) return false;
  const std::size_t front = wire::slot_header_bytes(slot.head.indexes.size());
  bool good = drop == wire::Drop::none && is_legal(slot.head);
  if (good) {
    // The slot's former message must be released by all its domains.
    const Record* const former = row.in_slot(index);
    good = former == nullptr || former->index == index || former->id.number < slot.stable;
  }
  if (!good) {
    const bool known = drop != wire::Drop::none;
    bad_.refuse(sender, Area::messages, offset, copy, known ? drop : wire::Drop::bad_value);
    return false;
  }
  bad_.note_life(sender);
  Direct& direct = direct_[sender];
  if (direct.last + 1 != index) direct.first = index;
  direct.last = index;
  const auto size = static_cast<std::uint32_t>(bytes - front);
  return put(now, row, row.sender, slot.head,
             buffer.slice(static_cast<std::uint32_t>(front), size));
}

/// Whether a sender that follows the rules may have the message `found` in the slot where the one
/// with this index is awaited: an earlier one, or, if this server lags, a later one of this slot.
bool Inbox::may_be_in_slot(NodeIndex sender, std::uint64_t index, std::uint64_t found) const {
  const std::uint64_t slots = parts_.options.slots;
  if (found == 0) return true;
  if (found % slots != index % slots) return false;
  if (found > index || index <= slots) return true;
  // A message that was read here is replaced by later ones only.
  const Direct& direct = direct_[sender];
  const std::uint64_t former = index - slots;
  const bool was_read = direct.first <= former && former <= direct.last;
  return !was_read || found >= former;
}

bool Inbox::is_legal(const wire::MessageHead& head) const {
  return parts_.is_for_us(head.to) && parts_.clock.believes_cause(head.after);
}

bool Inbox::put(Instant now, Row& row, const MemberId& sender, const wire::MessageHead& head,
                BufferRef unit) {
  Record* record = messages_.claim(row, {sender, head.number}, head, Origin::sender);
  if (record == nullptr) return false;
  messages_.put_body(row, *record, std::move(unit));
  messages_.list(*record, now + parts_.options.repair);
  return true;
}

bool Inbox::has_space(std::uint64_t index) {
  const Row* row = messages_.open_row(parts_.self, parts_.index, Origin::sender);
  if (row == nullptr) return false;
  if (index <= row->released) return false;  // by the word of a faulty leader
  if (row->records.empty()) return messages_.can_fill(parts_.index, 1, Origin::sender);
  const Record* const former = row->in_slot(index);
  return former == nullptr || (former->index < index && messages_.may_overwrite(*row, *former));
}

void Inbox::put_own(Instant now, const wire::MessageHead& head, const BufferRef& unit) {
  Row* row = messages_.open_row(parts_.self, parts_.index, Origin::sender);
  PEAL_ASSERT(row != nullptr);
  const bool taken = put(now, *row, parts_.self, head, unit);
  PEAL_ASSERT(taken);
}

bool Inbox::put_relayed(Instant now, const MemberId& sender, const wire::MessageHead& head,
                        const BufferRef& unit) {
  const auto node = parts_.layout.index_of(sender.node);
  if (!node || !is_legal(head) || sender == parts_.self) return false;
  Row* row = messages_.open_row(sender, *node, Origin::sender);
  if (row == nullptr) return false;
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  // A message that the log has named may come in any order.
  const Record* known = row->at(index);
  const bool named = known != nullptr && known->id == wire::MessageId{sender, head.number};
  if (named && known->has_body) return false;
  if (!named && index != row->next && !PEAL_MUTANT(rc_relays_in_any_order)) return false;
  if (!named && index < row->next) return false;
  if (!named && !parts_.has_buffer_for_unit()) return false;
  return put(now, *row, sender, head, unit);
}

void Inbox::on_renewed(NodeIndex node) { direct_[node] = {}; }

}  // namespace peal::order::ramcast
