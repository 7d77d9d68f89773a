// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/engine.h"

#include "base/assert.h"
#include "order/ridge/chain.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ring_routes.h"

namespace peal::order::ridge {

std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination, const Layout& layout) {
  PEAL_ASSERT(config.acceptors.size() <= wire::kChainMax);
  PEAL_ASSERT(validate(layout, config.universe).empty());
  const paxos::MakeRoutes routes = dissemination == Dissemination::ring ? &make_ring : &make_chain;
  if (layout.one_engine()) return paxos::make_engine(config, packets, host, routes);
  // With votes in memory, each ensemble would bootstrap a new order by itself. The keys of the new
  // order could not be compared with the keys of the other ensembles.
  PEAL_ASSERT(config.storage == paxos::Storage::disk);
  const auto make = [routes](const paxos::Config& part, BufferPool& pool, Host& inner) {
    return paxos::make_ensemble(part, pool, inner, routes);
  };
  return std::make_unique<Ensembles>(config, layout, packets, host, make);
}

}  // namespace peal::order::ridge
