// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "oracle/verdict.h"

namespace peal::oracle {

/// told: a member sees in its views whether it may have missed messages. A step from one view to
/// the next is straight if all members of the next are in the transitional view between them. After
/// a straight step no member of the view has delivered anything since the view before that this
/// member has not.
class ToldJudge {
 public:
  explicit ToldJudge(Verdict& verdict) : v_(verdict) {}

  void finish();

 private:
  void judge(const Span& span);
  Index missed_since(Index member, const Span& other, Index since) const;

  Verdict& v_;
};

}  // namespace peal::oracle
