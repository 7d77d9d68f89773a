// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "oracle/history.h"

namespace peal::oracle {

/// `member` delivered `message` directly before the next step's.
struct Step {
  Index message = kNone;
  Index member = kNone;
};

/// Looks for a circle in the union of all members' orders of delivery, without regard to positions.
/// Empty if there is none. Time and memory grow with the messages and the spans, not with the
/// deliveries.
std::vector<Step> find_cycle(const History& history);

}  // namespace peal::oracle
