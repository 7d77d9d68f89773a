// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>
#include <vector>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges what Options::companies changes, at the end of the history: E4; E7 and acyclic among the
/// members of a company; activation; and the part of E8 about the order of safe messages at all
/// members of a view. A company of a view is the members that installed one transitional view after
/// it, or that are still in the view when the history ends. ViewJudge judges E5.
class CompanyJudge {
 public:
  explicit CompanyJudge(Verdict& verdict) : v_(verdict) {}

  void finish();

 private:
  using Company = std::vector<const Span*>;

  void judge_own(const Span& span);
  bool ends_in(const Span& span, Index view) const;
  void judge_order(const Company& company);
  std::vector<Place> ordered(const Span& span) const;
  void report_difference(const Span& a, const Place& at_a, const Span& b, const Place& at_b);
  void judge_sets(const Span& shorter, const Span& longer);
  void judge_cycles(const Company& company);
  void judge_safe();
  std::unordered_set<Index> landmarks_of(const View& view) const;
  void add_safe_edges(const Span& span, const std::unordered_set<Index>& landmarks,
                      std::vector<Edge>& edges) const;

  Verdict& v_;
};

}  // namespace peal::oracle
