// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/judge/history_recorder.h"
#include "sim/world/faults.h"

namespace peal::sim {

/// A worker's result for one script.
struct RunResult {
  std::uint64_t index = 0;  ///< number of the script, such as its seed
  std::string property;     ///< empty: no problem; "assert" or "hang": the worker ended early
  std::string text;
  Figures figures;
  FaultCounts faults;
  std::map<std::string, std::uint64_t> probes;
  std::uint64_t digest = 0;
  double seconds = 0;
};

/// Calls `figure(name, value)` for every figure, in the order of the report.
template <class Figure>
void each_figure(Figures& f, Figure figure) {
  figure("events", f.events);
  figure("packets", f.packets);
  figure("messages_submitted", f.messages_submitted);
  figure("units_originated", f.units_originated);
  figure("deliveries_checked", f.deliveries_checked);
  figure("told_early", f.told_early);
  figure("views_installed", f.views_installed);
  figure("view_changes", f.view_changes);
  figure("recoveries_with_second_failure", f.recoveries_with_second_failure);
  figure("group_deliveries", f.group_deliveries);
  figure("group_views", f.group_views);
  figure("group_gaps", f.group_gaps);
  figure("group_exchanges", f.group_exchanges);
  figure("group_exchanges_interrupted", f.group_exchanges_interrupted);
  figure("session_settled", f.session_settled);
  figure("session_resumed", f.session_resumed);
  figure("session_shared", f.session_shared);
  figure("session_gaps", f.session_gaps);
  figure("sessions_ended_slow", f.sessions_ended_slow);
  figure("logs_read", f.logs_read);
  figure("logs_cut", f.logs_cut);
  figure("votes_read", f.votes_read);
  figure("votes_needed", f.votes_needed);
  figure("older_votes_needed", f.older_votes_needed);
  figure("promises_read", f.promises_read);
  figure("virtual_ns", f.virtual_ns);
}

/// Converts a result to bytes and back, for the pipe between two processes of one program. `decode`
/// accepts only bytes made by `encode`.
std::string encode(const RunResult& finding);
RunResult decode(const std::string& bytes);

}  // namespace peal::sim
