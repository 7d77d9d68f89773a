// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"

namespace peal::order::ridge {

/// The Paxos engine with these ways, or `ensembles` of them, 1 to kEnsemblesMax, as one engine,
/// which share the log (ensembles.h). At most wire::kChainMax acceptors; else as
/// paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination = Dissemination::distributors,
                                    std::uint32_t ensembles = 1);

}  // namespace peal::order::ridge
