// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Calls the oracle for tests that include the public header, because one file cannot include the
// headers of both.

namespace peal::test {

struct Judgement {
  std::string problem;  ///< empty if the traces together fulfil Peal's guarantees
  std::uint64_t deliveries = 0;
  std::uint64_t messages = 0;
  std::uint64_t transitional_views = 0;
};

/// Checks the traces of all processes of a cluster. A trace may lack only its last line, if that
/// line is cut. It must contain every event whose effect another trace shows.
Judgement judge(const std::vector<std::string>& paths, std::uint32_t nodes);

}  // namespace peal::test
