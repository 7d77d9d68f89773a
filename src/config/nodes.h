// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/settings.h"
#include "order/engine.h"

// The list of nodes, and going over to another one while a node runs.

namespace peal::config {

/// As the engine knows it: the numbers, and a hash of numbers and names. The order of the entries
/// does not matter.
order::NodeList list_of(const std::vector<NodeEntry>& nodes);
/// The same with the acceptors, if there are any.
order::NodeList list_of(const Settings& settings);
Listing listing_of(const Settings& settings);
Settings with(const Settings& settings, const Listing& listing);

/// Whether a node that goes by the list of `settings` can change over to `wanted`, with which
/// validate() accepts the settings. The error is one line that says why not, and what to do.
Result<void, std::string> validate(const Settings& settings, const Listing& wanted);

/// What going over to the next list waits for, and who has to do what about it; empty if nothing.
std::string nodes_wait_text(const order::NodesWait& wait, const trace::Names& names);

/// In the order of their numbers.
std::vector<std::string> names_in(std::vector<NodeEntry> nodes);

}  // namespace peal::config
