// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sim/netmodel/command.h"
#include "sim/run/arguments.h"
#include "sim/run/mutants.h"
#include "sim/run/pool.h"
#include "sim/run/progress.h"
#include "sim/run/runner.h"
#include "sim/run/shrink.h"
#include "sim/run/summary.h"

// `peal sim`: runs clusters of whole nodes in simulated time.

namespace peal::sim {
namespace {

using Clock = std::chrono::steady_clock;

enum Exit { kClean = 0, kViolations = 1, kUsage = 2 };

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Writes one line about an error; returns `status`.
int fail(Exit status, std::string line) {
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "peal sim: %s\n", line.c_str());
  return status;
}

/// The running script, which on_abort() names when an assertion fails in this process.
std::string what_runs;
extern "C" void on_abort(int) {
  std::fprintf(stderr, "peal sim: the assertion failed in %s; the last events were:\n",
               what_runs.c_str());
  for (const std::string& line : last_events_now()) std::fprintf(stderr, "%s\n", line.c_str());
  ::signal(SIGABRT, SIG_DFL);
}

SeedOptions seed_options(const Arguments& a) {
  SeedOptions options;
  options.swarm = a.swarm;
  options.mutant = a.mutant;
  options.replay_check = !a.no_replay_check;
  return options;
}

int run_seeds(const Arguments& a) {
  const SeedOptions options = seed_options(a);
  PoolOptions pool;
  pool.first = a.first;
  pool.last = a.last;
  pool.jobs = a.jobs;
  Summary summary;
  const Clock::time_point start = Clock::now();
  {
    Progress progress("seeds", pool.last - pool.first + 1);
    run_pool(
        pool, [&](std::uint64_t seed) { return run_seed(seed, options); },
        [&](const RunResult& finding) {
          summary.add(finding);
          if (a.verbose || !finding.property.empty()) {
            progress.clear();
            std::fprintf(stderr, "seed %llu: %.2f s, %llu events, %llu views%s%s\n",
                         static_cast<unsigned long long>(finding.index), finding.seconds,
                         static_cast<unsigned long long>(finding.figures.events),
                         static_cast<unsigned long long>(finding.figures.view_changes),
                         finding.property.empty() ? "" : ": ", finding.text.c_str());
          }
          progress.step(summary.violations);
        });
  }
  summary.seconds = seconds_since(start);
  std::fputs((a.json ? summary.json() + "\n" : summary.text()).c_str(), stdout);
  return summary.violations == 0 ? kClean : kViolations;
}

/// Runs one script in this process, with full output.
int run_one(const Arguments& a, const Script& script) {
  RunOptions run;
  run.mutant = a.mutant;
  run.record = a.record ? stdout : nullptr;
  run.echo = a.verbose ? stderr : nullptr;
  if (!a.trace.empty()) {
    run.trace = std::fopen(a.trace.c_str(), "w");
    if (run.trace == nullptr) {
      return fail(kUsage, "--trace " + a.trace + ": " + std::strerror(errno));
    }
  }
  what_runs = script.name;
  ::signal(SIGABRT, on_abort);
  const Clock::time_point start = Clock::now();
  const Outcome outcome = run_script(script, run);
  if (run.trace != nullptr) std::fclose(run.trace);
  Summary summary;
  RunResult finding;
  finding.index = a.seed.value_or(0);
  finding.property = outcome.property();
  finding.text = outcome.problem();
  finding.figures = outcome.figures;
  finding.faults = outcome.faults;
  summary.add(finding);
  summary.seconds = seconds_since(start);
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

int run_shrink(const Arguments& a, const Script& script) {
  ShrinkOptions options;
  options.mutant = a.mutant;
  if (::isatty(STDERR_FILENO) == 1) {
    options.progress = [](std::uint32_t tries, std::size_t lines) {
      std::fprintf(stderr, "\r\x1b[2K%u tries, %zu lines", tries, lines);
    };
  }
  const Shrunk shrunk = shrink(script, options);
  if (options.progress) std::fputs("\r\x1b[2K", stderr);
  if (shrunk.property.empty()) {
    return fail(kClean, script.name + " does not fail, so there is nothing to shrink");
  }
  std::string text = "# Shrunk from " + script.name + ".\n# " +
                     shrunk.text.substr(0, shrunk.text.find('\n')) + "\n" + shrunk.script.text();
  std::FILE* file = a.out.empty() ? stdout : std::fopen(a.out.c_str(), "w");
  if (file == nullptr) return fail(kUsage, "--out " + a.out + ": " + std::strerror(errno));
  std::fputs(text.c_str(), file);
  if (file != stdout) std::fclose(file);
  return kViolations;
}

int run_scenarios(const Arguments& a) {
  const std::vector<Script>& scripts = a.scripts;
  if (a.shrink) return run_shrink(a, scripts[0]);
  if (scripts.size() == 1 && !expects_assertion(scripts[0])) return run_one(a, scripts[0]);
  PoolOptions pool;
  pool.last = scripts.size();
  pool.jobs = a.jobs;
  Summary summary;
  {
    Progress progress("scenarios", scripts.size());
    run_pool(
        pool, [&](std::uint64_t i) { return run_scenario(scripts[i - 1], a.mutant); },
        [&](const RunResult& found) {
          const Script& script = scripts[found.index - 1];
          const RunResult finding = judged(script, found);
          summary.add(finding);
          if (!finding.property.empty() || a.verbose) {
            progress.clear();
            std::fprintf(stderr, "%s: %s\n", script.name.c_str(),
                         finding.property.empty() ? "ok" : finding.text.c_str());
          }
          progress.step(summary.violations);
        });
  }
  const std::string text = std::to_string(summary.seeds - summary.violations) + " of " +
                           std::to_string(summary.seeds) + " scenarios went as they should\n";
  std::fputs((a.json ? summary.json() + "\n" : text).c_str(), stdout);
  return summary.violations == 0 ? kClean : kViolations;
}

int run_mutants(const Arguments& a) {
  MutantOptions options;
  options.mutants = a.mutants.empty() ? all_mutants() : a.mutants;
  options.jobs = a.jobs;
  options.budget = a.budget;
  options.scenarios = a.mutant_scenarios;
  options.seeds = seed_options(a);
  Progress progress("mutants", options.mutants.size());
  std::uint64_t survivors = 0;
  const auto rows = hunt_mutants(options, [&](const MutantRow& row) {
    progress.clear();
    if (!a.json) std::fputs(mutant_line(row).c_str(), stdout);
    std::fflush(stdout);
    if (row.killed_by.empty()) ++survivors;
    progress.step(survivors);
  });
  progress.clear();
  std::fputs((a.json ? mutants_json(rows) : mutants_text(rows)).c_str(), stdout);
  return survivors == 0 ? kClean : kViolations;
}

int run(const Arguments& a) {
  if (a.hunt_mutants) return run_mutants(a);
  if (!a.scripts.empty()) return run_scenarios(a);
  if (!a.seed) return run_seeds(a);
  const Script script = make_swarm_script(*a.seed, a.swarm);
  if (a.print) {
    std::fputs(script.text().c_str(), stdout);
    return kClean;
  }
  return a.shrink ? run_shrink(a, script) : run_one(a, script);
}

int run_words(const std::vector<std::string>& words) {
  const auto arguments = parse_arguments(words);
  if (arguments) return run(*arguments);
  if (arguments.error().status != 0) return fail(kUsage, arguments.error().text);
  std::fputs(arguments.error().text.c_str(), stdout);
  return kClean;
}

/// Returns `status`, or 1 if output could not be written.
int finish(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return fail(kViolations, std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace
}  // namespace peal::sim

int main(int argc, char** argv) {
  if (peal::sim::asks_for_net(argc, argv)) {
    return peal::sim::finish(peal::sim::run_net_command(argc, argv));
  }
  return peal::sim::finish(peal::sim::run_words({argv + 1, argv + argc}));
}
