// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history of an engine that orders on a quorum, in real-time order. It has one chain of
/// views. A message may be delivered before its sender knows the place, or after its sender
/// crashed. A message may also have no place when its view ends.
std::vector<trace::Event> random_quorum_history(Random& random);

}  // namespace peal::oracle::test
