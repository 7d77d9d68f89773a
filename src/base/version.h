// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Versions as one number: 1.2.3 is 1002003, as in include/peal/version.h.

namespace peal {

/// Formats a version: "1.2.3".
std::string version_text(std::uint32_t version);

/// The reason why a program compiled with headers of version `header` cannot run with a library of
/// version `library`: the library is older, or its major version differs. While both major versions
/// are 0, the minor versions must be equal too. Empty if the program can run.
std::string version_problem(std::uint32_t header, std::uint32_t library);

}  // namespace peal
