// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"
#include "group/groups.h"

// The exchange of tables in a new view, among daemons that were not together. They also tell each
// other what they know of messages, so that clients learn whether they missed any.

namespace peal::group {
namespace {

/// The traffic of one domain, or null.
const Traffic* find(const std::vector<Traffic>& traffic, order::Domain domain) {
  const auto at = std::find_if(traffic.begin(), traffic.end(),
                               [domain](const Traffic& each) { return each.domain == domain; });
  return at == traffic.end() ? nullptr : &*at;
}

}  // namespace

/// The daemon that reports, for `synced` (daemons with equal tables), what they know of a domain's
/// messages: the first that learns the domain. If none does, all know the same, and the first of
/// them reports, which also sends their table.
MemberId Groups::speaker(const order::MemberSet& synced, order::Domain domain) const {
  const auto at = std::find_if(synced.begin(), synced.end(), [&](const MemberId& member) {
    return options_.domains.has(domain, member.node);
  });
  return at == synced.end() ? synced.front() : *at;
}

/// What this daemon tells of the domains for which it speaks.
std::vector<Traffic> Groups::own_traffic() const {
  std::vector<Traffic> own;
  const std::size_t bytes_max = options_.message_bytes_max / kTrafficShare / traffic_.size();
  for (const TrafficLog& each : traffic_) {
    if (speaker(synced_, each.known().domain) != self_) continue;
    Traffic known = each.known();
    // Outside the domain, a daemon cannot have forgotten the same views as daemons inside.
    if (!options_.domains.has_self(known.domain)) known.forgotten = {};
    if (known.empty()) continue;
    shrink(known, bytes_max);
    own.push_back(std::move(known));
  }
  return own;
}

bool Groups::speaks() const {
  return std::any_of(traffic_.begin(), traffic_.end(), [this](const TrafficLog& each) {
    return speaker(synced_, each.known().domain) == self_;
  });
}

void Groups::start_exchange() {
  state_ = State::exchanging;
  ++counters_.exchanges;
  if (!PEAL_MUTANT(gm3_sends_not_blocked)) effects_.block(true);
  encoded_.clear();
  if (synced_.front() == self_) {
    Tables tables = table_.tables(view_, synced_);
    tables.traffic = own_traffic();
    encode(tables, encoded_);
  } else if (speaks()) {
    encode(DomainTraffic{view_, own_traffic()}, encoded_);
  }
  effects_.replace_control(encoded_);
  encoded_ = {};  // may be large, and is seldom needed
}

bool Groups::in_exchange(const ViewId& view) {
  const bool exchanging = state_ == State::exchanging || state_ == State::interrupted;
  if (exchanging && view == view_) return true;
  ++counters_.outdated_tables;
  PEAL_PROBE("group.outdated_tables");
  return false;
}

/// Decodes a message of the exchange. Returns false if it is malformed or of another view.
template <class Message>
bool Groups::read(ByteView bytes, Message& out) {
  if (decode(bytes, out) == wire::Drop::none) return in_exchange(out.view);
  ++counters_.bad_messages;
  return false;
}

void Groups::on_tables(MemberId sender, ByteView message) {
  Tables tables;
  if (!read(message, tables)) return;
  if (!fits(sender, tables)) {
    ++counters_.bad_tables;
    return;
  }
  gathered_.push_back(std::move(tables));
  if (is_complete()) complete();
}

void Groups::on_domain_traffic(MemberId sender, ByteView message) {
  DomainTraffic traffic;
  if (!read(message, traffic)) return;
  if (!order::contains(members_, sender) ||
      !gathered_traffic_.emplace(sender, std::move(traffic.traffic)).second) {
    ++counters_.bad_tables;
    return;
  }
  if (is_complete()) complete();
}

/// Accepts one table from each set of daemons with equal tables, sent by the first of them.
bool Groups::fits(MemberId sender, const Tables& tables) const {
  return sender == tables.synced.front() && order::is_subset(tables.synced, members_) &&
         std::none_of(
             gathered_.begin(), gathered_.end(),
             [&](const Tables& other) { return order::intersects(other.synced, tables.synced); }) &&
         Table::is_consistent(tables, daemon_bytes_max_);
}

bool Groups::is_complete() const {
  std::size_t covered = 0;
  for (const Tables& each : gathered_) covered += each.synced.size();
  if (PEAL_MUTANT(gm8_one_table_short)) ++covered;
  if (covered < members_.size()) return false;
  for (const Tables& each : gathered_) {
    for (const TrafficLog& log : traffic_) {
      const MemberId from = speaker(each.synced, log.known().domain);
      if (from != each.synced.front() && !gathered_traffic_.contains(from)) return false;
    }
  }
  return true;
}

void Groups::complete() {
  const bool interrupted = state_ == State::interrupted;
  merge_tables();
  name_changed();
  synced_ = members_;
  state_ = State::operational;
  effects_.block(false);
  const bool first = counters_.settled++ == 0;
  effects_.settled(view_);
  const std::vector<Missed> missed = merge_traffic();
  // A daemon did not miss what was sent before it started.
  if (!first && !PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  tell_changed([this](const ClientKey& client) {
    return PEAL_MUTANT(gm6_one_set_after_merge) ? 0 : gathered_from(client.daemon);
  });
  if (!first && PEAL_MUTANT(gm15_gap_after_views)) tell_gaps(missed);
  gathered_.clear();
  gathered_traffic_.clear();
  if (interrupted) {
    PEAL_PROBE("group.completed_in_transition");
    begin_transition();
  }
}

void Groups::merge_tables() {
  Table merged(daemon_bytes_max_);
  for (Tables& each : gathered_) merged.add(std::move(each));
  table_ = std::move(merged);
}

/// Index in gathered_ of the table that has the daemon.
std::size_t Groups::gathered_from(MemberId daemon) const {
  const auto from = std::find_if(gathered_.begin(), gathered_.end(), [&](const Tables& tables) {
    return order::contains(tables.synced, daemon);
  });
  return static_cast<std::size_t>(from - gathered_.begin());
}

/// What the daemons of these tables know of a domain.
const Traffic* Groups::traffic_of(const Tables& tables, order::Domain domain) const {
  const MemberId from = speaker(tables.synced, domain);
  if (from == tables.synced.front()) return find(tables.traffic, domain);
  const auto at = gathered_traffic_.find(from);
  return at == gathered_traffic_.end() ? nullptr : find(at->second, domain);
}

/// Joins what all daemons know. Returns, for each domain, what was missed here.
std::vector<Missed> Groups::merge_traffic() {
  std::vector<Missed> all_missed;
  const std::size_t own = gathered_from(self_);
  for (TrafficLog& log : traffic_) {
    std::vector<Traffic> parts(gathered_.size());
    for (std::size_t i = 0; i < gathered_.size(); ++i) {
      const Traffic* traffic = traffic_of(gathered_[i], log.known().domain);
      if (traffic != nullptr) parts[i] = *traffic;
      parts[i].domain = log.known().domain;
    }
    Traffic all;
    all_missed.push_back(meet(parts, own, all));
    log.adopt(PEAL_MUTANT(gm14_traffic_not_merged) ? std::move(parts[own]) : std::move(all));
  }
  return all_missed;
}

/// Tells a gap to clients if messages to their groups or private names were missed.
void Groups::tell_gaps(const std::vector<Missed>& missed) {
  const bool any =
      std::any_of(missed.begin(), missed.end(), [](const Missed& each) { return !each.empty(); });
  if (!any && !PEAL_MUTANT(gm16_gap_without_message)) return;
  if (PEAL_MUTANT(gm20_gap_not_told)) return;
  for (const Entry& entry : table_.groups()) {
    const Table::Daemon* own = entry.second.at(self_);
    if (own == nullptr) continue;
    if (!is_missed(missed, entry.first) && !PEAL_MUTANT(gm16_gap_without_message)) continue;
    receivers_.clear();
    for (const MemberClient& client : own->clients) {
      if (clients_.contains(client.connection)) receivers_.push_back(client.connection);
    }
    tell_gap(entry.first);
  }
  if (PEAL_MUTANT(gm18_private_gap_not_told)) return;
  receivers_.clear();
  for (const auto& [connection, client] : clients_) {
    if (missed.front().contains("#" + client.name + "#" + options_.node_name)) {
      receivers_.push_back(connection);
    }
  }
  tell_gap({});
}

/// True if the group missed a message for all nodes, or one of its domain.
bool Groups::is_missed(const std::vector<Missed>& missed, std::string_view group) const {
  return missed.front().contains(group) || missed[options_.domains.of_group(group)].contains(group);
}

void Groups::tell_gap(std::string_view group) {
  if (receivers_.empty()) return;
  counters_.gaps += receivers_.size();
  for (const std::uint32_t connection : receivers_) outcome_.add(connection);
  effects_.gap(receivers_, group);
}

}  // namespace peal::group
