// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "order/vocabulary.h"

// The words of ToTo, in addition to those of all engines and of the membership.

namespace peal::order {

namespace wait {

/// {who}: members without a node that follows the candidates.
inline constexpr WaitKind votes{
    "votes", "a message or an acknowledgement of {who}, before the next messages have an order"};
/// {who}: members that are not known to have decided the oldest safe unit.
inline constexpr WaitKind evidence{
    "evidence", "the acknowledgement of {who}, before a safe message is delivered"};
/// Nodes of {who} are missing here.
inline constexpr WaitKind node{"node", "a packet of {who}, which did not arrive here"};
/// Nodes of {who} came that contradict others, and none that can join the graph.
inline constexpr WaitKind refused{
    "refused", "a packet of {who} that contradicts no other one; {who} will be excluded"};
/// This process did not run for long: alone in an old view, it would be the only one to deliver.
inline constexpr WaitKind sign_of_life{
    "sign_of_life",
    "a packet of the view: this node did not run for long, and others may have "
    "gone on without it"};
inline constexpr WaitKind buffers{"buffers", "buffers for packets; all are in use"};
/// The view is installed here, and not known to be installed at all members.
inline constexpr WaitKind opening{"opening", "all members to be in the new view"};

}  // namespace wait

namespace event {

/// who = a member whose packet contradicts itself or others; a = number of such packets so far.
/// Reported once per view and member.
inline constexpr EventKind node_refused{"node_refused"};

}  // namespace event

namespace gather {

inline constexpr GatherReason silence{"silence",
                                      "{who} sent nothing for the time of toto.fault_ms"};
inline constexpr GatherReason toto_guard{
    "toto_guard", "the repair of the old view took too long; {who} lacked messages"};

}  // namespace gather

}  // namespace peal::order
