// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a stream of records of the client protocol, in either direction. The bytes
// must be refused with a reason, or be equal to the encoding of the decoded records.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "client_examine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto verdict =
      peal::wire::test::examine_stream({reinterpret_cast<const std::byte*>(data), size});
  if (verdict.wrong != nullptr) {
    std::fprintf(stderr, "%s\n", verdict.wrong);
    std::abort();
  }
  return 0;
}
