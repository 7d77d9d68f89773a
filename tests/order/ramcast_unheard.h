// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace peal::order::ramcast::test {

/// Nobody hears the leader of a domain, whose log goes on: another one leads. This happens again
/// and again under load, and after each time all is well for `offset` us only. Returns what is
/// wrong at the end. `fast`, `suspect`: as in Options; `lazy_revocation`: as in sim::FabricOptions.
std::string unheard_leaders(bool fast, Duration suspect, Duration lazy_revocation,
                            std::int64_t offset);

}  // namespace peal::order::ramcast::test
