// SPDX-License-Identifier: Apache-2.0
#include "sim/run/mutants.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "sim/baselines/registry.h"
#include "sim/run/pool.h"

namespace peal::sim {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Finds scenarios whose file name begins with the mutant's name, such as
/// m5_accept_in_commit-late-data.txt.
std::vector<std::string> scenarios_of(const std::string& folder, sim_hooks::Mutant mutant) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string stem = entry.path().stem().string();
    const std::string name(sim_hooks::mutant_name(mutant));
    const bool fits = stem.compare(0, name.size(), name) == 0 &&
                      (stem.size() == name.size() || stem[name.size()] == '-');
    if (fits && entry.path().extension() == ".txt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool try_scenarios(const MutantOptions& options, MutantRow& row) {
  for (const std::string& path : scenarios_of(options.scenarios, row.mutant)) {
    const auto script = load_script(path);
    if (!script) continue;
    PoolOptions pool;
    pool.jobs = 1;
    std::string property;
    run_pool(
        pool,
        [&](std::uint64_t) {
          RunOptions run;
          run.mutant = row.mutant;
          const Outcome outcome = run_script(*script, run);
          RunResult finding;
          // The script states which violation must occur: if the script passes, the mutant is
          // killed.
          finding.property = outcome.ok() ? "" : outcome.property();
          finding.text = outcome.problem();
          return finding;
        },
        [&](const RunResult& finding) { property = judged(*script, finding).property; });
    if (property.empty()) {
      row.killed_by = std::filesystem::path(path).filename().string();
      row.property = "scenario";
      return true;
    }
  }
  return false;
}

/// Sets the options that are needed to detect mutants of a family. A mutant's family is the start
/// of its name.
void set_family(std::string_view name, SwarmOptions& swarm) {
  const auto of = [name](std::string_view family) { return name.starts_with(family); };
  if (of("gm")) swarm.groups = true;  // process groups
  if (of("tt_")) swarm.engine = EngineOptions(*order::find_engine("toto"));
  const bool in_domains = of("gm23_") || of("gm24_");  // groups of several domains
  if (of("wb_") || in_domains) swarm.engine = EngineOptions(*find_engine("whitebox"));
  if (of("rc_")) swarm.engine = EngineOptions(*order::find_engine("ramcast"));
  if (of("px_"))
    swarm.engine = EngineOptions(*order::find_engine("paxos"));  // engines with acceptors
  if (of("rd_") || of("rr_") || of("re_") || of("rt_") || of("do_") || of("op_")) {  // Ridge
    swarm.engine = EngineOptions(*order::find_engine("ridge"));
  }
  const auto choose = [&swarm](std::string_view option, const std::string& value) {
    const bool taken = swarm.engine.read(option, value);
    PEAL_ASSERT(taken);
  };
  if (of("rr_")) choose("dissemination", "ring");
  if (of("re_") || of("rt_")) choose("ensembles", "3");
  if (of("rt_")) choose("merge", "rotation");
  if (of("do_")) swarm.domains = 3;
  if (of("wb_") || of("rc_") || in_domains) swarm.domains = 4;
  if (of("op_")) choose("optimistic", "yes");
}

void try_seeds(const MutantOptions& options, MutantRow& row) {
  SeedOptions seeds = options.seeds;
  seeds.mutant = row.mutant;
  set_family(sim_hooks::mutant_name(row.mutant), seeds.swarm);
  seeds.replay_check = false;
  PoolOptions pool;
  pool.last = options.budget;
  pool.jobs = options.jobs;
  pool.stop_at_failure = true;
  pool.hang_seconds = 30;
  std::uint64_t lowest = 0;
  run_pool(
      pool, [&seeds](std::uint64_t seed) { return run_seed(seed, seeds); },
      [&](const RunResult& finding) {
        if (finding.property.empty() || (lowest != 0 && finding.index > lowest)) return;
        lowest = finding.index;
        row.property = finding.property;
      });
  row.seeds = lowest != 0 ? lowest : options.budget;
  if (lowest != 0) row.killed_by = "seed " + std::to_string(lowest);
}

bool has_line(const Script& script, std::string_view text) {
  return std::any_of(script.lines.begin(), script.lines.end(), [text](const Script::Line& line) {
    return line.text.compare(0, text.size(), text) == 0;
  });
}

}  // namespace

