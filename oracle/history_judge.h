// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "oracle/company_judge.h"
#include "oracle/delivery_judge.h"
#include "oracle/early_judge.h"
#include "oracle/end_judge.h"
#include "oracle/origin_judge.h"
#include "oracle/told_judge.h"
#include "oracle/verdict.h"
#include "oracle/view_judge.h"

namespace peal::oracle {

/// Judges a history. Without Options::quorum and Options::companies, the caller must add each
/// origination before the message's deliveries, unless set_unwitnessed_ok() declares that the
/// origination will never come.
class HistoryJudge {
 public:
  explicit HistoryJudge(const Options& options) : v_(options) {}
  HistoryJudge(const HistoryJudge&) = delete;
  HistoryJudge& operator=(const HistoryJudge&) = delete;

  void add(const trace::Event& event);
  /// If `ok` is true, and the sender's trace may end before a message's origination, a delivery of
  /// the message counts as the origination.
  void set_unwitnessed_ok(bool ok) { deliveries_.set_unwitnessed_ok(ok); }
  Report finish();

  History& history() { return v_.history; }
  std::uint64_t violations_total() const { return v_.report.violations_total; }

 private:
  void start(Process& process, const trace::Event& event);
  void end(Process& process, const trace::Event& event);

  Verdict v_;
  OriginJudge origins_{v_};
  EarlyJudge early_{v_};
  DeliveryJudge deliveries_{v_, origins_, early_};
  ViewJudge views_{v_};
  ToldJudge told_{v_};
  EndJudge end_{v_};
  CompanyJudge companies_{v_};
};

}  // namespace peal::oracle
