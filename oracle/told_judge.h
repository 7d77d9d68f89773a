// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "oracle/verdict.h"

namespace peal::oracle {

/// told: a member can tell from its views whether it may have missed messages. A step from one view
/// to the next is straight if all members of the next view are in the transitional view between the
/// two views. A member that takes a straight step delivers every message that any other member of
/// the next view delivered from the old view on, until that other member installed the next view.
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
