// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/outlet.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {

// ---- the order of timestamps ----

void Outlet::begin_round(std::uint64_t clock) {
  queue_.clear();
  views_.clear();
  if (!state_.is_member()) forget_keys();
  first_mark_ = last_mark_ = {};
  Standing& standing = parts_.standing;
  // Only what the leader certifies: this server's own clock may be larger.
  standing.certified = PEAL_MUTANT(rc_own_clock_certifies) ? parts_.clock.value() : clock;
}

/// A server outside the view need not deliver what is past by now: the base says which keys count.
void Outlet::forget_keys() {
  for (const Keyed& keyed : heap_) {
    if (!keyed.record->delivered) keyed.record->key = 0;
  }
  heap_.clear();
}

void Outlet::add(Record& record) {
  PEAL_ASSERT(record.own.key != 0 && may_add(record.own.key));
  queue_.push_back({record.own.key, &record});
}

void Outlet::add_view(const wire::DomainView& view, std::uint64_t entry, bool known) {
  PEAL_ASSERT(may_add(view.id.number));
  views_.push_back({view, entry, known});
  queue_.push_back({view.id.number, nullptr});
}

bool Outlet::is_open(const Item& item) const {
  if (item.record != nullptr) return item.record->key == 0;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].view.id.number == item.stamp) return !views_[i].known;
  }
  return false;
}

void Outlet::drop_keyed_items() {
  while (!queue_.empty() && queue_.front().record != nullptr && !is_open(queue_.front())) {
    queue_.pop_front();
  }
}

void Outlet::on_key(Record& record) {
  heap_.push_back({record.key, &record});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void Outlet::commit_entries(std::uint64_t entry) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].entry <= entry) views_[i].known = true;
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Record* record = queue_[i].record;
    if (record == nullptr || !record->inlined || !record->single()) continue;
    if (record->entry > entry) break;
    if (record->key != 0) continue;
    if (record->own.key <= state_.delivered()) {
      parts_.drop(wire::Drop::bad_value);
      continue;
    }
    record->key = record->own.key;
    parts_.clock.raise(clock_of(record->key));
    on_key(*record);
  }
}

// ---- which timestamps are known ----

void Outlet::note_mark(std::uint64_t entry, std::uint64_t clock) {
  if (entry < last_mark_.entry || (entry == last_mark_.entry && clock <= last_mark_.clock)) return;
  if (first_mark_.entry == 0) first_mark_ = {entry, clock};
  last_mark_ = {entry, clock};
  apply_marks();
}

void Outlet::note_read(std::uint64_t entry, std::uint64_t clock) {
  Standing& standing = parts_.standing;
  standing.entry = std::max(standing.entry, entry);
  standing.certified = std::max(standing.certified, clock);
  apply_marks();
}

void Outlet::apply_marks() {
  Standing& standing = parts_.standing;
  for (Mark* mark : {&first_mark_, &last_mark_}) {
    if (mark->entry == 0 || mark->entry > standing.entry) continue;
    standing.certified = std::max(standing.certified, mark->clock);
  }
  if (first_mark_.entry <= standing.entry) first_mark_ = last_mark_;
  if (first_mark_.entry <= standing.entry) first_mark_ = {};
}

bool Outlet::is_complete(Seq key) const {
  if (PEAL_MUTANT(rc_incomplete_is_enough)) return true;
  // A leader knows all its proposals, and its clock is above the key.
  return parts_.standing.leads() || parts_.standing.certified >= clock_of(key);
}

// ---- delivery ----

Seq Outlet::blocked_by() const {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    if (is_open(queue_[i])) return queue_[i].stamp;
  }
  return 0;
}

bool Outlet::deliver(Effects& out) {
  bool any = false;
  lacks_body_ = nullptr;
  while (deliver_next(out)) any = true;
  return any;
}

