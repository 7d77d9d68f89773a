// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/messages.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

bool is_unplaced(const Record& record) {
  return record.own.key == 0 && record.key == 0 && !record.delivered;
}

}  // namespace

// ---- a row ----

Record* Row::at(std::uint64_t index) {
  if (records.empty()) return nullptr;
  Record& record = records[index % records.size()];
  return record.index == index ? &record : nullptr;
}

const Record* Row::in_slot(std::uint64_t index) const {
  if (records.empty()) return nullptr;
  const Record& record = records[index % records.size()];
  return record.used() ? &record : nullptr;
}

bool Row::knows_below(std::uint64_t index) const {
  if (index > released + 1 + records.size()) return false;
  for (std::uint64_t each = released + 1; each < index; ++each) {
    const Record* record = in_slot(each);
    if (record == nullptr || record->index < each) return false;
    if (record->index == each && !record->delivered && record->key == 0) return false;
  }
  return true;
}

bool Row::is_finished() const {
  return std::all_of(records.begin(), records.end(), [this](const Record& record) {
    return !record.used() || (record.delivered && record.index <= released);
  });
}

Seq Row::last_key() const {
  Seq last = 0;
  for (const Record& record : records) last = std::max(last, record.key);
  return last;
}

Seq Row::past_key(std::uint64_t number) const {
  if (PEAL_MUTANT(rc_past_keys_forgotten)) return 0;
  const auto found = std::find_if(past_keys.begin(), past_keys.end(),
                                  [number](const auto& each) { return each.first == number; });
  return found == past_keys.end() ? 0 : found->second;
}

// ---- all rows ----

Row* Messages::find_row(const MemberId& sender) {
  for (const auto& row : rows_) {
    if (row->sender == sender) return row.get();
  }
  return nullptr;
}

Row* Messages::open_row(const MemberId& sender, NodeIndex node, Origin origin) {
  if (Row* row = find_row(sender)) return row;
  if (removed_.empty()) removed_.resize(parts_.layout.nodes());
  if (is_removed(sender, node)) return nullptr;
  if (!can_fill(node, 1, origin)) return nullptr;
  const auto all = std::count_if(rows_.begin(), rows_.end(),
                                 [node](const auto& row) { return row->node == node; });
  if (static_cast<std::size_t>(all) >= kIncarnationsOfANode) remove_oldest(node);
  // Without records: a base names incarnations of whose messages nothing is left.
  auto row = std::make_unique<Row>();
  row->sender = sender;
  row->node = node;
  rows_.push_back(std::move(row));
  // Sorted, so that a run does not depend on who was heard first.
  std::sort(rows_.begin(), rows_.end(),
            [](const auto& a, const auto& b) { return a->sender < b->sender; });
  return find_row(sender);
}

/// Each server of the domain takes messages of a few incarnations from their senders, and any
/// leader may order them: a member has space for all.
bool Messages::can_fill(NodeIndex node, std::size_t count, Origin origin) const {
  const auto filled = std::count_if(rows_.begin(), rows_.end(), [node](const auto& row) {
    return row->node == node && !row->records.empty();
  });
  std::size_t most = kRowsOfANode;
  if (origin == Origin::order) most *= parts_.layout.servers(parts_.domain).size();
  return static_cast<std::size_t>(filled) + count <= most;
}

void Messages::fill(Row& row) {
  const std::size_t slots = parts_.options.slots;
  const std::size_t nodes = parts_.layout.nodes();
  row.records.resize(slots);
  row.said.resize(slots * nodes);
  for (std::size_t i = 0; i < slots; ++i) row.records[i].said = &row.said[i * nodes];
}

/// Forgets the oldest incarnation of the node whose messages are all past.
void Messages::remove_oldest(NodeIndex node) {
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    if ((*row)->node != node || !(*row)->records.empty()) continue;
    removed_[node] = (*row)->sender;
    rows_.erase(row);
    return;
  }
}

Record* Messages::find(const wire::MessageId& id) {
  Row* row = find_row(id.sender);
  if (row == nullptr) return nullptr;
  for (Record& record : row->records) {
    if (record.used() && record.id == id) return &record;
  }
  return nullptr;
}

bool Messages::has_units_up_to(const Record& record) {
  return find_row(record.id.sender)->next > record.index;
}

