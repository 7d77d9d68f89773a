// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "examine.h"
#include "golden.h"
#include "wire/frames.h"

namespace peal::wire::test {

/// As examine(), for a golden packet or a damaged copy of it. The name of a golden COMMIT says
/// which protocol wrote its options and records.
inline Verdict examine_golden(const Golden& golden, ByteView packet,
                              Checksum expected = Checksum::present) {
  const bool toto = golden.name.rfind("v1-toto-commit", 0) == 0;
  return examine(packet, expected, toto ? Records::toto : Records::ring);
}

}  // namespace peal::wire::test
