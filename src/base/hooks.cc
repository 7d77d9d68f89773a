// SPDX-License-Identifier: Apache-2.0
#include "base/hooks.h"

#if defined(PEAL_SIM)

#include <array>
#include <cstddef>

namespace peal::sim_hooks {
namespace {

std::atomic<Probe*> first_probe{nullptr};
thread_local Mutant mutant_of_this_thread = Mutant::none;
thread_local Sampler* sampler_of_this_thread = nullptr;

struct MutantRow {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<MutantRow, static_cast<std::size_t>(Mutant::count)> kMutantRows{{
#define PEAL_MUTANT_ROW(id, text) {#id, text},
    PEAL_MUTANTS(PEAL_MUTANT_ROW)
#undef PEAL_MUTANT_ROW
}};

}  // namespace

Probe::Probe(const char* name) : name_(name), next_(first_probe.load()) {
  while (!first_probe.compare_exchange_weak(next_, this)) {
  }
}

const Probe* Probe::first() { return first_probe.load(); }

Sampler* sampler() { return sampler_of_this_thread; }
void set_sampler(Sampler* sampler) { sampler_of_this_thread = sampler; }

Mutant active_mutant() { return mutant_of_this_thread; }
void activate_mutant(Mutant mutant) { mutant_of_this_thread = mutant; }
std::string_view mutant_name(Mutant mutant) {
  return kMutantRows[static_cast<std::size_t>(mutant)].name;
}
std::string_view mutant_text(Mutant mutant) {
  return kMutantRows[static_cast<std::size_t>(mutant)].text;
}

}  // namespace peal::sim_hooks

#endif
