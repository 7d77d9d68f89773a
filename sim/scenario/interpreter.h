// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/context.h"
#include "sim/scenario/scenario.h"

namespace peal::sim {

/// Executes a script line by line, or only checks it.
class Interpreter {
 public:
  Interpreter(const Script& script, const RunOptions& options, bool checking);

  Outcome run();
  std::vector<std::string> last_events() const;

 private:
  void run_line(const Script::Line& line);
  void run_command(const std::string& text, std::uint32_t line);
  void read_transcript(const std::string& text);
  void end_transcript(Tokenizer& words);
  void report_logs();
  void report_tables();

  const Script& script_;
  ScenarioContext context_;
};

}  // namespace peal::sim
