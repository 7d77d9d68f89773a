// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/file/file.h"

namespace peal::config {

/// What a rule between keys says, as validate() words it, with the place of its keys in the file.
/// The person who reads it has set one of the keys, perhaps not the first: "ring.max_gap = 4096 is
/// not accepted: it must be at least (request_lag + 3) * global_window = 4100" begins with the keys
/// that the file sets.
std::string placed(const std::string& wrong, const File& file);

}  // namespace peal::config