Record* Messages::claim(Row& row, const wire::MessageId& id, const wire::MessageHead& head,
                        Origin origin) {
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  if (row.records.empty()) {
    if (index <= row.released || !can_fill(row.node, 1, origin)) return nullptr;
    fill(row);
  }
  Record& record = row.records[index % row.records.size()];
  if (record.index == index && record.id != id) {
    // A faulty sender has sent another message to others, and the order has that one.
    if (origin != Origin::order || !is_unplaced(record)) return nullptr;
    row.next = std::min(row.next, index);
    reset(record);
  }
  if (record.index == index) return &record;
  const bool past = index <= row.released && !PEAL_MUTANT(rc_past_taken_again);
  if (past || record.index > index) return nullptr;
  if (record.used() && !may_overwrite(row, record)) return nullptr;
  // Its sender uses the slot again, so all members of some view have delivered what was in it.
  if (record.used()) {
    if (must_keep(row.released, record)) {
      overwritten_.add({record.key, record.id, record.head, record.body});
    } else if (record.key > released_) {
      lose(record.key);
    }
    row.released = std::max(row.released, record.index);
  }
  reset(record);
  record.id = id;
  record.index = index;
  record.head = head;
  return &record;
}

bool Messages::is_past(const MemberId& sender, NodeIndex node, const wire::MessageHead& head) {
  const Row* row = find_row(sender);
  if (row == nullptr) return is_removed(sender, node);
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  const Record* record = row->in_slot(index);
  return index <= row->released || (record != nullptr && record->index > index);
}

bool Messages::knows_below(const MemberId& sender, NodeIndex node, std::uint64_t index) {
  if (const Row* row = find_row(sender)) return row->knows_below(index);
  if (index <= 1 || is_removed(sender, node)) return true;
  // The leader whose base this server had may have removed the row: as many incarnations of the
  // node are later ones as any server remembers.
  const auto later = std::count_if(rows_.begin(), rows_.end(), [&](const auto& row) {
    return row->node == node && row->sender.epoch > sender.epoch;
  });
  return static_cast<std::size_t>(later) >= kIncarnationsOfANode;
}

bool Messages::is_removed(const MemberId& sender, NodeIndex node) const {
  return node < removed_.size() && removed_[node].node == sender.node &&
         removed_[node].epoch >= sender.epoch;
}

Messages::Space Messages::space_for(const MemberId& sender, const wire::MessageHead& head,
                                    std::uint64_t begin) {
  const Row* row = find_row(sender);
  if (row == nullptr || row->records.empty()) return Space::row;
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  const std::uint64_t released = std::max(row->released, std::max<std::uint64_t>(begin, 1) - 1);
  const Record& record = row->records[index % row->records.size()];
  if (!record.used() || index <= released || record.index > index) return Space::unused;
  if (record.index == index) {
    const bool same = record.id == wire::MessageId{sender, head.number};
    return same || is_unplaced(record) ? Space::unused : Space::none;
  }
  if (!record.delivered) {
    const bool forgotten = record.key == 0 && record.index < begin;
    return forgotten ? Space::unused : Space::none;
  }
  return must_keep(released, record) ? Space::moved : Space::unused;
}

/// Whether a member that a later view excludes may lack the delivered message.
bool Messages::must_keep(std::uint64_t released, const Record& record) {
  return record.index > released && record.body && !PEAL_MUTANT(rc_overwritten_lost);
}

bool Messages::may_overwrite(const Row& row, const Record& record) const {
  return record.delivered && (!must_keep(row.released, record) || overwritten_.has_space(1));
}

void Messages::reset(Record& record) {
  if (record.listed) std::erase(pending_, &record);
  if (record.touched) std::erase(touched_, &record);
  Said* const said = record.said;
  std::fill_n(said, parts_.layout.nodes(), Said{});
  record = Record{};
  record.said = said;
}

void Messages::put_body(Row& row, Record& record, BufferRef body) {
  if (!record.has_body) {
    record.body = std::move(body);
    record.has_body = true;
    record.kept = {};
    ++parts_.counts.units_taken;
    touch(record);
  }
  advance(row);
}

