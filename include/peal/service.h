// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal {
inline namespace v0 {

/// Ordering guarantees, each stronger than the one before. `agreed` messages are delivered in one
/// total order; `safe` ones only once every member of the view has them. `fifo` and `causal` are
/// delivered as agreed.
enum class Service : std::uint8_t { fifo, causal, agreed, safe };

}  // namespace v0
}  // namespace peal
