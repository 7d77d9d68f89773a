// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/random.h"
#include "reference_genuine.h"
#include "trace/event.h"

namespace peal::oracle::test {

struct GenuineHistory {
  DomainNodes domains;
  std::vector<trace::Event> events;
};

/// A legal history in real-time order, of one to three domains and of nodes in none. Messages go
/// to sets of domains; each domain has its own chain of views; senders crash and are excluded.
GenuineHistory random_genuine_history(Random& random);

/// Changes the destinations or the place of one event.
void damage_destinations(std::vector<trace::Event>& events, Random& random);

}  // namespace peal::oracle::test
