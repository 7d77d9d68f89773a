// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario.h"

#include <fstream>
#include <sstream>

#include "sim/scenario/interpreter.h"

namespace peal::sim {
namespace {

thread_local const Interpreter* running = nullptr;

}  // namespace

std::vector<std::string> last_events_now() {
  return running == nullptr ? std::vector<std::string>{} : running->last_events();
}

Script parse_script(std::string name, std::string_view text) {
  Script script;
  script.name = std::move(name);
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    script.add(std::string(text.substr(from, end - from)));
    from = end + 1;
  }
  return script;
}

Result<Script, std::string> load_script(const std::string& path) {
  std::ifstream file(path);
  if (!file) return unexpected(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return parse_script(path, text.str());
}

Outcome run_script(const Script& script, const RunOptions& options) {
  std::string error = check_script(script);
  if (!error.empty()) {
    Outcome outcome;
    outcome.error = std::move(error);
    return outcome;
  }
  Interpreter stage(script, options, false);
  running = &stage;
  Outcome outcome = stage.run();
  running = nullptr;
  sim_hooks::activate_mutant(sim_hooks::Mutant::none);
  return outcome;
}

Result<sim_hooks::Mutant, std::string> mutant_of_name(std::string_view name) {
  for (int i = 1; i < static_cast<int>(sim_hooks::Mutant::count); ++i) {
    const auto mutant = static_cast<sim_hooks::Mutant>(i);
    const std::string_view full = sim_hooks::mutant_name(mutant);
    const bool begins = full.substr(0, name.size()) == name && !name.empty();
    if (begins && (full.size() == name.size() || full[name.size()] == '_')) return mutant;
  }
  return unexpected("mutant=" + std::string(name) +
                    ": no such mutant; src/base/mutants.h lists them");
}

}  // namespace peal::sim
