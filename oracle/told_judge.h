// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "oracle/verdict.h"

namespace peal::oracle {

/// told: a member can tell from its views whether it may have missed messages. A step from one view
/// to the next is straight if all members of the next view are in the transitional view between
/// them. After a straight step, this member delivers every message that another member of the next
/// view delivered in the view before the step or in any view since.
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
