// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/inbox.h"

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
  const std::size_t bytes = wire::peek_slot(begin, index);
  if (bytes <= wire::kSlotFixedBytes || bytes > slot_stride(parts_.options)) return false;
  if (bytes > parts_.pool.slab_bytes()) return false;
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
  if (drop == wire::Drop::bad_checksum) return false;  // a write that is still under way
  const std::size_t front = wire::slot_header_bytes(slot.head.indexes.size());
  bool good = drop == wire::Drop::none && is_legal(slot.head);
  if (good) {
    // The slot's former message must be released by all its domains.
    const Record* const former = row.in_slot(index);
    good = former == nullptr || former->index == index || former->id.number < slot.stable;
  }
  if (!good) {
    if (refused_[sender] != index) {
      refused_[sender] = index;
      ++parts_.counts.refused;
      parts_.drop(drop == wire::Drop::none ? wire::Drop::bad_value : drop);
    }
    return false;
  }
  const auto size = static_cast<std::uint32_t>(bytes - front);
  return put(now, row, row.sender, slot.head,
             buffer.slice(static_cast<std::uint32_t>(front), size));
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

void Inbox::on_renewed(NodeIndex node) { refused_[node] = 0; }

}  // namespace peal::order::ramcast
