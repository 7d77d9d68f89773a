// SPDX-License-Identifier: Apache-2.0
#include "order/ridge/engine.h"

#include "base/assert.h"
#include "order/ridge/chain.h"
#include "order/ridge/ensembles.h"
#include "order/ridge/ring_routes.h"

namespace peal::order::ridge {
namespace {

paxos::MakeRoutes routes_of(const paxos::Config& config, Dissemination dissemination) {
  PEAL_ASSERT(config.acceptors.size() <= wire::kChainMax);
  return dissemination == Dissemination::ring ? &make_ring : &make_chain;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const paxos::Config& config, BufferPool& packets, Host& host,
                                    Dissemination dissemination) {
  return paxos::make_engine(config, packets, host, routes_of(config, dissemination));
}

std::unique_ptr<Engine> make_ensembles(const paxos::Config& config, std::uint32_t ensembles,
                                       BufferPool& packets, Host& host,
                                       Dissemination dissemination) {
  PEAL_ASSERT(ensembles >= 2 && ensembles <= kEnsemblesMax);
  return std::make_unique<Ensembles>(config, ensembles, packets, host,
                                     routes_of(config, dissemination));
}

}  // namespace peal::order::ridge
