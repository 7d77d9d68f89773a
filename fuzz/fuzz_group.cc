// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a message of process groups. The bytes must be dropped with a reason, or be
// equal to the encoding of the decoded message.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "examine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto verdict = peal::group::test::examine({reinterpret_cast<const std::byte*>(data), size});
  if (verdict.wrong != nullptr) {
    std::fprintf(stderr, "%s\n", verdict.wrong);
    std::abort();
  }
  return 0;
}
