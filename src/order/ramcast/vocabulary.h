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
inline constexpr WaitKind lost{
    "domain_lost",
    "all nodes to be stopped, and started again: most nodes of the "
    "domain have restarted, and its order was lost; {who} still {has} it",
    {},
    true};
/// A message is bound to an order that another domain has lost.
inline constexpr WaitKind replaced{
    "order_replaced",
    "all nodes to be stopped, and started again: the domain has lost its order and begun another "
    "one, and the message that may come at position {seq} belongs to the lost one"};
/// {who}: the leader.
inline constexpr WaitKind readmission{
    "readmission", "{who} to take this node into the view of its domain again",
    "a leader that takes this node into the view of its domain again"};
/// {who}: nodes that may have it.
inline constexpr WaitKind owed{"owed",
                               "{who} to send what the domain ordered before a view left out this "
                               "node; if none of them has it "
                               "any more, restart this node"};
/// {who}: nodes of a domain of the message that are not connected.
inline constexpr WaitKind timestamp{
    "timestamp",
    "a timestamp for the message that may come at position {seq}; {who} {is} not connected",
    "the leader to propose a timestamp for the message that may come at position {seq}"};
/// {who}: nodes of a domain of the message that have not acknowledged it, and most of them have to.
inline constexpr WaitKind acknowledgements{
    "acknowledgements", "{who} to acknowledge the message that may come at position {seq}"};
/// {who}: nodes of a domain of this node's oldest message without a place that are not connected.
inline constexpr WaitKind place{"place",
                                "a place for a message of this node; {who} {is} not connected",
                                "the leader to give a place to a message of this node"};

/// {who}: members of the view. {seq}: what this node has delivered.
inline constexpr WaitKind deliveries{"deliveries",
                                     "{who} to deliver what this node has, up to position {seq}"};

}  // namespace peal::order::ramcast::wait

namespace peal::order::ramcast::region {

// What a node writes into the memory of others.

inline constexpr GatherReason messages{"messages", "a message"};
inline constexpr GatherReason cells{"cells", "a timestamp or an acknowledgement"};
inline constexpr GatherReason control{"control", "its state"};
inline constexpr GatherReason replies{"replies", "the place of a message"};
inline constexpr GatherReason log{"log", "an entry of its log"};

}  // namespace peal::order::ramcast::region

namespace peal::order::ramcast::gather {

inline constexpr GatherReason excluded{"excluded", "the others went on without this node"};

}  // namespace peal::order::ramcast::gather
