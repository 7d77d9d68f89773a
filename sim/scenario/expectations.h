// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace peal::sim {

/// State between `expect` lines: the violations that the script wants, and the views that earlier
/// lines expected.
class Expectations {
 public:
  explicit Expectations(const Script& script);

  /// True if the script wants a violation. Such a script continues after a violation.
  bool violation_wanted() const { return violation_wanted_; }
  void want_violation(std::string property) { wanted_.push_back(std::move(property)); }
  /// Position in the history after the last view that an earlier line expected of the node.
  std::size_t& views_expected(NodeId node) { return views_expected_[node.value]; }
  /// Call at the end. If the script wants violations or a failure, removes all violations from
  /// `outcome`. If the script wants a failure, removes the failure too. Then adds a failure if a
  /// wanted violation or failure did not occur. `where` begins the text of the added failure.
  void judge(Outcome& outcome, const std::string& where) const;

 private:
  bool violation_wanted_;
  bool failure_wanted_;  ///< the script wants an expectation that is not met
  std::vector<std::string> wanted_;
  std::map<std::uint32_t, std::size_t> views_expected_;  ///< by node
};

}  // namespace peal::sim
