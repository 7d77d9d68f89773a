// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history in real-time order. Members split, merge, crash, return, lose messages, and
/// recover messages that others have. The history may end at any point.
std::vector<trace::Event> random_history(Random& random);

/// Changes, moves, copies or removes one event.
void damage(std::vector<trace::Event>& events, Random& random);

}  // namespace peal::oracle::test
