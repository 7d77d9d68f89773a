// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"
#include "order/ridge/layout.h"

namespace peal::order::ridge {

/// The Paxos engine with the routes of `dissemination`, or several ensembles as one engine with a
/// shared log (ensembles.h). The layout must be one that validate() accepts. At most
/// wire::kChainMax acceptors; otherwise like paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination = Dissemination::distributors,
                                    const Layout& layout = {});

}  // namespace peal::order::ridge
