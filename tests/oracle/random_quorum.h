// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history, in real-time order, of an engine that orders on a quorum: one chain of views,
/// messages that others deliver before their sender knows their places, or after it crashed, and
/// messages that have no place when their view ends.
std::vector<trace::Event> random_quorum_history(Random& random);

}  // namespace peal::oracle::test
