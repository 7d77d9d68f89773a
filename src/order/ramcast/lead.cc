// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/lead.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

using Role = Standing::Role;

wire::LogEntry entry_of(wire::LogKind kind) {
  wire::LogEntry entry;
  entry.kind = kind;
  return entry;
}

/// The bytes of a view, for a log entry.
class ViewBytes {
 public:
  explicit ViewBytes(const wire::DomainView& view) : size_(wire::encode_domain_view(view, bytes_)) {
    PEAL_ASSERT(size_ > 0);
  }
  ByteView view() const { return ByteView(bytes_).first(size_); }

 private:
  std::array<std::byte, wire::kDomainViewBytesMax> bytes_;
  std::size_t size_;
};

/// The sender's message before this one has its key, or is past.
bool follows_placed(Messages& messages, const Record& record) {
  if (record.index == 1) return true;
  const Record* before = messages.find_row(record.id.sender)->at(record.index - 1);
  return before == nullptr || before->key != 0;
}

}  // namespace

void adopt_stamp(Record& record, const wire::Round& round, Seq stamp) {
  record.own = {round, stamp};
  record.entry = 0;
  record.inlined = false;
}

// ---- the base ----

void Lead::begin(const Decision& decision, std::uint32_t seed) {
  Standing& standing = parts_.standing;
  PEAL_ASSERT(standing.role == Role::candidate);
  end();
  standing.role = Role::synchronizing;
  standing.synchronized = standing.promised;
  standing.active = false;
  standing.entry = kFirstEntry - 1;
  if (!PEAL_MUTANT(rc_clock_lost)) parts_.clock.raise(decision.clock);
  ++parts_.counts.rounds;
  log_.begin(standing.promised, seed);
  outlet_.begin_round(parts_.clock.value());
  acks_.begin_round();
  // Timestamps of earlier rounds that are not part of the base are void.
  for (const auto& row : messages_.rows()) {
    for (Record& record : row->records) {
      if (!record.used()) continue;
      record.own = {};
      record.heard = 0;
    }
    const std::uint64_t slots = row->records.size();
    row->propose = row->next > slots ? row->next - slots : 1;
  }
  begin_order(decision);
  inlined_.push_back({kFirstEntry - 1, nullptr, {}, 0});
  doubtful_ = {};
  messages_.forget_lost();
  for (Record* record : messages_.pending()) {
    if (record->own.key == 0) continue;
    acks_.propose(*record);
  }
}

/// Timestamps and views of the base, in their order.
void Lead::begin_order(const Decision& decision) {
  std::vector<const wire::DomainView*> views;
  for (const wire::DomainView* view : {&decision.view, &decision.proposed}) {
    if (view->id.number > state_.view().id.number) views.push_back(view);
  }
  std::size_t next = 0;
  const auto add_views_below = [&](Seq stamp) {
    for (; next < views.size() && views[next]->id.number < stamp; ++next) {
      if (!outlet_.may_add(views[next]->id.number)) {
        parts_.drop(wire::Drop::bad_value);
        continue;
      }
      outlet_.add_view(*views[next], kFirstEntry - 1, views[next] == &decision.view);
    }
  };
  for (const BaseMessage& message : decision.messages) {
    Record* record = messages_.find(message.id);
    if (record == nullptr || record->delivered) continue;
    if (message.stamp != 0 && !outlet_.may_add(message.stamp)) {
      parts_.drop(wire::Drop::bad_value);  // two messages with one timestamp
    } else if (message.stamp != 0) {
      adopt_stamp(*record, parts_.standing.promised, message.stamp);
      if (record->key == 0 && message.key == 0) {
        add_views_below(message.stamp);
        outlet_.add(*record);
      }
    }
    if (message.key != 0) acks_.commit(*record, message.key);
  }
  add_views_below(wire::kCounterMax);
}

void Lead::end() {
  log_.end();
  inlined_.clear();
}

/// What a base says of a message or a view.
struct Lead::BaseItem {
  Seq stamp{};  ///< 0 if the key is known: the message then needs no place among the timestamps
  const Record* record = nullptr;  ///< null: a view
  const wire::DomainView* view = nullptr;
  Seq key{};  ///< as in wire::LogEntry
};

/// Messages that are past, and so no part of a base, have no key above this one.
Seq Lead::skipped_by_bases() const {
  Seq last = std::max(messages_.released(), messages_.known_since());
  for (const Overwritten& each : messages_.overwritten().all()) last = std::max(last, each.key);
  for (const auto& row : messages_.rows()) {
    for (const Record& record : row->records) {
      const bool past = record.delivered && record.index <= row->released;
      if (past) last = std::max(last, record.key);
    }
  }
  return last;
}

