// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/file/file.h"

namespace peal::config {

/// Adds lines of the file to `wrong`, an error of validate(). If `wrong` is about a broken rule
/// between keys, the result begins with those of the rule's keys that the file sets: in
/// "ring.max_gap = 4096 is not accepted: it must be at least (request_lag + 3) * global_window =
/// 4100", the file may set only global_window.
std::string placed(const std::string& wrong, const File& file);

}  // namespace peal::config
