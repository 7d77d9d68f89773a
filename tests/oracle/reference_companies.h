// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "reference_parts.h"

// The slow checker's properties of companies (Options::companies).

namespace peal::oracle::test {

using ServiceOf = std::function<Service(const trace::MessageId&)>;

/// Whether messages of this service have places in the order of a company.
bool has_a_place(Service service);

/// True if two members delivered the same sequence of messages with places, and the same set of
/// other messages.
bool same_but_unplaced(const Sequence& one, const Sequence& other, const ServiceOf& service);

/// The properties of companies that a history violates: E7, acyclic, and E8 across companies.
/// `here`: the stays of the members that are in a regular view when the history ends.
std::set<std::string> judge_companies(const std::vector<Stay>& stays,
                                      const std::vector<const Stay*>& here,
                                      const ServiceOf& service);

}  // namespace peal::oracle::test
