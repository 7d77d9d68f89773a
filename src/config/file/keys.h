// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "config/file/file.h"
#include "config/key.h"

namespace peal::config {

/// All keys of a configuration file except those in arrays of tables, in the order in which people
/// read them.
std::span<const Key<File>> file_keys();

/// Appends the keys of [clients].
void add_client_keys(std::vector<Key<File>>& keys);

}  // namespace peal::config
