// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "runtime/acceptor_log.h"

namespace peal::runtime {

std::unique_ptr<order::Engine> make_engine(const config::Settings& settings, std::uint64_t epoch,
                                           AcceptorLog* log, port::Memory* memory,
                                           BufferPool& frames, order::Host& host) {
  order::Setup setup;
  setup.self = {settings.self(), epoch};
  setup.list = list_of(settings);
  setup.cluster = cluster_id(settings);
  setup.packet_bytes_max = config::engine_packet_bytes(settings);
  setup.authenticated = settings.keys.has_value();
  setup.streams = uses_streams(settings);
  setup.options = settings.options;
  setup.domains = domain_nodes(settings);
  if (log != nullptr) {
    setup.log = &log->log();
    setup.owed = &log->owed();
  }
  setup.memory = memory;
  Digest seed;
  seed.add(setup.self.node.value);
  seed.add(epoch);
  setup.seed = seed.value();
  return settings.order->make(setup, frames, host);
}

}  // namespace peal::runtime
