// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "oracle/early_judge.h"
#include "oracle/origin_judge.h"
#include "oracle/verdict.h"

namespace peal::oracle {

/// Judges deliveries: the parts of E3, E6, E7 and E8 that can be judged at once. With
/// Options::quorum or Options::companies, a delivery may count as the message's origination; the
/// sender learns the place later.
class DeliveryJudge {
 public:
  DeliveryJudge(Verdict& verdict, OriginJudge& origins, EarlyJudge& early)
      : v_(verdict), origins_(origins), early_(early) {}
  /// See HistoryJudge::set_unwitnessed_ok().
  void set_unwitnessed_ok(bool ok) { unwitnessed_ok_ = ok; }

  void deliver(Index member, const trace::Event& event);

 private:
  bool delivery_belongs(Index member, Index message, const trace::Event& event);
  bool accept_unwitnessed(Index message, const trace::Event& event);
  void stand_for_origination(Index message, const trace::Event& event);
  void check_same_message(Index member, Index message, const trace::Event& event);
  void check_position(Index member, Span& span, Index message, const trace::Event& event);
  void check_place_in_company(Index member, Span& span, Index message, const trace::Event& event);
  void note_set(Index member, Span& span, const trace::Event& event);
  void report_descent(Index member, const Span& span, const Place& place,
                      const trace::Event& event);
  void check_fifo(Index member, Span& span, Index message, const trace::Event& event);
  void check_causality(Index member, Span& span, Index message, const trace::Event& event);
  void check_causality_apart(Index member, Span& span, Index message, const trace::Event& event);
  void report_missing_cause(Index member, Index message, Index cause, const trace::Event& event);
  void check_installed(const Span& span, Index message, const trace::Event& event);
  void append(Span& span, Index message, const trace::Event& event);
  bool check_own(Index member, Index message, const trace::Event& event);
  bool accept_voted(Index message, const trace::Event& event);

  Verdict& v_;
  OriginJudge& origins_;
  EarlyJudge& early_;
  bool unwitnessed_ok_ = false;
};

}  // namespace peal::oracle
