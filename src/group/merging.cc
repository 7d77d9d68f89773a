// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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
  return missed.front().contains(group) || missed[domains.of_group(group)].contains(group);
}

}  // namespace

void Groups::start_exchange() {
  state_ = State::exchanging;
  ++counters_.exchanges;
  if (!PEAL_MUTANT(gm3_sends_not_blocked)) effects_.block(true);
  std::vector<std::byte> own;
  exchange_.encode_own(self_, view_, synced_, table_, traffic_, own);
  effects_.replace_control(own);
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
  table_ = exchange_.merge_tables(table_.daemon_bytes_max());
  name_changed();
  synced_ = members_;
  state_ = State::operational;
  effects_.block(false);
  const bool first = counters_.settled++ == 0;
  effects_.settled(view_);
  const std::vector<Missed> missed = exchange_.merge_traffic(self_, traffic_);
  // Messages that were sent before this daemon started do not count as missed.
  if (!first && !PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  tell_changed([this](const ClientKey& client) {
    return PEAL_MUTANT(gm6_one_set_after_merge) ? 0 : exchange_.table_of(client.daemon);
  });
  if (!first && PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  exchange_.clear_tables();
  exchange_.clear_traffic();
  if (interrupted) {
    PEAL_PROBE("group.completed_in_transition");
    begin_transition();
  }
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
