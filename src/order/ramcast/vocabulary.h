// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

// Reasons to wait that only this engine reports.

namespace peal::order::ramcast::wait {

/// {who}: the node that is asked to lead, if there is one.
inline constexpr WaitKind leader{"leader", "{who} to lead the domain", "a leader of the domain"};
/// {who}: nodes of the domain that are not heard.
inline constexpr WaitKind majority{"domain_majority",
                                   "a majority of the domain's nodes; {who} {is} not heard",
                                   "a majority of the domain's nodes", true};
/// {who}: nodes of the domain whose present incarnations are not heard.
inline constexpr WaitKind beginning{
    "domain_beginning",
    "all nodes of the domain to be there: its order has not begun yet; {who} {is} not heard",
    "all nodes of the domain to be there: its order has not begun yet", true};
/// Most nodes of the domain have restarted: in memory, the order is lost.
inline constexpr WaitKind lost{"domain_lost",
                               "all nodes of the domain to be stopped, and started again: most of "
                               "them have restarted, and the "
                               "order was lost; {who} still {has} it",
                               {},
                               true};
/// {who}: the leader.
inline constexpr WaitKind readmission{
    "readmission", "{who} to take this node into the view of its domain again",
    "a leader that takes this node into the view of its domain again"};
/// {who}: nodes of all domains of the message that have not acknowledged it.
inline constexpr WaitKind acknowledgements{
    "acknowledgements", "{who} to acknowledge the message that may come at position {seq}"};
/// {who}: nodes of the domains of this node's oldest message without a place.
inline constexpr WaitKind place{"place", "{who} to give a place to a message of this node"};

/// {who}: members of the view. {seq}: what this node has delivered.
inline constexpr WaitKind deliveries{"deliveries",
                                     "{who} to deliver what this node has, up to position {seq}"};

}  // namespace peal::order::ramcast::wait

namespace peal::order::ramcast::gather {

inline constexpr GatherReason excluded{"excluded", "the others went on without this node"};

}  // namespace peal::order::ramcast::gather
