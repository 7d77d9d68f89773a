// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {
inline namespace v0 {

/// Ordering guarantees, each stronger than the one before. `agreed` messages are delivered in one
/// total order. `safe` messages have their places in the same order, but a member delivers them
/// only once every member of the view has them. `fifo` and `causal` messages are delivered like
/// `agreed` messages.
enum class Service : std::uint8_t { fifo, causal, agreed, safe };

}  // namespace v0
}  // namespace peal
