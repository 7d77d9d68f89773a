// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace peal::session {

/// A connection of this daemon. The owner assigns the ids, and never uses an id twice.
using ConnectionId = std::uint64_t;

/// What connections have requested from the owner since the last take_wanted(). No list has an id
/// twice. Connections that closed meanwhile may be listed; the owner ignores them.
struct Wanted {
  std::vector<ConnectionId> write;  ///< output() has bytes
  /// received() accepts bytes again. The owner calls received() in the order of this list, even
  /// without bytes.
  std::vector<ConnectionId> read;
  /// The owner closes these connections now, and does not call closed() for them. Either their last
  /// output was written, or the time limit for this output has passed.
  std::vector<ConnectionId> close;
};

}  // namespace peal::session
