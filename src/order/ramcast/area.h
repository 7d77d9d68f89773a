// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace peal::order::ramcast {

/// The regions of a process, by what other processes write there.
enum class Area : std::uint8_t {
  messages = 1,  ///< M: a sender's messages
  cells,         ///< X and A: what a server says of messages
  control,       ///< C: the state of a server of the same domain
  replies,       ///< H: what a server tells a sender
  log,           ///< O: the leader's log. takeover.* exposes and revokes it
};

}  // namespace peal::order::ramcast
