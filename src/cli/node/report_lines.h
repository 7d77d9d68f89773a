// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/node/report.h"

// What `peal status` prints below its table.

namespace peal::cli {

/// The engines of nodes that do not use the ring, with their options. Nodes with equal engines and
/// options share a line.
std::vector<std::string> order_lines(const std::vector<NodeReport>& reports);

/// The configured domains: each has a line with its nodes and its process groups.
std::vector<std::string> domain_lines(const std::vector<NodeReport>& reports);

/// For each node, up to three lines: about dropped packets that the node cannot use, about dropped
/// lines of its log, and about lost lines of its trace. Each line has the number of drops and the
/// time since the last drop.
std::vector<std::string> drop_lines(const std::vector<NodeReport>& reports);

/// From a node's answer: a line for each other node whose address is a name. The line has the
/// address found for the name, or the reason why no address was found.
std::vector<std::string> address_lines(const NodeReport& report);

/// From a node's answer: the nodes that are missing in that node's view. One line names all missing
/// nodes without a known reason; each other missing node has a line with its reason.
std::vector<std::string> missing_lines(const NodeReport& report);

/// From a node's answer: a line about the pending list of nodes; no line if no list is pending.
std::vector<std::string> list_lines(const NodeReport& report);

/// Lines from a node's answer: a line about shared memory, if the node has any; a line for each
/// client in the answer; and a line for each group in which events wait for such a client. If the
/// answer does not have all clients, a last line has their number.
std::vector<std::string> client_lines(const NodeReport& report);

}  // namespace peal::cli
