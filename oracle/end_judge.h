// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges properties that need the whole history: `uniform`, `acyclic`, the part of `chain` about
/// deliveries, E2 for members of a transitional view, and the rest of E7 and E8. Without a common
/// clock, judges E9 too. With Options::companies, CompanyJudge judges E7 and `acyclic`.
class EndJudge {
 public:
  explicit EndJudge(Verdict& verdict) : v_(verdict) {}
  void finish();

 private:
  void finish_chain(const View& view);
  void finish_views();
  void finish_installs(View& view);
  bool ended_without(Index member, const View& view) const;
  void finish_order(View& view);
  void finish_holes(const Transition& transition);
  void finish_holes(const Transition& transition, const Span& span);
  void finish_travel(const Transition& transition);
  void finish_safe(Index index);
  void finish_safe(const Transition& transition);
  bool expect_delivered(Index member, Index message, const Span& span, const std::string& where);
  bool expect_safe(Index member, Index message, const Span& span, const std::string& where);
  void finish_cycles();
  void finish_figures();

  Verdict& v_;
};

}  // namespace peal::oracle