std::vector<MutantRow> hunt_mutants(const MutantOptions& options,
                                    const std::function<void(const MutantRow&)>& done) {
  std::vector<MutantRow> rows;
  for (const sim_hooks::Mutant mutant : options.mutants) {
    MutantRow row;
    row.mutant = mutant;
    const double start = now_seconds();
    if (!try_scenarios(options, row)) try_seeds(options, row);
    row.seconds = now_seconds() - start;
    done(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<sim_hooks::Mutant> all_mutants() {
  std::vector<sim_hooks::Mutant> all;
  for (int i = 1; i < static_cast<int>(sim_hooks::Mutant::count); ++i) {
    const auto mutant = static_cast<sim_hooks::Mutant>(i);
    // Leave out mutants that other tests hunt. The hunt does not run the code of sessions (sm1,
    // sm2, ..., tests/session) or of the log (wm1, wm2, ..., tests/wal). Those of RamCast (rc_)
    // need many short runs of engines without nodes (tests/order). Some mutants of Paxos need a
    // combination of rounds that a few hundred scenarios do not produce; tests/order explores every
    // run of a small system. Acceptors vote in order, so in no scenario is a unit decided twice, or
    // after its view has ended; tests/order tests that the engine ignores such a unit.
    using sim_hooks::Mutant;
    constexpr Mutant kElsewhere[] = {
        Mutant::px_twice,
        Mutant::px_refused_state_kept,
        Mutant::px_old_view_counts,
        Mutant::px_promise_before_disk,
        Mutant::px_rounds_mixed,
        Mutant::px_vote_without_promise,
        Mutant::px_lowest_vote_wins,
        Mutant::px_old_round_accepted,
        Mutant::px_lists_mixed,
        Mutant::px_beyond_list,
        Mutant::px_list_not_logged,
        // In no scenario does a node have a backlog of an earlier order. In no scenario does a node
        // crash between its installation of a view and the time when all ensembles have reached the
        // view.
        Mutant::px_owed_of_any_order,
        Mutant::px_owed_unmerged,
        // Groups in domains whose views change: tests/group detects these.
        Mutant::gm25_held_dropped,
        Mutant::gm26_missed_change_lost,
        Mutant::gm27_drop_not_told,
        // These mutants only cause delays, which order_paxos_test measures.
        Mutant::px_patience_grows,
        Mutant::px_pauses_add_up,
        Mutant::px_rounds_overtake,
    };
    const std::string_view room = sim_hooks::mutant_name(mutant).substr(0, 2);
    const bool elsewhere =
        std::find(std::begin(kElsewhere), std::end(kElsewhere), mutant) != std::end(kElsewhere);
    if (room != "sm" && room != "wm" && room != "rc" && !elsewhere) all.push_back(mutant);
  }
  return all;
}

std::string mutant_line(const MutantRow& row) {
  const bool by_seeds = row.seeds > 0;
  const std::string seeds = std::to_string(row.seeds) + (row.seeds == 1 ? " seed" : " seeds");
  std::array<char, 256> start{};
  std::snprintf(start.data(), start.size(), "%-28s %-9s %-10s %7.1f s  ",
                std::string(sim_hooks::mutant_name(row.mutant)).c_str(),
                row.killed_by.empty() ? "SURVIVED" : row.property.c_str(),
                by_seeds ? seeds.c_str() : "scenario", row.seconds);
  std::string line = start.data() + std::string(sim_hooks::mutant_text(row.mutant));
  if (!by_seeds) line += " (" + row.killed_by + ")";
  return line + "\n";
}

std::string mutants_text(const std::vector<MutantRow>& rows) {
  std::uint64_t noticed = 0;
  std::uint64_t by_scenario = 0;
  std::uint64_t seeds = 0;
  std::uint64_t most = 0;
  for (const MutantRow& row : rows) {
    if (row.killed_by.empty()) continue;
    ++noticed;
    if (row.seeds == 0) ++by_scenario;
    seeds += row.seeds;
    most = std::max(most, row.seeds);
  }
  return std::to_string(noticed) + " of " + std::to_string(rows.size()) + " mutants noticed, " +
         std::to_string(by_scenario) + " by a scenario of their own, the others in " +
         std::to_string(seeds) + " seeds, at most " + std::to_string(most) + " for one\n";
}

std::string mutants_json(const std::vector<MutantRow>& rows) {
  std::string out = "{\"mutants\":[";
  std::size_t survivors = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const MutantRow& row = rows[i];
    if (row.killed_by.empty()) ++survivors;
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.3f", row.seconds);
    out += std::string(i == 0 ? "" : ",") + "{\"name\":\"" +
           std::string(sim_hooks::mutant_name(row.mutant)) + "\",\"killed_by\":\"" + row.killed_by +
           "\",\"seeds\":" + std::to_string(row.seeds) + ",\"property\":\"" + row.property +
           "\",\"seconds\":" + seconds.data() + "}";
  }
  return out + "],\"survivors\":" + std::to_string(survivors) + "}\n";
}

bool expects_assertion(const Script& script) {
  return has_line(script, "expect violation assert") || has_line(script, "expect violation any");
}

RunResult run_scenario(const Script& script, sim_hooks::Mutant mutant) {
  RunOptions run;
  run.mutant = mutant;
  const Outcome outcome = run_script(script, run);
  RunResult finding;
  finding.property = outcome.property();
  finding.text = outcome.problem();
  finding.figures = outcome.figures;
  finding.faults = outcome.faults;
  finding.digest = outcome.digest;
  return finding;
}

RunResult judged(const Script& script, RunResult finding) {
  if (finding.property == "assert" && expects_assertion(script)) {
    finding.property.clear();
    finding.text.clear();
  }
  return finding;
}

}  // namespace peal::sim
