// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The oracle, for tests that include the public header: the two cannot be in one file.

namespace peal::test {

struct Judgement {
  std::string problem;  ///< empty if the traces together fulfil Peal's guarantees
  std::uint64_t deliveries = 0;
  std::uint64_t messages = 0;
  std::uint64_t transitional_views = 0;
};

/// Checks the traces of all processes of a cluster. Only a cut last line may be missing: everything
/// that one process saw of another must be in the other's trace.
Judgement judge(const std::vector<std::string>& paths, std::uint32_t nodes);

}  // namespace peal::test
