// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace peal::config {

/// Checks, as far as possible, that an acceptor can keep its log in this folder. The error says why
/// the acceptor cannot.
Result<void, std::string> validate_data_dir(const std::string& path);

}  // namespace peal::config