std::vector<Lead::BaseItem> Lead::base_of(NodeIndex member, const wire::MemberState& state) {
  const wire::DomainView& view = state_.view();
  const Place place = parts_.layout.role(member).place;
  const bool joins = ((state.view.members >> place) & 1U) == 0;
  std::vector<BaseItem> items;
  const Seq skipped = skipped_by_bases();
  for (const auto& row : messages_.rows()) {
    std::uint64_t first = row->next;
    for (const Record& record : row->records) {
      if (!record.used()) continue;
      // Who has not taken part so far learns the keys of messages that are past, too: their senders
      // may have to be told.
      const bool past = record.delivered && record.index <= row->released;
      if (past && joins) items.push_back({0, &record, nullptr, record.key});
      if (past) continue;
      first = std::min(first, record.index);
      if (record.own.key == 0 && record.key == 0) continue;
      items.push_back({record.key != 0 ? 0 : record.own.key, &record, nullptr, record.key});
    }
    wire::LogEntry entry = entry_of(wire::LogKind::base_sender);
    entry.sender = row->sender;
    entry.stamp = skipped;
    entry.key = first;
    log_.base(member, entry, {});
  }
  const RingQueue<Outlet::PendingView>& views = outlet_.views();
  for (std::size_t i = 0; i < views.size(); ++i) {
    const wire::DomainView& next = views[i].view;
    if (next.id.number <= state.view.id.number) continue;
    items.push_back({next.id.number, nullptr, &next, views[i].known ? 0 : views[i].entry});
  }
  if (view.id.number > state.view.id.number) {
    items.push_back({view.id.number, nullptr, &view, 0});
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const BaseItem& a, const BaseItem& b) { return a.stamp < b.stamp; });
  return items;
}

void Lead::base_for(NodeIndex member, const wire::MemberState& state) {
  PEAL_ASSERT(parts_.standing.leads() && log_.granted(member));
  for (const BaseItem& item : base_of(member, state)) {
    wire::LogEntry entry =
        entry_of(item.record == nullptr ? wire::LogKind::base_view : wire::LogKind::base);
    entry.key = item.key;
    if (item.record == nullptr) {
      entry.stamp = item.view->id.number;
      log_.base(member, entry, ViewBytes(*item.view).view());
      continue;
    }
    entry.sender = item.record->id.sender;
    entry.head = item.record->head;
    entry.stamp = item.record->own.key;
    log_.base(member, entry, {});
  }
  if (parts_.standing.active) {
    wire::LogEntry active = entry_of(wire::LogKind::active);
    log_.base(member, active, {});
  }
  wire::LogEntry end;
  end.stamp = parts_.clock.value();
  log_.end_base(member, end, ViewBytes(state_.view()).view());
}

/// A quorum holds the base. Before that, nobody delivers: a later leader might not know this round,
/// and propose again what this base has dropped.
void Lead::activate() {
  wire::LogEntry active = entry_of(wire::LogKind::active);
  const std::uint64_t entry = log_.append(active, {});
  parts_.standing.role = Role::leader;
  parts_.standing.active = true;
  outlet_.note_read(entry, 0);
}

// ---- timestamps ----

bool Lead::advance() {
  if (!parts_.standing.leads()) return false;
  if (PEAL_MUTANT(rc_active_at_once) && !parts_.standing.active) activate();
  bool changed = find_keys();
  if (can_propose_view() && !state_.has_view()) {
    wire::DomainView first = state_.view();
    first.members = static_cast<std::uint16_t>((1U << first.roster.size()) - 1);
    propose_view(first);
    changed = true;
  }
  return propose() || changed;
}

/// Members might have no space for a delivered message in the slot of a new one. An entry that
/// waits for space in the member's memory, and what is behind it, would be lost to a later leader.
unsigned Lead::taking_at_once() const {
  unsigned at_once = 0;
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    const NodeIndex member = parts_.layout.servers(parts_.domain)[place];
    const bool sure = log_.processed(member) >= doubtful_[place] || PEAL_MUTANT(rc_window_ignored);
    if (sure && watch_.takes_at_once(place)) at_once |= 1U << place;
  }
  return at_once;
}

/// In the order of each sender's messages.
bool Lead::propose() {
  bool changed = false;
  // The first view comes before the first message. Until a majority has that view, another leader
  // may begin another order, and other domains must not know stamps of this one.
  if (!state_.has_view()) return false;
  for (const auto& row : messages_.rows()) {
    while (row->propose < row->next) {
      Record* record = row->at(row->propose);
      if (record != nullptr && record->key == 0 && record->own.key == 0) {
        if (!propose(*record)) return changed;
        changed = true;
      }
      ++row->propose;
    }
  }
  return changed;
}

bool Lead::propose(Record& record) {
  wire::LogEntry entry = entry_of(wire::LogKind::proposal);
  const bool inlined = record.single() && record.body.size() <= parts_.options.inline_bytes;
  const ByteView unit = inlined ? record.body.view() : ByteView{};
  if (!log_.has_room(wire::log_entry_bytes(record.head.indexes.size(), unit.size()))) return false;
  // Above the key behind which the message comes, and above all keys that were acknowledged here.
  if (!PEAL_MUTANT(rc_causes_ignored)) parts_.clock.raise(clock_of(record.head.after));
  entry.stamp = key_of(parts_.clock.next(), parts_.domain);
  entry.sender = record.id.sender;
  entry.head = record.head;
  const std::uint64_t number = log_.append(entry, unit);
  record.own = {parts_.standing.synchronized, entry.stamp};
  record.entry = number;
  record.inlined = inlined;
  ++parts_.counts.proposals;
  outlet_.add(record);
  outlet_.note_read(number, 0);
  for (Place place = 0; place < state_.view().roster.size(); ++place) {
    if (!can_keep(place)) doubtful_[place] = number;
  }
  if (inlined) inlined_.push_back({number, &record, {}, 0});
  acks_.propose(record);
  acks_.advance(record);
  return true;
}

