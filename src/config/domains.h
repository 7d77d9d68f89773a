// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "config/settings.h"
#include "order/engine.h"
#include "order/setup.h"

// Domains: subsets of the nodes with an order of their own.

namespace peal::config {

/// Checks the domains. The error is one line that names the key, the value and what is accepted.
Result<void, std::string> validate_domains(const Settings& settings);

/// The domains in the engine's form; the first is domain 1.
std::vector<order::DomainNodes> domain_nodes(const Settings& settings);
/// For each domain, the domain's nodes and acceptors that are in `list`. A domain without acceptors
/// in `list` gets acceptors that the engine chooses.
std::vector<order::NodeList> domain_parts(const Settings& settings, const order::NodeList& list);

/// The destinations of a message of this node to the domains with these names. Without names: all
/// nodes. The error is one line that names what is wrong and what is accepted.
Result<DomainSet, std::string> destinations(const Settings& settings,
                                            std::span<const std::string_view> names);
/// The name of the domain; empty for the domain of all nodes.
std::string_view domain_name(const Settings& settings, order::Domain domain);
/// The domains that this node is in.
DomainSet own_domains(const Settings& settings);
/// True if a view of this node may have the node as a member. With a genuine engine, views are
/// those of a domain.
bool may_share_view(const Settings& settings, NodeId node);
/// The names of own_domains().
std::vector<std::string> own_domain_names(const Settings& settings);

/// Text for people: one line for each domain that has nodes outside the list of nodes.
std::vector<std::string> absent_texts(const Settings& settings);

/// True if this node is an acceptor of a domain.
bool votes_in_domain(const Settings& settings);

/// Describes the ensembles whose records a log contains: one line for each domain, or one line with
/// the number of ensembles. Empty for a single ensemble, so that logs of earlier releases stay
/// valid.
std::string log_lines(const Settings& settings);

/// Adds to `rules` everything about domains that must be equal on all nodes.
void add_domains(const Settings& settings, Digest& rules);
/// The settings of the domains as text for people, on one line of at most 255 bytes. A longer text
/// is cut, and ends in the hash of the whole text.
std::string domains_text(const Settings& settings);

}  // namespace peal::config
