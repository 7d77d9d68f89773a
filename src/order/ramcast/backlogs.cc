// SPDX-License-Identifier: Apache-2.0
#include "order/ramcast/backlogs.h"

#include <algorithm>

#include "base/hooks.h"

namespace peal::order::ramcast {
namespace {

/// Items that answer one request.
constexpr unsigned kItemsOfAnAnswer = 16;

}  // namespace

Backlogs::Backlogs(const Parts& parts, Links& links, Messages& messages, DomainState& state,
                   Outlet& outlet, const Watch& watch, const LogReader& reader)
    : parts_(parts),
      links_(links),
      messages_(messages),
      state_(state),
      outlet_(outlet),
      watch_(watch),
      reader_(reader) {
  if (parts.serves()) retained_.resize(parts.layout.servers(parts.domain).size());
}

// ---- a member that goes on ----

void Backlogs::retain(const wire::DomainView& before) {
  const wire::DomainView& view = state_.view();
  if (view.follows == 0 || view.roster.size() != retained_.size()) return;
  const bool next = before.id.number == view.follows;
  // A base has begun with this view, and this server may not know what came before the former one.
  if (!next) messages_.lose(view.follows);
  if (PEAL_MUTANT(rc_backlog_forgotten)) return;
  const bool goes_on = next && view.last_in[parts_.place] == view.follows && state_.is_member() &&
                       view.roster[parts_.place] == parts_.self;
  if (!goes_on && PEAL_MUTANT(rc_left_out_forgets)) return;
  for (Place place = 0; place < retained_.size(); ++place) {
    if (place == parts_.place || view.last_in[place] != view.follows) continue;
    // What the members of the view lack, a member that goes on keeps for a later view.
    if (goes_on && state_.is_member(place)) continue;
    const MemberId& peer = links_.peer(parts_.layout.servers(parts_.domain)[place]);
    // A process that has restarted needs nothing of what its former incarnation lacks.
    if (peer == view.roster[place]) retain_for(place, next ? &before : nullptr);
  }
}

/// `before`: the view before the present one, if this server has delivered it.
void Backlogs::retain_for(Place place, const wire::DomainView* before) {
  Retained& retained = retained_[place];
  const wire::DomainView& view = state_.view();
  const bool stays = state_.is_member(place);
  const bool more = !stays && before != nullptr && retained.member == view.roster[place] &&
                    retained.last() == view.follows && messages_.known_since() <= view.follows;
  Seq from = view.follows;
  if (!more) {
    retained = {};
    retained.member = view.roster[place];
    from =
        std::max({watch_.control(place).delivered, messages_.known_since(), messages_.released()});
    // Members that stay have delivered the former view: see Members::all_in_view().
    if (stays || before == nullptr) from = std::max(from, view.follows);
    retained.begin = from;
    if (view.follows > from) retained.add(*before);
  }
  const Seq end = view.id.number;
  for (const auto& row : messages_.rows()) {
    for (const Record& record : row->records) {
      if (!record.used() || !record.delivered) continue;
      if (record.key <= from || record.key >= end) continue;
      retained.items.push_back({record.key, record.id, record.head, record.body});
    }
  }
  for (const Overwritten& each : messages_.overwritten().all()) {
    if (each.key <= from || each.key >= end) continue;
    retained.items.push_back({each.key, each.id, each.head, each.body});
  }
  retained.add(view);
  std::sort(retained.items.begin(), retained.items.end(),
            [](const Item& a, const Item& b) { return a.key < b.key; });
  parts_.counts.retained += retained.items.size();
}

void Backlogs::Retained::add(const wire::DomainView& view) {
  views.push_back(view);
  items.push_back({view.id.number, {}, {}, {}});
}

const wire::DomainView* Backlogs::Retained::view_at(Seq key) const {
  const auto found = std::find_if(views.begin(), views.end(), [key](const wire::DomainView& view) {
    return view.id.number == key;
  });
  return found == views.end() ? nullptr : &*found;
}

void Backlogs::tidy() {
  // Outside, and on the way there, this server keeps what the next view may owe to others, as long
  // as it has space. What is before its view is retained by now.
  if (!state_.is_member() || parts_.standing.left_behind) {
    OverwrittenMessages& overwritten = messages_.overwritten();
    const Seq last = overwritten.is_half_full() ? wire::kCounterMax : state_.view().id.number;
    messages_.lose(overwritten.remove(last));
  }
  for (Place place = 0; place < retained_.size(); ++place) {
    Retained& retained = retained_[place];
    if (retained.member == MemberId{}) continue;
    const MemberId& peer = links_.peer(parts_.layout.servers(parts_.domain)[place]);
    const bool done = watch_.control(place).delivered >= retained.last();
    if (peer != retained.member || done) retained = {};
  }
}

void Backlogs::on_request(const MemberId& from, NodeIndex node, const wire::BacklogRequest& request,
                          Effects& out) const {
  const Place place = parts_.layout.role(node).place;
  const Retained& retained = retained_[place];
  // A member of the present view gets the order from its leader.
  if (state_.is_member(place) && state_.counted(place) == from) return;
  if (retained.member != from || request.delivered < retained.begin) return;
  const auto first =
      std::upper_bound(retained.items.begin(), retained.items.end(), request.delivered,
                       [](Seq key, const Item& item) { return key < item.key; });
  auto item = static_cast<std::size_t>(first - retained.items.begin());
  for (unsigned i = 0; i < kItemsOfAnAnswer && item < retained.items.size(); ++i) {
    send(node, retained, item++, out);
  }
}

void Backlogs::send(NodeIndex node, const Retained& retained, std::size_t item,
                    Effects& out) const {
  const Item& each = retained.items[item];
  const Seq before = item == 0 ? retained.begin : retained.items[item - 1].key;
  parts_.send(node, out, [&](const wire::Header& header, ByteSpan bytes) -> std::size_t {
    if (const wire::DomainView* view = retained.view_at(each.key)) {
      return wire::encode_backlog_view(header, {before, *view}, bytes);
    }
    const wire::Backlog frame{before, each.key, {each.id.sender, each.head}};
    const std::size_t front = wire::backlog_header_bytes(each.head.indexes.size());
    // A server outside may have delivered the message without its unit.
    const ByteView unit = each.unit ? each.unit.view() : ByteView();
    if (bytes.size() < front + unit.size()) return 0;
    std::copy(unit.begin(), unit.end(), bytes.subspan(front).begin());
    wire::encode_backlog_in_place(header, frame, bytes.first(front + unit.size()));
    return front + unit.size();
  });
}

// ---- the excluded member ----

void Backlogs::expect(Instant now) {
  if (expects_ || !state_.is_member()) return;
  expects_ = true;
  gap_ = parts_.options.repair;
  next_ = now;
}

void Backlogs::doubt(Instant now) {
  if (asks() || !state_.is_member()) return;
  doubts_ = true;
  gap_ = parts_.options.repair;
  next_ = now;
}

/// A view has excluded this server, as it is told what it lacks. What the log of the leader has is
/// of no use any more.
void Backlogs::believe() {
  expects_ = true;
  doubts_ = false;
  parts_.standing.active = false;
  parts_.standing.left_behind = true;
}

std::optional<Instant> Backlogs::deadline() const {
  return asks() ? std::optional(next_) : std::nullopt;
}

void Backlogs::on_timer(Instant now, Effects& out) {
  // Either it has all, or a leader that does not know of that view yet has accepted this server.
  const bool based = parts_.standing.active || has_base();
  const bool accepted = based && !parts_.standing.left_behind;
  if (!state_.is_member() || accepted) expects_ = false;
  if (!state_.is_member()) doubts_ = false;
  if (!asks() || now < next_) return;
  if (taken_ > 0) {
    gap_ = parts_.options.repair;  // the rest was lost, or overtaken
  } else {
    ask_next(now);
  }
  request(now, out);
}

/// Passes over this server, and those that have been silent. If nothing came from any, the answers
/// may only be late: more requests would double what is on its way.
void Backlogs::ask_next(Instant now) {
  const std::vector<NodeIndex>& servers = parts_.layout.servers(parts_.domain);
  for (std::size_t i = 0; i < servers.size(); ++i) {
    asked_ = static_cast<Place>((asked_ + 1) % servers.size());
    if (asked_ == 0) gap_ = std::min(gap_ * 2, parts_.options.repair * kSlowestRepair);
    if (asked_ != parts_.place && watch_.trusts(now, asked_)) return;
  }
}

void Backlogs::request(Instant now, Effects& out) {
  taken_ = 0;
  next_ = now + gap_;
  const NodeIndex node = parts_.layout.servers(parts_.domain)[asked_];
  if (node == parts_.index) return;
  parts_.send(node, out, [this](const wire::Header& header, ByteSpan bytes) {
    return wire::encode_backlog_request(header, {state_.delivered()}, bytes);
  });
}

/// The item is the one that this server delivers next.
bool Backlogs::awaits(Seq before, Seq key) const {
  const bool ready = doubts_ || parts_.standing.left_behind ||
                     (expects_ && !parts_.standing.active && !has_base());
  return ready && state_.is_member() && before <= state_.delivered() && key > state_.delivered() &&
         parts_.clock.believes(key);
}

void Backlogs::on_backlog(Instant now, const wire::Backlog& backlog, const BufferRef& unit,
                          Effects& out) {
  const wire::MessageRelay& message = backlog.message;
  if (!awaits(backlog.before, backlog.key) || parts_.host.receive_room_units() == 0) return;
  const bool legal = ((message.head.to >> parts_.domain) & 1U) != 0 &&
                     (message.head.to & ~parts_.layout.all()) == 0;
  const wire::MessageId id{message.sender, message.head.number};
  const auto node = parts_.layout.index_of(message.sender.node);
  Row* row = node && legal ? messages_.open_row(message.sender, *node, Origin::order) : nullptr;
  // Members wait for this server up to the view without it: none of its messages is further ahead.
  if (row != nullptr &&
      wire::index_in(message.head, parts_.domain) >= row->next + parts_.options.slots) {
    row = nullptr;
  }
  Record* record =
      row == nullptr ? nullptr : messages_.claim(*row, id, message.head, Origin::order);
  const bool contradicts = record != nullptr && record->key != 0 && record->key != backlog.key;
  if (record == nullptr || record->delivered || contradicts) {
    return parts_.drop(wire::Drop::bad_value);
  }
  if (unit.size() > 0) messages_.put_body(*row, *record, unit);
  if (!record->has_body) {
    // The server that has named the message lacks the unit. Another one has it.
    return messages_.list(*record, now + parts_.options.repair);
  }
  believe();
  outlet_.deliver_retained(*record, backlog.key, out);
  on_taken(now, out);
}

void Backlogs::on_view(Instant now, const wire::BacklogView& backlog, Effects& out) {
  const wire::DomainView& view = backlog.view;
  if (!awaits(backlog.before, view.id.number)) return;
  const bool good = parts_.layout.is_roster(view.roster, parts_.domain) &&
                    domain_of_key(view.id.number) == parts_.domain;
  if (!good || view.roster[parts_.place] != parts_.self) {
    return parts_.drop(wire::Drop::bad_value);
  }
  believe();
  outlet_.install_retained(view, out);
  if (!state_.is_member()) parts_.standing.left_behind = false;
  on_taken(now, out);
}

void Backlogs::on_taken(Instant now, Effects& out) {
  ++parts_.counts.caught_up;
  next_ = now + gap_;
  if (!state_.is_member() || ++taken_ < kItemsOfAnAnswer) return;
  request(now, out);
}

}  // namespace peal::order::ramcast
