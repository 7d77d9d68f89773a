// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/hooks.h"
#include "base/result.h"
#include "sim/judge/history_recorder.h"
#include "sim/world/world.h"

namespace peal::sim {

/// A story for a simulated cluster: lines of the language of tests/scenario/README.md. The swarm
/// writes the same language, so that every failure it finds is a scenario already.
struct Script {
  struct Line {
    std::uint32_t number = 0;  ///< in the file, from 1
    std::string text;
  };
  std::string name;  ///< of the file, or of the seed; for messages
  std::vector<Line> lines;

  void add(std::string text) {
    lines.push_back({static_cast<std::uint32_t>(lines.size() + 1), std::move(text)});
  }
  std::string text() const;
};

Script parse_script(std::string name, std::string_view text);
/// The error names the file.
Result<Script, std::string> load_script(const std::string& path);

struct RunOptions {
  EngineMaker maker;                                   ///< empty: the engine that the script names
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;  ///< unless the script names one
  std::FILE* trace = nullptr;
  std::FILE* echo = nullptr;    ///< events as they happen
  std::FILE* record = nullptr;  ///< transcripts
  bool keep_history = true;     ///< `expect` needs it; the swarm does without
  /// The same run as a script in which faults that chose their own moment stand as plain lines,
  /// written while it runs; may be null.
  std::FILE* plain = nullptr;
};

/// How a script went.
struct Outcome {
  std::string error;    ///< the script cannot be run: "file:7: ..."; empty if it could
  std::string failure;  ///< an expectation that was not met: "file:7: ..."; empty if all were
  std::vector<Violation> violations;  ///< that the script did not ask for
  Figures figures;
  FaultCounts faults;
  std::uint64_t digest = 0;
  std::vector<std::string> last_events;

  bool ok() const { return error.empty() && failure.empty() && violations.empty(); }
  /// The first thing that is wrong, in one line; empty if nothing is.
  std::string problem() const;
  /// Its kind: "E5", "expect", "usage"; empty if nothing is wrong.
  std::string property() const;
};

/// Reads every line without running it; the error names file and line. Empty if all is well.
std::string check_script(const Script& script);

/// Runs a script from its first line to its last. Deterministic. A PEAL_ASSERT that fails ends the
/// process, as everywhere.
Outcome run_script(const Script& script, const RunOptions& options = {});

/// The last events of the script that runs in this thread, as lines of a trace; for the moment when
/// an assertion has failed. Empty if none runs.
std::vector<std::string> last_events_now();

/// The mutant whose name is `name` or begins with it up to a '_', e.g. "m5".
Result<sim_hooks::Mutant, std::string> mutant_of_name(std::string_view name);

}  // namespace peal::sim
