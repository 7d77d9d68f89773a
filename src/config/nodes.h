// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "order/engine.h"

// The list of nodes, and the change to another list while a node runs.

namespace peal::config {

/// The list in the engine's form: the numbers, and a hash of numbers and names. The order of the
/// entries does not matter.
order::NodeList list_of(const std::vector<NodeEntry>& nodes);
/// The list in `settings` in the engine's form, with the acceptors if the engine has acceptors.
order::NodeList list_of(const Settings& settings);
Listing listing_of(const Settings& settings);
Settings with(const Settings& settings, const Listing& listing);

/// Checks that a running node can change from the list in `settings` to `wanted`. Call it only
/// after a check of the settings with `wanted`. The error is one line: why the node cannot, and
/// what to do.
Result<void, std::string> validate(const Settings& settings, const Listing& wanted);

/// Says what the change to the pending list waits for, and what the operator can do. Empty if the
/// change waits for nothing.
std::string nodes_wait_text(const order::NodesWait& wait, const trace::Names& names);

/// The names of the nodes, in the order of the nodes' numbers.
std::vector<std::string> names_in(std::vector<NodeEntry> nodes);

}  // namespace peal::config
