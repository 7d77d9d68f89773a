// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/hooks.h"

namespace peal {

/// One deliberate fault is active while this object exists.
class WithMutant {
 public:
  explicit WithMutant(sim_hooks::Mutant mutant) { sim_hooks::activate_mutant(mutant); }
  ~WithMutant() { sim_hooks::activate_mutant(sim_hooks::Mutant::none); }
  WithMutant(const WithMutant&) = delete;
  WithMutant& operator=(const WithMutant&) = delete;
};

}  // namespace peal
