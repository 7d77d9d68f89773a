// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges E9, and the parts of E3, E6 and E7 about submissions and originations.
class OriginJudge {
 public:
  explicit OriginJudge(Verdict& verdict) : v_(verdict) {}

  void submit(Index member, const trace::Event& event);
  void originate(Index member, const trace::Event& event);
  /// E6: a member's messages are originated in the order of their numbers, and no submitted message
  /// is skipped. Returns false after a violation.
  bool check_order(Index member, const MessageRecord& record, Index message,
                   const trace::Event& event);
  /// Adds `message` to View::order of `view`. E7: a position has one message.
  void place(Index message, View& view, const trace::Event& event);

 private:
  void check_barrier(Index message, Index in, const trace::Event& event);
  void confirm(Index member, Index message, const trace::Event& event);

  Verdict& v_;
};

}  // namespace peal::oracle
