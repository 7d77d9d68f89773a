// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "group_text.h"

namespace peal::oracle::test {

/// A legal history of up to four nodes, their clients and a few groups: joins, leaves, messages to
/// several groups and to private names, disconnections, crashes, partitions and merges.
std::vector<GroupEvent> random_groups(Random& random);

/// The same history for clients with sessions. A client receives its events in their order, but
/// later than its node reaches them. Events with the verb `reach` mark the exchanges.
std::vector<GroupEvent> told_later(const std::vector<GroupEvent>& events, Random& random);

/// Changes one event or its place, often so that a property is violated.
void damage_groups(std::vector<GroupEvent>& events, Random& random);

}  // namespace peal::oracle::test
