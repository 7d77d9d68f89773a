// SPDX-License-Identifier: Apache-2.0
#include "sim/run/argument_rules.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"

namespace peal::sim {
namespace {

using sim_hooks::Mutant;
using Given = std::function<bool(const char*)>;

/// What one call of `peal sim` runs.
enum Mode : unsigned { kSeeds = 1, kSeed = 2, kScenario = 4, kScenarios = 8, kMutants = 16 };

struct Applies {
  const char* name;
  unsigned modes;
  const char* with;
};
constexpr Applies kApplies[] = {
    {"--seeds", kSeeds, "stand without --seed, --scenario and --mutants"},
    {"--seed", kSeed, "stand without --seeds, --scenario and --mutants"},
    {"--scenario", kScenario | kScenarios, "stand without --seeds, --seed and --mutants"},
    {"--nodes", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--dissemination", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--ensembles", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--merge", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--optimistic", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--domains", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--storage", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--set", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--accelerated-window", kSeeds | kSeed | kMutants,
     "come without --scenario, whose file says "
     "it"},
    {"--targeted", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--no-faults", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--lists", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--groups", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--sessions", kSeeds | kSeed | kMutants, "come without --scenario, whose file says it"},
    {"--no-replay-check", kSeeds, "come with --seeds: nothing else runs twice"},
    {"--print", kSeed, "come with --seed N"},
    {"--shrink", kSeed | kScenario, "come with --seed N or one --scenario FILE"},
    {"--trace", kSeed | kScenario, "come with --seed N or one --scenario FILE"},
    {"--record", kScenario, "come with one --scenario FILE"},
    {"--mutant", kSeeds | kSeed | kScenario | kScenarios, "come without --mutants"},
    {"--budget", kMutants, "come with --mutants"},
    {"--mutant-scenarios", kMutants, "come with --mutants"},
};
/// Pairs of options that are refused together: the first option would have no effect.
constexpr std::pair<const char*, const char*> kApart[] = {
    {"--shrink", "--print"},      {"--trace", "--print"},   {"--record", "--shrink"},
    {"--ensembles", "--domains"}, {"--merge", "--domains"}, {"--json", "--print"},
    {"--json", "--shrink"},       {"--trace", "--shrink"},
};

/// Sets the chosen engine options. Returns one line about an error; empty if there is no error.
std::string take_choices(const Given& given, const Texts& texts, Arguments& a) {
  EngineOptions& engine = a.swarm.engine;
  for (const auto& [name, text] : texts.choices) {
    if (engine.read(name, text)) continue;
    return "--" + std::string(name) + " is not accepted here: it must come with --order " +
           engines_with_option(name);
  }
  const order::Descriptor& usual = order::default_engine();
  if (given("--accelerated-window") && &engine.engine() != &usual) {
    return "--accelerated-window is not accepted here: it must come with --order " +
           std::string(usual.name);
  }
  if (a.swarm.domains > 0 && !engine.traits().has_domains()) {
    return "--domains is not accepted here: " + std::string(engine.engine().name) +
           " has no domains";
  }
  if (engine.is_genuine() && a.swarm.lists) {
    return "--lists is not accepted here: with " + std::string(engine.engine().name) +
           ", lists never change";
  }
  std::vector<order::DomainNodes> domains;
  if (a.swarm.domains > 0) domains.emplace_back();
  return engine.validate(domains);
}

/// Returns one line about options that cannot be combined; empty if all can be combined.
std::string clash(const Given& given, const Texts& texts) {
  const Mode mode = given("--mutants")    ? kMutants
                    : given("--scenario") ? (texts.scenarios.size() == 1 ? kScenario : kScenarios)
                    : given("--seed")     ? kSeed
                                          : kSeeds;
  for (const Applies& row : kApplies) {
    if (given(row.name) && (row.modes & mode) == 0) {
      return std::string(row.name) + " is not accepted here: it must " + row.with;
    }
  }
  for (const auto& [name, other] : kApart) {
    if (given(name) && given(other)) {
      return std::string(name) + " is not accepted here: it must come without " + other;
    }
  }
  if (given("--out") && !given("--shrink")) {
    return "--out is not accepted here: it must come with --shrink";
  }
  return {};
}

/// Returns the first problem of the script, without its place in the script; empty if there is
/// none.
std::string script_problem(const Script& script) {
  std::string problem = check_script(script);
  const std::size_t place = problem.find(": ");
  if (place != std::string::npos) problem.erase(0, place + 2);
  constexpr std::string_view kTwice = " is not accepted: it must";
  if (const auto at = problem.find(kTwice); at != std::string::npos) {
    problem.replace(at, kTwice.size(), " must");
  }
  return problem;
}

/// The first problem among the first scenarios of a run; empty if there is none. Whether settings
/// are valid can depend on the other draws of a scenario, so the check needs whole scenarios.
std::string stories_problem(const Arguments& a, const SwarmOptions& swarm) {
  constexpr std::uint64_t kStories = 50;
  const std::uint64_t first = a.seed.value_or(a.first);
  const std::uint64_t last = a.seed.value_or(std::min(a.last, a.first + kStories - 1));
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    std::string problem = script_problem(make_swarm_script(seed, swarm));
    if (!problem.empty()) return problem;
  }
  return {};
}

std::string take_settings(const Texts& texts, Arguments& a) {
  std::vector<std::string>& settings = a.swarm.overrides;
  settings = texts.settings;
  if (!texts.accelerated_window.empty()) {
    settings.push_back("accelerated_window=" + texts.accelerated_window);
  }
  std::string shown;
  for (const std::string& setting : settings) {
    const bool one_word = setting.find_first_of(" \t\r\n\"#") == std::string::npos;
    if (!one_word || setting.find('=', 1) == std::string::npos) {
      return refusal("--set", setting, kSettingMust);
    }
    shown += (shown.empty() ? "" : " ") + setting;
  }
  const std::string problem = stories_problem(a, a.swarm);
  if (problem.empty()) return {};
  for (const std::string& setting : settings) {
    SwarmOptions alone = a.swarm;
    alone.overrides = {setting};
    if (stories_problem(a, alone) == problem) shown = setting;
  }
  return "--set = " + quote(shown) + " is not accepted: " + problem;
}

std::string take_files(const Texts& texts, Arguments& a) {
  for (const std::string& path : texts.scenarios) {
    auto script = load_script(path);
    if (!script) return refusal("--scenario", path, "the path of a scenario that can be read");
    std::string problem = check_script(*script);
    if (!problem.empty()) return problem;
    a.scripts.push_back(std::move(*script));
  }
  for (const auto& [name, path] : {std::pair("--out", &a.out), std::pair("--trace", &a.trace)}) {
    if (path->empty()) continue;
    std::error_code error;
    const bool fresh = !std::filesystem::exists(*path, error);
    std::FILE* file = std::fopen(path->c_str(), "a");
    if (file == nullptr) {
      return refusal(name, *path,
                     std::string("a file that can be written (") + std::strerror(errno) + ")");
    }
    std::fclose(file);
    if (fresh) std::filesystem::remove(*path, error);  // only this check created the file
  }
  return {};
}

std::string take_mutants(const Texts& texts, Arguments& a) {
  for (const std::string& name : texts.mutants) {
    if (name.empty() || name == "{}") continue;  // --mutants without a name
    Mutant mutant{};
    if (!read_mutant(name, mutant)) return refusal("--mutants", name, kMutantMust);
    a.mutants.push_back(mutant);
  }
  return {};
}

}  // namespace

std::string refusal(const std::string& name, const std::string& value, const std::string& must) {
  return name + " = " + quote(value) + " is not accepted: it must be " + must;
}

bool read_mutant(const std::string& text, Mutant& out) {
  const auto named = mutant_of_name(text);
  if (named) out = *named;
  return named.has_value();
}

std::string take_texts(const Given& given, const Texts& texts, Arguments& a) {
  a.hunt_mutants = given("--mutants");
  std::string problem = clash(given, texts);
  if (problem.empty()) problem = take_choices(given, texts, a);
  if (problem.empty()) problem = take_mutants(texts, a);
  if (problem.empty() && texts.scenarios.empty()) problem = take_settings(texts, a);
  if (problem.empty()) problem = take_files(texts, a);
  return problem;
}

}  // namespace peal::sim
