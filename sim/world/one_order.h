// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::sim {

class World;

/// For engines with acceptors: reports the violation "fork" unless all running acceptors that vote
/// belong to one order. Acceptors that are all amnesiac may bootstrap an order in place of a lost
/// one. They must not do so beside an order that continues, nor while an acceptor of that order
/// still votes. View numbers of the two orders differ, so no node's own history shows a fork. One
/// exception: an acceptor that the other nodes' lists no longer name may vote on in the lost order,
/// since no node could ask it. It is a fork all the same if both orders can decide.
void check_one_order(World& world);

}  // namespace peal::sim
