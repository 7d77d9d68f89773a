// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/engine.h"

#include "base/assert.h"
#include "order/ridge/chain.h"
#include "order/ridge/ring_routes.h"

namespace peal::order::ridge {

std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination) {
  PEAL_ASSERT(config.acceptors.size() <= wire::kChainMax);
  const bool ring = dissemination == Dissemination::ring;
  return paxos::make_engine(config, packets, host, ring ? &make_ring : &make_chain);
}

}  // namespace peal::order::ridge
