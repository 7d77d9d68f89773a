// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history of an engine whose order holds only within a company. Events are in real-time
/// order. Members deliver causal messages at different points of the order. Some messages are
/// delivered by others before their sender originates them. Members that are cut off deliver the
/// rest of a view in another order and with other positions.
std::vector<trace::Event> random_companies_history(Random& random);

/// At some members, exchanges two messages that one of these members delivers in one view.
void exchange_deliveries(std::vector<trace::Event>& events, Random& random);

}  // namespace peal::oracle::test
