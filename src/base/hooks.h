// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hooks of simulator builds (PEAL_SIM=1); release builds contain no hooks.
//
// PEAL_PROBE("recovery.second_failure")  counts the executions of a rare branch.
// PEAL_MUTANT(m4_safe_from_one_rotation) is true while the simulator runs with this deliberate
//                                        fault, to prove that the oracle detects the fault.
// PEAL_SAMPLE(node_ordered, node, steps) passes values to the experiment that runs in this thread,
//                                        and computes them only if there is one.

#if defined(PEAL_SIM)

#include "base/mutants.h"
#include "base/probes.h"
#include "base/samples.h"

#define PEAL_PROBE(name)                                   \
  do {                                                     \
    static ::peal::sim_hooks::Probe peal_probe_here{name}; \
    peal_probe_here.hit();                                 \
  } while (false)
#define PEAL_MUTANT(id) (::peal::sim_hooks::active_mutant() == ::peal::sim_hooks::Mutant::id)
#define PEAL_SAMPLE(id, ...)                                                     \
  do {                                                                           \
    if (::peal::sim_hooks::Sampler* peal_sampler = ::peal::sim_hooks::sampler()) \
      peal_sampler->take(::peal::sim_hooks::Sample::id, {__VA_ARGS__});          \
  } while (false)

#else

#define PEAL_PROBE(name) static_cast<void>(0)
#define PEAL_MUTANT(id) false
#define PEAL_SAMPLE(id, ...) static_cast<void>(0)

#endif
