// SPDX-License-Identifier: Apache-2.0
#include "client/inbox.h"

#include <utility>

#include "base/assert.h"

namespace peal::client {
namespace {

bool is_message(const Item& item) {
  return item.kind == Item::Kind::record && item.record == wire::RecordKind::message;
}

/// Checks an event by decoding it. If the event is a message, the decoded message stays in
/// `message`.
wire::Drop decode_event(wire::RecordKind kind, ByteView body, wire::MessageEvent& message) {
  const auto as = [body](auto event) { return decode(body, event); };
  switch (kind) {
    case wire::RecordKind::message: return decode(body, message);
    case wire::RecordKind::group_view: return as(wire::GroupViewEvent());
    case wire::RecordKind::gap: return as(wire::GapEvent());
    default: return as(wire::GroupEvent());
  }
}

std::string damage_text(wire::Drop damage) {
  return "a damaged event, " + std::string(wire::drop_name(damage));
}

}  // namespace

void Inbox::push(Item item) {
  unread_bytes_ += item.bytes();
  items_.push_back(std::move(item));
}

void Inbox::push_record(const wire::Record& record) {
  Item item;
  item.record = record.kind;
  item.body = spare_.take();
  item.body.assign(record.body.begin(), record.body.end());
  push(std::move(item));
}

Inbox::Wrong Inbox::push_event(const wire::Record& record) {
  wire::MessageEvent message;
  const wire::Drop damage = decode_event(record.kind, record.body, message);
  if (damage != wire::Drop::none) return damage_text(damage);
  push_record(record);
  // Events are seen in order. So this event is not seen yet if earlier events are still in shared
  // memory.
  items_.back().unseen = true;
  if (places_ == 0) note_seen(items_.back());
  return std::nullopt;
}

Inbox::Wrong Inbox::push_shared(ByteView body) {
  wire::Shared at;
  if (memory_.empty() || decode(body, at) != wire::Drop::none) {
    return "a place in shared memory that cannot be";
  }
  // Limit the bytes of events in shared memory that are not reported as seen.
  told_bytes_ += at.bytes;
  if (told_bytes_ > wire::kSharedUnseenMax) return "more events in memory than may be unseen";
  switch (wire::look_at_shared(memory_, at)) {
    case wire::SharedRead::ok: break;
    case wire::SharedRead::gone: torn_ = true; return std::nullopt;
    case wire::SharedRead::bad: return "a place in shared memory that cannot be";
  }
  Item item;
  item.unseen = true;
  item.place = at;
  push(std::move(item));
  ++places_;
  return std::nullopt;
}

void Inbox::push_notice(Item::Kind kind, std::unique_ptr<End> end) {
  Item item;
  item.kind = kind;
  item.end = std::move(end);
  push(std::move(item));
}

std::optional<Item> Inbox::take(wire::MessageEvent& message, bool open, Wrong& wrong) {
  PEAL_ASSERT(!items_.empty());
  if (items_.front().is_place()) {
    if (!fetch(items_.front(), message, open, wrong)) return std::nullopt;
  } else if (is_message(items_.front())) {
    const wire::Drop damage = decode(items_.front().body, message);
    PEAL_ASSERT(damage == wire::Drop::none);  // the message was checked when it arrived
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  unread_bytes_ -= item.bytes();
  note_seen(item);
  return item;
}

void Inbox::disconnected() {
  seen_due_ = false;
  memory_ = {};
  told_bytes_ = taken_bytes_ = 0;
  torn_ = false;
}

std::uint64_t Inbox::tell_seen() {
  PEAL_ASSERT(seen_due_);
  seen_due_ = false;
  told_bytes_ -= std::exchange(taken_bytes_, 0);
  return events_seen_;
}

void Inbox::note_seen(Item& item) {
  if (!std::exchange(item.unseen, false)) return;
  ++events_seen_;
  seen_due_ = true;
}

/// Copies one record out of shared memory, and checks only the copy, because the memory may change.
/// `damage` says what is wrong with the event.
wire::SharedRead Inbox::copy(Item& item, wire::MessageEvent& message, wire::Drop& damage) {
  std::vector<std::byte> body = spare_.take();
  const wire::SharedRead read = wire::read_shared(memory_, item.place, item.record, body);
  if (read != wire::SharedRead::ok) return read;
  if (!wire::is_event(item.record)) return wire::SharedRead::bad;
  damage = decode_event(item.record, body, message);
  if (damage != wire::Drop::none) return read;
  unread_bytes_ -= item.bytes();
  taken_bytes_ += item.place.bytes;
  item.body = std::move(body);
  item.place = {};
  unread_bytes_ += item.bytes();
  --places_;
  return read;
}

/// Copies the first item out of shared memory before it is taken. On failure, discards all unseen
/// events.
bool Inbox::fetch(Item& item, wire::MessageEvent& message, bool open, Wrong& wrong) {
  wire::Drop damage = wire::Drop::none;
  const wire::SharedRead read = copy(item, message, damage);
  if (read == wire::SharedRead::ok && damage == wire::Drop::none) return true;
  drop_events(0);
  if (read == wire::SharedRead::gone) {
    torn_ = open;
  } else {
    wrong = read == wire::SharedRead::bad ? "a place in shared memory where no event is"
                                          : damage_text(damage);
  }
  return false;
}

void Inbox::fetch_all() {
  wire::MessageEvent message;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    wire::Drop damage = wire::Drop::none;
    const bool there =
        !items_[i].is_place() || copy(items_[i], message, damage) == wire::SharedRead::ok;
    if (!there || damage != wire::Drop::none) return drop_events(i);
    note_seen(items_[i]);
  }
}

/// Discards the unseen events among the items from number `from` on.
void Inbox::drop_events(std::size_t from) {
  std::deque<Item> kept;
  for (; !items_.empty(); items_.pop_front()) {
    Item& item = items_.front();
    const bool goes = from == 0 && item.unseen;
    if (from > 0) --from;
    if (!goes) {
      kept.push_back(std::move(item));
      continue;
    }
    unread_bytes_ -= item.bytes();
    if (item.is_place()) --places_;
  }
  items_ = std::move(kept);
}

}  // namespace peal::client
