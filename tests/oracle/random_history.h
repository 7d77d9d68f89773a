// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history in real-time order: members split, merge, crash, return, lose messages, recover
/// what the others have, and are stopped at any point.
std::vector<trace::Event> random_history(Random& random);

/// Changes one event, or its place.
void damage(std::vector<trace::Event>& events, Random& random);

}  // namespace peal::oracle::test
