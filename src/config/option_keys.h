// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "config/key.h"
#include "config/settings.h"

namespace peal::config {

/// Appends the keys of all engines: each option that users may set, once, with the engines that
/// have this option. Options of the top level come first.
void add_option_keys(std::vector<Key<Settings>>& keys);

}  // namespace peal::config
