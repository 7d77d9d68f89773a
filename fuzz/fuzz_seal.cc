// SPDX-License-Identifier: Apache-2.0
// Opens any bytes as a sealed packet, and opens sealed packets that were changed in transit. A
// packet must be refused, unless it is an unchanged sealed packet.
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
