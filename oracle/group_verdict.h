// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/group_companies.h"
#include "oracle/group_history.h"
#include "oracle/groups.h"

namespace peal::oracle {

/// The data that all judges of groups share: the history so far, and the violations found in it.
/// Also has functions that make texts of both. In texts, `anna.1/3` is connection 3 of member
/// anna.1, `anna.1/3:7` the seventh message of that connection, and `2@anna.1+5` the state of a
/// group with index 5 in view 2@anna.1.
struct GroupVerdict {
  explicit GroupVerdict(const GroupChecker::Options& its_options) : options(its_options) {}

  /// G6: a client gets events only while it is connected. Otherwise reports a violation and returns
  /// false.
  bool listens(Index client, std::int64_t at);
  /// True if a view's list of members is sorted by node and has each client once.
  bool well_formed(const std::vector<Index>& members) const;

  std::string name(MemberId node) const;
  std::string name(Index client) const;
  std::string view_text(const ViewId& view) const;
  std::string id_text(const GroupViewId& id) const;
  std::string state_text(Index state) const;
  std::string group_text(Index group) const;
  std::string message_text(Index message) const;
  std::string clients_text(const std::vector<Index>& clients) const;
  /// Names the first client that got the state. If no client got it, names the first table that has
  /// the state.
  std::string source_text(const GroupState& state) const;

  /// Calls `text()` only if the violation is kept.
  template <class Text>
  void violate(GroupProperty property, std::int64_t at_ns, Text&& text) {
    ++report.violations_total;
    ++report.violations_of[static_cast<std::size_t>(property)];
    if (report.violations.size() < options.violations_max) {
      report.violations.push_back({property, text(), at_ns});
    }
  }

  const GroupChecker::Options options;
  GroupHistory history;
  GroupCompanies companies;
  GroupReport report;
  std::int64_t last_at = 0;
};

}  // namespace peal::oracle
