// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/engine.h"

#include "base/assert.h"
#include "order/ridge/chain.h"

namespace peal::order::ridge {

std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host) {
  PEAL_ASSERT(config.acceptors.size() <= wire::kChainMax);
  return paxos::make_engine(config, packets, host, &make_chain);
}

}  // namespace peal::order::ridge
