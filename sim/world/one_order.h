// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::sim {

class World;

/// For engines with acceptors: reports the violation "fork" unless all running acceptors that vote
/// belong to one order. If all acceptors are amnesiac, they may bootstrap a new order in place of
/// the lost order. They must not bootstrap while the old order continues, or while an acceptor
/// still votes in the old order. The view numbers of two orders differ, so no node's own history
/// shows a fork. Exception: an acceptor that the other nodes' lists no longer name may still vote
/// in the lost order, because the other nodes cannot query this acceptor. The exception does not
/// apply if both orders can decide.
void check_one_order(World& world);

}  // namespace peal::sim
