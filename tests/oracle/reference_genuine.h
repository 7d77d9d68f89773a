// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"
#include "trace/event.h"

// Promises::genuine: each domain is judged by itself, and all of them together by the rules below.

namespace peal::oracle::test {

using DomainNodes = std::vector<std::vector<NodeId>>;  // element i is domain i + 1

/// The domains that the node is in.
DomainSet domains_of(const DomainNodes& domains, NodeId node);
/// The events that concern the domain, without those of incarnations that have ended.
std::vector<trace::Event> part_of(const std::vector<trace::Event>& events,
                                  const DomainNodes& domains, DomainId domain);
/// The properties that the nodes of all domains violate together.
std::set<std::string> judge_across(const std::vector<trace::Event>& events,
                                   const DomainNodes& domains);

}  // namespace peal::oracle::test
