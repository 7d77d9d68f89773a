// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "sim/mutants.h"
#include "sim/net_main.h"
#include "sim/runner.h"
#include "sim/shrink.h"

// `peal sim`: runs clusters of whole nodes in simulated time.

namespace peal::sim {
namespace {

using sim_hooks::Mutant;

enum Exit { kClean = 0, kViolations = 1, kUsage = 2 };

struct Arguments {
  std::string order = "ring";
  std::string seeds = "1-100";
  std::uint64_t seed = 0;
  std::uint32_t nodes = 0;
  std::uint32_t jobs = 0;
  std::vector<std::string> settings;
  std::string accelerated_window;
  double targeted = -1;
  bool no_faults = false;
  bool json = false;
  bool verbose = false;
  bool print = false;
  bool no_replay_check = false;
  bool shrink = false;
  std::string out;
  std::string trace;
  std::vector<std::string> scenarios;
  bool record = false;
  std::vector<std::string> mutants;
  bool hunt_mutants = false;
  std::string mutant;
  std::uint64_t budget = 400;
  std::string mutant_scenarios = "tests/mutants";
};

constexpr const char* kAbout =
    "Runs clusters of whole nodes in simulated time, breaks their network, their clocks and their\n"
    "processes, and checks every delivery against what Peal promises.\n\n"
    "A seed is a number from which everything is drawn: how many nodes, which options, which "
    "load,\n"
    "which faults and when. The same seed always gives the same run, so a failure can be repeated\n"
    "and taken apart.";

constexpr const char* kExamples =
    "\nExamples:\n"
    "  peal sim                             a hundred seeds\n"
    "  peal sim --seeds 1-2000 --json       two thousand, with the figures as JSON\n"
    "  peal sim --seed 88 --verbose         one of them, event by event\n"
    "  peal sim --seed 88 --print           its story, in the language of scenarios\n"
    "  peal sim --seed 88 --shrink          the smallest story that fails in the same way\n"
    "  peal sim --scenario tests/scenario/*.txt\n"
    "  peal sim --mutants                   are the checks worth anything? break the code and "
    "see\n"
    "  peal sim --net 10g --nodes 8         what a cluster would reach on such a network; --help "
    "says more\n\n"
    "Exit status: 0 all is well, 1 something was violated, 2 the command line is wrong.";

/// Says which seed it was when an assertion fails in this process.
std::string what_runs;
extern "C" void on_abort(int) {
  std::fprintf(stderr, "peal sim: the assertion failed in %s; the last events were:\n",
               what_runs.c_str());
  for (const std::string& line : last_events_now()) std::fprintf(stderr, "%s\n", line.c_str());
  ::signal(SIGABRT, SIG_DFL);
}

void add_options(CLI::App& app, Arguments& a) {
  app.footer(kExamples);
  app.add_option("--order", a.order, "engine")->check(CLI::IsMember({"ring"}));
  app.add_option("--seeds", a.seeds, "first and last seed, e.g. 1-2000")->capture_default_str();
  auto* seed = app.add_option("--seed", a.seed, "run this seed alone");
  app.add_option("--nodes", a.nodes,
                 "number of nodes, 1 to 128; without it each seed draws its own")
      ->check(CLI::Range(1, 128));
  app.add_option("--jobs", a.jobs, "worker processes; without it one per processor")
      ->check(CLI::Range(1, 256));
  app.add_option("--set", a.settings,
                 "an option of all clusters, as in a scenario, e.g. --set token_loss=40ms");
  app.add_option("--accelerated-window", a.accelerated_window,
                 "the same as --set accelerated_window=N; 0 is the original Totem ring");
  app.add_option("--targeted", a.targeted,
                 "share of seeds with faults at chosen moments of the protocol, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--no-faults", a.no_faults, "load only");
  app.add_flag("--no-replay-check", a.no_replay_check,
               "do not run one seed in twenty twice to see that it does the same");
  app.add_option("--scenario", a.scenarios, "run these scenario files instead of seeds");
  app.add_flag("--record", a.record, "with --scenario: print the transcripts that were recorded");
  app.add_flag("--print", a.print, "with --seed: print its story and do not run it")->needs(seed);
  app.add_flag("--shrink", a.shrink,
               "with --seed or one --scenario: find the smallest story that fails in the same way");
  app.add_option("--out", a.out, "with --shrink: write the story to this file");
  app.add_option("--trace", a.trace,
                 "with --seed or one --scenario: write every event there, as JSON lines");
  app.add_option(
         "--mutants", a.mutants,
         "break the code on purpose, in each of these ways (all, if none is named), until the "
         "checks notice")
      ->expected(0, -1);
  app.add_option("--mutant", a.mutant, "run everything else with this deliberate fault");
  app.add_option("--budget", a.budget, "with mutants: seeds to try")->capture_default_str();
  app.add_option("--mutant-scenarios", a.mutant_scenarios,
                 "with mutants: folder of scenarios for single mutants, tried first");
  app.add_flag("--json", a.json, "print one JSON object");
  app.add_flag("-v,--verbose", a.verbose, "say more; with --seed, every event");
}

bool parse_range(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  char* end = nullptr;
  first = std::strtoull(text.c_str(), &end, 10);
  if (end == text.c_str()) return false;
  last = first;
  if (*end == '-') {
    const char* from = end + 1;
    last = std::strtoull(from, &end, 10);
    if (end == from) return false;
  }
  return *end == '\0' && first >= 1 && first <= last;
}

/// Rewrites one line while things go on, if somebody watches.
class Progress {
 public:
  explicit Progress(std::uint64_t total) : total_(total), shown_(::isatty(STDERR_FILENO) == 1) {}
  void step(std::uint64_t violations) {
    ++done_;
    if (shown_ && (done_ % 10 == 0 || done_ == total_)) {
      std::fprintf(stderr, "\r%llu of %llu, %llu violations ",
                   static_cast<unsigned long long>(done_), static_cast<unsigned long long>(total_),
                   static_cast<unsigned long long>(violations));
    }
  }
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r%60s\r", "");
  }

