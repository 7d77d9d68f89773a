// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "group/groups.h"

// The exchange of tables: its messages, and its completion.

namespace peal::group {
namespace {

/// True if this node missed a message to the group. The message was ordered for all nodes, or for
/// the group's domain.
bool is_missed(const std::vector<Missed>& missed, const Domains& domains, std::string_view group) {
  return missed.front().contains(group) || missed[domains.traffic_of(group)].contains(group);
}

}  // namespace

void Groups::start_exchange() {
  state_ = State::exchanging;
  ++counters_.exchanges;
  const std::uint64_t under_way = PEAL_MUTANT(gm3_sends_not_blocked) ? 0 : effects_.block(true);
  // With disjoint domains, a node that was outside the view comes back alone. Its changes that were
  // ordered meanwhile had no effect elsewhere, so they take effect in its own table. It knows them
  // once those that were under way have their places.
  const bool alone = options_.domains.is_disjoint() && synced_.size() == 1;
  table_after_ = alone ? clients_.last_change(under_way) : 0;
  table_due_ = true;
  send_table();
}

void Groups::send_table() {
  if (placed_ < table_after_) return;
  table_due_ = false;
  PEAL_ASSERT(missed_.empty() || synced_.size() == 1);
  for (const auto& change : std::exchange(missed_, {})) {
    PEAL_PROBE("group.own_change_missed");
    if (PEAL_MUTANT(gm26_missed_change_lost)) continue;
    apply({self_, 0, Service::agreed, {}, view_}, change);
  }
  std::vector<std::byte> own;
  if (held_.has_earlier()) {
    Table changed(table_.daemon_bytes_max());
    changed.add(table_.tables(view_, synced_));
    held_.apply_earlier(synced_, view_, changed);
    exchange_.encode_own(self_, view_, synced_, changed, traffic_, own);
  } else {
    exchange_.encode_own(self_, view_, synced_, table_, traffic_, own);
  }
  effects_.replace_control(own, options_.domains.home());
}

void Groups::on_placed(std::uint64_t number, Seq seq, bool delivered) {
  placed_ = number;
  // This node was outside: behind its last view, and before the next one, which it may have by now.
  const bool ended = !delivered && seq > view_.number;
  auto change = clients_.take_placed(number);
  if (change && !delivered) {
    // Changes of views whose exchange was not completed come first.
    if (held_.empty()) {
      missed_.push_back(std::move(*change));
    } else {
      held_.add_missed({self_, 0, Service::agreed, {}, view_}, std::move(*change), ended);
    }
  }
  if (table_due_ && state_ == State::exchanging && !ended) send_table();
}

/// Decodes a message of the exchange. Returns false if it is malformed or of another view.
template <class Message>
bool Groups::read(ByteView bytes, Message& out) {
  if (decode(bytes, out) != wire::Drop::none) {
    ++counters_.bad_messages;
    return false;
  }
  const bool exchanging = state_ == State::exchanging || state_ == State::interrupted;
  if (exchanging && out.view == view_) return true;
  ++counters_.outdated_tables;
  PEAL_PROBE("group.outdated_tables");
  return false;
}

void Groups::on_tables(MemberId sender, ByteView message) {
  Tables tables;
  if (!read(message, tables)) return;
  if (!exchange_.add(sender, std::move(tables), members_, table_.daemon_bytes_max())) {
    ++counters_.bad_tables;
    return;
  }
  if (exchange_.is_complete(members_, traffic_)) complete();
}

void Groups::on_domain_traffic(MemberId sender, ByteView message) {
  DomainTraffic traffic;
  if (!read(message, traffic)) return;
  if (!exchange_.add(sender, std::move(traffic), members_)) {
    ++counters_.bad_tables;
    return;
  }
  if (exchange_.is_complete(members_, traffic_)) complete();
}

void Groups::complete() {
  const bool interrupted = state_ == State::interrupted;
  Table merged = exchange_.merge_tables(table_.daemon_bytes_max());
  GroupIds ids;
  ids.begin_view(view_);
  name_changed(merged, ids);
  effects_.block(false);
  const bool first = counters_.settled++ == 0;
  effects_.settled(view_, merged.hash());
  const std::vector<Missed> missed = exchange_.merge_traffic(self_, traffic_);
  // Messages that were sent before this daemon started do not count as missed.
  if (!first && !PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  // Messages of views whose exchange was not completed take effect among those that came together:
  // the others lack them. A gap is told first, since it may have been before these messages.
  apply_held(held_.take_earlier());
  table_ = std::move(merged);
  ids_ = ids;
  synced_ = members_;
  state_ = State::operational;
  tell_changed([this](const ClientKey& client) {
    return PEAL_MUTANT(gm6_one_set_after_merge) ? 0 : exchange_.table_of(client.daemon);
  });
  if (!first && PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  exchange_.clear_tables();
  exchange_.clear_traffic();
  HeldMessages::List held = held_.take();
  const auto late = std::find_if(held.begin(), held.end(),
                                 [](const HeldMessages::Held& each) { return each.late; });
  const HeldMessages::List after(std::make_move_iterator(late),
                                 std::make_move_iterator(held.end()));
  held.erase(late, held.end());
  apply_held(held);
  if (interrupted) {
    PEAL_PROBE("group.completed_in_transition");
    begin_transition();
  }
  apply_held(after);
}

order::MemberSet Groups::awaited() const {
  const bool exchanging = state_ == State::exchanging || state_ == State::interrupted;
  if (!exchanging) return {};
  order::MemberSet awaited = exchange_.awaited(members_, traffic_);
  // The first one of those that came with this node sends the table of them all.
  std::erase_if(awaited, [this](const MemberId& member) {
    return member != synced_.front() && order::contains(synced_, member);
  });
  return awaited;
}

/// Reports a gap to each client of this node that missed messages to its groups or its private
/// name.
void Groups::tell_gaps(const std::vector<Missed>& missed) {
  const bool any =
      std::any_of(missed.begin(), missed.end(), [](const Missed& each) { return !each.empty(); });
  if (!any && !PEAL_MUTANT(gm16_gap_without_message)) return;
  if (PEAL_MUTANT(gm20_gap_not_told)) return;
  for (const Entry& entry : table_.groups()) {
    const Table::Daemon* own = entry.second.at(self_);
    if (own == nullptr) continue;
    if (!is_missed(missed, options_.domains, entry.first) && !PEAL_MUTANT(gm16_gap_without_message))
      continue;
    receivers_.clear();
    for (const MemberClient& client : own->clients) {
      if (clients_.has(client.connection)) receivers_.push_back(client.connection);
    }
    tell_gap(entry.first);
  }
  if (PEAL_MUTANT(gm18_private_gap_not_told)) return;
  receivers_.clear();
  for (const auto& [connection, client] : clients_.all()) {
    if (missed.front().contains("#" + client.name + "#" + options_.node_name)) {
      receivers_.push_back(connection);
    }
  }
  tell_gap({});
}

void Groups::tell_gap(std::string_view group) {
  if (receivers_.empty()) return;
  counters_.gaps += receivers_.size();
  for (const std::uint32_t connection : receivers_) outcome_.add(connection);
  effects_.gap(receivers_, group);
}

}  // namespace peal::group
