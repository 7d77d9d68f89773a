// SPDX-License-Identifier: Apache-2.0
#include "group/exchange.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/hooks.h"

namespace peal::group {
namespace {

/// The traffic of one domain, or null.
const Traffic* find(const std::vector<Traffic>& traffic, order::Domain domain) {
  const auto at = std::find_if(traffic.begin(), traffic.end(),
                               [domain](const Traffic& each) { return each.domain == domain; });
  return at == traffic.end() ? nullptr : &*at;
}

}  // namespace

/// The daemon that reports the traffic of a domain for `synced`, a set of daemons with equal
/// tables. It is the first daemon of the set that learns the messages of the domain. If no daemon
/// of the set learns these messages, all know the same traffic. Then the first daemon of the set,
/// which also sends the table, reports.
MemberId Exchange::speaker(const order::MemberSet& synced, order::Domain domain) const {
  const auto at = std::find_if(synced.begin(), synced.end(), [&](const MemberId& member) {
    return options_.domains.has(domain, member.node);
  });
  return at == synced.end() ? synced.front() : *at;
}

/// The traffic of the domains for which this daemon is the speaker.
std::vector<Traffic> Exchange::own_traffic(MemberId self, const order::MemberSet& synced,
                                           const TrafficLogs& logs) const {
  std::vector<Traffic> own;
  const std::size_t bytes_max = options_.message_bytes_max / kTrafficShare / logs.domains();
  for (const TrafficLog& each : logs.all()) {
    if (speaker(synced, each.known().domain) != self) continue;
    Traffic known = each.known();
    // A daemon outside the domain cannot have forgotten the same views as daemons in the domain, so
    // it reports no forgotten views.
    if (!options_.domains.has_self(known.domain)) known.forgotten = {};
    if (known.empty()) continue;
    shrink(known, bytes_max);
    own.push_back(std::move(known));
  }
  return own;
}

void Exchange::encode_own(MemberId self, const ViewId& view, const order::MemberSet& synced,
                          const Table& table, const TrafficLogs& logs,
                          std::vector<std::byte>& out) const {
  const bool speaks = std::any_of(
      logs.all().begin(), logs.all().end(),
      [&](const TrafficLog& each) { return speaker(synced, each.known().domain) == self; });
  out.clear();
  if (synced.front() == self) {
    Tables tables = table.tables(view, synced);
    tables.traffic = own_traffic(self, synced, logs);
    encode(tables, out);
  } else if (speaks) {
    encode(DomainTraffic{view, own_traffic(self, synced, logs)}, out);
  }
}

/// Accepts one table from each set of daemons with equal tables, sent by the first daemon of the
/// set.
bool Exchange::add(MemberId sender, Tables&& tables, const order::MemberSet& members,
                   std::uint64_t daemon_bytes_max) {
  const bool fits = sender == tables.synced.front() && order::is_subset(tables.synced, members) &&
                    std::none_of(tables_.begin(), tables_.end(),
                                 [&](const Tables& other) {
                                   return order::intersects(other.synced, tables.synced);
                                 }) &&
                    Table::is_consistent(tables, daemon_bytes_max);
  if (fits) tables_.push_back(std::move(tables));
  return fits;
}

bool Exchange::add(MemberId sender, DomainTraffic&& traffic, const order::MemberSet& members) {
  return order::contains(members, sender) &&
         traffic_.emplace(sender, std::move(traffic.traffic)).second;
}

bool Exchange::is_complete(const order::MemberSet& members, const TrafficLogs& logs) const {
  return awaited(members, logs).size() <= (PEAL_MUTANT(gm8_one_table_short) ? 1 : 0);
}

order::MemberSet Exchange::awaited(const order::MemberSet& members, const TrafficLogs& logs) const {
  order::MemberSet awaited = members;
  for (const Tables& each : tables_) {
    std::erase_if(awaited,
                  [&](const MemberId& member) { return order::contains(each.synced, member); });
  }
  if (!awaited.empty()) return awaited;
  for (const MemberId& member : members) {
    if (reports_apart(member, logs) && !traffic_.contains(member)) awaited.push_back(member);
  }
  return awaited;
}

/// The member has to report traffic, and does not send a table.
bool Exchange::reports_apart(const MemberId& member, const TrafficLogs& logs) const {
  return std::any_of(tables_.begin(), tables_.end(), [&](const Tables& each) {
    return member != each.synced.front() &&
           std::any_of(logs.all().begin(), logs.all().end(), [&](const TrafficLog& log) {
             return speaker(each.synced, log.known().domain) == member;
           });
  });
}

Table Exchange::merge_tables(std::uint64_t daemon_bytes_max) {
  Table merged(daemon_bytes_max);
  for (Tables& each : tables_) merged.add(std::move(each));
  return merged;
}

std::size_t Exchange::table_of(MemberId daemon) const {
  const auto from = std::find_if(tables_.begin(), tables_.end(), [&](const Tables& tables) {
    return order::contains(tables.synced, daemon);
  });
  return static_cast<std::size_t>(from - tables_.begin());
}

/// The traffic of a domain that the daemons with these tables know; null if they reported none.
const Traffic* Exchange::traffic_of(const Tables& tables, order::Domain domain) const {
  const MemberId from = speaker(tables.synced, domain);
  if (from == tables.synced.front()) return find(tables.traffic, domain);
  const auto at = traffic_.find(from);
  return at == traffic_.end() ? nullptr : find(at->second, domain);
}

std::vector<Missed> Exchange::merge_traffic(MemberId self, TrafficLogs& logs) const {
  std::vector<Missed> all_missed;
  const std::size_t own = table_of(self);
  for (std::size_t domain = 0; domain < logs.domains(); ++domain) {
    TrafficLog& log = logs.of(static_cast<order::Domain>(domain));
    std::vector<Traffic> parts(tables_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const Traffic* traffic = traffic_of(tables_[i], log.known().domain);
      if (traffic != nullptr) parts[i] = *traffic;
      parts[i].domain = log.known().domain;
    }
    Traffic all;
    all_missed.push_back(meet(parts, own, all));
    log.adopt(PEAL_MUTANT(gm14_traffic_not_merged) ? std::move(parts[own]) : std::move(all));
  }
  return all_missed;
}

}  // namespace peal::group
