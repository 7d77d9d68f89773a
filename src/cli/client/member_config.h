// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/config.h"
#include "cli/inner_names.h"

// Last: see cli/inner_names.h.
#include "peal/member.h"

namespace peal::cli {

/// The configuration file's content as an embedded member takes it. Tunables of the ring are named
/// only where they differ from their defaults.
v0::Config member_config(const NodeConfig& config);

}  // namespace peal::cli
