// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "group/message.h"
#include "group/options.h"
#include "group/table.h"
#include "group/traffic_logs.h"
#include "order/member_set.h"

namespace peal::group {

/// The messages received so far in the exchange of a new view. Daemons that come from different
/// views send each other their tables. The daemons also report the traffic that they know, so that
/// clients learn whether they missed messages.
class Exchange {
 public:
  explicit Exchange(const Options& options) : options_(options) {}

  void clear_tables() { tables_.clear(); }
  void clear_traffic() { traffic_.clear(); }
  /// Writes this daemon's message for the exchange to `out`; leaves `out` empty if this daemon
  /// sends none. `synced`: the daemons whose tables equal `table`.
  void encode_own(MemberId self, const ViewId& view, const order::MemberSet& synced,
                  const Table& table, const TrafficLogs& logs, std::vector<std::byte>& out) const;
  /// Returns false if the message contradicts the view or another message.
  bool add(MemberId sender, Tables&& tables, const order::MemberSet& members,
           std::uint64_t daemon_bytes_max);
  bool add(MemberId sender, DomainTraffic&& traffic, const order::MemberSet& members);
  /// The members whose tables have not come; if all have, those whose traffic has not.
  order::MemberSet awaited(const order::MemberSet& members, const TrafficLogs& logs) const;
  bool has_tables() const { return !tables_.empty(); }
  bool is_complete(const order::MemberSet& members, const TrafficLogs& logs) const;

  /// Merges all received tables. Moves the clients out of the received tables, but leaves `synced`
  /// and `traffic` there.
  Table merge_tables(std::uint64_t daemon_bytes_max);
  /// Merges the traffic that all daemons reported, and puts it into `logs`. Returns, for each
  /// domain, the names whose messages this daemon missed.
  std::vector<Missed> merge_traffic(MemberId self, TrafficLogs& logs) const;
  /// The index of the received table whose `synced` contains the daemon.
  std::size_t table_of(MemberId daemon) const;

 private:
  bool reports_apart(const MemberId& member, const TrafficLogs& logs) const;
  MemberId speaker(const order::MemberSet& synced, order::Domain domain) const;
  std::vector<Traffic> own_traffic(MemberId self, const order::MemberSet& synced,
                                   const TrafficLogs& logs) const;
  const Traffic* traffic_of(const Tables& tables, order::Domain domain) const;

  const Options& options_;
  std::vector<Tables> tables_;
  std::map<MemberId, std::vector<Traffic>> traffic_;  ///< by sender: contents of DomainTraffic
};

}  // namespace peal::group
