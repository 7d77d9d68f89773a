// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/messages.h"

#include <algorithm>

#include "base/assert.h"

namespace peal::order::ramcast {

Row* Messages::find_row(const MemberId& sender) {
  for (const auto& row : rows_) {
    if (row->sender == sender) return row.get();
  }
  return nullptr;
}

Row* Messages::open_row(const MemberId& sender, NodeIndex node) {
  if (Row* row = find_row(sender)) return row;
  const auto same = std::count_if(rows_.begin(), rows_.end(),
                                  [node](const auto& row) { return row->node == node; });
  if (static_cast<std::size_t>(same) >= kRowsOfANode) return nullptr;
  auto row = std::make_unique<Row>();
  row->sender = sender;
  row->node = node;
  const std::size_t slots = parts_.options.slots;
  const std::size_t nodes = parts_.layout.nodes();
  row->records.resize(slots);
  row->said.resize(slots * nodes);
  for (std::size_t i = 0; i < slots; ++i) row->records[i].said = &row->said[i * nodes];
  rows_.push_back(std::move(row));
  // Sorted, so that a run does not depend on who was heard first.
  std::sort(rows_.begin(), rows_.end(),
            [](const auto& a, const auto& b) { return a->sender < b->sender; });
  return find_row(sender);
}

Record* Messages::find(const wire::MessageId& id) {
  Row* row = find_row(id.sender);
  if (row == nullptr) return nullptr;
  for (Record& record : row->records) {
    if (record.used() && record.id == id) return &record;
  }
  return nullptr;
}

Record* Messages::at(Row& row, std::uint64_t index) {
  Record& record = row.records[index % row.records.size()];
  return record.index == index ? &record : nullptr;
}

Record* Messages::claim(Row& row, const wire::MessageId& id, const wire::MessageHead& head) {
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  Record& record = row.records[index % row.records.size()];
  if (record.index == index) return record.id == id ? &record : nullptr;
  if (record.index > index) return nullptr;
  if (record.used() && !record.delivered) return nullptr;
  reset(row, record);
  record.id = id;
  record.index = index;
  record.head = head;
  return &record;
}

void Messages::reset(Row& row, Record& record) {
  PEAL_ASSERT(!record.listed || record.delivered);
  if (record.listed) std::erase(pending_, &record);
  // Its sender uses the slot again, so all have delivered what was in it.
  if (record.used()) row.released = std::max(row.released, record.index);
  Said* const said = record.said;
  std::fill_n(said, parts_.layout.nodes(), Said{});
  record = Record{};
  record.said = said;
}

void Messages::put_body(Row& row, Record& record, BufferRef body) {
  if (!record.has_body) {
    record.body = std::move(body);
    record.has_body = true;
    ++parts_.counts.units_taken;
  }
  while (true) {
    const Record* next = at(row, row.next);
    if (next == nullptr || !next->has_body) break;
    ++row.next;
  }
}

void Messages::forget(Record& record) {
  PEAL_ASSERT(record.key == 0);
  std::erase(pending_, &record);
  record.listed = false;
  Said* const said = record.said;
  std::fill_n(said, parts_.layout.nodes(), Said{});
  record = Record{};
  record.said = said;
}

void Messages::skip(Row& row, std::uint64_t index) {
  std::uint64_t end = index;  // messages with a key are still delivered here
  for (Record& record : row.records) {
    if (!record.used() || record.delivered || record.index >= index) continue;
    if (record.key != 0) {
      end = std::min(end, record.index);
    } else {
      forget(record);
    }
  }
  row.next = std::max(row.next, index);
  row.propose = std::max(row.propose, index);
  row.released = std::max(row.released, end - 1);
}

void Messages::list(Record& record, Instant repair_at) {
  if (record.listed || record.delivered) return;
  record.listed = true;
  record.repair_at = repair_at;
  record.repair_gap = parts_.options.repair;
  pending_.push_back(&record);
}

void Messages::tidy() {
  std::erase_if(pending_, [](Record* record) {
    if (!record->delivered) return false;
    record->listed = false;
    return true;
  });
}

void Messages::release(Seq delivered) {
  for (const auto& row : rows_) {
    while (true) {
      const Record* record = at(*row, row->released + 1);
      if (record == nullptr || !record->delivered || record->key > delivered) break;
      ++row->released;
    }
    for (; row->freed < row->released; ++row->freed) {
      if (Record* record = at(*row, row->freed + 1)) record->body.reset();
    }
  }
}

void Messages::clear() {
  pending_.clear();
  rows_.clear();
}

void Messages::remove_finished_rows(const std::vector<MemberId>& current) {
  std::erase_if(rows_, [&](const auto& row) {
    if (std::find(current.begin(), current.end(), row->sender) != current.end()) return false;
    return std::all_of(row->records.begin(), row->records.end(), [&](const Record& record) {
      return !record.used() || (record.delivered && record.index <= row->released);
    });
  });
}

void Messages::add_to(Digest& digest) const {
  for (const auto& row : rows_) {
    digest.add(row->sender.node.value);
    digest.add(row->sender.epoch);
    digest.add(row->next);
    digest.add(row->released);
  }
  for (const Record* record : pending_) {
    digest.add(record->id.number);
    digest.add(record->own.key);
    digest.add(record->acknowledged);
    digest.add(record->key);
  }
}

void Messages::check_invariants() const {
  for (const auto& row : rows_) {
    PEAL_ASSERT(row->freed <= row->released);
    for (const Record& record : row->records) {
      if (!record.used()) {
        PEAL_ASSERT(!record.listed && !record.has_body);
        continue;
      }
      PEAL_ASSERT(record.id.sender == row->sender);
      PEAL_ASSERT(!record.delivered || record.key != 0);
      PEAL_ASSERT(record.acknowledged == 0 || record.has_body);
      PEAL_ASSERT(record.own.key == 0 || record.own.round != wire::Round{});
    }
  }
}

}  // namespace peal::order::ramcast
