// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "seal/key.h"

namespace peal::cli {

/// A new random key.
seal::Key new_key();
/// Writes a new key file with one new key, and returns the key's id. The error is one line.
Result<seal::KeyId, std::string> make_key_file(const std::string& path);

}  // namespace peal::cli
