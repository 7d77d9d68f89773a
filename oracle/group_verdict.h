// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/group_history.h"
#include "oracle/groups.h"

namespace peal::oracle {

/// What the judges of groups share: the history so far, what was found wrong in it, and words for
/// both. `anna.1/3` is connection 3 of anna.1, `anna.1/3:7` its seventh message, and `2@anna.1+5`
/// the fifth state of groups in view 2@anna.1.
struct GroupVerdict {
  explicit GroupVerdict(const GroupChecker::Options& its_options) : options(its_options) {}

  /// G6: nothing reaches a client before it connected or after it was gone; if something did, that
  /// is a violation, and the answer false.
  bool listens(Index client, std::int64_t at);
  /// Is the list of a view sorted by nodes, with nobody twice?
  bool well_formed(const std::vector<Index>& members) const;

  std::string name(MemberId node) const;
  std::string name(Index client) const;
  std::string view_text(const ViewId& view) const;
  std::string id_text(const GroupViewId& id) const;
  std::string state_text(Index state) const;
  std::string group_text(Index group) const;
  std::string message_text(Index message) const;
  std::string clients_text(const std::vector<Index>& clients) const;
  /// Who knew the state first.
  std::string source_text(const GroupState& state) const;

  /// `text()` is called only if the violation is kept.
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
  GroupReport report;
  std::int64_t last_at = 0;
};

}  // namespace peal::oracle
