// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "order/paxos/options.h"

namespace peal::order::ridge {

/// The Paxos engine with Ridge's ways: a value goes along a chain of a majority of the acceptors,
/// and the last of them has one of the other nodes send it to the rest. At most wire::kChainMax
/// acceptors; else as paxos::make_engine().
std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host);

}  // namespace peal::order::ridge
