// SPDX-License-Identifier: Apache-2.0
#include "sim/run/runner.h"

namespace peal::sim {

RunResult run_seed(std::uint64_t seed, const SeedOptions& options) {
  const Script script = make_swarm_script(seed, options.swarm);
  RunOptions run;
  run.mutant = options.mutant;
  run.keep_history = false;
  const Outcome outcome = run_script(script, run);
  RunResult finding;
  finding.index = seed;
  finding.property = outcome.property();
  finding.text = outcome.problem();
  finding.figures = outcome.figures;
  finding.faults = outcome.faults;
  finding.digest = outcome.digest;
  if (options.replay_check && finding.property.empty() && seed % 20 == 0) {
    const Outcome again = run_script(script, run);
    if (again.digest != outcome.digest) {
      finding.property = "replay";
      finding.text = "the same seed gave another run";
    }
  }
  return finding;
}

}  // namespace peal::sim
