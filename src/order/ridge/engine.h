// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"

namespace peal::order::ridge {

/// The Paxos engine with Ridge's ways. At most wire::kChainMax acceptors; else as
/// paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination = Dissemination::distributors);

/// `ensembles` of them, 2 to kEnsemblesMax, as one engine: ensembles.h. They share the log.
std::unique_ptr<Engine> make_ensembles(const paxos::Config& config, std::uint32_t ensembles,
                                       BufferPool& packets, Host& host,
                                       Dissemination dissemination = Dissemination::distributors);

}  // namespace peal::order::ridge
