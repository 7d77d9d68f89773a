// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/file/file.h"

namespace peal::config {

/// Rewords a broken rule between keys, as validate() words it, so that it begins with the keys that
/// the file sets, and their lines. The reader may have set another than the first key:
/// "ring.max_gap = 4096 is not accepted: it must be at least (request_lag + 3) * global_window =
/// 4100".
std::string placed(const std::string& wrong, const File& file);

}  // namespace peal::config