 private:
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool shown_;
};

SeedOptions seed_options(const Arguments& a, Mutant mutant) {
  SeedOptions options;
  options.swarm.nodes = a.nodes;
  options.swarm.overrides = a.settings;
  if (!a.accelerated_window.empty()) {
    options.swarm.overrides.push_back("accelerated_window=" + a.accelerated_window);
  }
  options.swarm.targeted = a.targeted;
  options.swarm.faults = !a.no_faults;
  options.mutant = mutant;
  options.replay_check = !a.no_replay_check;
  return options;
}

int run_seeds(const Arguments& a, const SeedOptions& options) {
  PoolOptions pool;
  if (!parse_range(a.seeds, pool.first, pool.last)) {
    std::fprintf(stderr, "peal sim: --seeds %s: accepted is a range such as 1-2000\n",
                 a.seeds.c_str());
    return kUsage;
  }
  const std::string problem = check_script(make_swarm_script(pool.first, options.swarm));
  if (!problem.empty()) {
    std::fprintf(stderr, "peal sim: %s\n", problem.c_str());
    return kUsage;
  }
  pool.jobs = a.jobs;
  Summary summary;
  const auto start = std::chrono::steady_clock::now();
  {
    Progress progress(pool.last - pool.first + 1);
    run_pool(
        pool, [&](std::uint64_t seed) { return run_seed(seed, options); },
        [&](const Finding& finding) {
          summary.add(finding);
          progress.step(summary.violations);
          if (a.verbose || !finding.property.empty()) {
            std::fprintf(stderr, "seed %llu: %.2f s, %llu events, %llu views%s%s\n",
                         static_cast<unsigned long long>(finding.index), finding.seconds,
                         static_cast<unsigned long long>(finding.figures.events),
                         static_cast<unsigned long long>(finding.figures.view_changes),
                         finding.property.empty() ? "" : ": ", finding.text.c_str());
          }
        });
  }
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fputs((a.json ? summary.json() + "\n" : summary.text()).c_str(), stdout);
  return summary.violations == 0 ? kClean : kViolations;
}

/// One script in this process, with everything said that can be said.
int run_one(const Arguments& a, const Script& script, Mutant mutant) {
  RunOptions run;
  run.mutant = mutant;
  run.record = a.record ? stdout : nullptr;
  run.echo = a.verbose ? stderr : nullptr;
  if (!a.trace.empty()) {
    run.trace = std::fopen(a.trace.c_str(), "w");
    if (run.trace == nullptr) {
      std::fprintf(stderr, "peal sim: --trace %s: cannot be written\n", a.trace.c_str());
      return kUsage;
    }
  }
  what_runs = script.name;
  ::signal(SIGABRT, on_abort);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = run_script(script, run);
  if (run.trace != nullptr) std::fclose(run.trace);
  Summary summary;
  Finding finding;
  finding.index = a.seed;
  finding.property = outcome.property();
  finding.text = outcome.problem();
  finding.figures = outcome.figures;
  finding.faults = outcome.faults;
  summary.add(finding);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!outcome.ok()) {
    for (const std::string& line : outcome.last_events) std::fprintf(stderr, "%s\n", line.c_str());
    for (const Violation& violation : outcome.violations) {
      std::fprintf(stderr, "%s at %.6f s: %s\n", violation.property.c_str(),
                   static_cast<double>(violation.at.ns) / 1e9, violation.text.c_str());
    }
    if (!outcome.failure.empty()) std::fprintf(stderr, "%s\n", outcome.failure.c_str());
  }
  std::fputs((a.json ? summary.json() + "\n" : summary.text()).c_str(), stdout);
  return !outcome.error.empty() ? kUsage : outcome.ok() ? kClean : kViolations;
}

