// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace peal::sim {

class World;

/// Of acceptors on quorums: all that are running, and vote, go by one order; else the violation
/// "fork". Where nobody remembers, a cluster may begin an order in the place of one
/// that was lost. It must not beside one that goes on, nor while an acceptor of that one still
/// votes: views of both are numbered apart, so nobody's own view of things shows it. An acceptor
/// that the others' files do not list any more is nobody whom they could ask: it may go on to vote,
/// as long as it can decide nothing.
void check_one_order(World& world);

}  // namespace peal::sim
