// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "oracle/checker.h"
#include "oracle/cycles.h"
#include "oracle/history.h"
#include "trace/event.h"

namespace peal::oracle {

/// The data that all judges of one history share: the history so far, and the violations found in
/// it. Also has functions that make texts of both, with names as in traces.
struct Verdict {
  explicit Verdict(const Options& its_options) : options(its_options) {
    history.counts_units = options.companies && options.layer == trace::Layer::unit;
  }

  /// E1: an incarnation that crashed or left has no further events. If `member` had crashed
  /// or left, reports a violation and returns false. A start event is optional.
  bool alive(Index member, const trace::Event& event);

  std::string name(Index member) const;
  std::string view_text(Index view) const;
  std::string message_text(Index message) const;
  std::string position(Seq seq, std::uint32_t index) const;
  std::string transition_text(const Transition& transition) const;
  std::string members_text(const std::vector<Index>& members) const;
  std::string where_text(const Process& process) const;
  /// The steps of a cycle in delivery orders; of a long cycle only the first steps.
  std::string cycle_text(const std::vector<Step>& cycle) const;
  /// The first difference between the regular deliveries of two spans. With `tails`: between the
  /// transitional deliveries.
  std::string difference(const Span& a, const Span& b, bool tails) const;

  /// Calls `text()` only if the violation is kept.
  template <class Text>
  void violate(Property property, Index member, std::int64_t at_ns, Text&& text) {
    ++report.violations_total;
    ++report.violations_of[static_cast<std::size_t>(property)];
    if (report.violations.size() < options.violations_max) {
      report.violations.push_back({property, text(), at_ns, history.processes[member].id});
    }
  }

  const Options options;
  History history;
  Report report;
};

/// Adds the violations of `from` to those of `to`, which keeps at most `most` with their texts. The
/// texts begin with `where`.
void add_violations(Report& to, const Report& from, std::uint32_t most, const std::string& where);

}  // namespace peal::oracle
