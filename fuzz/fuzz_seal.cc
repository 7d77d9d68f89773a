// SPDX-License-Identifier: Apache-2.0
// Any bytes as a sealed packet, and sealed packets that were changed in transit: refused, unless
// nothing was changed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "examine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto verdict = peal::seal::test::examine({reinterpret_cast<const std::byte*>(data), size});
  if (verdict.wrong != nullptr) {
    std::fprintf(stderr, "%s\n", verdict.wrong);
    std::abort();
  }
  return 0;
}
