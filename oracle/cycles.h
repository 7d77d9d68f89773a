// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "oracle/history.h"
#include "oracle/index.h"

namespace peal::oracle {

/// `member` delivered `to` directly after `from`.
struct Edge {
  Index from = kNone;
  Index to = kNone;
  Index member = kNone;
};

/// `member` delivered `message` directly before the message of the next step. After the last step
/// comes the first step.
struct Step {
  Index message = kNone;
  Index member = kNone;
};

/// Finds a cycle in the union of all members' delivery orders; positions do not matter.
/// Returns an empty list if there is no cycle. Time and memory grow with the messages and the
/// spans, not with the deliveries.
std::vector<Step> find_cycle(const History& history);
/// Finds a cycle in any graph of messages. The numbers of the messages are below `messages`.
std::vector<Step> find_cycle(std::size_t messages, const std::vector<Edge>& edges);

}  // namespace peal::oracle
