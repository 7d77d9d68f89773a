// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "wire/frames.h"

namespace peal::group::test {

struct Verdict {
  wire::Drop drop{};
  const char* wrong = nullptr;  ///< the violated rule; null if there is none
};

/// Passes `bytes` to the decoder of their kind, and to a decoder of another kind, which must refuse
/// them. If `bytes` are accepted, the decoded message must encode to the same bytes again.
Verdict examine(ByteView bytes);

}  // namespace peal::group::test