void Messages::put_logged(Row& row, Record& record, ByteView unit) {
  if (parts_.has_buffer_for_unit()) {
    BufferRef body = parts_.pool.take(0, static_cast<std::uint32_t>(unit.size()));
    std::copy(unit.begin(), unit.end(), body.data());
    return put_body(row, record, std::move(body));
  }
  ++parts_.counts.no_buffer;
  if (PEAL_MUTANT(rc_logged_unit_lost)) return;
  record.kept.assign(unit.begin(), unit.end());
  keeps_ = true;
}

void Messages::restore() {
  if (!keeps_ || !parts_.has_buffer_for_unit()) return;
  keeps_ = false;
  for (const auto& row : rows_) {
    for (Record& record : row->records) {
      if (record.kept.empty()) continue;
      const std::vector<std::byte> unit = std::move(record.kept);
      record.kept = {};
      put_logged(*row, record, unit);
    }
  }
}

void Messages::advance(Row& row) {
  while (true) {
    Record* next = row.at(row.next);
    // Outside the view a message may be delivered without its unit.
    if (next == nullptr || !(next->has_body || next->delivered)) break;
    ++row.next;
    if (next->own.key != 0) touch(*next);  // it may be acknowledged now
  }
}

void Messages::forget(Record& record) {
  PEAL_ASSERT(record.key == 0);
  reset(record);
}

void Messages::forget_lost() {
  for (const auto& row : rows_) {
    for (Record& record : row->records) {
      const bool unplaced = record.used() && record.own.key == 0 && record.key == 0;
      if (unplaced && record.index >= row->next) forget(record);
    }
  }
}

void Messages::note_past(Row& row, const wire::MessageId& id, const wire::MessageHead& head,
                         Seq key) {
  if (row.records.empty()) {
    if (!can_fill(row.node, 1, Origin::order)) return;
    fill(row);
  }
  const std::uint64_t index = wire::index_in(head, parts_.domain);
  Record& record = row.records[index % row.records.size()];
  if (record.used() && (record.index > index || (record.delivered && record.index == index)))
    return;
  reset(record);
  record.id = id;
  record.index = index;
  record.head = head;
  record.key = key;
  record.has_body = record.delivered = true;
  advance(row);
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
  for (Record& record : row.records) {
    if (record.index <= row.released) record.body.reset();
  }
  row.freed = row.released;
}

void Messages::touch(Record& record) {
  if (record.touched) return;
  record.touched = true;
  touched_.push_back(&record);
}

const std::vector<Record*>& Messages::take_touched() {
  taken_.swap(touched_);
  touched_.clear();
  for (Record* record : taken_) record->touched = false;
  return taken_;
}

void Messages::list(Record& record, Instant repair_at) {
  if (record.listed || record.delivered) return;
  record.listed = true;
  record.repair_at = repair_at;
  record.repair_gap = parts_.options.repair;
  repair_at_ = std::min(repair_at_, repair_at);
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
  released_ = std::max(released_, delivered);
  overwritten_.remove(released_);
  for (const auto& row : rows_) {
    advance(*row);
    while (true) {
      const Record* record = row->at(row->released + 1);
      if (record == nullptr || !record->delivered || record->key > delivered) break;
      ++row->released;
    }
    for (; row->freed < row->released; ++row->freed) {
      if (Record* record = row->at(row->freed + 1)) record->body.reset();
    }
  }
}

void Messages::shrink(Row& row) {
  if (const Seq last = row.last_key(); last > released_) lose(last);
  row.past_keys.clear();
  for (Record& record : row.records) {
    if (record.used() && !record.single()) row.past_keys.emplace_back(record.id.number, record.key);
    reset(record);
  }
  row.freed = row.released;
  row.records = {};
  row.said = {};
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
  if (rows_.empty()) return;
  // A row every few times: the simulator calls this at each step.
  constexpr std::size_t kTimes = 4;
  if (++checked_ % kTimes != 0) return;
  const Row& row = *rows_[checked_ / kTimes % rows_.size()];
  PEAL_ASSERT(row.freed <= row.released);
  for (const Record& record : row.records) {
    if (!record.used()) {
      PEAL_ASSERT(!record.listed && !record.has_body);
      continue;
    }
    PEAL_ASSERT(record.id.sender == row.sender);
    PEAL_ASSERT(!record.delivered || record.key != 0);
    PEAL_ASSERT(record.acknowledged == 0 || record.has_body);
    PEAL_ASSERT(record.own.key == 0 || record.own.round != wire::Round{});
  }
}

}  // namespace peal::order::ramcast