int run_shrink(const Arguments& a, const Script& script, Mutant mutant) {
  ShrinkOptions options;
  options.mutant = mutant;
  if (::isatty(STDERR_FILENO) == 1) {
    options.progress = [](std::uint32_t tries, std::size_t lines) {
      std::fprintf(stderr, "\r%u tries, %zu lines ", tries, lines);
    };
  }
  const Shrunk shrunk = shrink(script, options);
  if (shrunk.property.empty()) {
    std::fprintf(stderr, "peal sim: %s does not fail, so there is nothing to shrink\n",
                 script.name.c_str());
    return kClean;
  }
  std::string text = "# Shrunk from " + script.name + ".\n# " +
                     shrunk.text.substr(0, shrunk.text.find('\n')) + "\n" + shrunk.script.text();
  std::FILE* file = a.out.empty() ? stdout : std::fopen(a.out.c_str(), "w");
  if (file == nullptr) {
    std::fprintf(stderr, "peal sim: --out %s: cannot be written\n", a.out.c_str());
    return kUsage;
  }
  std::fputs(text.c_str(), file);
  if (file != stdout) std::fclose(file);
  return kViolations;
}

int run_scenarios(const Arguments& a, Mutant mutant) {
  std::vector<Script> scripts;
  for (const std::string& path : a.scenarios) {
    const auto script = load_script(path);
    if (!script) {
      std::fprintf(stderr, "peal sim: %s\n", script.error().c_str());
      return kUsage;
    }
    scripts.push_back(*script);
  }
  if (a.shrink && scripts.size() == 1) return run_shrink(a, scripts[0], mutant);
  if (scripts.size() == 1) {
    if (!expects_assertion(scripts[0])) return run_one(a, scripts[0], mutant);
  }
  PoolOptions pool;
  pool.last = scripts.size();
  pool.jobs = a.jobs;
  Summary summary;
  bool usage = false;
  run_pool(
      pool, [&](std::uint64_t i) { return run_scenario(scripts[i - 1], mutant); },
      [&](const Finding& found) {
        const Script& script = scripts[found.index - 1];
        const Finding finding = judged(script, found);
        summary.add(finding);
        usage = usage || finding.property == "usage";
        if (!finding.property.empty() || a.verbose) {
          std::fprintf(stderr, "%s: %s\n", script.name.c_str(),
                       finding.property.empty() ? "ok" : finding.text.c_str());
        }
      });
  std::fputs((a.json ? summary.json() + "\n"
                     : std::to_string(summary.seeds - summary.violations) + " of " +
                           std::to_string(summary.seeds) + " scenarios went as they should\n")
                 .c_str(),
             stdout);
  return usage ? kUsage : summary.violations == 0 ? kClean : kViolations;
}

int run_mutants(const Arguments& a) {
  MutantOptions options;
  options.jobs = a.jobs;
  options.budget = a.budget;
  options.scenarios = a.mutant_scenarios;
  options.seeds = seed_options(a, Mutant::none);
  for (const std::string& name : a.mutants) {
    if (name.empty() || name == "{}") continue;  // the option without a name
    const auto mutant = mutant_of_name(name);
    if (!mutant) {
      std::fprintf(stderr, "peal sim: %s\n", mutant.error().c_str());
      return kUsage;
    }
    options.mutants.push_back(*mutant);
  }
  const auto rows = hunt_mutants(options, [&a](const MutantRow& row) {
    if (!a.json) std::fputs(mutant_line(row).c_str(), stdout);
    std::fflush(stdout);
  });
  if (a.json) std::fputs(mutants_json(rows).c_str(), stdout);
  for (const MutantRow& row : rows) {
    if (row.killed_by.empty()) return kViolations;
  }
  return kClean;
}

int run(int argc, char** argv) {
  Arguments a;
  CLI::App app(kAbout, "peal sim");
  add_options(app, a);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsage;
  }
  a.hunt_mutants = app.count("--mutants") > 0;
  if (a.jobs == 0) a.jobs = std::max(1U, std::thread::hardware_concurrency());
  Mutant mutant = Mutant::none;
  if (!a.mutant.empty()) {
    const auto named = mutant_of_name(a.mutant);
    if (!named) {
      std::fprintf(stderr, "peal sim: %s\n", named.error().c_str());
      return kUsage;
    }
    mutant = *named;
  }
  if (a.hunt_mutants) return run_mutants(a);
  if (!a.scenarios.empty()) return run_scenarios(a, mutant);
  const SeedOptions options = seed_options(a, mutant);
  if (app.count("--seed") == 0) return run_seeds(a, options);
  const Script script = make_swarm_script(a.seed, options.swarm);
  if (a.print) {
    std::fputs(script.text().c_str(), stdout);
    return kClean;
  }
  return a.shrink ? run_shrink(a, script, mutant) : run_one(a, script, mutant);
}

}  // namespace
}  // namespace peal::sim

int main(int argc, char** argv) {
  if (peal::sim::asks_for_net(argc, argv)) return peal::sim::run_net_command(argc, argv);
  return peal::sim::run(argc, argv);
}
