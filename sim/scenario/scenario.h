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

/// A scenario for a simulated cluster, in the language of tests/scenario/README.md. The generator
/// writes the same language, so every generated script that fails is a scenario already.
struct Script {
  struct Line {
    std::uint32_t number = 0;  ///< number of the line in the file, from 1
    std::string text;
  };
  std::string name;  ///< name of the file or the seed, for messages
  std::vector<Line> lines;

  void add(std::string text) {
    lines.push_back({static_cast<std::uint32_t>(lines.size() + 1), std::move(text)});
  }
  std::string text() const;
};

Script parse_script(std::string name, std::string_view text);
/// Loads a script from a file. An error names the file.
Result<Script, std::string> load_script(const std::string& path);

struct RunOptions {
  EngineMaker maker;                                   ///< empty: the engine that the script names
  sim_hooks::Mutant mutant = sim_hooks::Mutant::none;  ///< used unless the script names a mutant
  std::FILE* trace = nullptr;
  std::FILE* echo = nullptr;    ///< events as they happen
  std::FILE* record = nullptr;  ///< receives transcripts
  bool keep_history = true;     ///< true: keep all events for `expect` lines
  /// If not null, receives a script of the same run, in which targeted faults are plain lines at
  /// fixed times.
  std::FILE* plain = nullptr;
};

/// The result of a script.
struct Outcome {
  std::string error;                  ///< why the script cannot be run: "file:7: ..."; else empty
  std::string failure;                ///< the first unmet expectation: "file:7: ..."; else empty
  std::vector<Violation> violations;  ///< violations that the script did not expect
  Figures figures;
  FaultCounts faults;
  std::uint64_t digest = 0;
  std::vector<std::string> last_events;

  bool ok() const { return error.empty() && failure.empty() && violations.empty(); }
  /// The first problem, in one line; empty if there is none.
  std::string problem() const;
  /// The kind of the problem: "E5", "expect", "usage"; empty if there is none.
  std::string property() const;
};

/// Parses every line without running it. Returns an error with file and line; empty if the script
/// is valid.
std::string check_script(const Script& script);

/// Runs a script from the first to the last line. Deterministic. A failed PEAL_ASSERT ends the
/// process, as everywhere.
Outcome run_script(const Script& script, const RunOptions& options = {});

/// The last events of the script that runs in this thread, as trace lines, for use after a failed
/// assertion. Empty if no script runs.
std::vector<std::string> last_events_now();

/// The mutant whose name equals `name`, or begins with `name` and a '_', e.g. "m5".
Result<sim_hooks::Mutant, std::string> mutant_of_name(std::string_view name);

}  // namespace peal::sim
