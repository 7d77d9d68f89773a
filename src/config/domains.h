// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "config/settings.h"
#include "order/engine.h"
#include "order/setup.h"

// Domains: some nodes with an order of their own.

namespace peal::config {

/// The error is one line that names the key, the value and what is accepted.
Result<void, std::string> validate_domains(const Settings& settings);

/// For the engine: domain 1 and so on.
std::vector<order::DomainNodes> domain_nodes(const Settings& settings);
/// The nodes and acceptors of a list that each domain has.
std::vector<order::NodeList> domain_parts(const Settings& settings, const order::NodeList& list);

/// One that this node sends in by its name, 0 for the empty one, which is that of all nodes; or
/// invalid_option.
Result<order::Domain> domain_of(const Settings& settings, std::string_view name);
/// Empty for the one of all nodes.
std::string_view domain_name(const Settings& settings, order::Domain domain);
/// Of the one in which a position of the order is.
std::string_view domain_name_at(const Settings& settings, Seq position);
/// Those that this node is in, but for the one of all nodes.
std::vector<order::Domain> own_domains(const Settings& settings);
/// Their names.
std::vector<std::string> own_domain_names(const Settings& settings);
/// "accepted are "a" and "b"", for a message to people.
std::string own_domains_text(const Settings& settings);

/// For people: of domains, nodes that the list does not have (yet), one line each.
std::vector<std::string> absent_texts(const Settings& settings);

/// Does this node vote in a domain?
bool votes_in_domain(const Settings& settings);

/// Which ensembles a log is of, one line for each domain, or one for their number; nothing for a
/// single ensemble: logs of before there were several are as good as those of now.
std::string log_lines(const Settings& settings);

/// All that nodes must agree on.
void add_domains(const Settings& settings, Digest& rules);

}  // namespace peal::config