/// A majority holds the entry, and its unit if it has one. Servers whose base stands for the entry
/// have the unit if they acknowledge the message.
bool Lead::is_held(const Inlined& each, unsigned at_once) const {
  unsigned holders = 0;
  if (is_unit(each)) {
    holders = log_.holders_of_unit(each.entry, at_once);
    for (const NodeIndex server : parts_.layout.servers(parts_.domain)) {
      if (each.record->said[server].acknowledged_in(parts_.standing.synchronized)) {
        holders |= 1U << parts_.layout.role(server).place;
      }
    }
  } else {
    holders = log_.holders(each.entry, at_once);
  }
  auto count = static_cast<unsigned>(std::popcount(holders));
  if (PEAL_MUTANT(rc_one_holder_less)) ++count;
  return count >= parts_.quorum();
}

bool Lead::find_keys() {
  bool changed = false;
  std::uint64_t to_tell = 0;
  const unsigned at_once = inlined_.empty() ? 0 : taking_at_once();
  while (!inlined_.empty()) {
    const Inlined first = inlined_.front();
    const bool placed = is_unit(first) && first.record->key != 0;
    if (!placed && !is_held(first, at_once)) break;
    // The majority that holds this message might not have the unit of the sender's former one, and
    // then a later leader could place that behind this one.
    if (is_unit(first) && !placed && !follows_placed(messages_, *first.record)) break;
    inlined_.pop_front();
    changed = true;
    if (first.key != 0) {
      if (first.record->id == first.id) acks_.commit(*first.record, first.key);
      continue;
    }
    if (first.record != nullptr) {
      // The record may have been used again, if other servers made the message known first.
      Record& record = *first.record;
      if (record.entry == first.entry && record.own.key != 0) {
        acks_.commit(record, record.own.key);
      }
      if (parts_.options.lazy) to_tell = first.entry;
      continue;
    }
    if (!parts_.standing.active) activate();
    if (!outlet_.view_under_way()) continue;
    outlet_.commit_entries(first.entry);
    to_tell = first.entry;
  }
  if (to_tell != 0) append_commit(to_tell);
  return changed;
}

void Lead::append_commit(std::uint64_t entry) {
  wire::LogEntry commit = entry_of(wire::LogKind::commit);
  commit.key = entry;
  outlet_.note_read(log_.append(commit, {}), 0);
}

void Lead::on_hearsay(Record& record, Seq key) {
  if (PEAL_MUTANT(rc_hearsay_counts)) return acks_.commit(record, key);
  if (!parts_.standing.leads() || record.key != 0 || record.heard == key) return;
  wire::LogEntry entry = entry_of(wire::LogKind::commit);
  entry.key = 1;  // commits nothing
  if (!log_.has_room(wire::log_entry_bytes(0, 0))) return;
  record.heard = key;
  const std::uint64_t number = log_.append(entry, {});
  outlet_.note_read(number, 0);
  inlined_.push_back({number, &record, record.id, key});
}

bool Lead::refers_to(const Row& row) const {
  if (row.records.empty()) return false;
  for (std::size_t i = 0; i < inlined_.size(); ++i) {
    const Record* const record = inlined_[i].record;
    if (record >= row.records.data() && record < row.records.data() + row.records.size()) {
      return true;
    }
  }
  return false;
}

// ---- views ----

bool Lead::can_propose_view() const {
  return parts_.standing.role == Role::leader && !outlet_.view_under_way() &&
         log_.has_room(wire::log_entry_bytes(0, wire::kDomainViewBytesMax));
}

void Lead::propose_view(const wire::DomainView& view) {
  PEAL_ASSERT(can_propose_view());
  wire::DomainView next = view;
  next.id = {key_of(parts_.clock.next(), parts_.domain), parts_.self};
  const wire::DomainView& before = state_.view();
  next.follows = before.id.number;
  for (Place place = 0; place < next.roster.size(); ++place) {
    const bool same = next.roster[place] == before.roster[place];
    const Seq earlier = same ? before.last_in[place] : 0;
    next.last_in[place] = same && state_.is_member(place) ? next.follows : earlier;
  }
  wire::LogEntry entry = entry_of(wire::LogKind::view);
  entry.stamp = next.id.number;
  const std::uint64_t number = log_.append(entry, ViewBytes(next).view());
  outlet_.add_view(next, number, false);
  outlet_.note_read(number, 0);
  inlined_.push_back({number, nullptr, {}, 0});
}

}  // namespace peal::order::ramcast
