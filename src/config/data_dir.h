// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace peal::config {

/// Whether an acceptor can keep its log in this folder, as far as can be checked; else the reason
/// why not.
Result<void, std::string> validate_data_dir(const std::string& path);

}  // namespace peal::config
