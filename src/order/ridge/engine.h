// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "order/paxos/options.h"
#include "order/ridge/dissemination.h"
#include "order/ridge/layout.h"

namespace peal::order::ridge {

/// Makes the Paxos engine with the routes of `dissemination`. If the layout has several ensembles,
/// makes one engine of them, with a shared log (ensembles.h). validate() must accept the layout,
/// and there must be at most wire::kChainMax acceptors. In all other respects like
/// paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination = Dissemination::distributors,
                                    const Layout& layout = {});

}  // namespace peal::order::ridge
