// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/buffer.h"
#include "config/settings.h"
#include "order/engine.h"
#include "port/memory.h"

namespace peal::runtime {

class AcceptorLog;

/// The engine that the settings name, for this incarnation of the node. `log` is null if the node
/// keeps no log on disk, and `memory` if the engine needs none. `log`, `memory` and `frames` must
/// outlive the engine.
std::unique_ptr<order::Engine> make_engine(const config::Settings& settings, std::uint64_t epoch,
                                           AcceptorLog* log, port::Memory* memory,
                                           BufferPool& frames, order::Host& host);

}  // namespace peal::runtime
