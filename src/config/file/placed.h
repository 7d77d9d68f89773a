// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/file/file.h"

namespace peal::config {

/// Rewords the error of validate() about a broken rule between keys: the text begins with the keys
/// that the file sets, and their lines. The file may set another key of the rule than the first key
/// in "ring.max_gap = 4096 is not accepted: it must be at least (request_lag + 3) * global_window =
/// 4100".
std::string placed(const std::string& wrong, const File& file);

}  // namespace peal::config
