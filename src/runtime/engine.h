// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "config/settings.h"
#include "order/engine.h"

namespace peal::runtime {

class AcceptorLog;

/// The engine that the settings name, for this incarnation of the node. `log` is null if the node
/// keeps no log on disk. `log` and `frames` must outlive the engine.
std::unique_ptr<order::Engine> make_engine(const config::Settings& settings, std::uint64_t epoch,
                                           AcceptorLog* log, BufferPool& frames, order::Host& host);

}  // namespace peal::runtime
