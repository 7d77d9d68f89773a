// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/file/file.h"

namespace peal::config {

/// Adds places in the file, such as "peal.toml:12", to `wrong`, an error of validate(). If `wrong`
/// is about a broken rule between keys, the result begins with the rule's keys that the file sets,
/// each with its line number. The file need not set the key that `wrong` begins with. For example,
/// the file sets only global_window, 4096 is the default of ring.max_gap, and `wrong` is
/// "ring.max_gap = 4096 is not accepted: it must be at least (request_lag + 3) * global_window =
/// 4100".
std::string placed(const std::string& wrong, const File& file);

}  // namespace peal::config
