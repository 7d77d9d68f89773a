// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "trace/event.h"

namespace peal::oracle::test {

/// A legal history, in real-time order, of an engine whose order is a company's: causal messages
/// that each member delivers when it likes, messages that others deliver before their sender
/// originates them, and members that are cut off and deliver the rest of a view in an order of
/// their own, with other positions.
std::vector<trace::Event> random_companies_history(Random& random);

/// At some members, exchanges two messages that one of these members delivers in one view.
void exchange_deliveries(std::vector<trace::Event>& events, Random& random);

}  // namespace peal::oracle::test
