// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "base/time.h"
#include "session/counters.h"
#include "session/host.h"
#include "session/options.h"

namespace peal::session {

/// The state that all classes of this module share: the options, the node, the time and the
/// counters.
struct Context {
  Context(Options its_options, Host& its_host) : options(std::move(its_options)), host(its_host) {}

  Options options;
  Host& host;
  Instant now{};  ///< time of the owner's current call
  std::optional<Instant> next_check;
  std::uint64_t submitted = 0;  ///< the last number that Host::submit() returned
  bool node_closed = false;     ///< the node accepts nothing any more
  Counters counters;
  Digest outcome;

  /// Makes Sessions::work() check connections and sessions at `deadline`.
  void due(Instant deadline) { next_check = std::min(next_check.value_or(deadline), deadline); }
  /// Size of the largest payload that fits into a message: whatever its targets are, except with
  /// disjoint domains.
  std::uint32_t payload_bytes_max() const {
    const std::uint32_t most = options.message_bytes_max;
    if (!options.domains.is_disjoint()) return most - kMessageOverheadMax;
    return most - std::min(kMessageOverheadMax, most / kOverheadShare);
  }
};

}  // namespace peal::session
