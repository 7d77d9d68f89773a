// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"

namespace peal::order::ramcast::test {

/// What a scenario of unheard leaders is made of.
struct UnheardScenario {
  bool fast = true;  ///< as in Options, and so is `suspect`
  Duration suspect = milliseconds(4);
  Duration lazy_revocation{};  ///< as in sim::FabricOptions, and so is `early_ok`
  bool early_ok = false;
  std::int64_t offset = 0;  ///< for so many us all is well after each change of the leader
};

/// How it ended. A stall alone is no violation of the order.
struct UnheardEnd {
  std::string broken;   ///< what is wrong with the order, or empty
  std::string stalled;  ///< what has not come about in time, or empty

  /// Either of the two, or empty if all is well.
  const std::string& wrong() const { return broken.empty() ? stalled : broken; }
};

/// Nobody hears the leader of a domain, whose log goes on: another one leads. This happens again
/// and again under load.
UnheardEnd unheard_leaders(const UnheardScenario& story);

}  // namespace peal::order::ramcast::test
