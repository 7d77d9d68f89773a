// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "wire/frames.h"

namespace peal::group::test {

struct Verdict {
  wire::Drop drop{};
  const char* wrong = nullptr;  ///< the violated rule; null if there is none
};

/// Passes bytes to the decoder of the kind that they name, and to one of another kind, which must
/// refuse them. Accepted values must encode to the same bytes again.
Verdict examine(ByteView bytes);

}  // namespace peal::group::test