bool Outlet::deliver_next(Effects& out) {
  const Standing& standing = parts_.standing;
  if (!standing.active || !standing.in_step() || standing.left_behind) return false;
  drop_keyed_items();
  while (!heap_.empty() && heap_.front().record->delivered) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  // Only a process that breaks the protocol tells such a key.
  while (!heap_.empty() && heap_.front().key <= state_.delivered()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.back().record->key = 0;
    heap_.pop_back();
    parts_.drop(wire::Drop::bad_value);
  }
  const bool view_first = !queue_.empty() && queue_.front().record == nullptr;
  const Seq front = queue_.empty() ? 0 : queue_.front().stamp;
  if (view_first && views_.front().known && (heap_.empty() || heap_.front().key > front)) {
    if (!is_complete(front)) return false;
    const wire::DomainView view = views_.front().view;
    queue_.pop_front();
    views_.pop_front();
    if (view.id.number > state_.delivered()) {
      install(view, out);
    } else {
      parts_.drop(wire::Drop::bad_value);
    }
    return true;
  }
  if (heap_.empty()) return false;
  Record& record = *heap_.front().record;
  if (front != 0 && front < record.key) return false;
  if (!is_complete(record.key)) return false;
  const bool member = state_.is_member();
  if (member && !record.has_body) {
    lacks_body_ = &record;
    return false;
  }
  if (member && !delivered_.may_deliver(record)) return false;
  held_ = member && parts_.host.receive_room_units() == 0;
  if (held_) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  heap_.pop_back();
  deliver_record(record, out);
  return true;
}

void Outlet::install(const wire::DomainView& view, Effects& out) {
  const wire::DomainView before = state_.view();
  state_.set_delivered(view.id.number);
  state_.install(view, out);
  delivered_.on_view(before);
}

void Outlet::deliver_retained(Record& record, Seq key, Effects& out) {
  PEAL_ASSERT(parts_.standing.left_behind && record.has_body && state_.is_member());
  std::erase_if(heap_, [&record](const Keyed& keyed) { return keyed.record == &record; });
  std::make_heap(heap_.begin(), heap_.end(), later);
  record.key = key;
  parts_.clock.raise(clock_of(key));
  deliver_record(record, out);
}

void Outlet::install_retained(const wire::DomainView& view, Effects& out) {
  PEAL_ASSERT(parts_.standing.left_behind);
  parts_.clock.raise(clock_of(view.id.number));
  install(view, out);
}

bool Outlet::refers_to(const Row& row) const {
  if (row.records.empty()) return false;
  const auto is_of = [&row](const Record* record) {
    return record >= row.records.data() && record < row.records.data() + row.records.size();
  };
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    if (is_of(queue_[i].record)) return true;
  }
  return std::any_of(heap_.begin(), heap_.end(),
                     [&](const Keyed& keyed) { return is_of(keyed.record); });
}

void Outlet::deliver_record(Record& record, Effects& out) {
  PEAL_ASSERT(record.key > state_.delivered() && !record.delivered);
  record.delivered = true;
  state_.set_delivered(record.key);
  delivered_.on_delivery(record, out);
  // A server outside the view keeps up with the order. It may even lead. Its application is told
  // where its own messages have their places, and nothing else.
  if (!state_.is_member()) return;
  ++parts_.counts.delivered;
  Delivery delivery;
  delivery.view = state_.view().id;
  delivery.seq = record.key;
  delivery.origin = record.id.sender;
  delivery.service = record.head.service;
  if (parts_.layout.is_divided()) delivery.domains = DomainSet::of_bits(record.head.to);
  delivery.unit = record.body;
  out.deliver(delivery);
}

void Outlet::add_to(Digest& digest) const {
  digest.add(state_.delivered());
  digest.add(queue_.size());
  digest.add(heap_.size());
  digest.add(parts_.standing.certified);
}

void Outlet::check_invariants() const {
  for (std::size_t i = 1; i < queue_.size(); ++i) {
    PEAL_ASSERT(queue_[i - 1].stamp < queue_[i].stamp);
  }
  for (const Keyed& keyed : heap_) PEAL_ASSERT(keyed.record->key == keyed.key);
  PEAL_ASSERT(std::is_heap(heap_.begin(), heap_.end(), later));
}

}  // namespace peal::order::ramcast
