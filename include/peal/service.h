// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {
inline namespace v0 {

/// Ordering guarantees, each stronger than the one before. `agreed` messages are delivered in one
/// total order. `safe` messages have their places in the same order, but a member delivers them
/// only once every member of the view has them. `fifo` and `causal` messages are delivered like
/// `agreed` messages.
///
/// With ToTo (the engine "toto"), the guarantees of three services differ:
///
/// `fifo` and `causal`: a member delivers such a message after all messages that the sender had
/// sent or delivered before it. The message needs no acknowledgement of its own, but it waits for
/// earlier `agreed` and `safe` messages of its sender, which do. For a client's message, the sender
/// is the client's daemon (docs/client.md). The message has no place in the order: its position is
/// 0, and its sender and a number identify it. Members of a view may deliver two such messages in
/// different orders, unless the sender of one had the other.
///
/// `agreed`: the order and the places are equal at members that leave a view together or end in it.
/// A member that crashes or is cut off may have delivered its last `agreed` messages of the view in
/// another order. For example, a sends "x" and c sends "y" at the same time. b delivers "y" and
/// then "x", and is cut off before its acknowledgement of "y" reaches a and c. These two continue
/// without b, and deliver "x" and then "y". `safe` messages avoid this: if any member delivers a
/// `safe` message before its transitional view, all members of the view have the same order up to
/// this message. In a transitional view, the order of `safe` messages too is equal only at members
/// that leave the view together.
enum class Service : std::uint8_t { fifo, causal, agreed, safe };

}  // namespace v0
}  // namespace peal
